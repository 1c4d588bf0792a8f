"""Sampled worlds: each one fits what the seat knows, and all that fit are as likely as they should be."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from agents.search.worlds import Decision, sample_worlds
from hf_env import VectorGame, load_rules
from hf_env.engine.access import GameAccess
from hf_env.engine.action_ids import ASK, DISCARD, DRAW, NUM_DISCARDS
from hf_env.engine.cards import JOKER, NUM_KINDS, RED3, TWO
from hf_env.engine.redact import redact_rows
from hf_env.engine.state import GAME_DTYPE, PHASE_ANSWER, PHASE_DRAW, PHASE_PLAY
from hf_env.positions import from_position, to_position
from hf_env.rules import list_rules
from tests.rules.strategies import random_rule_set
from tests.search.decisions import batch_of, reached

# One in ten thousand runs of a right sampler is refused; the keys are fixed, so a run that passes always passes.
LEAST_P = 1e-4


def worlds_of(batch, row, count, key=None):
    """(count,) sampled worlds of a decision."""
    out = np.empty(count, GAME_DTYPE)
    decision = Decision.of(batch, row)
    if key is not None:
        decision = decision._replace(key=np.uint64(key))
    assert sample_worlds(decision, out)
    return out


def check_worlds(games, rules, per_decision=3):
    """Every world is a legal state that looks to the seat exactly as the true one."""
    batch = batch_of(games, rules)
    for row, seat in enumerate(batch.seats):
        worlds = worlds_of(batch, row, per_decision)
        seen = np.empty(per_decision, GAME_DTYPE)
        redact_rows(worlds, batch.views.rules, np.arange(per_decision), np.full(per_decision, seat, np.int32), seen)
        for i in range(per_decision):
            assert GameAccess(batch.views.rules, worlds[i : i + 1]).broken_invariant() == 0
            from_position(to_position(worlds, i, rules))  # raises for what no play leads to
            assert seen[i].tobytes() == batch.views.games[row].tobytes()
        assert len({world.tobytes() for world in worlds}) > 1 or not worlds["stock_end"].any()


@pytest.mark.parametrize("preset", list_rules())
def test_every_world_is_legal_and_looks_the_same_under_every_preset(preset):
    rules = load_rules(preset)
    check_worlds(reached(rules, 60, seed=1), rules)


def test_every_world_is_legal_under_random_rule_sets():
    for seed in range(24):
        rules = random_rule_set(seed)
        check_worlds(reached(rules, 10, seed=seed), rules, 2)


def test_worlds_with_reshuffles_hold_no_red3_in_the_stock_that_cannot_be_there():
    for bury, most in ((("red3", "wild"), 0), ((), 1)):
        rules = load_rules("mini").with_overrides(stock_out="reshuffle", bury_upcard=list(bury), max_turns=120)
        games = reached(rules, 400, seed=5, players=("random",))
        games = games[games["reshuffles"] > 0]
        hidden = 2 - games["red3"].sum(1) - games["discard_kinds"][:, RED3]
        games = games[hidden > 0][:40]
        assert len(games) >= 10
        check_worlds(games, rules)
        batch = batch_of(games, rules)
        found = set()
        for row in range(len(games)):
            for world in worlds_of(batch, row, 40):
                found.add(int((world["stock"][: world["stock_end"]] == RED3).sum()))
        assert max(found) <= most
        assert most == 0 or found == {0, 1}


@pytest.mark.parametrize(("permission", "least"), [("binding_both", 1.0), ("binding_no", 0.8)])
def test_an_asker_can_go_out(permission, least):
    # Bound by a yes it must, so in every world; else nobody asks in vain, but a large hand may not be found to fit.
    rules = load_rules("whitnack").with_overrides(permission=permission, books_to_go_out=[1, 0, 0])
    games = reached(rules, 6000, seed=2, noise=0.02, players=("greedy",))
    games = games[games["phase"] == PHASE_ANSWER][:8]
    assert len(games) >= 3
    batch = batch_of(games, rules)
    bound = rules.with_overrides(permission="binding_both").to_record()
    able = []
    for row in range(len(games)):
        for world in worlds_of(batch, row, 5):
            world = np.array([world])
            assert GameAccess(batch.views.rules, world).broken_invariant() == 0
            world["phase"], world["to_move"], world["asked"] = PHASE_PLAY, world["turn_seat"], 0
            able.append(ASK in GameAccess(bound, world).legal())  # legal there only for who can go out
    assert np.mean(able) >= least


def canonical(world):
    """What is hidden in a world, as a value that can be counted."""
    stock = world["stock"][: world["stock_end"]]
    return world["hands"].tobytes(), world["feet"].tobytes(), stock.tobytes()


def enumerated(world, seat, rules):
    """Counter of all distributions of the hidden cards over their places, each labelled card a card of its own."""
    hands = [(other, int(world["hand_sizes"][other] - world["known"][other].sum())) for other in range(rules.players) if other != seat]
    feet = [(other, int(world["foot_sizes"][other])) for other in range(rules.players)]
    pool = [int(kind) for kind in world["stock"][: world["stock_end"]]]
    for other, _ in hands:
        pool += np.repeat(np.arange(NUM_KINDS), world["hands"][other] - world["known"][other]).tolist()
    for other, _ in feet:
        pool += np.repeat(np.arange(NUM_KINDS), world["feet"][other]).tolist()
    counts = Counter()
    for order in itertools.permutations(pool):
        cards = iter(order)
        made = np.array([world])[0].copy()
        held = [[next(cards) for _ in range(size)] for _, size in hands]
        if any(RED3 in packet for packet in held):
            continue
        for (other, _), packet in zip(hands, held, strict=True):
            made["hands"][other] = made["known"][other] + np.bincount(packet, minlength=NUM_KINDS)
        for other, size in feet:
            made["feet"][other] = np.bincount([next(cards) for _ in range(size)], minlength=NUM_KINDS)
        made["stock"][: made["stock_end"]] = list(cards)
        counts[canonical(made)] += 1
    return counts


def small_decisions(rules, most_hidden):
    """Late decisions of small deals with few cards hidden, of different kinds: with a red 3, known cards, feet, none."""
    games = reached(rules, 4000, seed=11, players=("greedy", "random"))
    seats = games["to_move"]
    rows = np.arange(len(games))
    known = games["known"].sum(2)
    others = games["hand_sizes"].sum(1) - games["hand_sizes"][rows, seats] - known.sum(1) + known[rows, seats]
    stock = games["stock_end"] - games["stock_next"]
    hidden = others + games["foot_sizes"].sum(1) + stock
    red3 = rules.decks * 2 - games["red3"].sum(1) - games["discard_kinds"][:, RED3] > 0
    feet = games["foot_sizes"].sum(1) > 0
    kinds = {}
    for row in np.flatnonzero((hidden <= most_hidden) & (hidden >= 5) & (others >= 1)):
        kinds.setdefault((bool(red3[row]), bool(feet[row]), bool(known[row].sum() > known[row, seats[row]])), row)
    return games[list(kinds.values())], list(kinds)


def test_worlds_are_as_likely_as_an_enumeration_says():
    rules = load_rules("mini")
    games, kinds = small_decisions(rules, 7)
    assert any(red3 for red3, _, _ in kinds) and any(feet for _, feet, _ in kinds) and any(known for _, _, known in kinds)
    batch = batch_of(games, rules)
    for row in range(len(games)):
        # Any consistent world serves to say which cards are hidden.
        expected = enumerated(worlds_of(batch, row, 1)[0], int(batch.seats[row]), rules)
        drawn = Counter(canonical(world) for world in worlds_of(batch, row, 40_000, key=99))
        assert set(drawn) <= set(expected)
        names = sorted(expected, key=expected.get)
        share = np.array([expected[name] for name in names], float)
        share *= 40_000 / share.sum()
        found = np.array([drawn[name] for name in names], float)
        # Rare worlds are counted together, so that each class is expected five times at least.
        classes = np.minimum(np.cumsum(share) // 20, len(names))
        share, found = (np.bincount(np.unique(classes, return_inverse=True)[1], column) for column in (share, found))
        if len(share) > 1:
            assert stats.chisquare(found, share).pvalue > LEAST_P, kinds[row]


def true_decisions(rules, num_games, turns, seed):
    """Decisions after so many turns of players who draw, and discard one of their cards with no look at it.

    What they do says nothing of what else they hold, so the posterior is that of the shuffle.
    """
    vec = VectorGame(num_games, rules, seed, autoreset="DISABLED", observations=False)
    rng = np.random.default_rng(seed)
    rows = np.arange(num_games)
    for _ in range(turns):
        assert (vec.games["phase"] == PHASE_DRAW).all()
        vec.step(np.full(num_games, DRAW))
        hands = vec.games["hands"][rows, vec.seats][:, :NUM_DISCARDS]
        place = (rng.random(num_games) * hands.sum(1)).astype(int)
        vec.step(DISCARD + (hands.cumsum(1) <= place[:, None]).sum(1))
    return vec.games.copy()


def statistics_of(games, seat):
    """(N,) integers by name: where red 3s, wilds and one kind lie, seen from a seat."""
    rows = np.arange(len(games))
    left = (seat + 1) % 2
    start = games["stock_next"]
    hands, feet = games["hands"].astype(int), games["feet"].astype(int)
    return {
        "red 3s in the own foot and in another": feet[:, seat, RED3] * 4 + feet[:, left, RED3],
        "wilds in the other hand and the own foot": hands[:, left, [TWO, JOKER]].sum(1) * 8 + feet[:, seat, [TWO, JOKER]].sum(1),
        "kings in the other hand": hands[:, left, 9],
        "kinds in the other hand": (hands[:, left] > 0).sum(1),
        "next card": games["stock"][rows, start].astype(int),
        "next two cards alike": (games["stock"][rows, start] == games["stock"][rows, start + 1]).astype(int),
    }


@pytest.mark.parametrize(("preset", "turns"), [("mini", 9), ("two-player", 12)])
def test_true_worlds_and_sampled_ones_are_distributed_alike(preset, turns):
    # Where a wild or a red 3 may be the upcard the shuffle's posterior is exactly uniform: docs/search_player.md 2.
    rules = load_rules(preset).with_overrides(bury_upcard=[])
    games = true_decisions(rules, 12_000, turns, seed=4)
    seat = int(games["to_move"][0])
    batch = batch_of(games, rules)
    sampled = np.concatenate([worlds_of(batch, row, 1) for row in range(len(games))])
    # Within each number of red 3s on the table, which the seat sees: what it says of the rest must be used.
    laid = np.minimum(games["red3"].sum(1), 2)
    for name, truth in statistics_of(games, seat).items():
        ours = statistics_of(sampled, seat)[name]
        for group in range(3):
            pair = truth[laid == group], ours[laid == group]
            table = np.stack([np.bincount(part, minlength=256) for part in pair])
            rare = table.sum(0) < 10
            table = np.concatenate([table[:, ~rare], table[:, rare].sum(1, keepdims=True)], 1)
            table = table[:, table.sum(0) > 0]
            if table.shape[1] > 1:
                assert stats.chi2_contingency(table, correction=False).pvalue > LEAST_P, (name, group)


def test_the_comparison_with_true_worlds_sees_a_wrong_sampler():
    # As if the red 3s were dealt like any card among feet and stock but one foot were spared.
    rules = load_rules("mini").with_overrides(bury_upcard=[])
    games = true_decisions(rules, 4_000, 9, seed=4)
    seat = int(games["to_move"][0])
    truth = statistics_of(games, seat)["red 3s in the own foot and in another"]
    wrong = np.where(truth >= 4, truth % 4, truth)
    table = np.stack([np.bincount(truth, minlength=16), np.bincount(wrong, minlength=16)])
    assert stats.chi2_contingency(table[:, table.sum(0) > 0]).pvalue < 1e-6


def test_a_world_is_a_function_of_key_and_number():
    rules = load_rules("whitnack")
    batch = batch_of(reached(rules, 12, seed=8), rules)
    few, many = worlds_of(batch, 5, 3), worlds_of(batch, 5, 20)
    assert few.tobytes() == many[:3].tobytes()
    assert worlds_of(batch, 5, 3, key=12345).tobytes() != few.tobytes()
    assert len(set(many["seed"].tolist())) == 20  # each world's later reshuffles are its own

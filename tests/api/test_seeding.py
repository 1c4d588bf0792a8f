"""A deal is a function of (seed, deal number) alone, and seeds give decks and dealers as a fair shuffle does."""

import numpy as np
import pytest
from scipy.stats import chi2

from hf_env import VectorGame, deck_for, hand_and_foot_v0, load_rules
from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS
from tests.observation.driving import Driver, play

NUM_SEEDS = 2000


@pytest.fixture(scope="module")
def decks() -> np.ndarray:
    """(2000, 270) kinds of the first deals of as many seeds under whitnack, in the order of docs/rules.md 3."""
    index = {character: kind for kind, character in enumerate(KIND_CHARS)}
    return np.array([[index[card] for card in deck_for("whitnack", seed, 1)] for seed in range(NUM_SEEDS)], np.int8)


def dealt_order(position: dict, players: int) -> tuple[str, list[str], list[str], str]:
    """What a position at a deal's start says of the order: who begins, the packets, the pile and stock."""
    first = (position["dealer"] + 1) % players
    order = [(first + i) % players for i in range(players)]
    hands, feet = ([position[name][seat] for seat in order] for name in ("hands", "feet"))
    return order, hands, feet, position["discard"] + position["stock"]


@pytest.mark.parametrize("rules", ["whitnack", "mini", "three-player", "six-pairs"])
def test_the_same_seed_repeats_everything(rules):
    traces = []
    for _ in range(2):
        env = hand_and_foot_v0.env(rules=rules)
        trace = []
        for seed in (7, 8, 7):
            env.reset(seed=seed)
            rng = np.random.default_rng(seed)
            game = [env.snapshot()]
            for _ in range(400):
                if any(env.terminations.values()):
                    break
                seen = env.observe(env.agent_selection)
                env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
                game += [seen["observation"].tobytes(), env.snapshot(), str(env.rewards), str(env.infos)]
            trace.append(game)
        traces.append(trace)
        assert trace[0] == trace[2] != trace[1]
    assert traces[0] == traces[1]


@pytest.mark.parametrize("rules", ["whitnack", "six-pairs", "mini"])
def test_reset_deals_the_deck_of_the_seed(rules):
    rule_set = load_rules(rules)
    env = hand_and_foot_v0.env(rules=rules)
    env2 = hand_and_foot_v0.env(rules=rules, episode="deal", deal=2)
    for seed in (0, 1, 12345, 2**63 - 1):
        for deal, one in ((1, env), (2, env2)):
            one.reset(seed=seed)
            deck = deck_for(rule_set, seed, deal)
            _, hands, feet, rest = dealt_order(one.position(), rule_set.players)
            size, foot_size = rule_set.hand_size, rule_set.foot_size
            start = rule_set.players * size
            for i in range(rule_set.players):
                # Red 3s of the hands are laid and replaced, so the rest of the hand is compared.
                dealt = deck[i * size : (i + 1) * size].replace("r", "")
                assert all(hands[i].count(card) >= dealt.count(card) for card in KIND_CHARS)
                assert sorted(feet[i]) == sorted(deck[start + i * foot_size : start + (i + 1) * foot_size])
            end = start + rule_set.players * foot_size
            assert rest[0] == deck[end] and deck[end + 1 :].endswith(rest[1:])


def test_the_first_dealer_rotates_from_a_drawn_seat():
    vec = VectorGame(400, "whitnack", 0, autoreset="DISABLED")
    vec.reset(game_seeds=range(400))
    first = vec.games["dealer"].copy()
    assert (vec.seats == (first + 1) % 4).all()
    for deal in (2, 3, 4):
        single = VectorGame(400, "whitnack", 0, episode="deal", deal=deal, autoreset="DISABLED")
        single.reset(game_seeds=range(400))
        assert (single.games["dealer"] == (first + deal - 1) % 4).all()


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_first_dealers_are_spread(players):
    rules = {2: "two-player", 3: "three-player", 4: "whitnack", 5: "five-player", 6: "six-pairs"}[players]
    vec = VectorGame(NUM_SEEDS, rules, 0, autoreset="DISABLED", observations=False)
    vec.reset(game_seeds=range(NUM_SEEDS))
    seen = np.bincount(vec.games["dealer"], minlength=players)
    assert_fair(seen, np.full(players, NUM_SEEDS / players))


def assert_fair(seen: np.ndarray, expected: np.ndarray) -> None:
    """A chi-square test that a fair shuffle fails once in 100,000 times."""
    statistic = ((seen - expected) ** 2 / expected).sum()
    assert statistic < chi2.ppf(1 - 1e-5, len(seen) - 1), (statistic, seen.tolist())


def test_no_position_of_the_deck_is_constant(decks):
    for position in range(decks.shape[1]):
        assert len(set(decks[:, position].tolist())) > 8, position
    assert len({deck.tobytes() for deck in decks}) == NUM_SEEDS


def test_positions_of_the_deck_hold_each_kind_as_often_as_a_fair_shuffle(decks):
    share = np.array(CARDS_PER_DECK) / 54
    upcard = 4 * 26
    for position in (0, 1, 12, 13, 51, 52, 103, 105, 106, 150, 200, 268, 269):
        assert_fair(np.bincount(decks[:, position], minlength=15), NUM_SEEDS * share)
    # Of the upcard, wilds and red 3s are buried: it is a fair card of the others.
    natural = [kind for kind, character in enumerate(KIND_CHARS) if character not in "2*r"]
    seen = np.bincount(decks[:, upcard], minlength=15)
    assert seen.sum() == seen[natural].sum()
    assert_fair(seen[natural], NUM_SEEDS * share[natural] / share[natural].sum())


def test_neighbours_in_the_deck_are_independent(decks):
    # How often two positions hold the same kind: 2,000 seeds x some pairs against drawing without replacement.
    per_kind = 5 * np.array(CARDS_PER_DECK)
    chance = (per_kind * (per_kind - 1)).sum() / (270 * 269)
    for offset in (1, 2, 4, 13, 26):
        pairs = [(i, i + offset) for i in range(0, 270 - offset, 7) if 104 not in (i, i + offset)]
        same = np.mean([(decks[:, a] == decks[:, b]).mean() for a, b in pairs])
        deviation = np.sqrt(chance * (1 - chance) / (NUM_SEEDS * len(pairs)))
        assert abs(same - chance) < 5 * deviation, offset


def test_decks_of_seeds_and_deals_differ():
    for rules in ("whitnack", "mini"):
        found = [deck_for(rules, seed, deal) for seed in range(50) for deal in (1, 2, 3, 4, 5)]
        assert len(set(found)) == len(found)
        assert all(sorted(deck) == sorted(found[0]) for deck in found)
        assert deck_for(rules, 3, 2) == deck_for(rules, 3, 2)


def test_a_deal_is_the_same_whoever_plays():
    # Three ways of playing the deals before; the later deals are dealt alike, in VectorGame and in the environment.
    rules = load_rules("whitnack", deals=3)
    seeds = [3, 4, 5, 6]
    starts: dict[tuple[int, int], set[bytes]] = {}
    fields = ("hands", "feet", "stock", "discard", "dealer", "to_move", "seed", "red3")

    def note(slot: int, g: np.void) -> None:
        starts.setdefault((slot, int(g["deal"])), set()).add(b"".join(g[name].tobytes() for name in fields))

    for driver in ("random", "non_discard", "greedy"):
        vec = VectorGame(4, rules, 0, autoreset="DISABLED")
        vec.reset(game_seeds=seeds)
        for slot in range(4):
            note(slot, vec.games[slot])
        for _ in play(vec, Driver(driver, 1)):
            for slot in np.flatnonzero(vec.deal_ended & ~vec.terminated):
                note(slot, vec.games[slot])
    for deal in (1, 2, 3):
        vec = VectorGame(4, rules, 0, autoreset="DISABLED", episode="deal", deal=deal)
        vec.reset(game_seeds=seeds)
        for slot in range(4):
            note(slot, vec.games[slot])
    assert len(starts) == 12 and all(len(found) == 1 for found in starts.values())
    assert len(set.union(*starts.values())) == 12


def test_no_global_random_state_is_used():
    np.random.seed(0)
    before = np.random.get_state()[1].tobytes()
    env = hand_and_foot_v0.env(rules="mini")
    env.reset(seed=1)
    first = env.snapshot()
    assert np.random.get_state()[1].tobytes() == before
    np.random.seed(1)
    env.reset(seed=1)
    assert env.snapshot() == first

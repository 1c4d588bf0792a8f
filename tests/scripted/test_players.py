"""Scripted players are legal under every rule set, use nothing hidden, and fit the policy protocol."""

import os
import subprocess
import sys

import numpy as np
import pytest

from agents.policy import PolicyBatch, SeatViews
from agents.registry import UnknownPolicyError, load
from agents.scripted import GreedyPolicy, RandomPolicy, play_deals
from agents.scripted.beam.search import BeamWork, make_work
from agents.scripted.dispatch import BEAM, EXPERT, GREEDY, RANDOM, choose_batch, work_for
from agents.scripted.playout import Table
from hf_env.engine.cards import JOKER, RED3
from hf_env.engine.redact import redact_rows
from hf_env.engine.state import GAME_DTYPE
from hf_env.rules import list_rules, load_rules
from tests.rules.strategies import random_rule_set

PRESETS = list_rules()
# Players that choose, with the number of deals that each is tried with under a preset.
CHOOSERS = {"greedy": 200, "expert": 200, "beam": 40}
HIDDEN_WHOLLY = ("feet", "stock", "stock_next", "seed", "potential")


def mixed_table(rules, num_deals=100, seed=9):
    """Deals whose states are reached by greedy and random seats in turn, and by greedy with random moves."""
    players = [("greedy", "greedy", "random")[seat % 3] for seat in range(rules.players)]
    return Table(rules, players, num_deals, seed, noise=0.1)


def states(table, step=1):
    """Live rows of a table, decision by decision: (games, seats, masks) copies."""
    made = 0
    while True:
        masks, seats = table.masks()
        live = np.flatnonzero(masks.any(1))
        if not len(live):
            return
        yield table.games[live], seats[live], masks[live]
        made += step
        table.play(made)


def choices(number, games, rules, seats, masks, keys):
    actions = np.empty(len(games), np.int32)
    choose_batch(np.int64(number), games, rules, seats, masks, keys, actions, work_for([number]))
    return actions


def redacted(games, rules, seats):
    out = np.empty(len(games), GAME_DTYPE)
    redact_rows(games, rules, np.arange(len(games)), seats, out)
    return out


@pytest.mark.parametrize("preset", PRESETS)
def test_every_choice_is_legal_under_every_preset(preset):
    # A table raises on an illegal choice.
    rules = load_rules(preset)
    for name, num_deals in CHOOSERS.items():
        for noise in (0.0, 0.2):
            result = play_deals(rules, [name] * rules.players, num_deals, seed=3, noise=noise)
            assert (result["end_reason"] > 0).all()
    play_deals(rules, ["random"] * rules.players, 20, seed=3)


def test_every_choice_is_legal_under_random_rule_sets():
    for seed in range(150):
        rules = random_rule_set(seed)
        for noise in (0.0, 0.3):
            for name in CHOOSERS:
                play_deals(rules, [name] * rules.players, 5, seed=seed, noise=noise)


@pytest.mark.parametrize("preset", ["whitnack", "family", "bicycle", "mini", "six-threes", "three-player"])
def test_the_redacted_game_gives_the_same_action(preset):
    table = mixed_table(load_rules(preset))
    count = 0
    for games, seats, masks in states(table):
        keys = np.arange(count, count + len(games)).astype(np.uint64)
        views = redacted(games, table.rules, seats)
        for number in (RANDOM, GREEDY, EXPERT, BEAM):
            seen = choices(number, views, table.rules, seats, masks, keys)
            np.testing.assert_array_equal(seen, choices(number, games, table.rules, seats, masks, keys))
        count += len(games)
    assert count > 3000


def test_redaction_hides_what_is_hidden_and_nothing_else():
    table = mixed_table(load_rules("whitnack"), 50)
    changed = {*HIDDEN_WHOLLY, "hands", "stock_end"}
    for games, seats, _ in states(table, step=7):
        games["potential"] = 5
        views = redacted(games, table.rules, seats)
        rows = np.arange(len(games))
        for name in HIDDEN_WHOLLY:
            assert not views[name].any(), name
        np.testing.assert_array_equal(views["stock_end"], games["stock_end"] - games["stock_next"])
        np.testing.assert_array_equal(views["hands"][rows, seats], games["hands"][rows, seats])
        views["hands"][rows, seats] = 0
        assert not views["hands"].any()
        for name in GAME_DTYPE.names:
            if name not in changed:
                np.testing.assert_array_equal(views[name], games[name], err_msg=name)


@pytest.mark.parametrize("preset", ["whitnack", "family", "bicycle"])
def test_no_hidden_card_moves_the_beam(preset):
    """Its plans lay cards on a copy; where they empty the hand, the engine would look at the foot, then at the stock."""
    table = mixed_table(load_rules(preset), 60)
    near_the_foot = 0
    for games, seats, masks in states(table):
        rows = np.arange(len(games))
        keys = np.zeros(len(games), np.uint64)
        other = games.copy()
        # Red 3s, which would be replaced, in every foot not picked up, and jokers all through the stock.
        other["feet"] = 0
        other["feet"][:, :, RED3] = games["foot_sizes"]
        other["stock"] = JOKER
        near_the_foot += int(((games["in_foot"][rows, seats] == 0) & (games["hand_sizes"][rows, seats] <= 4)).sum())
        np.testing.assert_array_equal(
            choices(BEAM, other, table.rules, seats, masks, keys), choices(BEAM, games, table.rules, seats, masks, keys)
        )
    assert near_the_foot > 100


def test_the_buffers_of_the_beam_carry_nothing_over():
    table = mixed_table(load_rules("family"), 40)
    table.play(60)
    masks, seats = table.masks()
    live = np.flatnonzero(masks.any(1))
    games, seats, masks = table.games[live], seats[live], masks[live]
    keys = np.zeros(len(live), np.uint64)
    together = choices(BEAM, games, table.rules, seats, masks, keys)
    for i in range(len(live)):
        work = make_work()
        fill_with_rubbish(work)
        alone = np.empty(1, np.int32)
        choose_batch(np.int64(BEAM), games[i : i + 1], table.rules, seats[i : i + 1], masks[i : i + 1], keys[:1], alone, work)
        assert alone[0] == together[i]


def fill_with_rubbish(work: BeamWork) -> None:
    for array in (work.nodes, work.firsts, work.keys, work.values, *work.rules):
        array.view(np.uint8)[:] = 1


def test_a_player_without_its_buffers_makes_no_choice():
    table = mixed_table(load_rules("mini"), 3)
    masks, seats = table.masks()
    actions = np.zeros(3, np.int32)
    choose_batch(np.int64(BEAM), table.games, table.rules, seats, masks, np.zeros(3, np.uint64), actions)
    assert (actions == -1).all()


def test_random_is_uniform_over_the_legal_actions():
    masks = np.zeros((30_000, 127), np.int8)
    legal = [0, 5, 60, 126]
    masks[:, legal] = 1
    games = np.zeros(len(masks), GAME_DTYPE)
    rules = load_rules("whitnack").to_record()
    keys = np.arange(len(masks)).astype(np.uint64)
    actions = choices(RANDOM, games, rules, np.zeros(len(masks), np.int32), masks, keys)
    counts = np.bincount(actions, minlength=127)[legal]
    assert counts.sum() == len(masks)
    assert ((counts - 7500) ** 2 / 7500).sum() < 16.3  # chi square with 3 degrees, one in a thousand


def test_a_deal_depends_on_its_number_alone():
    rules = load_rules("whitnack")
    many = play_deals(rules, ["greedy", "random"] * 2, 40, seed=6, noise=0.3)
    few = play_deals(rules, ["greedy", "random"] * 2, 10, seed=6, noise=0.3)
    for name, values in few.items():
        np.testing.assert_array_equal(values, many[name][:10])
    other = play_deals(rules, ["greedy", "random"] * 2, 10, seed=7, noise=0.3)
    assert (other["scores"] != few["scores"]).any()
    assert (play_deals(rules, ["greedy"] * 4, 5, deal=3)["deal"] == 3).all()


def test_policies_read_the_views_only():
    table = mixed_table(load_rules("whitnack"), 30)
    table.play(40)
    masks, seats = table.masks()
    live = np.flatnonzero(masks.any(1))
    games, seats, masks = table.games[live], seats[live], masks[live]
    keys = np.arange(len(live)).astype(np.uint64)
    batch = PolicyBatch(
        observations=np.zeros((len(live), 1), np.int16),
        action_masks=masks,
        games=live,
        seats=seats,
        game_starts=np.zeros(len(live), bool),
        keys=keys,
        make_views=lambda: SeatViews(redacted(games, table.rules, seats), table.rules),
    )
    for policy, number in (
        (RandomPolicy(), RANDOM),
        (GreedyPolicy(), GREEDY),
        (load("greedy"), GREEDY),
        (load("expert"), EXPERT),
        (load("beam"), BEAM),
    ):
        np.testing.assert_array_equal(policy.act(batch), choices(number, games, table.rules, seats, masks, keys))


def test_names_and_wrong_uses():
    assert repr(load("random")) == "RandomPolicy()"
    assert repr(load("beam")) == "BeamPolicy()"
    with pytest.raises(UnknownPolicyError):
        load("greedy:speed=3")
    with pytest.raises(ValueError, match="3 players for 4 seats"):
        play_deals(load_rules("whitnack"), ["greedy"] * 3, 1)


SCRIPT = """
import sys
from agents.scripted import play_deals
from agents.scripted.playout import Table
from hf_env.rules import load_rules
result = [play_deals(load_rules(name), ["greedy", "random"] * n, 2, 5, 0.1) for name, n in (("whitnack", 2), ("mini", 1))]
print([r["scores"].tolist() + r["decisions"].tolist() for r in result])
result = play_deals(load_rules("mini"), ["beam", "greedy"], 2, 5, 0.1)
print(result["scores"].tolist(), result["decisions"].tolist())
table = Table(load_rules("whitnack"), ["beam", "greedy"] * 2, 2, 5)
table.play(60)
print(table.games["hands"].tolist(), table.games["table"].tolist(), "torch" in sys.modules)
"""


def test_compiled_and_interpreted_play_the_same_without_torch():
    outputs = [
        subprocess.run([sys.executable, "-c", SCRIPT], env=os.environ | changes, capture_output=True, text=True, check=True).stdout
        for changes in ({"NUMBA_DISABLE_JIT": "0"}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].rstrip().endswith("False")

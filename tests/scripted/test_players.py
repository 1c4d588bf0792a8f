"""Scripted players are legal under every rule set, use nothing hidden, and fit the policy protocol."""

import os
import subprocess
import sys

import numpy as np
import pytest

from agents.catalogue import UnknownPolicyError, load
from agents.policy import PolicyBatch, SeatViews
from agents.scripted import GreedyPolicy, RandomPolicy, play_deals
from agents.scripted.dispatch import GREEDY, RANDOM, choose_batch
from agents.scripted.playout import Table
from hf_env.engine.redact import redact_rows
from hf_env.engine.state import GAME_DTYPE
from hf_env.rules import list_rules, load_rules
from tests.rules.strategies import random_rule_set

PRESETS = list_rules()
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
    choose_batch(np.int64(number), games, rules, seats, masks, keys, actions)
    return actions


def redacted(games, rules, seats):
    out = np.empty(len(games), GAME_DTYPE)
    redact_rows(games, rules, np.arange(len(games)), seats, out)
    return out


@pytest.mark.parametrize("preset", PRESETS)
def test_every_choice_is_legal_under_every_preset(preset):
    # A table raises on an illegal choice.
    rules = load_rules(preset)
    for noise in (0.0, 0.2):
        result = play_deals(rules, ["greedy"] * rules.players, 200, seed=3, noise=noise)
        assert (result["end_reason"] > 0).all()
    play_deals(rules, ["random"] * rules.players, 20, seed=3)


def test_every_choice_is_legal_under_random_rule_sets():
    for seed in range(150):
        rules = random_rule_set(seed)
        for noise in (0.0, 0.3):
            play_deals(rules, ["greedy"] * rules.players, 5, seed=seed, noise=noise)


@pytest.mark.parametrize("preset", ["whitnack", "family", "bicycle", "mini", "six-threes", "three-player"])
def test_the_redacted_game_gives_the_same_action(preset):
    table = mixed_table(load_rules(preset))
    count = 0
    for games, seats, masks in states(table):
        keys = np.arange(count, count + len(games)).astype(np.uint64)
        views = redacted(games, table.rules, seats)
        for number in (RANDOM, GREEDY):
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
    for policy, number in ((RandomPolicy(), RANDOM), (GreedyPolicy(), GREEDY), (load("greedy"), GREEDY)):
        np.testing.assert_array_equal(policy.act(batch), choices(number, games, table.rules, seats, masks, keys))


def test_names_and_wrong_uses():
    assert repr(load("random")) == "RandomPolicy()"
    with pytest.raises(UnknownPolicyError):
        load("greedy:speed=3")
    with pytest.raises(ValueError, match="3 players for 4 seats"):
        play_deals(load_rules("whitnack"), ["greedy"] * 3, 1)


SCRIPT = """
import sys
from agents.scripted import play_deals
from hf_env.rules import load_rules
result = [play_deals(load_rules(name), ["greedy", "random"] * n, 2, 5, 0.1) for name, n in (("whitnack", 2), ("mini", 1))]
print([r["scores"].tolist() + r["decisions"].tolist() for r in result], "torch" in sys.modules)
"""


def test_compiled_and_interpreted_play_the_same_without_torch():
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env=os.environ | changes, capture_output=True, text=True, check=True
        ).stdout
        for changes in ({"NUMBA_DISABLE_JIT": "0"}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].rstrip().endswith("False")

"""How well `greedy` plays: the floors of the project, and habits that a sensible player has."""

import numpy as np
import pytest

from agents.scripted import play_deals
from agents.scripted.dispatch import GREEDY, choose_batch
from agents.scripted.playout import Table
from hf_env.engine.action_ids import DISCARD, DRAW, TAKE
from hf_env.engine.cards import BLACK3, JOKER, TWO
from hf_env.engine.state import NOT_YET
from hf_env.rules import load_rules

NUM_DEALS = 2000


def test_four_greedy_reach_the_floor_under_whitnack():
    result = play_deals(load_rules("whitnack"), ["greedy"] * 4, NUM_DEALS, seed=1)
    score = result["scores"].mean()
    share_out = (result["out_seat"] != NOT_YET).mean()
    print(f"\nfour greedy, whitnack, {NUM_DEALS} deals: {score:.0f} points a side and deal, {share_out:.1%} gone out")
    assert score >= 5500
    assert share_out >= 0.15


def test_greedy_beats_random_from_either_side():
    rules = load_rules("whitnack")
    first = play_deals(rules, ["greedy", "random"] * 2, NUM_DEALS // 2, seed=2)
    second = play_deals(rules, ["random", "greedy"] * 2, NUM_DEALS // 2, seed=2)
    np.testing.assert_array_equal(first["seeds"], second["seeds"])
    lead = (first["scores"] @ [1, -1] + second["scores"] @ [-1, 1]) / 2
    error = lead.std(ddof=1) / np.sqrt(len(lead))
    print(f"\ngreedy over random, whitnack, {NUM_DEALS} deals: {lead.mean():.0f} +- {1.96 * error:.0f} points a deal")
    assert lead.mean() >= 3000


@pytest.mark.parametrize(("preset", "floor"), [("whitnack", 200), ("bicycle", 100), ("family", 50)])
def test_beam_against_greedy(preset, floor):
    rules = load_rules(preset)
    first = play_deals(rules, ["beam", "greedy"] * 2, NUM_DEALS // 4, seed=3)
    second = play_deals(rules, ["greedy", "beam"] * 2, NUM_DEALS // 4, seed=3)
    lead = (first["scores"] @ [1, -1] + second["scores"] @ [-1, 1]) / 2
    error = lead.std(ddof=1) / np.sqrt(len(lead))
    print(f"\nbeam over greedy, {preset}, {len(lead)} duplicate deals: {lead.mean():.0f} +- {1.96 * error:.0f} points a deal")
    assert lead.mean() >= floor


def test_habits_of_greedy():
    table = Table(load_rules("whitnack"), ["greedy"] * 4, 200, seed=4)
    choices = []
    made = 0
    while True:
        masks, seats = table.masks()
        live = np.flatnonzero(masks.any(1))
        if not len(live):
            break
        actions = np.empty(len(live), np.int32)
        games, keys = table.games[live], np.zeros(len(live), np.uint64)
        choose_batch(np.int64(GREEDY), games, table.rules, seats[live], masks[live], keys, actions)
        choices.append(np.column_stack([actions, masks[live][:, TAKE], masks[live][:, DISCARD + BLACK3]]))
        made += 1
        table.play(made)
    actions, can_take, can_throw_black3 = np.concatenate(choices).T
    draws = actions[can_take == 1]
    discards = actions[actions >= DISCARD] - DISCARD
    throws_with_black3 = actions[(can_throw_black3 == 1) & (actions >= DISCARD)] - DISCARD
    assert np.mean(draws != DRAW) > 0.9
    assert np.mean((discards == TWO) | (discards == JOKER)) < 0.01
    assert np.mean(throws_with_black3 == BLACK3) > 0.9

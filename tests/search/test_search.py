"""The player `search`: legal, blind to what its seat may not know, the same whatever its batch, and stronger."""

import subprocess
import sys

import numpy as np
import pytest

import agents
from agents.registry import UnknownPolicyError
from agents.scripted import GreedyPolicy
from agents.scripted.table import PLAYER_IDS
from agents.search import SearchPolicy
from hf_env import load_rules
from hf_env.rules import list_rules
from tests.observation.shuffling import shuffled_world
from tests.rules.strategies import random_rule_set
from tests.search.decisions import batch_of, reached, row_of

FEW = {"player": "greedy", "rollouts": 24}


def same(a, b):
    """Whether two results agree in everything, counts and means too."""
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(vars(a).values(), vars(b).values(), strict=True))


@pytest.mark.parametrize("preset", list_rules())
def test_every_choice_is_legal_and_the_budget_is_kept_under_every_preset(preset):
    rules = load_rules(preset)
    batch = batch_of(reached(rules, 40, seed=3), rules)
    for depth in (0, 8):
        result = SearchPolicy(**FEW, depth=depth).search(batch)
        rows = np.arange(len(batch))
        assert (batch.action_masks[rows, result.actions] == 1).all()
        assert (result.counts[batch.action_masks == 0] == 0).all()
        choices = batch.action_masks.sum(1)
        totals = result.counts.sum(1)
        assert (totals[choices == 1] == 0).all() and (totals[choices > 1] <= 24).all() and (totals[choices > 1] >= 12).all()
        assert np.isnan(result.means[result.counts == 0]).all() and not np.isnan(result.means[result.counts > 0]).any()


def test_every_choice_is_legal_under_random_rule_sets():
    for seed in range(40):
        rules = random_rule_set(seed)
        batch = batch_of(reached(rules, 6, seed=seed), rules)
        actions = SearchPolicy(**FEW).act(batch)
        assert (batch.action_masks[np.arange(len(batch)), actions] == 1).all()


@pytest.mark.parametrize("player", PLAYER_IDS)
def test_every_scripted_player_can_play_the_playouts(player):
    rules = load_rules("mini")
    batch = batch_of(reached(rules, 12, seed=6), rules)
    result = SearchPolicy(rollouts=8, player=player).search(batch)
    assert (batch.action_masks[np.arange(len(batch)), result.actions] == 1).all()
    assert (result.counts.sum(1)[batch.action_masks.sum(1) > 1] > 0).all()


@pytest.mark.parametrize("preset", ["whitnack", "family", "mini", "six-threes"])
def test_games_that_look_the_same_get_the_same_move_and_counts(preset):
    rules = load_rules(preset)
    games = reached(rules, 60, seed=4)
    rng = np.random.default_rng(0)
    others = np.concatenate([shuffled_world(g, rules, int(g["to_move"]), rng) for g in games])
    hidden = [one["stock"].tobytes() + one["hands"].tobytes() + one["feet"].tobytes() for one in (games, others)]
    assert hidden[0] != hidden[1] and (others["seed"] != games["seed"]).all()
    policy = SearchPolicy(**FEW)
    first, second = policy.search(batch_of(games, rules)), policy.search(batch_of(others, rules))
    assert same(first, second)
    # And another key gives other worlds, so that the comparison is not of constants.
    other_keys = policy.search(batch_of(games, rules, np.arange(1000, 1000 + len(games), dtype=np.uint64)))
    assert not np.array_equal(other_keys.means, first.means, equal_nan=True)


def test_batching_and_threads_change_nothing():
    rules = load_rules("whitnack")
    batch = batch_of(reached(rules, 30, seed=5), rules)
    together = SearchPolicy(**FEW).search(batch)
    assert same(together, SearchPolicy(**FEW, threads=3).search(batch))
    for row in (0, 7, 29):
        alone = SearchPolicy(**FEW).search(row_of(batch, row))
        assert alone.actions[0] == together.actions[row]
        assert np.array_equal(alone.counts[0], together.counts[row])
        assert np.array_equal(alone.means[0], together.means[row], equal_nan=True)


def test_the_base_is_the_players_own_choice_and_stays_where_nothing_beats_it():
    rules = load_rules("whitnack")
    batch = batch_of(reached(rules, 60, seed=6), rules)
    own = GreedyPolicy().act(batch)
    result = SearchPolicy(**FEW).search(batch)
    np.testing.assert_array_equal(result.base, own)
    np.testing.assert_array_equal(SearchPolicy(**FEW, guard=1e9).act(batch), own)
    assert (result.actions != own).any()
    searched = result.counts.sum(1) > 0
    assert (result.counts[np.arange(len(batch)), result.base] == result.counts.max(1))[searched].all()


def test_evaluate_gives_shares_of_playouts_and_values_in_rewards():
    rules = load_rules("whitnack")
    batch = batch_of(reached(rules, 40, seed=7), rules)
    policy = SearchPolicy(**FEW)
    probabilities, values = policy.evaluate(batch)
    assert probabilities.dtype == values.dtype == np.float32
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-6)
    assert (probabilities[batch.action_masks == 0] == 0).all()
    result = policy.search(batch)
    rows = np.flatnonzero(result.counts.sum(1))
    np.testing.assert_allclose(values[rows], result.means[rows, result.actions[rows]] / 1000, rtol=1e-6)
    forced = batch.action_masks.sum(1) == 1
    assert forced.any() and np.isfinite(values[forced]).all()
    assert (np.abs(values) < 20).all() and values.std() > 0.1


def test_values_tell_who_is_ahead():
    # Points on the table are a part of the deal's result: over many decisions the values follow them.
    rules = load_rules("whitnack")
    games = reached(rules, 200, seed=9, noise=0.02, players=("greedy",))
    batch = batch_of(games, rules)
    _, values = SearchPolicy(rollouts=16, player="greedy").evaluate(batch)
    side = games["to_move"] % 2
    rows = np.arange(len(games))
    lead = games["table_points"][rows, side] - games["table_points"][rows, 1 - side]
    books = games["book_counts"] @ np.array([500, 300, 1500])
    lead = lead + books[rows, side] - books[rows, 1 - side]
    assert np.corrcoef(lead, values)[0, 1] > 0.35


def test_a_budget_in_time_is_roughly_kept():
    rules = load_rules("whitnack")
    batch = batch_of(reached(rules, 30, seed=10), rules)
    short, long = (SearchPolicy(player="greedy", ms=ms).search(batch).counts.sum() for ms in (5, 50))
    assert long > 3 * short > 0


def test_specs_and_their_mistakes():
    policy = agents.load("search:rollouts=50,player=greedy,depth=0,candidates=5,guard=1.5,threads=2")
    assert (policy.rollouts, policy.player, policy.depth, policy.candidates, policy.guard, policy.threads) == (50, "greedy", 0, 5, 1.5, 2)
    assert policy.name == "search:rollouts=50,player=greedy"
    assert agents.load("search:ms=20").ms == 20
    assert "search" in agents.registry.known_policies()
    for spec, words in {
        "search:rollouts=many": "rollouts=many must be a whole number",
        "search:rollouts=1": "rollouts=1 must be 2 or more",
        "search:ms=0": "ms=0.0 must be above 0",
        "search:ms=5,rollouts=5": "not both",
        "search:player=nobody": "player=nobody is not known; players are random, greedy",
        "search:speed=3": "no option 'speed'; it has rollouts",
        "search:guard=nan": "guard=nan must be 0 or more",
    }.items():
        with pytest.raises(UnknownPolicyError, match=words):
            agents.load(spec)
    with pytest.raises(KeyError):
        SearchPolicy(player="nobody")


@pytest.mark.parametrize(
    ("spec", "candidates"),
    [("search:rollouts=499", 8), ("search:rollouts=500", 16), ("search:ms=5", 8), ("search:rollouts=800,candidates=4", 4)],
)
def test_a_large_budget_compares_more_actions(spec, candidates):
    assert agents.load(spec).candidates == candidates


def test_without_torch():
    script = "import agents, sys; agents.load('search:player=greedy'); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.long
def test_search_with_greedy_beats_greedy():
    from training.evaluation import evaluate

    result = evaluate("search:rollouts=50,player=greedy", "greedy", deals=240, seed=77)
    print(f"\nsearch:rollouts=50,player=greedy over greedy: {result.difference}")
    assert result.difference.low > 0

"""``agents.analyse``: a decision as a policy sees it."""

import numpy as np
import pytest

from agents import analyse, load
from agents.policy import player_seed
from hf_env import ACTIONS, hand_and_foot_v0
from hf_env.explanations import IT_IS_LEGAL


@pytest.fixture
def env():
    table = hand_and_foot_v0.env(rules="mini")
    table.reset(seed=3)
    table.step(ACTIONS.parse("draw"))
    return table


def check(analysis, env):
    """What holds for every policy."""
    mask = env.decision().action_masks[0]
    assert {move.label for move in analysis.legal} == set(ACTIONS.legal(mask))
    assert sorted(move.action for move in analysis.legal + analysis.illegal) == list(range(len(ACTIONS)))
    assert all(move.label == ACTIONS.label(move.action) for move in analysis.legal + analysis.illegal)
    assert all(move.reason == env.why_illegal(move.action) != IT_IS_LEGAL for move in analysis.illegal)
    assert all(move.probability == 0 and move.points is None for move in analysis.illegal)
    assert sum(move.probability for move in analysis.legal) == pytest.approx(1, abs=1e-5)
    probabilities = [move.probability for move in analysis.legal]
    assert probabilities == sorted(probabilities, reverse=True)
    assert analysis.chosen in {move.label for move in analysis.legal}
    assert analysis.seat == env.possible_agents.index(env.agent_selection)


def test_a_scripted_player_plays_its_choice(env):
    before = env.snapshot()
    found = analyse("greedy", env)
    check(found, env)
    assert env.snapshot() == before, "nothing is played"
    assert found.policy == "greedy" and found.points is None
    assert found.chosen == ACTIONS.label(load("greedy").act(env.decision())[0]) == found.legal[0].label
    assert [move.probability for move in found.legal] == [1.0] + [0.0] * (len(found.legal) - 1)
    assert all(move.points is None for move in found.legal)
    text = str(found).splitlines()
    assert text[0] == f"greedy, seat {found.seat}: {found.chosen}" and text[2].split() == [*found.chosen.split(), "100.0%"]
    assert len(text) == len(found.legal) + 2


def test_search_tells_the_points_of_the_moves_that_it_tried(env):
    search = load("search:rollouts=60,player=greedy,depth=0")
    found = analyse(search, env)
    check(found, env)
    result = search.search(env.decision(), forced_too=True)
    tried = {move.label: move.points for move in found.legal if move.points is not None}
    assert len(tried) > 1
    assert tried == {ACTIONS.label(action): result.means[0, action] for action in np.flatnonzero(np.isfinite(result.means[0]))}
    assert found.points == pytest.approx(tried[found.chosen], abs=0.01)
    assert f"expecting {found.points:+,.0f} points" in str(found)


def test_the_seed_is_the_chance_of_the_policy(env):
    chosen = {analyse("random", env, seed=seed).chosen for seed in range(20)}
    assert len(chosen) > 1
    assert analyse("random", env, seed=4) == analyse("random", env, seed=4)


class TwoThirds:
    """Knows its table, and plays the first legal action in two cases of three."""

    name = "two thirds"

    def start(self, num_games, rules, seed):
        self.table = (num_games, rules.name, seed)

    def act(self, batch):
        return batch.action_masks.argmax(1)

    def evaluate(self, batch):
        probabilities = np.zeros(batch.action_masks.shape, np.float32)
        first, second = np.flatnonzero(batch.action_masks[0])[:2]
        probabilities[0, first], probabilities[0, second] = 2 / 3, 1 / 3
        return probabilities, np.full(len(batch), 0.25, np.float32)


def test_a_policy_of_ones_own_tells_probabilities_and_a_value(env):
    policy = TwoThirds()
    found = analyse(policy, env, seed=9)
    check(found, env)
    assert policy.table == (1, "mini", player_seed(9, int(env.unwrapped.decision().seats[0]))) and found.policy == "two thirds"
    assert found.points == 250.0
    assert [round(move.probability, 3) for move in found.legal[:3]] == [0.667, 0.333, 0.0]
    assert str(found).splitlines()[0].endswith("expecting +250 points")


def test_nothing_to_analyse(env):
    greedy = load("greedy")
    while not env.terminations[env.agent_selection]:
        env.step(greedy.act(env.decision())[0])
    with pytest.raises(RuntimeError, match="over"):
        analyse("greedy", env)

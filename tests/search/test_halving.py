"""Sequential halving: the budget is kept, comparisons are paired, and the guard guards."""

import numpy as np
import pytest

from agents.search.halving import CandidateReturns, num_rounds, sequential_halving


class Arms:
    """Candidates with given means; a world adds the same luck to all of them, and a little to each."""

    def __init__(self, means, common=1000.0, own=50.0):
        self.means, self.common, self.own = np.asarray(means, float), common, own
        self.worlds = []
        self.played = 0

    def __call__(self, indices, first, count):
        self.worlds.append((first, count, tuple(indices)))
        self.played += count * len(indices)
        returns = np.empty((count, len(indices)))
        for world in range(count):
            luck = np.random.default_rng([1, first + world]).normal()
            for place, k in enumerate(indices):
                own = np.random.default_rng([2, first + world, k]).normal()
                returns[world, place] = self.means[k] + self.common * luck + self.own * own
        return returns


@pytest.mark.parametrize("num", range(2, 17))
def test_the_budget_is_never_exceeded_and_nearly_used(num):
    for rollouts in (2 * num, 2 * num + 1, 5 * num, 200, 1000):
        arms, tally = Arms(np.zeros(num)), CandidateReturns(num)
        sequential_halving(tally, rollouts, arms)
        assert arms.played == tally.counts.sum() <= max(rollouts, 2 * num)
        assert arms.played > rollouts - 2 * len(tally.left) - num
        assert len(arms.worlds) == num_rounds(num)
        # Worlds follow each other, and the base meets all of them.
        assert [first for first, _, _ in arms.worlds] == np.cumsum([0] + [count for _, count, _ in arms.worlds])[:-1].tolist()
        assert tally.counts[0] == tally.num_worlds and all(indices[0] == 0 for _, _, indices in arms.worlds)


def test_the_best_candidate_is_found_through_common_luck():
    means = [0, -300, 60, 20, -100, 40, -20, 90]
    tally, arms = CandidateReturns(8), Arms(means, own=20.0)
    sequential_halving(tally, 400, arms)
    assert tally.choice(1.0) == 7
    assert tally.counts[7] == tally.counts.max() > 3 * tally.counts[1]
    assert np.isclose(tally.means()[7] - tally.means()[0], 90, atol=15)


def test_a_worse_or_doubtful_candidate_does_not_replace_the_base():
    tally = CandidateReturns(3)
    tally.add(np.array([[0.0, 10.0, -1.0], [0.0, -8.0, -1.0], [0.0, 5.0, -1.0]]))
    assert tally.choice(0.0) == 1  # ahead by 7 / 3 on the mean
    error = np.std([10.0, -8.0, 5.0], ddof=1) / np.sqrt(3)
    assert tally.choice(7 / 3 / error - 1e-9) == 1
    assert tally.choice(7 / 3 / error + 1e-9) == 0
    equal = CandidateReturns(2)
    equal.add(np.zeros((10, 2)))
    assert equal.choice(0.0) == 0


def test_one_world_says_nothing_of_the_error():
    tally = CandidateReturns(2)
    tally.add(np.array([[0.0, 1000.0]]))
    assert tally.choice(0.0) == 0


def test_halving_keeps_the_base_and_the_earlier_of_equals():
    tally = CandidateReturns(5)
    tally.add(np.array([[0.0, 5.0, 7.0, 7.0, 9.0]]))
    tally.halve()
    assert tally.left.tolist() == [0, 4]
    tally = CandidateReturns(6)
    tally.add(np.array([[0.0, 5.0, 7.0, 7.0, 9.0, 1.0]]))
    tally.halve()
    assert tally.left.tolist() == [0, 2, 4]

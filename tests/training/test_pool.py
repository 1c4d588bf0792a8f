"""Frozen selves: immutable, hashed, spread over the run, kept as long as a game needs them."""

import numpy as np
import pytest
import torch

from agents.neural import CheckpointError
from training.pool import LEARNER, Pool

from .helpers import make_learner


def test_members_do_not_change_with_the_learner():
    learner, collector = make_learner()
    member = collector.pool.add(learner.network, 0)
    before = member.digest
    learner.update(collector.collect(learner.network), 0.0)
    member.verify()
    assert collector.pool.add(learner.network, 1).digest != before
    assert not any(p.requires_grad for p in member.network.parameters())
    with torch.no_grad():
        member.network.policy_head.bias[0] += 1
    with pytest.raises(CheckpointError, match="has changed"):
        member.verify()


def test_the_pool_keeps_reaching_over_the_whole_run():
    learner, _ = make_learner()
    pool = Pool(4, 0.5, 8, 2, np.random.default_rng(0))
    for age in range(30):
        pool.add(learner.network, age)
        assert len(pool.candidates) <= 4
    ages = [pool.members[number].decisions for number in pool.candidates]
    assert ages == sorted(ages) and ages[0] == 0 and ages[-1] == 29
    assert max(np.diff(ages)) <= 22


@pytest.mark.parametrize("size", [1, 2])
def test_small_pools_keep_the_newest(size):
    learner, _ = make_learner()
    pool = Pool(size, 0.5, 8, 2, np.random.default_rng(0))
    for age in range(5):
        pool.add(learner.network, age)
    assert len(pool.candidates) == size
    assert pool.members[pool.candidates[-1]].decisions == 4


def test_members_in_play_are_kept_until_their_games_end():
    learner, _ = make_learner()
    pool = Pool(1, 1.0, 2, 2, np.random.default_rng(0))
    first = pool.add(learner.network, 0)
    pool.draw(np.arange(2))
    pool.add(learner.network, 1)
    assert first.number in pool.members and first.number not in pool.candidates
    pool.draw(np.arange(2))
    pool.release()
    assert first.number not in pool.members


def test_the_share_of_frozen_games_is_as_configured():
    learner, _ = make_learner()
    pool = Pool(3, 0.25, 4000, 3, np.random.default_rng(0))
    pool.draw(np.arange(4000))
    assert (pool.lineups == LEARNER).all()  # nobody to draw yet
    pool.add(learner.network, 0)
    pool.draw(np.arange(4000))
    frozen = pool.lineups != LEARNER
    assert (frozen.sum(1) <= 1).all()
    assert 0.22 < frozen.any(1).mean() < 0.28
    assert (frozen.sum(0) > 250).all()  # each of the three sides is drawn

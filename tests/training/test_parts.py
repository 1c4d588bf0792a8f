"""Parts of rows: they cover everything, add up to the whole, and come out the same on any number of threads."""

import threading

import numpy as np
import pytest
import torch

from agents.neural import NetworkConfig
from tests.training.helpers import make_learner, small_config
from training.config import TrainConfig
from training.learning.ppo import Totals
from training.learning.shards import Parts
from training.trainer import Trainer, make_games


@pytest.mark.parametrize("number", [1, 2, 3, 7])
@pytest.mark.parametrize("num_rows", [1, 127, 128, 1000])
def test_parts_cover_all_rows_in_order(number, num_rows):
    parts = Parts(number, threads=1).cut(num_rows)
    assert np.array_equal(np.concatenate([np.arange(num_rows)[part] for part in parts]), np.arange(num_rows))
    assert all(part.stop > part.start for part in parts) and len(parts) <= number


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_results_come_in_order_from_as_many_threads(threads):
    names = set()

    def call(part):
        names.add(threading.get_ident())
        return part

    parts = Parts(5, threads)
    assert parts.run(call, 1000) == parts.cut(1000)
    assert len(names) <= threads


def test_an_error_in_a_part_is_raised():
    def call(part):
        if part.start:
            raise FloatingPointError("the second part")

    with pytest.raises(FloatingPointError, match="the second part"):
        Parts(2, 2).run(call, 1000)


def test_losses_and_gradients_of_parts_add_up_to_the_minibatchs():
    learner, collector = make_learner(small_config(num_games=64))
    rows = learner.prepare(collector.collect(learner.network))
    rows.teacher_actions[::3] = rows.actions[::3]
    whole = learner.losses(rows, 0.01, 0.5)
    whole.total.backward()
    expected = [parameter.grad.clone() for parameter in learner.network.parameters()]
    learner.network.zero_grad()
    totals = Totals.of(rows)
    cut = [slice(0, 300), slice(300, 301), slice(301, totals.rows)]
    losses = [learner.losses(rows.rows(part), 0.01, 0.5, totals) for part in cut]
    for name in ("total", "policy", "value", "entropy", "teacher", "approximate_kl", "clip_fraction"):
        assert sum(getattr(part, name).item() for part in losses) == pytest.approx(getattr(whole, name).item(), abs=1e-5), name
    sum(part.total for part in losses).backward()
    for parameter, gradient in zip(learner.network.parameters(), expected, strict=True):
        assert torch.allclose(parameter.grad, gradient, atol=1e-5)


def test_training_is_the_same_to_the_bit_on_one_thread_and_on_two(tmp_path):
    states = []
    for threads in (1, 2):
        config = TrainConfig(
            rules="mini", num_games=256, rollout_steps=8, minibatch_size=512, time_budget_seconds=None, decisions_budget=10**6,
            network=NetworkConfig(width=16, rank_width=8), threads=threads, num_evaluations=0, teacher="greedy",
        )  # fmt: skip
        folder = tmp_path / str(threads)
        folder.mkdir()
        trainer = Trainer(config, folder, make_games(config))
        for _ in range(4):
            trainer.iterate()
        assert trainer.learner.parts.threads == threads and len(trainer.learner.parts.cut(512)) == 2
        states.append((trainer.learner.network.state_dict(), trainer.games.games.copy()))
    (one, games), (two, other_games) = states
    assert games.tobytes() == other_games.tobytes()
    assert all(torch.equal(one[name], two[name]) for name in one)

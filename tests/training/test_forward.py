"""Precision and compilation: one way of running a network for playing and for learning, and nothing else changes."""

import shutil

import numpy as np
import pytest
import torch

from tests.training.helpers import small_config
from training.config import ConfigError
from training.learning.forward import Forward
from training.trainer import Trainer, make_games


def trained(folder, updates=3, **settings):
    """The trainer after some updates, and the largest distance of a first ratio from 1."""
    config = small_config(rules="mini", num_games=128, rollout_steps=8, num_evaluations=0, **settings)
    trainer = Trainer(config, folder, make_games(config))
    errors = [trainer.iterate()["learning/first_ratio_error"] for _ in range(updates)]
    return trainer, max(errors)


def test_float32_uncompiled_is_the_network_itself(tmp_path):
    trainer, error = trained(tmp_path)
    observations = torch.from_numpy(trainer.games.observations)
    for found, own in zip(
        trainer.learner.forward(trainer.learner.network, observations), trainer.learner.network(observations), strict=True
    ):
        assert torch.equal(found, own)
    assert error < 1e-5


def test_bfloat16_learns_what_it_played(tmp_path):
    trainer, error = trained(tmp_path, precision="bfloat16")
    assert error < 0.1
    observations = torch.from_numpy(trainer.games.observations)
    found, _ = trainer.learner.forward(trainer.learner.network, observations)
    exact, _ = trainer.learner.network(observations)
    assert found.dtype == torch.float32 and not torch.equal(found, exact) and torch.allclose(found, exact, atol=0.1)
    assert all(parameter.dtype == torch.float32 and parameter.isfinite().all() for parameter in trainer.learner.network.parameters())


@pytest.mark.long
@pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="torch.compile needs a C++ compiler on the CPU")
def test_compiled_learns_the_same_up_to_rounding(tmp_path):
    networks = []
    for number, compiled in enumerate((False, True)):
        folder = tmp_path / str(number)
        folder.mkdir()
        trainer, error = trained(folder, updates=1, compiled=compiled, critic="all_cards")
        assert error < 1e-4 and len(trainer.learner.forward._compiled) == 2 * compiled
        networks.append(trainer.learner.network)
    for one, other in zip(*(network.parameters() for network in networks), strict=True):
        assert torch.allclose(one, other, atol=1e-3)


def test_only_networks_that_learn_are_compiled(monkeypatch):
    compiled = []
    monkeypatch.setattr(torch, "compile", lambda network, dynamic: compiled.append(network) or (lambda rows: ("compiled", rows)))
    one, other = torch.nn.Identity(), (lambda rows: (rows, rows))
    forward = Forward(small_config(compiled=True), (one, None))
    assert compiled == [one]
    rows = torch.from_numpy(np.zeros(3, np.float32))
    assert forward(other, rows)[0] is rows


def test_an_unknown_precision_is_refused():
    with pytest.raises(ConfigError, match='precision = "float8" is not allowed: it must be one of "float32", "bfloat16"'):
        small_config(precision="float8")

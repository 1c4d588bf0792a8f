"""A teacher's choices are those of the scripted player, they are learned, and their weight falls to nothing."""

import numpy as np
import pytest

from agents.neural import NetworkConfig
from agents.scripted.players import ScriptedPolicy
from training.config import ConfigError, TrainConfig
from training.trainer import Trainer, make_games


def config(**changes):
    return TrainConfig(
        rules="mini", num_games=64, rollout_steps=16, minibatch_size=256, time_budget_seconds=None, decisions_budget=40_000,
        network=NetworkConfig(width=32, rank_width=16), processes=1, num_evaluations=0, pool_size=0, seed=1, learning_rate=1e-2,
    ).replace(**changes)  # fmt: skip


def test_the_weight_falls_to_nothing():
    shares = [config(teacher="expert", teacher_weight=2.0, teacher_end=0.5).teacher_share(at) for at in (0.0, 0.25, 0.5, 1.0)]
    assert shares == [2.0, 1.0, 0.0, 0.0]
    assert config().teacher_share(0.0) == 0.0 and config(teacher="expert", teacher_end=0.0).teacher_share(0.0) == 0.0


def test_the_choices_are_the_teachers(tmp_path):
    trainer = Trainer(config(teacher="greedy"), tmp_path, make_games(config()))
    games, collector = trainer.games, trainer.collector
    chosen, keys = {}, collector._keys
    step = games.step

    def recording_keys():
        made = keys()
        greedy = ScriptedPolicy("greedy").choose(games.games, games.rule_records, games.seats, games.action_masks, made)
        several = games.action_masks.sum(1) > 1
        chosen[len(chosen)] = greedy[several]
        return made

    collector._keys, games.step = recording_keys, step
    rollout = collector.collect(trainer.learner.network, with_teacher=True)
    assert np.array_equal(rollout.teacher_actions[: rollout.num_decisions], np.concatenate(list(chosen.values())))
    assert (rollout.teacher_actions[rollout.num_decisions :] == -1).all()
    assert (collector.collect(trainer.learner.network).teacher_actions == -1).all()


def test_the_choices_are_learned(tmp_path):
    taught = config(teacher="expert", teacher_weight=5.0, teacher_end=1.0)
    trainer = Trainer(taught, tmp_path, make_games(taught))
    losses = [trainer.iterate()["learning/teacher_loss"] for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]


def test_after_its_end_the_teacher_is_not_asked(tmp_path):
    taught = config(teacher="expert", teacher_end=0.2)
    trainer = Trainer(taught, tmp_path, make_games(taught))
    lines = []
    while trainer.progress < 0.5:
        lines.append((trainer.progress, trainer.iterate()))
    for progress, line in lines:
        assert (line["learning/teacher_weight"] > 0) == (line["learning/teacher_loss"] > 0) == (progress < 0.2)


def test_an_unknown_teacher_is_refused():
    with pytest.raises(ConfigError, match=r'^teacher = "oracle" is not allowed: it must be one of random, greedy, .*, or "none"$'):
        config(teacher="oracle")

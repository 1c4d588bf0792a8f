"""The critic that sees all cards: what it sees, that it alone sees it, and that it is part of the run."""

import numpy as np
import pytest
import torch

from agents.neural import NetworkConfig
from hf_env import VectorGame
from training.config import ConfigError, TrainConfig
from training.learning.critic import hidden_cards, num_hidden
from training.run.checkpoints import read_checkpoint
from training.trainer import Trainer, make_games


def config(**changes):
    return TrainConfig(
        rules="mini", num_games=64, rollout_steps=16, minibatch_size=256, time_budget_seconds=None, decisions_budget=40_000,
        network=NetworkConfig(width=32, rank_width=16), processes=1, num_evaluations=0, pool_size=0, critic="all_cards",
    ).replace(**changes)  # fmt: skip


@pytest.mark.parametrize("rules", ["whitnack", "three-player", "six-pairs"])
def test_it_sees_the_cards_of_all_and_with_them_the_stocks(rules):
    games = VectorGame(5, rules, seed=2)
    seats = np.arange(5) % games.num_seats
    hidden = hidden_cards(games.games, seats, games.num_seats)
    assert hidden.shape == (5, num_hidden(games.num_seats)) and hidden.dtype == np.int16
    for game, seat in enumerate(seats):
        hands, feet = np.split(hidden[game].reshape(-1, 15), [games.num_seats - 1])
        for offset in range(1, games.num_seats):
            assert np.array_equal(hands[offset - 1], games.games["hands"][game, (seat + offset) % games.num_seats])
        for offset in range(games.num_seats):
            assert np.array_equal(feet[offset], games.games["feet"][game, (seat + offset) % games.num_seats])
        unseen = games.observations[game, games.observation_layout["unseen"].slice] if games.seats[game] == seat else None
        if unseen is not None:
            stock = unseen - hands.sum(0) - feet.sum(0)
            assert (stock >= 0).all() and stock.sum() >= games.observations[game, games.observation_layout["stock_size"].slice][0]


def test_it_learns_more_of_the_return_and_the_policy_does_not_see_it(tmp_path):
    trainer = Trainer(config(), tmp_path, make_games(config()))
    lines = [trainer.iterate() for _ in range(25)]
    assert lines[-1]["learning/explained_variance"] > lines[0]["learning/explained_variance"]
    assert len(trainer.learner.network.observation_scale) == trainer.games.observation_width
    assert len(trainer.learner.critic.observation_scale) == trainer.games.observation_width + num_hidden(trainer.games.num_seats)


def test_changing_the_hidden_cards_changes_its_value_and_no_logit_of_the_policys_gradient(tmp_path):
    trainer = Trainer(config(), tmp_path, make_games(config()))
    for _ in range(3):
        trainer.iterate()
    learner = trainer.learner
    rollout = trainer.collector.collect(learner.network)
    rows = learner.prepare(rollout)
    other = learner.prepare(rollout)
    other.hidden[:] = other.hidden.flip(0)
    one, two = learner.losses(rows, 0.0), learner.losses(other, 0.0)
    assert not torch.equal(one.value, two.value)
    assert torch.equal(one.policy, two.policy) and torch.equal(one.ratio, two.ratio)


def test_a_resumed_run_is_the_run(tmp_path):
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    trainers = []
    for folder in (straight, stopped):
        folder.mkdir()
        trainers.append(Trainer(config(), folder, make_games(config())))
    for trainer in trainers:
        for _ in range(3):
            trainer.iterate()
    trainers[1].save()
    assert any(name.startswith("optimiser/critic.") for name in read_checkpoint(stopped)[1])
    again = Trainer(config(), stopped, make_games(config()))
    again.restore()
    for trainer in (trainers[0], again):
        trainer.iterate()
    for name in ("network", "critic"):
        one, other = (getattr(trainer.learner, name).state_dict() for trainer in (trainers[0], again))
        assert all(torch.equal(one[key], other[key]) for key in one), name


def test_an_unknown_critic_is_refused():
    with pytest.raises(ConfigError, match='critic = "oracle" is not allowed: it must be one of "seat", "all_cards"'):
        config(critic="oracle")


def test_hidden_cards_of_no_game_have_their_width():
    """With few games there are steps in which the learner decides in none."""
    games = VectorGame(4, "mini", 0)
    assert hidden_cards(games.games[:0], games.seats[:0], games.num_seats).shape == (0, num_hidden(games.num_seats))

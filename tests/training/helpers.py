"""A small learner on the stand-in game."""

import numpy as np
import torch

from agents.neural import NetworkConfig, build_network
from hf_env import VectorGame
from training.config import TrainConfig
from training.league.league import League
from training.league.lineups import make_lineup
from training.learning.ppo import PpoLearner
from training.learning.rollout import Collector

from .fake_vector_game import FakeVectorGame


def small_config(**changes):
    base = TrainConfig(
        num_games=32, rollout_steps=24, minibatch_size=256, time_budget_seconds=None, decisions_budget=40_000,
        processes=1, network=NetworkConfig("mlp", width=32, depth=2, ignored=()),
    )  # fmt: skip
    return base.replace(**changes)


def games_under_way(num_games, steps):
    """Tables of whitnack in the middle of random play."""
    games = VectorGame(num_games, "whitnack", 2)
    for _ in range(steps):
        games.step(games.random_actions())
    return games


def outspoken_network(games, **config):
    """A network as after some learning: biases and heads that say something."""
    network = build_network(
        NetworkConfig(**({"width": 24, "rank_width": 8} | config)), games.observation_scale, games.num_actions, 1, games.observation_layout
    )
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return network


def share(past):
    """Pools of which that share of the games has past selves on one side."""
    weights = {"learner": 1 - past, "past": past}
    return {"opponents": {name: weight for name, weight in weights.items() if weight}}


def make_league(config, num_games=8, num_seats=4, num_sides=2):
    """A league by a config."""
    lineup = make_lineup(config.seats, config.pools, num_seats, num_sides)
    return League(lineup, config.pool_size, config.hardness, num_games, num_sides, np.random.default_rng(0))


def make_learner(config=None, games=None):
    """A learner with a collector on fresh stand-in games: (learner, collector)."""
    config = config or small_config()
    games = games or FakeVectorGame(config.num_games, config.seed)
    network = build_network(config.network, games.observation_scale, games.num_actions, config.seed, games.observation_layout)
    league = make_league(config, games.num_games, games.num_seats, games.num_sides)
    learner = PpoLearner(network, config, np.random.default_rng(1))
    return learner, Collector(games, league, config)

"""A critic that sees all cards: an estimate of the return for training alone, beside the policy that sees its seat's.

Asymmetric actor-critic (Pinto et al. 2017, section III): the advantages, and so the policy's gradient, are less noisy, and
the policy still depends on its own observation alone. Hands, feet and with them the stock's kinds are known to it; the
order of the stock is not.
"""

from __future__ import annotations

import numpy as np
import torch

from agents.neural.base import NetworkConfig, PolicyValueNetwork
from agents.neural.factory import make_network
from agents.neural.ranks.network import split_columns
from hf_env.engine.cards import NUM_KINDS, NUM_NATURALS

# Of the hidden cards' counts, as of the own hand's.
_SCALE = 0.25


def num_hidden(num_seats: int) -> int:
    """Numbers a row of ``hidden_cards``."""
    return (2 * num_seats - 1) * NUM_KINDS


def hidden_cards(games: np.ndarray, seats: np.ndarray, num_seats: int) -> np.ndarray:
    """What seats do not see.

    Args:
        games: (N,) records.
        seats: (N,), who observes each.

    Returns:
        (N, ``num_hidden``) int16: cards of each kind in the hands of the other seats, the next one first, then in the feet of
        all seats, the own first.
    """
    rows = np.arange(len(games))[:, None]
    relative = (np.asarray(seats)[:, None] + np.arange(num_seats)) % num_seats
    hands, feet = games["hands"][rows, relative[:, 1:]], games["feet"][rows, relative]
    return np.concatenate([hands, feet], axis=1).astype(np.int16).reshape(len(games), num_hidden(num_seats))


def build_critic(
    config: NetworkConfig, observation_scale: np.ndarray, layout, num_actions: int, num_seats: int, seed: int
) -> PolicyValueNetwork:
    """A network like the policy's that also sees ``hidden_cards``, behind the observation; its logits are not used.

    Arguments as of ``agents.neural.build_network``.
    """
    width, hidden = len(observation_scale), num_hidden(num_seats)
    scale = np.concatenate([observation_scale, np.full(hidden, _SCALE, np.float32)])
    columns = None
    if config.kind == "ranks":
        of_ranks, others = split_columns(layout, observation_scale)
        more = width + np.arange(hidden).reshape(-1, NUM_KINDS)
        of_ranks = np.concatenate([of_ranks, more[:, :NUM_NATURALS].T], axis=1)
        columns = of_ranks, np.concatenate([others, more[:, NUM_NATURALS:].ravel()])
    network = make_network(config, torch.as_tensor(scale), num_actions, columns)
    network.initialise_from(seed)
    return network

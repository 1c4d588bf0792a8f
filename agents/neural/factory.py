"""Networks made from a config: of a kind by its name."""

from __future__ import annotations

import numpy as np
import torch

from agents.neural.base import NETWORKS, NetworkConfig, PolicyValueNetwork
from agents.neural.mlp import MlpNetwork
from agents.neural.ranks.network import RankNetwork, split_columns
from hf_env.observation.layout import ObservationLayout

# Of a file of tensors: what a stranger's file may have this process take up. A config's largest network is well below.
MAX_NETWORK_BYTES = 1 << 30


def build_network(
    config: NetworkConfig,
    observation_scale,
    num_actions: int,
    seed: int | None = None,
    layout: ObservationLayout | None = None,
) -> PolicyValueNetwork:
    """A fresh network.

    Args:
        observation_scale: (F,) float32; an int16 observation times it has roughly unit range.
        num_actions: A.
        seed: of the weights.
        layout: of the observation; only the kind "ranks" needs it.

    Raises:
        ValueError: For an unknown kind, or where the layout is needed and missing.
    """
    scale = np.asarray(observation_scale, np.float32)
    columns = None
    if config.kind == "ranks":
        if layout is None:
            raise ValueError("a network of kind 'ranks' is built for a layout of the observation, and none is given")
        columns = split_columns(layout, scale)
    network = make_network(config, torch.as_tensor(scale), num_actions, columns)
    if seed is not None:
        network.initialise_from(seed)
    return network


def make_network(config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int, columns) -> PolicyValueNetwork:
    """The network of a config, its weights as torch makes layers.

    Args:
        columns: of ``RankNetwork``.

    Raises:
        ValueError: For an unknown kind.
    """
    if config.kind == "ranks":
        return RankNetwork(config, observation_scale, num_actions, *columns)
    if config.kind == "mlp":
        return MlpNetwork(config, observation_scale, num_actions)
    raise ValueError(f"unknown network {config.kind!r}; known: {', '.join(NETWORKS)}")


def tensors_of(config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int, columns) -> dict[str, torch.Tensor]:
    """The tensors of the network that ``make_network`` would make: names, shapes and types, but no numbers and no memory.

    Arguments and errors as of ``make_network``.
    """
    with torch.device("meta"):
        return dict(make_network(config, observation_scale, num_actions, columns).state_dict())

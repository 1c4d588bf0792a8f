"""The networks from an observation to a policy and a value, one for all seats, and how they are made."""

from __future__ import annotations

import itertools
import math
from typing import cast

import numpy as np
import torch
from torch import nn

from agents.neural.base import NETWORKS, NetworkConfig, PolicyValueNetwork
from agents.neural.ranks.network import RankNetwork, split_columns
from hf_env.observation.layout import ObservationLayout


class MlpNetwork(PolicyValueNetwork):
    """A multilayer perceptron with a shared body, a policy head and a value head: every number is its own."""

    _columns: torch.Tensor | None

    def __init__(self, config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int) -> None:
        super().__init__(config, observation_scale, num_actions)
        # A number with scale 0 is not seen: its column is left out of the first layer.
        columns = torch.nonzero(self.observation_scale).squeeze(1)
        self.register_buffer("_columns", None if len(columns) == len(self.observation_scale) else columns, persistent=False)
        widths = [len(columns)] + [config.width] * config.depth
        self.hidden = nn.ModuleList(nn.Linear(i, o) for i, o in itertools.pairwise(widths))
        self.norms = nn.ModuleList(nn.LayerNorm(config.width) if config.layer_norm else nn.Identity() for _ in range(config.depth))
        self.policy_head = nn.Linear(config.width, num_actions)
        self.value_head = nn.Linear(config.width, 1)

    def _layers(self) -> list[nn.Linear]:
        return cast(list[nn.Linear], list(self.hidden))

    def initialise(self) -> None:
        """As of the base class."""
        for layer in self._layers():
            nn.init.orthogonal_(layer.weight, math.sqrt(2.0))
            nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy_head.weight, 0.01)
        nn.init.zeros_(self.policy_head.bias)
        nn.init.zeros_(self.value_head.weight)
        nn.init.zeros_(self.value_head.bias)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As of the base class."""
        # Scaling the first layer's weights costs less than scaling every observation.
        first, scale = self._layers()[0], self.observation_scale
        if self._columns is not None:
            observations, scale = observations.index_select(1, self._columns), scale[self._columns]
        x = nn.functional.linear(observations.float(), first.weight * scale, first.bias)
        x = torch.relu_(self.norms[0](x))
        for layer, norm in zip(list(self.hidden)[1:], list(self.norms)[1:], strict=True):
            x = torch.relu_(norm(layer(x)))
        return self.policy_head(x), self.value_head(x).squeeze(-1)


def build_network(
    config: NetworkConfig,
    observation_scale,
    num_actions: int,
    seed: int | None = None,
    layout: ObservationLayout | None = None,
) -> PolicyValueNetwork:
    """A fresh network.

    observation_scale: (F,) float32; an int16 observation times it has roughly unit range. num_actions: A.
    seed: of the weights. layout: of the observation; only the kind "ranks" needs it.
    Raises ValueError for an unknown kind, or where the layout is needed and missing.
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
    """The network of a config, its weights as torch makes layers. columns: of ``RankNetwork``. Raises ValueError."""
    if config.kind == "ranks":
        return RankNetwork(config, observation_scale, num_actions, *columns)
    if config.kind == "mlp":
        return MlpNetwork(config, observation_scale, num_actions)
    raise ValueError(f"unknown network {config.kind!r}; known: {', '.join(NETWORKS)}")

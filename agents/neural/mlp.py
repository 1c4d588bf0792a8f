"""The plain network: a multilayer perceptron over all numbers of the observation."""

from __future__ import annotations

import itertools
import math
from typing import cast

import torch
from torch import nn

from agents.neural.base import NetworkConfig, PolicyValueNetwork


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

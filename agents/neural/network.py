"""Networks from an observation to a policy and a value, one for all seats.

A network takes the engine's int16 observations as they are. Add another by writing a module with the same
``forward`` and naming it in ``NETWORKS``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True)
class NetworkConfig:
    """What a network is built from.

    kind: a name in ``NETWORKS``.
    width: units of a hidden layer. More fits more and costs time in proportion (squared beyond the first
        layer); 256 runs at several ten thousand decisions a second on two cores.
    depth: hidden layers. One is too shallow for books that need several counts together, a third slows down
        without a measured gain.
    layer_norm: normalise each hidden layer (Ba et al. 2016): steadier at high learning rates, a little slower.
    ignored: sections of the observation that the network does not see. The last discards of each seat are a third of
        all numbers, mostly 0, and tell little that the pile does not: without them a run learns from a sixth more
        decisions in the same time.
    """

    kind: str = "mlp"
    width: int = 256
    depth: int = 2
    layer_norm: bool = True
    ignored: tuple[str, ...] = ("recent_discards",)

    def __post_init__(self) -> None:
        # JSON knows no tuples.
        object.__setattr__(self, "ignored", tuple(self.ignored))


class MlpNetwork(nn.Module):
    """A multilayer perceptron with a shared body, a policy head and a value head.

    The value head works in normalised units: value = value_mean + value_std * head. The two buffers follow the
    value targets (see training/ppo.py), so that the scale of rewards leaves the network alone.
    """

    observation_scale: torch.Tensor
    value_mean: torch.Tensor
    value_std: torch.Tensor

    def __init__(self, config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int) -> None:
        super().__init__()
        self.config = config
        self.num_actions = num_actions
        self.register_buffer("observation_scale", observation_scale.to(torch.float32).clone())
        self.register_buffer("value_mean", torch.zeros((), dtype=torch.float64))
        self.register_buffer("value_std", torch.ones((), dtype=torch.float64))
        # A number with scale 0 is not seen: its column is left out of the first layer.
        columns = torch.nonzero(self.observation_scale).squeeze(1)
        self._columns = None if len(columns) == len(self.observation_scale) else columns
        widths = [len(columns)] + [config.width] * config.depth
        self.hidden = nn.ModuleList(nn.Linear(i, o) for i, o in itertools.pairwise(widths))
        self.norms = nn.ModuleList(nn.LayerNorm(config.width) if config.layer_norm else nn.Identity() for _ in range(config.depth))
        self.policy_head = nn.Linear(config.width, num_actions)
        self.value_head = nn.Linear(config.width, 1)

    def _layers(self) -> list[nn.Linear]:
        return cast(list[nn.Linear], list(self.hidden))

    def initialise(self) -> None:
        """Orthogonal layers; a nearly uniform first policy; first values of exactly 0, whatever the rewards' scale."""
        for layer in self._layers():
            nn.init.orthogonal_(layer.weight, math.sqrt(2.0))
            nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.policy_head.weight, 0.01)
        nn.init.zeros_(self.policy_head.bias)
        nn.init.zeros_(self.value_head.weight)
        nn.init.zeros_(self.value_head.bias)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (N, A) float32 and normalised values (N,) float32 of observations (N, F) int16."""
        # Scaling the first layer's weights costs less than scaling every observation.
        first, scale = self._layers()[0], self.observation_scale
        if self._columns is not None:
            columns = self._columns.to(scale.device)
            observations, scale = observations.index_select(1, columns), scale[columns]
        x = nn.functional.linear(observations.float(), first.weight * scale, first.bias)
        x = torch.relu_(self.norms[0](x))
        for layer, norm in zip(list(self.hidden)[1:], list(self.norms)[1:], strict=True):
            x = torch.relu_(norm(layer(x)))
        return self.policy_head(x), self.value_head(x).squeeze(-1)

    def denormalise(self, values: torch.Tensor) -> torch.Tensor:
        """Values (N,) float32 in units of reward from the normalised ones (N,)."""
        return (self.value_mean + self.value_std * values.double()).float()


NETWORKS = {"mlp": MlpNetwork}


def build_network(config: NetworkConfig, observation_scale, num_actions: int, seed: int | None = None) -> MlpNetwork:
    """A fresh network.

    observation_scale: (F,) float32; an int16 observation times it has roughly unit range. num_actions: A.
    seed: of the weights; None leaves them as torch makes layers, to be loaded over.
    Raises ValueError for an unknown kind.
    """
    if config.kind not in NETWORKS:
        raise ValueError(f"unknown network {config.kind!r}; known: {', '.join(NETWORKS)}")
    scale = torch.as_tensor(np.asarray(observation_scale, np.float32))
    network = NETWORKS[config.kind](config, scale, num_actions)
    if seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network.initialise()
    return network

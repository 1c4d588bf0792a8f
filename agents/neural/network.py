"""Networks from an observation to a policy and a value, one for all seats.

A network takes the engine's int16 observations as they are. Add another by writing a module on the same base class
and naming it in ``make_network``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import nn

from hf_env.observation.layout import ObservationLayout


@dataclass(frozen=True)
class NetworkConfig:
    """What a network is built from.

    kind: "ranks" shares weights over the ranks of cards (agents/neural/rank_network.py); "mlp" is a plain multilayer
        perceptron. Measured side by side in docs/training.md.
    width: units of a hidden layer of the body. More fits more and costs time in proportion (squared beyond the first
        layer).
    rank_width: units of each rank, of which there are 11; only for "ranks".
    depth: hidden layers of the body.
    layer_norm: normalise each hidden layer (Ba et al. 2016): steadier at high learning rates, a little slower.
    ignored: sections of the observation that the network does not see. The last discards of each seat are a third of
        all numbers, mostly 0, and tell little that the pile does not.
    """

    kind: str = "ranks"
    width: int = 128
    rank_width: int = 32
    depth: int = 1
    layer_norm: bool = True
    ignored: tuple[str, ...] = ("recent_discards",)

    def __post_init__(self) -> None:
        # JSON knows no tuples.
        object.__setattr__(self, "ignored", tuple(self.ignored))


class PolicyValueNetwork(nn.Module):
    """What all networks have in common.

    config: what it was built from. num_actions: A. observation_scale: (F,) float32; a number whose scale is 0 is not
    seen. The value head works in normalised units: value = value_mean + value_std * head. The two buffers follow the
    value targets (see training/ppo.py), so that the scale of rewards leaves the network alone.
    """

    observation_scale: torch.Tensor
    value_mean: torch.Tensor
    value_std: torch.Tensor
    value_head: nn.Linear

    def __init__(self, config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int) -> None:
        super().__init__()
        self.config = config
        self.num_actions = num_actions
        self.register_buffer("observation_scale", observation_scale.to(torch.float32).clone())
        self.register_buffer("value_mean", torch.zeros((), dtype=torch.float64))
        self.register_buffer("value_std", torch.ones((), dtype=torch.float64))

    def initialise(self) -> None:
        """Orthogonal layers; a nearly uniform first policy; first values of exactly 0, whatever the rewards' scale."""
        raise NotImplementedError

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (N, A) float32 and normalised values (N,) float32 of observations (N, F) int16."""
        raise NotImplementedError

    def denormalise(self, values: torch.Tensor) -> torch.Tensor:
        """Values (N,) float32 in units of reward from the normalised ones (N,)."""
        return (self.value_mean + self.value_std * values.double()).float()


class MlpNetwork(PolicyValueNetwork):
    """A multilayer perceptron with a shared body, a policy head and a value head: every number is its own."""

    def __init__(self, config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int) -> None:
        super().__init__(config, observation_scale, num_actions)
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
            columns = self._columns.to(scale.device)
            observations, scale = observations.index_select(1, columns), scale[columns]
        x = nn.functional.linear(observations.float(), first.weight * scale, first.bias)
        x = torch.relu_(self.norms[0](x))
        for layer, norm in zip(list(self.hidden)[1:], list(self.norms)[1:], strict=True):
            x = torch.relu_(norm(layer(x)))
        return self.policy_head(x), self.value_head(x).squeeze(-1)


NETWORKS = ("ranks", "mlp")


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
        from agents.neural.rank_network import split_columns

        if layout is None:
            raise ValueError("a network of kind 'ranks' is built for a layout of the observation, and none is given")
        columns = split_columns(layout, scale)
    network = make_network(config, torch.as_tensor(scale), num_actions, columns)
    if seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network.initialise()
    return network


def make_network(config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int, columns) -> PolicyValueNetwork:
    """The network of a config, its weights as torch makes layers. columns: of ``RankNetwork``. Raises ValueError."""
    if config.kind == "ranks":
        from agents.neural.rank_network import RankNetwork

        return RankNetwork(config, observation_scale, num_actions, *columns)
    if config.kind == "mlp":
        return MlpNetwork(config, observation_scale, num_actions)
    raise ValueError(f"unknown network {config.kind!r}; known: {', '.join(NETWORKS)}")

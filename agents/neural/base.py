"""What every network has in common: its config, its outputs, and the unit of its values.

A network takes the engine's int16 observations as they are. Add another by writing a module on this base class and
naming it in ``agents.neural.factory.make_network``.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class NetworkConfig:
    """What a network is built from.

    kind: "ranks" shares weights over the ranks of cards (agents/neural/ranks/network.py); "mlp" is a plain multilayer
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
    value targets (see training/learning/ppo.py), so that the scale of rewards leaves the network alone.
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

    def initialise_from(self, seed: int) -> None:
        """``initialise`` by a seed alone; torch's own generator is left as it was."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.initialise()

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (N, A) float32 and normalised values (N,) float32 of observations (N, F) int16."""
        raise NotImplementedError

    def denormalise(self, values: torch.Tensor) -> torch.Tensor:
        """Values (N,) float32 in units of reward from the normalised ones (N,)."""
        return (self.value_mean + self.value_std * values.double()).float()

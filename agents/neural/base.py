"""What every network has in common: its config, its outputs, and the unit of its values.

A network takes the engine's int16 observations as they are. Add another by writing a module on this base class and
naming it in ``NETWORKS`` and ``agents.neural.factory.make_network``.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from torch import nn

from hf_env.fields import choice, refusal, setting, whole, yes_no
from hf_env.rules.options import plain

NETWORKS = ("ranks", "mlp")
# 256 MiB of float32; what learns holds four times that, and a checkpoint three times.
_MAX_WEIGHTS = 1 << 26


class NetworkConfig(BaseModel):
    """What a network is built from; a setting is as ``network.width`` in files and on the command line.

    Raises:
        ValueError: one line that names the setting, its value and what is allowed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["ranks", "mlp"] = choice(
        "ranks", NETWORKS, "the network: `ranks` shares weights over the ranks of cards, `mlp` is a plain multilayer perceptron",
        "measured side by side below",
    )  # fmt: skip
    width: int = whole(
        128, 1, 16_384, "units of a hidden layer of the body",
        "more fits more and costs time in proportion, squared beyond the first layer",
    )  # fmt: skip
    rank_width: int = whole(32, 1, 4096, "units of each of the 11 ranks; only for `ranks`", "as `width`")
    depth: int = whole(1, 1, 64, "hidden layers of the body", "deeper fits more and learns more slowly")
    layer_norm: bool = yes_no(
        True, "whether each hidden layer is normalised (Ba et al. 2016)", "steadier at high learning rates, a little slower"
    )
    ignored: tuple[str, ...] = setting(
        ("recent_discards",), "a list of names of the observation's sections", "sections that the network does not see",
        "the last discards of each seat are a third of all numbers, mostly 0, and tell little that the pile does not",
    )  # fmt: skip

    def __init__(self, kind: str = "ranks", **settings: Any) -> None:
        given: dict[str, Any] = {name: plain(value) for name, value in {"kind": kind, **settings}.items()}
        # JSON and TOML know no tuples.
        if isinstance(given.get("ignored"), list):
            given["ignored"] = tuple(given["ignored"])
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise ValueError(refusal(error, type(self), given, "network.")) from None

    @model_validator(mode="after")
    def _check(self) -> NetworkConfig:
        if (self.depth - 1) * self.width**2 > _MAX_WEIGHTS:
            raise ValueError(
                f"network.width = {self.width} with network.depth = {self.depth} is not allowed: the layers between the first and "
                f"the last may hold at most {_MAX_WEIGHTS:,} weights"
            )
        return self


class PolicyValueNetwork(nn.Module):
    """What all networks have in common.

    Args:
        config: what it was built from.
        num_actions: A.
        observation_scale: (F,) float32; a number whose scale is 0 is not seen. The value head works in normalised units:
            value = value_mean + value_std * head. The two buffers follow the value targets (see training/learning/ppo.py),
            so that the scale of rewards leaves the network alone.
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

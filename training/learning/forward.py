"""How a network is run in training: its arithmetic's precision, and whether PyTorch compiles it.

Collecting and learning go through the same Forward: a policy that is run otherwise when it plays than when it learns would
differ from itself. Neither choice pays for the shipped networks on a CPU (docs/performance.md has the figures); on a GPU, for
networks many times as wide, they may.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from agents.neural.base import PolicyValueNetwork
from hf_env.vector.threads import even_blocks
from training.config import TrainConfig

# What more rows than this leave on their way through a network does not stay in a core's cache.
_MOST_ROWS = 2048


class Forward:
    """Runs networks as a run's config says.

    With ``precision = "bfloat16"`` products of matrices are in it, by torch.autocast; weights, losses and optimiser stay
    float32. With ``compiled`` the networks that learn go through torch.compile, which needs a C++ compiler on the CPU. Frozen
    selves and whatever else is run do not, since each would be compiled anew.

    Args:
        config: of the run.
        learning: the networks that learn.
    """

    def __init__(self, config: TrainConfig, learning: tuple[PolicyValueNetwork | None, ...] = ()) -> None:
        self._device = torch.device(config.device).type
        self._low = config.precision == "bfloat16"
        self._compiled: dict[int, Any] = {}
        if config.compiled:
            # By identity: a network that learns lives as long as its run.
            self._compiled = {id(network): torch.compile(network, dynamic=True) for network in learning if network is not None}

    def blocks(self, num_rows: int) -> list[slice]:
        """0..num_rows in blocks that go through a network one after another, none of them empty."""
        return even_blocks(num_rows, max(1, -(-num_rows // _MOST_ROWS)) if self._device == "cpu" else 1)

    def __call__(self, network: PolicyValueNetwork, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As ``network(observations)``: logits (N, A) and normalised values (N,), float32."""
        with torch.autocast(self._device, torch.bfloat16) if self._low else contextlib.nullcontext():
            logits, values = self._compiled.get(id(network), network)(observations)
        return logits.float(), values.float()

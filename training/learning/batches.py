"""What an update learns from: rows, what they are divided by, what all processes know of theirs, and the losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from training.learning.rollout import Rollout
from training.processes import Processes


class NonFiniteError(FloatingPointError):
    """A tensor of the update holds NaN or infinity; the message names it.

    Args:
        message: one line.
        rank: of the process whose rows it came from.
    """

    def __init__(self, message: str, rank: int = 0) -> None:
        super().__init__(message)
        self.rank = rank


def check_finite(**tensors: torch.Tensor | np.ndarray) -> None:
    """Check named tensors.

    Raises:
        NonFiniteError: Naming the first that holds NaN or infinity, and how many.
    """
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            tensor = torch.from_numpy(tensor)
        bad = int((~torch.isfinite(tensor)).sum())
        if bad:
            raise NonFiniteError(f"{name} holds {bad} of {tensor.numel()} values that are not finite")


@dataclass(frozen=True)
class Batch:
    """A rollout's rows as tensors on the learner's device; advantages and returns are normalised."""

    observations: torch.Tensor
    hidden: torch.Tensor
    action_masks: torch.Tensor
    actions: torch.Tensor
    teacher_actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    policy_weights: torch.Tensor

    def rows(self, index: torch.Tensor | slice) -> Batch:
        """The rows of a minibatch, or of a part of it."""
        return Batch(**{name: tensor[index] for name, tensor in vars(self).items()})


@dataclass(frozen=True)
class Totals:
    """What a minibatch's means are divided by: rows, and () float32 sums of the rows' policy weights and of those taught."""

    rows: int
    weight: torch.Tensor
    taught: torch.Tensor

    @classmethod
    def of(cls, rows: Batch) -> Totals:
        """Of all rows of a minibatch."""
        return cls.of_each(rows, [torch.arange(len(rows.returns))], Processes())[0]

    @classmethod
    def of_each(cls, batch: Batch, minibatches: Sequence[torch.Tensor], processes: Processes) -> list[Totals]:
        """Of minibatches, each of which has rows in all processes.

        Args:
            batch: this process's rows.
            minibatches: the numbers of each minibatch's rows among them, (K,) int64.
            processes: those that learn together.
        """
        weights, taught = batch.policy_weights, batch.policy_weights * (batch.teacher_actions >= 0)
        indices = [index.to(weights.device) for index in minibatches]
        sums = [torch.stack([weights.new_tensor(float(len(index))), weights[index].sum(), taught[index].sum()]) for index in indices]
        return [cls(int(rows), *sums) for rows, *sums in processes.add(torch.stack(sums)).clamp_min(1.0)]


@dataclass(frozen=True)
class Shared:
    """What all processes know of their rollouts: advantages with weight, returns, and the decisions' returns and values, float32.

    Attributes:
        num_rows: of all rollouts.
    """

    num_rows: int
    advantages: np.ndarray
    returns: np.ndarray
    decision_returns: np.ndarray
    decision_values: np.ndarray

    @classmethod
    def of(cls, rollout: Rollout, processes: Processes) -> Shared:
        """Of the processes' rollouts.

        Raises:
            NonFiniteError: In all of them, where one holds what is not finite.
        """
        problem = None
        try:
            check_finite(advantages=rollout.advantages, returns=rollout.returns, log_probs=rollout.log_probs)
        except NonFiniteError as error:
            problem = str(error)
        size = rollout.num_decisions
        counted = rollout.advantages[rollout.policy_weights > 0]
        found = processes.gather((problem, counted, rollout.returns, rollout.returns[:size], rollout.values[:size]))
        problems, *arrays = zip(*found, strict=True)
        for rank, each in enumerate(problems):
            if each is not None:
                raise NonFiniteError(each, rank)
        advantages, returns, decision_returns, decision_values = map(np.concatenate, arrays)
        return cls(len(returns), advantages, returns, decision_returns, decision_values)

    def explained_variance(self) -> float:
        """Share of the decisions' returns' variance that the values foresaw."""
        variance = float(self.decision_returns.var()) if len(self.decision_returns) else 0.0
        if variance == 0.0:
            return 0.0
        return 1.0 - float((self.decision_returns - self.decision_values).var()) / variance


@dataclass(frozen=True)
class Losses:
    """Loss of a minibatch, or a part's share of it, and what is reported of it; all but ``ratio`` () float32, ``ratio`` (R,)."""

    total: torch.Tensor
    policy: torch.Tensor
    value: torch.Tensor
    entropy: torch.Tensor
    teacher: torch.Tensor
    approximate_kl: torch.Tensor
    clip_fraction: torch.Tensor
    ratio: torch.Tensor

"""The protocol of a policy: a batch of decisions in, one action a decision out. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from hf_env.policy_batch import DecisionCounter, PolicyBatch, SeatViews, decision_keys, mix64, player_seed, seat_root, uniforms

__all__ = [
    "DecisionCounter",
    "FunctionPolicy",
    "Policy",
    "PolicyBatch",
    "SeatViews",
    "UntrainedRulesWarning",
    "as_policy",
    "decision_keys",
    "mix64",
    "player_seed",
    "seat_root",
    "uniforms",
]


class UntrainedRulesWarning(UserWarning):
    """A policy plays under rules that its training did not have."""


@runtime_checkable
class Policy(Protocol):
    """What a policy must have.

    It may also have:

    ``start(num_games, rules, seed)``, called before the first batch of a match, where ``seed`` (0..2**63 - 1) is the root of its own
    keys and of nothing else (``hf_env.policy_batch.player_seed``), and
    ``evaluate(batch) -> (probabilities (N, A) float32, values (N,) float32)``, values in units of reward.
    """

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) of the rows of ``batch``, integers, each legal."""
        ...


@dataclass(frozen=True)
class FunctionPolicy:
    """A plain function ``(observations (N, F), action_masks (N, A)) -> actions (N,)`` as a policy."""

    function: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) that the function returns for the batch's rows."""
        return np.asarray(self.function(batch.observations, batch.action_masks))


def as_policy(policy: Any) -> Policy:
    """``policy`` itself if it has ``act``, a plain function wrapped.

    Raises:
        TypeError: For anything else.
    """
    if isinstance(policy, type):
        raise TypeError(f"{policy.__name__} is a class; pass an instance of it")
    if hasattr(policy, "act"):
        return policy
    if callable(policy):
        return FunctionPolicy(policy)
    raise TypeError(f"{policy!r} is neither a policy (with act) nor a function of (observations, action_masks)")

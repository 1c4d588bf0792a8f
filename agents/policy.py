"""The protocol of a policy: a batch of decisions in, one action a decision out. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from hf_env.policy_batch import DecisionCounter, PolicyBatch, SeatViews, decision_keys, mix64, player_seed, seat_root, uniforms
from hf_env.rules import RuleSet

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
    "rule_sets",
    "seat_root",
    "uniforms",
    "untrained_rules",
]


class UntrainedRulesWarning(UserWarning):
    """A policy plays under rules that its training did not have."""


def untrained_rules(info: Mapping[str, Any], rules: RuleSet, who: str = "this policy") -> str:
    """A sentence where a policy was not trained under these rules, else empty.

    Args:
        info: what its checkpoint says of itself.
        who: the policy, as the sentence begins.
    """
    trained_under = info.get("rules_fingerprints")
    if not trained_under or rules.fingerprint in trained_under:
        return ""
    names = info.get("rules_names", ())
    here = f"{rules.name} with other options than it was trained with" if rules.name in names else rules.name
    return f"{who} was trained under {', '.join(names)}; under {here} it may play badly"


@runtime_checkable
class Policy(Protocol):
    """What a policy must have.

    It may also have:

    ``start(num_games, rules, seed)``, called before the first batch of a match, where ``rules`` is the RuleSet, or a tuple of those
    that a game's field ``rule`` counts (``rule_sets`` makes one of both), and ``seed`` (0..2**63 - 1) is the root of its own keys
    and of nothing else (``hf_env.policy_batch.player_seed``); and
    ``evaluate(batch) -> (probabilities (N, A) float32, values (N,) float32)``, values in units of reward.
    """

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) of the rows of ``batch``, integers, each legal."""
        ...


def rule_sets(rules: RuleSet | Sequence[RuleSet]) -> tuple[RuleSet, ...]:
    """The rule sets that a policy's ``start`` was given, as a tuple."""
    return tuple(rules) if isinstance(rules, Sequence) else (rules,)


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

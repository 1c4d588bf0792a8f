"""A hint for a person: what another player would do here, how surely, and what it expects."""

import importlib.util
from typing import Any

import numpy as np

from agents.play.judging import PolicyError, UnfitPolicyError, attempt, describe_error, start_policy
from agents.play.schedule import policy_name
from agents.policy import PolicyBatch
from agents.registry import PYTHON, SCRIPTED, SEARCH, load, parse_spec
from agents.shipped import NAME, ChoosingPolicy, choose
from agents.specs import PolicySpec
from hf_env.rules import RuleSet

# Who is asked where no shipped player can sit.
DEFAULT_PLAYER = "expert"
# Moves that are told, and how probable they are at the least.
_MOST_MOVES, _LEAST_PROBABILITY = 5, 0.01
# Of the player's own keys; a hint decides nothing that anybody plays.
_SEED = 0


def adviser_for(rules: RuleSet) -> str:
    """Who is asked by default: the shipped player that knows these rules best, else `expert`."""
    if any(importlib.util.find_spec(name) is None for name in ("torch", "safetensors")):
        return DEFAULT_PLAYER
    try:
        return f"{NAME}:rules={choose(rules).name}"
    except ValueError:
        return DEFAULT_PLAYER


class Adviser:
    """Another player, who is asked for advice and decides nothing.

    Args:
        policy: as for ``agents.load``; None: ``adviser_for`` the rules. A learned one tells its likeliest action.
    """

    def __init__(self, policy: Any = None) -> None:
        self._policy = policy
        # The player that was started last, its name and its rules.
        self._started: tuple[Any, str, RuleSet] | None = None

    def advice(self, batch: PolicyBatch, rules: RuleSet) -> list[str]:
        """Lines on the decision of one row.

        Args:
            batch: one row, of which the player gets a copy.
            rules: of its game.
        """
        from agents.analysis import judge  # which loads players

        try:
            player, name = self._start(rules)
        except (ValueError, PolicyError) as error:
            return [f"No hint: {error}."]
        analysis, failure = attempt(judge, player, batch.rows(np.arange(1)), name)
        if failure is not None:
            return [f"No hint: policy {name!r} failed: {describe_error(failure)}."]
        points = "" if analysis.points is None else f", expecting {analysis.points:+,.0f} points"
        told = [move for move in analysis.legal if move.probability >= _LEAST_PROBABILITY or move.points is not None]
        rows = analysis.rows(told[:_MOST_MOVES]) if len(told) > 1 else []
        return [f"{name} would {analysis.chosen}{points}.", *rows]

    def _start(self, rules: RuleSet) -> tuple[Any, str]:
        """The player, told of the rules, and its name.

        Raises:
            UnknownPolicyError, CheckpointError: Where it cannot be loaded.
            UnfitPolicyError, PolicyError: It refuses the rules, or fails in its ``start``.
        """
        if self._started is None or self._started[2] != rules:
            policy = adviser_for(rules) if self._policy is None else self._policy
            player, name = load(_likeliest(policy)), policy_name(policy)
            if isinstance(player, ChoosingPolicy):
                try:
                    player = player.player_for(rules)
                except ValueError as error:
                    raise UnfitPolicyError(f"policy {name!r} cannot play here: {error}") from None
            if (failure := start_policy(player, name, 1, [rules], _SEED)) is not None:
                raise failure
            self._started = player, name, rules
        return self._started[:2]


def _likeliest(policy: Any) -> Any:
    """The policy, where it is learned and its mode is open by its likeliest actions: a hint is not drawn."""
    if not isinstance(policy, str | PolicySpec):
        return policy
    spec = parse_spec(policy)
    if spec.name in SCRIPTED or spec.name == SEARCH or spec.name.startswith(PYTHON) or "mode" in spec.options:
        return spec
    return PolicySpec(spec.name, {**spec.options, "mode": "argmax"})

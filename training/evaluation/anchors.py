"""How a run measures its policy on the way and at its end: against players that never change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from training.evaluation.duplicate import evaluate

# The strongest first: the one that a learner is to beat.
ANCHORS = ("expert", "greedy", "random")


def anchor_evaluation(
    rules: Any, seed: int, deals: int, anchors: Sequence[str] = ANCHORS
) -> Callable[[Any], dict[str, tuple[float, float]]]:
    """A function for ``training.sessions.train``: policy -> {anchor: (points a deal more, half the 95 % interval)}.

    Args:
        rules: one rule set or a list.
        seed, deals: of each evaluation. Every call plays the same game seeds, so that two measurements of a run differ by
            the policy, not by the cards.
    """

    def measure(policy: Any) -> dict[str, tuple[float, float]]:
        results = {}
        for anchor in anchors:
            difference = evaluate(policy, anchor, deals=deals, seed=seed, rules=rules).difference
            results[anchor] = (difference.mean, difference.half_width)
        return results

    return measure

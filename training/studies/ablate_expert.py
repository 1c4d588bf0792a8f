"""The ablation of `expert`: each rule of play switched off, and what the player without it loses to the whole one.

    python -m training.studies.ablate_expert --deals 4000

Prints a Markdown table: points a deal that the whole player makes over the one without the rule, with 95 % intervals.
The deals are those of no other command (the tuning's included).
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from agents.scripted.expert.tuned import tuned_for
from agents.scripted.expert.weights import RULES_OF_PLAY
from hf_env import load_rules
from training.evaluation.statistics import clustered_interval
from training.studies.tune_expert import duel

ABLATION_SEED = 800_000_000


def without(rule: str, rules) -> np.ndarray:
    """The weights (NUM_WEIGHTS,) for a RuleSet with one rule of play switched off.

    Raises:
        KeyError: For an unknown one.
    """
    weights = tuned_for(rules)
    for index, value in RULES_OF_PLAY[rule].items():
        weights[index] = value
    return weights


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Points a deal that each rule of play of expert is worth.")
    parser.add_argument("--rules", nargs="+", default=["whitnack", "bicycle", "family"])
    parser.add_argument("--deals", type=int, default=4000, help="duplicate deals a rule of play and rule set")
    chosen = parser.parse_args(arguments)
    print("| without | " + " | ".join(chosen.rules) + " |")
    print("|---|" + "--:|" * len(chosen.rules))
    for rule in RULES_OF_PLAY:
        cells = []
        for name in chosen.rules:
            rules = load_rules(name)
            points = duel(rules, tuned_for(rules), without(rule, rules), chosen.deals, ABLATION_SEED)
            interval = clustered_interval(points, np.ones(len(points)))
            cells.append(f"{interval.mean:+.0f} ({interval.low:+.0f} to {interval.high:+.0f})")
        print(f"| {rule} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

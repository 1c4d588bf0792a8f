"""``handfoot evaluate``: two policies on duplicate deals."""

from __future__ import annotations

import json
from pathlib import Path

import click

from training.cli_common import (
    Failure,
    Mistake,
    check_writable,
    load_policy,
    load_rule_list,
    progress_bar,
    seed_option,
    set_option,
    several_rules_option,
)


@click.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "--deals", type=click.IntRange(1, 100_000_000), default=2000, show_default=True,
    help="Deals in all, both seatings counted; rounded up to whole games of whole game seeds.",
)  # fmt: skip
@seed_option
@several_rules_option
@set_option
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write the result there too.")
def evaluate(a: str, b: str, deals: int, seed: int, rules: tuple, settings: tuple, json_path: Path | None) -> None:
    """Compare the policies A and B: who makes more points a deal?

    A and B are random, greedy, beam, or the path of a run or checkpoint. Every game is played again with the sides
    swapped, on the same cards; with more than two sides A sits once on each, B on all others. The interval takes each game seed
    as one observation, whatever number of deals it has.
    """
    sets = load_rule_list(rules, settings)
    policies = load_policy(a), load_policy(b)
    check_writable(json_path)
    result = measure(policies, (a, b), deals, seed, sets)
    click.echo(summary(result))
    if json_path is not None:
        write_result(json_path, result)


def measure(policies, names: tuple[str, str], deals: int, seed: int, rules):
    """An evaluation with a progress bar; errors as the command reports them."""
    from agents.seating import PolicyError, UnfitPolicyError
    from training.evaluation import evaluate

    try:
        with progress_bar(f"{names[0]} against {names[1]}, deals") as report:
            return evaluate(*policies, deals=deals, seed=seed, rules=rules, names=names, on_progress=report)
    except UnfitPolicyError as error:
        raise Mistake(str(error)) from None
    except PolicyError as error:
        raise Failure(str(error)) from None


def write_result(path: Path, result) -> None:
    """Write a result as JSON. Raises Failure where the disk refuses."""
    try:
        path.write_text(json.dumps(result.to_json(), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from None


def summary(result) -> str:
    """The result in lines for a reader."""
    from training.evaluation import MIN_CLUSTERS

    names = result.policy_a, result.policy_b
    # A policy against itself: the places tell them apart.
    a, b = names if names[0] != names[1] else (f"{names[0]} (A)", f"{names[1]} (B)")
    difference, won = result.difference, result.games_won
    rounded = f" (rounded up from {result.asked_deals:,})" if result.num_deals != result.asked_deals else ""
    lines = [
        f"{a} against {b} under {', '.join(one.name for one in result.rules)}, seed {result.seed}",
        f"  {result.num_deals:,} deals{rounded}: {result.num_games:,} games, "
        f"{result.num_clusters:,} game seeds in {result.num_seatings} seatings each",
        f"  difference     {difference.mean:+,.1f} points a deal{_between(difference, '+,.1f')}",
        f"  games won      {won.mean:.1%}{_between(won, '.1%')}; even would be {1 / result.num_seatings:.1%}",
        f"  points a deal  {result.points_a:,.1f} and {result.points_b:,.1f}",
        f"  gone out       {result.gone_out_a:.1%} and {result.gone_out_b:.1%} of deals, a side",
        f"  verdict        {a} is {result.verdict}" if result.verdict != "inconclusive" else "  verdict        inconclusive",
    ]
    if result.num_clusters < MIN_CLUSTERS:
        lines[-1] += f": {result.num_clusters} game seeds are too few, at least {MIN_CLUSTERS} are needed"
    lines.append(f"  {result.num_decisions:,} decisions in {result.seconds:,.1f} s")
    return "\n".join(lines)


def _between(interval, form: str) -> str:
    if interval.num_clusters < 2:
        return " (no interval: one game seed)"
    return f", 95 % interval {interval.low:{form}} to {interval.high:{form}}"

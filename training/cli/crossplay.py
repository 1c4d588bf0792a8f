"""``handfoot crossplay``: all pairings of partners from a list."""

from __future__ import annotations

import click

from agents.play.remarks import remark_lines
from training.cli.contest import between, contest_options, forfeit_lines, matrix, run_contest
from training.evaluation import contests
from training.evaluation.report import crossplay_html


@click.command()
@click.argument("policies", nargs=-1, required=True, metavar="POLICY...")
@click.option("--opponents", default="greedy", show_default=True, metavar="POLICY", help="Who sits in all seats of the other sides.")
@contest_options
def crossplay(policies: tuple[str, ...], opponents: str, **options) -> None:
    """Seat every two POLICYs as partners against fixed opponents: how well do they play with partners they do not know?

    Every pairing is played in both orders of its seats and on every side, on the same game seeds as all others; a policy
    with a copy of itself, which has one order, plays half as many deals. The folder OUT gets report.html, report.json
    and the records: self-play, cross-play, the gap and the worst partner, each with a 95 % interval, and a heat map.
    Policies, forfeits and Ctrl-C: as in handfoot tournament.
    """
    every = (*policies, opponents)
    result, path = run_contest("crossplay", lambda plan: contests.crossplay(policies, opponents, plan), crossplay_html, every, options)
    click.echo(summary(result))
    click.echo(f"report in {path}")


def summary(result) -> str:
    """The result in lines for a reader."""
    names = result.names

    def format_interval(interval) -> str:
        return f"{interval.mean:+,.1f}{between(interval, '+,.1f')}"

    rules = ", ".join(rule_set.name for rule_set in result.rules)
    lines = [f"{len(names)} policies as partners against {result.opponents} under {rules}, seed {result.seed}", "points a deal:"]
    lines += matrix(names, lambda p, q: f"{result.cells[p, q].mean:+,.0f}")
    lines += [f"{label} {format_interval(interval)}" for label, interval in (
        ("self-play ", result.self_play), ("cross-play", result.cross_play), ("gap       ", result.gap))]  # fmt: skip
    lines += ["worst partners:"]
    lines += [
        f"  of {name}: {names[partners.worst]}, {format_interval(partners.with_worst)}"
        for name, partners in zip(names, result.partners, strict=True)
    ]
    return "\n".join(lines + forfeit_lines(result, result.forfeit_counts()) + remark_lines(result.remarks))

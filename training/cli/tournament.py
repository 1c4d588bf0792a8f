"""``handfoot tournament``: all policies of a list against each other."""

from __future__ import annotations

from collections import Counter

import click

from agents.play.remarks import remark_lines
from training.cli.contest import contest_options, forfeit_lines, matrix, run_contest
from training.evaluation import contests
from training.evaluation.report import tournament_html


@click.command()
@click.argument("policies", nargs=-1, required=True, metavar="POLICY...")
@contest_options
def tournament(policies: tuple[str, ...], **options) -> None:
    """Play every POLICY against every other on duplicate deals, and rank them.

    A POLICY is random, greedy, expert, ..., the path of a run or checkpoint, or python:MODULE:NAME. The folder OUT gets
    report.html (opens offline), report.json and the records of all games: points a deal and games won of each pair with
    95 % intervals, ratings, and ranks that claim no order which the games do not show, as among rock, paper and
    scissors.

    A policy that fails (an illegal action, no array of whole numbers, an exception, no answer within the limit) forfeits
    that game, and the tournament goes on. After Ctrl-C the same command with the same --out plays only what is missing.
    """
    result, path = run_contest("tournament", lambda plan: contests.tournament(policies, plan), tournament_html, policies, options)
    click.echo(summary(result))
    click.echo(f"report in {path}")


def summary(result) -> str:
    """The result in lines for a reader."""
    names, ranking, ratings = result.names, result.ranking, result.ratings
    width = max(map(len, names))
    lines = [f"{len(names)} policies under {', '.join(rule_set.name for rule_set in result.rules)}, seed {result.seed}", "points a deal:"]
    lines += matrix(names, lambda a, b: "." if a == b else _points(result.pairs[a, b].points))
    lines += ["games won:"]
    lines += matrix(names, lambda a, b: "." if a == b else f"{result.pairs[a, b].won.mean:.1%}")
    lines += ["ranks, ratings:"]
    for i in ranking.order:
        ranks = f"{ranking.best[i]}" if ranking.best[i] == ranking.worst[i] else f"{ranking.best[i]} to {ranking.worst[i]}"
        between = f"{ratings.low[i]:+z,.0f} to {ratings.high[i]:+z,.0f}"
        lines.append(f"  {ranks:>8}  {names[i].ljust(width)}  {ratings.ratings[i]:+z,.0f} ({between})")
    if ratings.unbeaten:
        lines.append("  Ratings are bounds where a policy lost no game to another.")
    lines += [f"  {line}" for line in result.sentences()]
    lines += forfeit_lines(result, Counter(names[forfeit.policy] for _, _, forfeit in result.forfeits))
    return "\n".join(lines + remark_lines(result.remarks))


def _points(interval) -> str:
    return f"{interval.mean:+,.0f}" + ("" if interval.num_clusters < 2 else f" ± {interval.half_width:,.0f}")

"""``handfoot evaluate``: two policies on duplicate deals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from agents.play.judging import PolicyError, UnfitPolicyError
from agents.play.remarks import remark_lines
from agents.registry import PYTHON, SEARCH, PolicySpec
from hf_env.files import write_json
from training import evaluation
from training.cli.common import (
    Failure,
    FiniteRange,
    Mistake,
    check_writable,
    load_rule_list,
    progress_bar,
    seed_option,
    set_option,
    several_rules_option,
)
from training.cli.contest import (
    between,
    check_installed,
    deals_option,
    limit_option,
    played,
    processes_option,
    records_option,
    write_report,
)
from training.cli.policies import announce_chosen, check_policy, load_policy
from training.evaluation import contests
from training.evaluation.behaviour import BEHAVIOUR, format_figure
from training.evaluation.contests import Plan
from training.evaluation.duplicate import place_names
from training.evaluation.matches import deals_in_a_game
from training.evaluation.report import evaluation_html
from training.evaluation.series import GAMES_A_BLOCK


@click.command()
@click.argument("a")
@click.argument("b")
@deals_option
@seed_option
@several_rules_option
@set_option
@click.option(
    "--precision", type=FiniteRange(0, 1e9, min_open=True), default=50.0, show_default=True, metavar="POINTS",
    help="Say how many more deals an interval of +- POINTS a deal needs.",
)  # fmt: skip
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write the result there too.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write a report there, with the records of the games. A folder of the same settings is gone on with.",
)  # fmt: skip
@records_option
@processes_option
@limit_option("a policy that takes longer ends the command")
def evaluate(
    a: str, b: str, deals: int, seed: int, rules: tuple, settings: tuple, precision: float, json_path: Path | None,
    out: Path | None, records: bool, processes: int | None, limit_seconds: float,
) -> None:  # fmt: skip
    """Compare the policies A and B: who makes more points a deal?

    A and B are random, greedy, expert, ..., the path of a run or checkpoint, or python:MODULE:NAME. Every game is played
    again with the sides swapped, on the same cards; with more than two sides A sits once on each, B on all others. The
    interval takes each game seed as one observation, whatever number of deals it has. A policy that fails ends the command
    with the reason.
    """
    sets = load_rule_list(rules, settings)
    specs = check_policy(a), check_policy(b)
    announce_chosen((a, b), sets)
    check_writable(json_path)
    is_small = processes == 1 or in_one_block(deals, sets)
    if out is None and is_small and all(always_answers(spec) for spec in specs):
        result = measure((load_policy(a), load_policy(b)), (a, b), deals, seed, sets)
    else:
        plan = Plan(
            deals=deals, seed=seed, rules=sets, out=out, with_records=records, processes=processes, limit_seconds=limit_seconds
        )  # fmt: skip
        result = measure_in_processes((a, b), plan)
    click.echo(summary(result, precision))
    if json_path is not None:
        write_result(json_path, result, precision=precision)
    if out is not None:
        click.echo(f"report in {write_report(out, evaluation_html(result, records=records))}")


def in_one_block(deals: int, rules) -> bool:
    """Whether there is nothing to spread over processes."""
    return deals <= GAMES_A_BLOCK * (deals_in_a_game(rules) or 1)


def always_answers(spec: PolicySpec) -> bool:
    """Whether a policy needs no process that can be ended: one of this project that does not search."""
    return not spec.name.startswith(PYTHON) and spec.name != SEARCH


def measure_in_processes(names: tuple[str, str], plan):
    """An evaluation by a Plan, in processes of its own."""
    if plan.out is not None:
        check_installed()
    with progress_bar(f"{names[0]} against {names[1]}, deals") as report:
        return played(lambda plan: contests.evaluation(*names, plan), replace(plan, on_progress=report))


def measure(policies, names: tuple[str, str], deals: int, seed: int, rules):
    """An evaluation with a progress bar; errors as the command reports them."""
    try:
        with progress_bar(f"{names[0]} against {names[1]}, deals") as report:
            return evaluation.evaluate(policies[0], policies[1], deals=deals, seed=seed, rules=rules, names=names, on_progress=report)
    except (UnfitPolicyError, PolicyError) as error:
        raise Mistake(str(error)) from None


def write_result(path: Path, result, more: Mapping[str, Any] | None = None, precision: float | None = None) -> None:
    """Write a result as JSON.

    Args:
        more: values to write beside it.
        precision: as of ``to_json``.

    Raises:
        Failure: Where the disk refuses.
    """
    try:
        write_json(path, result.to_json(precision) | dict(more or {}))
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}") from None


def summary(result, precision: float = 50.0) -> str:
    """The result in lines for a reader.

    Args:
        precision: half width of the interval for which the deals are counted.
    """
    a, b = place_names(result)
    difference, won = result.difference, result.games_won
    rounded = f" (rounded up from {result.asked_deals:,})" if result.num_deals != result.asked_deals else ""
    lines = [
        f"{a} against {b} under {', '.join(rule_set.name for rule_set in result.rules)}, seed {result.seed}",
        f"  {result.num_deals:,} deals{rounded}: {result.num_games:,} games, "
        f"{result.num_clusters:,} game seeds in {result.num_seatings} seatings each",
        f"  difference     {difference.mean:+,.1f} points a deal{between(difference, '+,.1f')}",
        f"  games won      {won.mean:.1%}{between(won, '.1%')}; even would be {1 / result.num_seatings:.1%}",
        f"  points a deal  {result.points_a:,.1f} and {result.points_b:,.1f}",
        f"  gone out       {result.gone_out_a:.1%} and {result.gone_out_b:.1%} of deals, a side",
        f"  verdict        {a} is {result.verdict}" if result.verdict != "inconclusive" else "  verdict        inconclusive",
    ]
    if result.verdict == "inconclusive":
        lines[-1] += f": {result.why_inconclusive()}"
    lines += [f"  precision      {line}" for line in _precision(result, precision)]
    lines += _behaviour(result, a, b) + _seats(result, a)
    lines.append(f"  {result.num_decisions:,} decisions in {result.seconds:,.1f} s")
    return "\n".join(lines + [f"  {line}" for line in remark_lines(result.remarks)])


def _precision(result, points: float) -> list[str]:
    """How many more deals are needed, and what duplicate deals saved."""
    more = result.more_deals(points)
    if more is None:
        return []
    needed = f"about {more:,} more deals" if more else "no more deals"
    lines = [f"an interval of ± {points:g} points a deal needs {needed}"]
    if result.saving is not None:
        lines.append(f"games on cards of their own would need {result.saving:.1f} times as many deals as duplicate ones")
    return lines


def _behaviour(result, a: str, b: str) -> list[str]:
    """The figures of both, one a line."""
    rows = [["behaviour", a, b]]
    both = (result.behaviour_a, result.behaviour_b)
    rows += [[label, *(format_figure(key, figures[key]) for figures in both)] for key, (label, _) in BEHAVIOUR.items()]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [f"  {row[0].ljust(widths[0])}  {row[1].rjust(widths[1])}  {row[2].rjust(widths[2])}" for row in rows]


def _seats(result, a: str) -> list[str]:
    lines = [f"  {a} by seat, points a deal more and share of deals gone out:"]
    return lines + [
        f"    seat {seat.seat}  {seat.difference.mean:+,.1f}{between(seat.difference, '+,.1f')}; {seat.gone_out:.1%}"
        for seat in result.seats
    ]

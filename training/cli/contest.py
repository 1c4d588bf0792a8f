"""What ``handfoot tournament`` and ``handfoot crossplay`` share: options, the folder, errors, the report."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from agents.play.judging import PolicyError
from training.cli.common import (
    Failure,
    FiniteRange,
    Mistake,
    load_rule_list,
    progress_bar,
    seed_option,
    set_option,
    several_rules_option,
)
from training.cli.extras import missing_extra
from training.cli.policies import announce_chosen, check_policy
from training.evaluation.contests import Plan
from training.evaluation.report import REPORT_NAME, keyed
from training.evaluation.store import SETTINGS_NAME, Store

# Of the extra `evaluate`.
NEEDED = ("choix", "jinja2", "matplotlib")

deals_option = click.option(
    "--deals", type=click.IntRange(1, 100_000_000), default=2000, show_default=True,
    help="Deals of each match, all seatings counted; rounded up to whole games of whole game seeds.",
)  # fmt: skip
processes_option = click.option(
    "--processes", type=click.IntRange(1, 1024), metavar="N",
    help="Processes that play at the same time; no effect on the results.  [default: the number of cores]",
)  # fmt: skip
records_option = click.option(
    "--records/--no-records", default=True, show_default=True, help="Keep every game in OUT/records, for handfoot replay."
)


def limit_option(consequence: str) -> Callable[[Callable], Callable]:
    """The option ``--limit``.

    Args:
        consequence: what happens to a policy that is late, for --help.
    """
    return click.option(
        "--limit", "limit_seconds", type=FiniteRange(0, 86_400), default=60.0, show_default=True, metavar="SECONDS",
        help=f"For one decision of a policy; {consequence}. 0: no limit.",
    )  # fmt: skip


def contest_options(command: Callable) -> Callable:
    """The options of a contest, in the order in which --help shows them."""
    out = click.option(
        "--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
        help="Folder of the report. One of the same settings is gone on with.  [default: runs/KIND-RULES-DATE-TIME]",
    )  # fmt: skip
    limit = limit_option("a policy that takes longer forfeits the game")
    points = click.option(
        "--forfeit-points", type=click.IntRange(-1_000_000, 0), default=-10_000, show_default=True, metavar="POINTS",
        help="Score of each deal of a forfeited game for the side that forfeits; the others get 0.",
    )  # fmt: skip
    options = (deals_option, seed_option, several_rules_option, set_option, out, records_option, processes_option, limit, points)
    for option in reversed(options):
        command = option(command)
    return command


def check_installed() -> None:
    """Raise Mistake where a library of the extra `evaluate` is missing."""
    line = missing_extra("reports need", "evaluate", *NEEDED)
    if line is not None:
        raise Mistake(line)


def run_contest(kind: str, contest: Callable[[Any], Any], html: Callable[..., str], policies: tuple[str, ...], options: dict[str, Any]):
    """Play a contest and write its report; returns the result and the report's path.

    Args:
        contest: a function of a ``Plan``.
        html: the report of its result.
        options: of `contest_options`.
    """
    check_installed()
    sets = load_rule_list(options["rules"], options["settings"])
    for spec in policies:
        check_policy(spec)
    announce_chosen(policies, sets)
    out = options["out"] or Path("runs") / f"{kind}-{sets[0].name}-{time.strftime('%Y%m%d-%H%M%S')}"
    with progress_bar(f"{kind}, deals") as report:
        plan = Plan(
            deals=options["deals"], seed=options["seed"], rules=sets, out=out, with_records=options["records"],
            processes=options["processes"], forfeit_points=options["forfeit_points"], limit_seconds=options["limit_seconds"],
            on_progress=report,
        )  # fmt: skip
        result = played(contest, plan)
    return result, write_report(out, html(result, records=options["records"]))


def played(contest: Callable[[Any], Any], plan: Any):
    """The contest's result; errors as the command reports them."""
    try:
        return contest(plan)
    except KeyboardInterrupt:
        if plan.out is None or not (plan.out / SETTINGS_NAME).is_file():
            raise
        click.echo(f"the finished games are kept; the same command with --out {plan.out} goes on", err=True)
        raise
    except (ValueError, PolicyError) as error:  # of the user's: rules, policies, another folder
        raise Mistake(str(error)) from None
    except OSError as error:
        raise Failure(f"{error.filename or plan.out} cannot be written: {error.strerror or error}") from None
    except RuntimeError as error:
        raise Failure(str(error)) from None


def write_report(out: Path, text: str) -> Path:
    """Write the HTML report into the folder."""
    try:
        return Store(out, False).write(REPORT_NAME, text)
    except OSError as error:
        raise Failure(f"{error.filename or out} cannot be written: {error.strerror}") from None


def between(interval, form: str) -> str:
    """The interval in words, after its mean."""
    if interval.num_clusters < 2:
        return " (no interval: one game seed)"
    return f", 95 % interval {interval.low:{form}} to {interval.high:{form}}"


def matrix(names, cell: Callable[[int, int], str]) -> list[str]:
    """Lines of a matrix with a row and a column a name."""
    left, top = keyed(names)
    rows = [["", *top]] + [[name, *(cell(a, b) for b in range(len(names)))] for a, name in enumerate(left)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]


def forfeit_lines(result, counts: dict[str, int]) -> list[str]:
    """Who forfeited games, and the first reason of each."""
    if not counts:
        return []
    reasons: dict[str, str] = {}
    for entry in result.to_json()["forfeits"]:
        reasons.setdefault(entry["policy"], entry["reason"])
    lines = [f"forfeited games, {result.forfeit_points:,} points a deal each:"]
    return lines + [f"  {name}: {count:,}; the first: {reasons[name]}" for name, count in counts.items()]

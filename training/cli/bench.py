"""``handfoot bench``: the speed of the engine, of its adapters and, beside them, of other environments on this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from training.benchmarks.report import circumstances, print_table, write_json
from training.benchmarks.rows import BenchmarkError
from training.benchmarks.suite import Suite
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
from training.cli.extras import TRAINING, missing_extra

# Measured when nothing is named; keys of training.benchmarks.report.TITLES, as are the two that cost more.
OWN_SECTIONS = ("vector", "profile", "threads", "aec", "players", "copies", "memory", "start")
_MOST_THREADS = 256
_NARROW, _WIDE = 100, 150


@click.command()
@click.option("--seconds", type=FiniteRange(0, 3600, min_open=True), default=2.0, show_default=True, help="How long to measure each row.")
@click.option(
    "--games",
    "sizes",
    type=click.IntRange(1, 65536),
    multiple=True,
    help="Games side by side; may be repeated.  [default: 1, 64, 1024, 8192]",
)
@click.option("--threads", type=click.IntRange(1, _MOST_THREADS), help="Threads of the rows with several.  [default: 2, or 1 on one core]")
@click.option("--only", "only", type=click.Choice(OWN_SECTIONS), multiple=True, help="Measure this part alone; may be repeated.")
@click.option(
    "--peers", "with_peers", is_flag=True, help="Measure other card-game environments too, where they are installed (extra: peers)."
)
@click.option(
    "--training", "with_training", is_flag=True, help="Measure training too, beside sb3-contrib's MaskablePPO (extras: train, sb3)."
)
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write all figures into this file.")
@seed_option
@several_rules_option
@set_option
def bench(
    seconds: float, sizes: tuple[int, ...], threads: int | None, only: tuple[str, ...], with_peers: bool, with_training: bool,
    json_file: Path | None, seed: int, rules: tuple[str, ...], settings: tuple[str, ...],
) -> None:  # fmt: skip
    """Measure the speed of the engine and its adapters by random legal play; the state that it ends in is checked.

    With --peers or --training and no --only, those alone are measured.
    """
    sets = load_rule_list(rules, settings)
    check_writable(json_file)
    if with_training:
        _check_training()
    sections = only or (() if with_peers or with_training else OWN_SECTIONS)
    suite = Suite(sets, seed, seconds, sizes, threads, [*sections, *["peers"] * with_peers, *["training"] * with_training])
    begun = circumstances()
    try:
        with progress_bar("measuring") as report:
            suite.run(report)
    except BenchmarkError as error:
        raise Failure(str(error)) from None
    print_table(suite.rows, suite.missing, begun, min(_WIDE, max(_NARROW, shutil.get_terminal_size((_WIDE, 0)).columns)))
    if json_file is not None:
        write_json(json_file, suite.rows, suite.missing, suite.settings(), begun)


def _check_training() -> None:
    line = missing_extra("--training: training needs", "train", *TRAINING)
    if line is not None:
        raise Mistake(line)

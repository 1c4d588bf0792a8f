"""Settings of training beside each other at equal wall time: ``python -m training.studies.compare_settings --out DIR``.

A variant is a base of settings with some of them changed (training/studies/compare_settings.toml, or a file of the same
form). Every variant is trained by ``handfoot train`` in a process and on a core of its own, several side by side, and then
measured by ``handfoot evaluate`` against the anchors on the same duplicate deals, playing its likeliest actions. What
is done is kept in DIR: called again, the command goes on with what is missing, and prints the table.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import click
import tomli_w

from hf_env.files import write_text
from hf_env.reading import read_json
from hf_env.suggest import did_you_mean
from hf_env.vector.threads import available_cores
from training.cli.common import Failure, Mistake, seed_option
from training.config import ConfigError
from training.run.report import read_log
from training.settings import load_config, read_toml

_VARIANTS = Path(__file__).with_name("compare_settings.toml")
_ANCHORS = ("greedy", "expert")
# Cards that no training sees: its own seeds are small.
_EVALUATION_SEED = 77


def load_variants(path: Path) -> dict[str, dict[str, Any]]:
    """The settings of each variant.

    Raises:
        Mistake: For a file that is no TOML of the two tables ``base`` and ``variants``.
    """
    try:
        table = read_toml(path)
    except ConfigError as error:
        raise Mistake(str(error)) from None
    variants = table.get("variants")
    if (
        not isinstance(variants, dict)
        or not variants
        or not all(isinstance(each, dict) for each in (table.get("base", {}), *variants.values()))
    ):
        raise Mistake(f"{path} must have a table [variants.NAME] for each variant, and may have [base]")
    return {name: table.get("base", {}) | changes for name, changes in variants.items()}


class Run:
    """One variant with one seed, in a folder of its own."""

    def __init__(self, folder: Path, variant: str, seed: int, settings: dict[str, Any], minutes: float, deals: int) -> None:
        self.folder, self.variant, self.seed, self.minutes, self.deals = folder / f"{variant}-{seed}", variant, seed, minutes, deals
        self.settings = settings | {"time_budget_seconds": 60.0 * minutes}
        self.config = self.folder / "settings.toml"

    def prepare(self) -> None:
        """Write the config.

        Raises:
            Mistake: For settings that make no sense, or a folder with others.
        """
        text = tomli_w.dumps(self.settings)
        if self.config.exists() and self.config.read_text(encoding="utf-8") != text:
            raise Mistake(f"{self.folder} holds a run of other settings; choose another --out")
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.config, text)
        try:
            load_config(self.config)
        except ConfigError as error:
            raise Mistake(f"variant {self.variant}: {error}") from None

    def train_and_measure(self) -> None:
        """What is missing of the two.

        Raises:
            Failure: Where a command fails.
        """
        run = self.folder / "run"
        trained = self.folder / "trained"
        if not trained.exists():
            if run.exists():
                # Cut short: what is left of it would have had other time.
                os.replace(run, self.folder / f"cut-short-{len(list(self.folder.glob('cut-short-*')))}")
            options = ["--seed", str(self.seed), "--out", str(run), "--deals", "0", "--quiet"]
            self._command("train", "--config", str(self.config), *options)
            trained.touch()
        for anchor in _ANCHORS:
            result = self.folder / f"{anchor}.json"
            if not result.exists():
                options = ["--deals", str(self.deals), "--seed", str(_EVALUATION_SEED), "--processes", "1", "--json", str(result)]
                self._command("evaluate", f"{run}:mode=argmax", anchor, *options)

    def _command(self, *arguments: str) -> None:
        with open(self.folder / "output.txt", "a", encoding="utf-8") as output:
            command = [sys.executable, "-m", "handfoot", *arguments]
            code = subprocess.run(command, stdout=output, stderr=output).returncode
        if code:
            raise Failure(f"{' '.join(command)} ended with code {code}; its output is in {self.folder / 'output.txt'}")

    def row(self) -> str:
        """The row of the table."""
        cells = [self.variant, str(self.seed), f"{read_log(self.folder / 'run')[-1]['run/decisions'] / 1e6:.1f} M"]
        for anchor in _ANCHORS:
            result = read_json(self.folder / f"{anchor}.json")
            points, games = result["difference_a_deal"], result["games_won"]
            cells.append(f"{points['mean']:+,.0f} ({points['low']:+,.0f} to {points['high']:+,.0f}), {games['mean']:.0%}")
        return "| " + " | ".join(cells) + " |"


@click.command()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the runs.")
@click.option(
    "--variants", "variants_file", type=click.Path(path_type=Path, dir_okay=False), default=_VARIANTS, help="File of the variants."
)
@click.option("--only", multiple=True, metavar="VARIANT", help="This variant alone; may be repeated.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Training time of a variant.")
@click.option("--deals", type=click.IntRange(1), default=2000, show_default=True, help="Of each evaluation.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Seeds of each variant, from --seed on.")
@click.option("--side-by-side", type=click.IntRange(1), help="Variants at the same time.  [default: the number of cores]")
@seed_option
def main(
    out: Path, variants_file: Path, only: tuple[str, ...], minutes: float, deals: int, seeds: int, side_by_side: int | None, seed: int
) -> None:
    """Train the variants of a file at equal wall time and compare them."""
    variants = load_variants(variants_file)
    for name in only:
        if name not in variants:
            raise Mistake(f"there is no variant {name!r}; {variants_file} has {', '.join(variants)}{did_you_mean(name, variants)}")
    runs = [
        Run(out, name, run_seed, settings, minutes, deals)
        for run_seed in range(seed, seed + seeds)
        for name, settings in variants.items()
        if name in only or not only
    ]
    for run in runs:
        run.prepare()
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(available_cores()))
    cores: SimpleQueue[int] = SimpleQueue()
    for number in range(side_by_side or len(allowed)):
        cores.put(allowed[number % len(allowed)])

    def done(run: Run) -> str:
        core = cores.get()
        try:
            if hasattr(os, "sched_setaffinity"):
                # Of this thread, and so of the processes that it starts.
                os.sched_setaffinity(0, {core})
            run.train_and_measure()
        finally:
            cores.put(core)
        return run.row()

    click.echo(f"| variant | seed | decisions | {' | '.join(f'against `{anchor}`' for anchor in _ANCHORS)} |")
    click.echo("|---|--:|--:|" + "---|" * len(_ANCHORS))
    with ThreadPoolExecutor(cores.qsize()) as pool:
        for row in pool.map(done, runs):
            click.echo(row)


if __name__ == "__main__":
    main()

"""Settings of training beside each other at equal wall time: ``python -m training.studies.compare_settings --out DIR``.

An arm is a base of settings with some of them changed (training/studies/compare_settings.toml, or a file of the same
form). Every arm is trained by ``handfoot train`` in a process and on a core of its own, several side by side, and then
measured by ``handfoot evaluate`` against the anchors on the same duplicate deals, playing its likeliest actions. What
is done is kept in DIR: called again, the command goes on with what is missing, and prints the table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import click
import tomli_w

from hf_env.vector.threads import available_cores
from training.cli.common import Failure, Mistake, seed_option
from training.config import ConfigError, load_config, read_toml
from training.run.report import read_log

_ARMS = Path(__file__).with_name("compare_settings.toml")
_ANCHORS = ("greedy", "expert")
# Cards that no training sees: its own seeds are small.
_EVALUATION_SEED = 77


def load_arms(path: Path) -> dict[str, dict[str, Any]]:
    """The settings of each arm. Raises Mistake for a file that is no TOML of the two tables ``base`` and ``arms``."""
    try:
        table = read_toml(path)
    except ConfigError as error:
        raise Mistake(str(error)) from None
    arms = table.get("arms")
    if not isinstance(arms, dict) or not arms or not all(isinstance(one, dict) for one in (table.get("base", {}), *arms.values())):
        raise Mistake(f"{path} must have a table [arms.NAME] for each arm, and may have [base]")
    return {name: table.get("base", {}) | changes for name, changes in arms.items()}


class Run:
    """One arm with one seed, in a folder of its own."""

    def __init__(self, folder: Path, arm: str, seed: int, settings: dict[str, Any], minutes: float, deals: int) -> None:
        self.folder, self.arm, self.seed, self.minutes, self.deals = folder / f"{arm}-{seed}", arm, seed, minutes, deals
        self.settings = settings | {"time_budget_seconds": 60.0 * minutes}
        self.config = self.folder / "arm.toml"

    def prepare(self) -> None:
        """Write the config. Raises Mistake for settings that make no sense, or a folder with others."""
        text = tomli_w.dumps(self.settings)
        if self.config.exists() and self.config.read_text(encoding="utf-8") != text:
            raise Mistake(f"{self.folder} holds a run of other settings; choose another --out")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text, encoding="utf-8")
        try:
            load_config(self.config)
        except ConfigError as error:
            raise Mistake(f"arm {self.arm}: {error}") from None

    def train_and_measure(self) -> None:
        """What is missing of the two. Raises Failure where a command fails."""
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
        cells = [self.arm, str(self.seed), f"{read_log(self.folder / 'run')[-1]['run/decisions'] / 1e6:.1f} M"]
        for anchor in _ANCHORS:
            result = json.loads((self.folder / f"{anchor}.json").read_text(encoding="utf-8"))
            points, games = result["difference_a_deal"], result["games_won"]
            cells.append(f"{points['mean']:+,.0f} ({points['low']:+,.0f} to {points['high']:+,.0f}), {games['mean']:.0%}")
        return "| " + " | ".join(cells) + " |"


@click.command()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the runs.")
@click.option("--arms", "arms_file", type=click.Path(path_type=Path, dir_okay=False), default=_ARMS, help="File of the arms.")
@click.option("--only", multiple=True, metavar="ARM", help="This arm alone; may be repeated.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), default=10.0, show_default=True, help="Training time of an arm.")
@click.option("--deals", type=click.IntRange(1), default=2000, show_default=True, help="Of each evaluation.")
@click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Seeds of each arm, from --seed on.")
@click.option("--side-by-side", type=click.IntRange(1), help="Arms at the same time.  [default: the number of cores]")
@seed_option
def main(
    out: Path, arms_file: Path, only: tuple[str, ...], minutes: float, deals: int, seeds: int, side_by_side: int | None, seed: int
) -> None:
    """Train the arms of a file at equal wall time and compare them."""
    arms = load_arms(arms_file)
    for name in only:
        if name not in arms:
            raise Mistake(f"there is no arm {name!r}; {arms_file} has {', '.join(arms)}")
    runs = [
        Run(out, name, one, settings, minutes, deals)
        for one in range(seed, seed + seeds)
        for name, settings in arms.items()
        if name in only or not only
    ]
    for run in runs:
        run.prepare()
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(available_cores()))
    cores: SimpleQueue[int] = SimpleQueue()
    for number in range(side_by_side or len(allowed)):
        cores.put(allowed[number % len(allowed)])

    def one(run: Run) -> str:
        core = cores.get()
        try:
            if hasattr(os, "sched_setaffinity"):
                # Of this thread, and so of the processes that it starts.
                os.sched_setaffinity(0, {core})
            run.train_and_measure()
        finally:
            cores.put(core)
        return run.row()

    click.echo(f"| arm | seed | decisions | {' | '.join(f'against `{anchor}`' for anchor in _ANCHORS)} |")
    click.echo("|---|--:|--:|" + "---|" * len(_ANCHORS))
    with ThreadPoolExecutor(cores.qsize()) as pool:
        for row in pool.map(one, runs):
            click.echo(row)


if __name__ == "__main__":
    main()

"""What a run leaves to look at: a log a line an iteration, TensorBoard, the learning curve, a short report."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.neural.checkpoint import as_checkpoint_errors, read_json, read_model
from hf_env.files import UnreadableError, append_text, read_file, replacing, write_text
from hf_env.reading import as_model, parse_json
from training.config import TrainConfig
from training.run.folder import CURVE_NAME, GAMES_NAME, LOG_NAME, RunFolder
from training.run.guards import monitor_of_log
from training.run.metrics import METRICS, STRENGTH, STRENGTH_INTERVAL, definition
from training.run.schema import GamesLine, LeagueTable, LogLine

# How a row of the report's table of results ends where it is of the final evaluation.
_FINAL = "| final |"
# Some 2 kB an iteration.
_MAX_LOG_BYTES = 1 << 30


class RunLog:
    """Metrics of every iteration, as JSON Lines and for TensorBoard, by decisions made."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self._writer: Any = None
        self._purge_step: int | None = None

    def write(self, metrics: Mapping[str, float], lineups: list[dict[str, Any]]) -> None:
        """Append one iteration's metrics, and the line-ups of the games that ended in it.

        Args:
            lineups: as of ``League.take_finished``.

        Raises:
            KeyError: For a metric that training/run/metrics.py does not define.
        """
        for name in metrics:
            definition(name)
        run = RunFolder(self.run_dir)
        append_text(run.log, json.dumps(dict(metrics)) + "\n")
        games = [{"iteration": int(metrics["run/iteration"])} | line for line in lineups]
        append_text(run.games, "".join(json.dumps(line) + "\n" for line in games))
        for name, value in metrics.items():
            self._tensorboard().add_scalar(name, value, int(metrics["run/decisions"]))

    def cut_after(self, iteration: int, decisions: int) -> None:
        """Drop what was logged after the checkpoint that a resumed run starts from."""
        for name, key in ((LOG_NAME, "run/iteration"), (GAMES_NAME, "iteration")):
            kept = [line for line in read_log(self.run_dir, name) if line[key] <= iteration]
            write_text(self.run_dir / name, "".join(json.dumps(line) + "\n" for line in kept))
        self._purge_step = decisions + 1

    def close(self) -> None:
        """Flush what TensorBoard has not written yet."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _tensorboard(self):
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(RunFolder(self.run_dir).tensorboard), purge_step=self._purge_step)
        return self._writer


def read_log(run_dir: Path, name: str = LOG_NAME) -> list[dict[str, Any]]:
    """The metrics of all iterations, or with GAMES_NAME the games' line-ups, oldest first; empty where nothing was logged.

    A line that was half written when the run was killed is left out, and so is one that was not written by a run.

    Raises:
        CheckpointError: For a log that cannot be read.
    """
    path = Path(run_dir) / name
    model = GamesLine if name == GAMES_NAME else LogLine
    lines = []
    with as_checkpoint_errors():
        try:
            data = read_file(path, _MAX_LOG_BYTES, "log")
        except FileNotFoundError:
            return []
        for line in data.split(b"\n"):
            with contextlib.suppress(UnreadableError):
                value = parse_json(line, name)
                as_model(value, model, name)
                lines.append(value)
    return lines


def write_report(run_dir: Path | str, evaluations: Mapping[str, tuple[float, float]] | None = None, notes: str = "") -> Path:
    """Write the learning curve and the report of a run; returns the report's path.

    Args:
        evaluations: final results, anchor -> (points a deal more, half the 95 % interval).
        notes: Markdown put at the end, as the command's account of the evaluation.
    """
    run = RunFolder(Path(run_dir))
    log = read_log(run.path)
    draw_learning_curve(log, run.curve, evaluations)
    write_text(run.report, _report_text(run, log, evaluations or {}, notes))
    return run.report


def num_final_results(run_dir: Path | str) -> int:
    """How many results of the final evaluation a run's report has; -1 where there is no report."""
    report = RunFolder(Path(run_dir)).report
    return report.read_text(encoding="utf-8", errors="replace").count(_FINAL) if report.is_file() else -1


def draw_learning_curve(log: list[dict[str, float]], path: Path, evaluations=None) -> None:
    """Draw strength, points and share gone out, entropy and explained variance over the decisions made, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    FigureCanvasAgg(figure)
    (strength, points), (out, learning) = figure.subplots(2, 2)
    _draw_strength(strength, log, evaluations or {})
    _draw_lines(points, log, {"play/points_a_deal": "side"}, "points a deal, learners among themselves")
    _draw_lines(out, log, {"play/gone_out_share": "gone out"}, "share of deals gone out")
    labels = {"learning/entropy": "entropy (nats)", "learning/explained_variance": "explained variance"}
    _draw_lines(learning, log, labels, "learning")
    for axes in (strength, points, out, learning):
        axes.set_xlabel("million decisions")
        axes.grid(alpha=0.3)
    with replacing(path) as draft:
        figure.savefig(draft, dpi=110, format="png")


def _series(log, name: str) -> tuple[list[float], list[float]]:
    """Million decisions and values of the iterations that have the metric."""
    have = [line for line in log if name in line]
    return [line["run/decisions"] / 1e6 for line in have], [line[name] for line in have]


def _draw_lines(axes, log, labels: Mapping[str, str], title: str) -> None:
    for name, label in labels.items():
        x, y = _series(log, name)
        axes.plot(x, y, alpha=0.25, linewidth=0.8)
        axes.plot(x, _smoothed(y), color=axes.lines[-1].get_color(), label=label)
    axes.set_title(title)
    if len(labels) > 1:
        axes.legend()


def _smoothed(values: list[float], keep: float = 0.9) -> list[float]:
    """Exponential moving average without the start's bias."""
    out, total, weight = [], 0.0, 0.0
    for value in values:
        total, weight = keep * total + (1 - keep) * value, keep * weight + (1 - keep)
        out.append(total / weight)
    return out


def _draw_strength(axes, log, evaluations) -> None:
    axes.set_title("points a deal more than an anchor")
    measured = {name.removeprefix(STRENGTH) for line in log for name in line if name.startswith(STRENGTH)}
    anchors = sorted(measured | set(evaluations))
    for anchor in anchors:
        x, y = _series(log, STRENGTH + anchor)
        _, half = _series(log, STRENGTH_INTERVAL + anchor)
        if anchor in evaluations and log:
            x, y = [*x, log[-1]["run/decisions"] / 1e6], [*y, evaluations[anchor][0]]
            half = [*half, evaluations[anchor][1]]
        axes.errorbar(x, y, yerr=half, capsize=3, marker="o", label=anchor)
    axes.axhline(0.0, color="black", linewidth=0.8)
    if anchors:
        axes.legend()


def _league_lines(run: RunFolder) -> list[str]:
    """A table of the players that the learner met; nothing where it met none."""
    table = [entry.model_dump() for entry in read_model(run.league, LeagueTable).root] if run.league.exists() else []
    met = sorted((player for player in table if player["games"]), key=lambda player: -player["rating"])
    if not met:
        return []
    rows = [
        f"| {player['name']} | `{player['digest'][:12]}` | {player['games']} | {player['wins'] / player['games']:.0%} "
        f"| {player['rating']:+.0f} |"
        for player in met
    ]
    head = ["| player | hash | games | won by the learner | rating above the learner, lately (Elo) |", "| --- | --- | ---: | ---: | ---: |"]
    return ["The league:", "", *head, *rows, ""]


def _report_text(run: RunFolder, log, evaluations, notes: str) -> str:
    config: dict[str, Any] = TrainConfig.from_json(read_json(run.config)).to_json()
    lines = [f"# Run {run.path.resolve().name}", ""]
    if not log:
        return "\n".join([*lines, "Nothing was learned: no iteration was finished.", ""])
    last: dict[str, float] = {}
    for line in log:
        last |= line
    seconds, decisions = last["run/seconds"], last["run/decisions"]
    lines += [
        f"{decisions:,.0f} decisions in {seconds / 60:.1f} minutes "
        f"({decisions / seconds:,.0f} a second, all included), "
        f"{last['run/iteration']:,.0f} updates, rules `{config['rules']}`, seed {config['seed']}.",
        "",
        f"![learning curve]({CURVE_NAME})",
        "",
    ]
    results = {name.removeprefix(STRENGTH): (last[name], last[STRENGTH_INTERVAL + name.removeprefix(STRENGTH)])
               for name in last if name.startswith(STRENGTH)}  # fmt: skip
    results |= evaluations
    if results:
        lines += ["| against | points a deal | 95 % interval | |", "| --- | ---: | --- | --- |"]
        for anchor, (mean, half) in results.items():
            when = _FINAL if anchor in evaluations else "| on the way |"
            lines.append(f"| {anchor} | {mean:+,.0f} | {mean - half:+,.0f} to {mean + half:+,.0f} {when}")
        lines.append("")
    lines += [f"**Warning:** {fall}." + "\n" for fall in monitor_of_log(log).fallen.values()]
    lines += _league_lines(run)
    lines += ["At the end of training:", "", "| metric | value | meaning |", "| --- | ---: | --- |"]
    for name in METRICS:
        if name in last:
            lines.append(f"| `{name}` | {last[name]:,.4g} | {definition(name)} |")
    if notes:
        lines += ["", notes]
    return "\n".join([*lines, ""])

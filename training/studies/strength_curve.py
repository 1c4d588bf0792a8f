"""How strong a run was on its way: ``python -m training.studies.strength_curve RUN``.

Every self that the run froze for its league, and the policy that it ended with, is measured on duplicate deals against the
anchors that never change, and against the best of the frozen ones, which is the one that did best against the first
anchor. Prints a Markdown table, draws RUN/strength_curve.png and writes RUN/strength_curve.json.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agents.neural import CheckpointError, NetworkConfig, NeuralPolicy, load_policy
from agents.neural.checkpoint import network_from_bytes, read_json, read_model
from hf_env.files import replacing, write_json
from training.cli.common import MAX_SEED, Mistake, progress_bar
from training.config import TrainConfig
from training.evaluation import ANCHORS, evaluate
from training.run.checkpoints import load_member
from training.run.folder import RunFolder
from training.run.report import read_log
from training.run.schema import LeagueTable

_BEST = "best frozen"


def frozen_selves(run_dir: Path) -> list[tuple[int, NeuralPolicy]]:
    """(decisions, policy) of every self that the run froze and of its last policy, in their order.

    Raises:
        CheckpointError: Where the folder is no run, or a file of it is missing or damaged.
    """
    network, info = load_policy(run_dir)
    config = NetworkConfig(**info["network"])
    found = []
    for player in read_model(RunFolder(run_dir).league, LeagueTable).root:
        if player.decisions:
            member = network_from_bytes(load_member(run_dir, player.digest), config, info["num_actions"])
            found.append((player.decisions, NeuralPolicy(member, "argmax", info)))
    return [
        *sorted(found, key=lambda pair: pair[0]),
        (int(info.get("lineage", {}).get("decisions", 0)), NeuralPolicy(network, "argmax", info)),
    ]


def seconds_at(log: list[dict[str, float]], decisions: int) -> float:
    """Training time after so many decisions, in seconds, by the run's log."""
    return max((line["run/seconds"] for line in log if line["run/decisions"] <= decisions), default=0.0)


def measure(selves: list[tuple[int, Any]], rules: Any, deals: int, seed: int, on_progress) -> list[dict[str, Any]]:
    """For each self {"decisions", anchor: {"mean", "low", "high", "games_won"}}; the best frozen one is an anchor too."""
    rows: list[dict[str, Any]] = [{"decisions": decisions} for decisions, _ in selves]
    total, done = len(selves) * (len(ANCHORS) + 1), 0

    def against(name: str, other: Any) -> None:
        nonlocal done
        for row, (_, policy) in zip(rows, selves, strict=True):
            if policy is other:
                continue
            result = evaluate(policy, other, deals=deals, seed=seed, rules=rules, names=("this", name))
            difference = result.difference
            row[name] = {
                "mean": difference.mean, "low": difference.low, "high": difference.high, "games_won": result.games_won.mean
            }  # fmt: skip
            done += 1
            on_progress(done, total)

    for anchor in ANCHORS:
        against(anchor, anchor)
    frozen = max(range(len(selves) - 1), key=lambda i: rows[i][ANCHORS[0]]["mean"], default=None)
    if frozen is not None:
        rows[frozen]["is_best_frozen"] = True
        against(_BEST, selves[frozen][1])
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    names = [*ANCHORS, _BEST]
    lines = [f"| decisions | minutes | {' | '.join(f'against {name}' for name in names)} |", "|--:|--:|" + "---|" * len(names)]
    for row in rows:
        cells = [f"{row['decisions'] / 1e6:.1f} M", f"{row['seconds'] / 60:.0f}"]
        for name in names:
            points = row.get(name)
            cells.append(f"{points['mean']:+,.0f} ({points['low']:+,.0f} to {points['high']:+,.0f})" if points else "itself")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """The curve as PNG, without the weakest anchor, whose scale would flatten the others."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name in [*ANCHORS[:-1], _BEST]:
        have = [row for row in rows if name in row]
        minutes, means = [row["seconds"] / 60 for row in have], [row[name]["mean"] for row in have]
        errors = [[row[name]["mean"] - row[name]["low"] for row in have], [row[name]["high"] - row[name]["mean"] for row in have]]
        axes.errorbar(minutes, means, yerr=errors, capsize=3, marker="o", markersize=4, label=f"against {name}")
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel("minutes of training")
    axes.set_ylabel("points a deal more")
    axes.grid(alpha=0.3)
    axes.legend()
    with replacing(path) as draft:
        figure.savefig(draft, dpi=110, format="png")


@click.command()
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--deals", type=click.IntRange(1), default=1000, show_default=True, help="Of each measurement.")
@click.option("--seed", type=click.IntRange(0, MAX_SEED), default=77, show_default=True, help="Of the cards; no training sees these.")
def main(run_dir: Path, deals: int, seed: int) -> None:
    """Measure every frozen self of RUN against the anchors and the best of them."""
    try:
        selves = frozen_selves(run_dir)
        config = TrainConfig.from_json(read_json(RunFolder(run_dir).config))
    except (CheckpointError, ValueError) as error:
        raise Mistake(str(error)) from None
    with progress_bar("measuring") as report:
        rows = measure(selves, config.rules, deals, seed, report)
    log = read_log(run_dir)
    for row in rows:
        row["seconds"] = seconds_at(log, row["decisions"])
    write_json(RunFolder(run_dir).strength_curve("json"), {"deals": deals, "seed": seed, "rows": rows})
    draw(rows, RunFolder(run_dir).strength_curve("png"))
    click.echo(table(rows))


if __name__ == "__main__":
    main()

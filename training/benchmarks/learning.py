"""Our trainer beside sb3-contrib's MaskablePPO on the Gymnasium form: the same network, epochs and minibatches, in turn.

``python -m training.benchmarks.learning ours|sb3 SEED SECONDS`` is a process of the comparison; it prints one line of JSON. Ours takes
settings too, as precision=bfloat16, compiled=true, processes=1.
Both may use all cores. Ours learns from the decisions of all seats; MaskablePPO has one seat of each table, with `random`
in the others, and its decisions are those that it learns from.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from training.benchmarks.rows import BenchmarkError, Row

# Tables and steps between two updates of MaskablePPO: some minibatches of ours, in a time that a benchmark has.
SB3_TABLES, SB3_STEPS = 16, 512
_PATIENCE_SECONDS = 1800


def measure_ours(seed: int, seconds: float, **settings: Any) -> dict:
    """Decisions a second of the default training, or with other settings, its first iteration left out, and the shares of the time."""
    from training.config import TrainConfig
    from training.sessions import open_trainer

    config = TrainConfig(seed=seed, time_budget_seconds=3600.0, num_evaluations=0, **settings)
    with tempfile.TemporaryDirectory() as folder, open_trainer(config, Path(folder)) as trainer:
        trainer.iterate()
        decisions, begun, iterations = trainer.decisions, time.perf_counter(), 0
        shares: dict[str, float] = {}
        while time.perf_counter() - begun < seconds or iterations < 2:
            values = trainer.iterate()
            iterations += 1
            for name in ("engine", "inference", "learning"):
                shares[name] = shares.get(name, 0.0) + values[f"speed/{name}_share"]
        elapsed = time.perf_counter() - begun
        trainer.log.close()
    return {
        "speed": (trainer.decisions - decisions) / elapsed, "decisions": trainer.decisions - decisions,
        "shares": {name: share / iterations for name, share in shares.items()},
    }  # fmt: skip


def measure_sb3(seed: int, seconds: float) -> dict:
    """Decisions a second of MaskablePPO, its first rollout and update left out.

    Raises:
        ImportError: Without sb3-contrib.
    """
    import gymnasium
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from stable_baselines3.common.vec_env import DummyVecEnv

    from agents.neural import build_network
    from hf_env import VectorGame
    from hf_env.vector.threads import available_cores
    from training.config import TrainConfig
    from training.learning.visible import visible_scale

    config = TrainConfig()
    games = VectorGame(1)
    scale = visible_scale(games, config.network.ignored, config.rules)

    class Body(BaseFeaturesExtractor):
        """Our network, so that both learn as many weights; MaskablePPO puts its two heads, one layer each, on what it tells."""

        def __init__(self, space) -> None:
            super().__init__(space, games.num_actions + 1)
            self.network = build_network(config.network, scale, games.num_actions, seed, games.observation_layout)

        def forward(self, observations: torch.Tensor) -> torch.Tensor:
            logits, values = self.network(observations)
            return torch.cat([logits, values[:, None]], 1)

    tables = DummyVecEnv([lambda: gymnasium.make("HandAndFoot-v0", shaping=config.shaping, disable_env_checker=True)] * SB3_TABLES)
    model = MaskablePPO(
        "MlpPolicy", tables, seed=seed, n_steps=SB3_STEPS, batch_size=config.minibatch_size, n_epochs=config.update_epochs, device="cpu",
        policy_kwargs={"features_extractor_class": Body, "net_arch": []},
    )  # fmt: skip
    rollout = SB3_TABLES * SB3_STEPS
    # PyTorch's threads as it would have them, or one where that is faster now; each after a first rollout to warm up.
    times = {}
    model.learn(rollout)
    for threads in {available_cores(), 1}:
        torch.set_num_threads(threads)
        begun = time.perf_counter()
        model.learn(rollout, reset_num_timesteps=False)
        times[threads] = time.perf_counter() - begun
    torch.set_num_threads(min(times, key=times.__getitem__))
    decisions, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds or decisions == 0:
        model.learn(rollout, reset_num_timesteps=False)
        decisions += rollout
    elapsed = time.perf_counter() - begun
    return {"speed": decisions / elapsed, "decisions": decisions}


def _run(which: str, seed: int, seconds: float) -> dict[str, Any] | str:
    """Measure in a process of its own; the result, or why it is missing."""
    command = [sys.executable, "-m", "training.benchmarks.learning", which, str(seed), str(seconds)]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=_PATIENCE_SECONDS + 20 * seconds, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]


def learning_steps(seed: int, seconds: float, missing: dict[str, str]) -> list[Callable[[], list[Row]]]:
    """Ours, MaskablePPO, ours again; the rows come with the last step.

    Args:
        missing: filled where sb3-contrib is not installed.
    """
    ours: list[dict] = []

    def measure() -> list[Row]:
        found = _run("ours", seed, seconds)
        if isinstance(found, str):
            raise BenchmarkError(f"training: {found}")
        ours.append(found)
        return []

    def finish() -> list[Row]:
        other = _run("sb3", seed, seconds)
        measure()
        speed = sum(run["speed"] for run in ours) / len(ours)
        rows = [
            Row(
                "training",
                "training/ours",
                "our trainer, decisions of all seats",
                speed,
                "decisions/s",
                {"shares": ours[-1]["shares"], "decisions": sum(run["decisions"] for run in ours)},
            )
        ]
        if isinstance(other, str):
            missing["MaskablePPO"] = other
        else:
            details = {"ratio": speed / other["speed"], "decisions": other["decisions"]}
            rows.append(
                Row("training", "training/sb3", "sb3-contrib MaskablePPO, decisions of its seat", other["speed"], "decisions/s", details)
            )
        return rows

    return [measure, finish]


def _setting(text: str) -> tuple[str, Any]:
    """Name and value of NAME=VALUE, the value as JSON or else as text."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


@click.command()
@click.argument("trainer", type=click.Choice(["ours", "sb3"]))
@click.argument("seed", type=click.IntRange(0))
@click.argument("seconds", type=click.FloatRange(0, min_open=True))
@click.argument("settings", nargs=-1, metavar="[NAME=VALUE]...")
def main(trainer: str, seed: int, seconds: float, settings: tuple[str, ...]) -> None:
    """Measure one trainer; settings are for ours, as precision=bfloat16."""
    measure = {"ours": measure_ours, "sb3": measure_sb3}[trainer]
    click.echo(json.dumps(measure(seed, seconds, **dict(_setting(text) for text in settings))))


if __name__ == "__main__":
    main()

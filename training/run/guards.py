"""Learning that cannot fail silently: updates that broke down are kept to be looked at, falling strength is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from agents.neural.checkpoint import save_policy
from hf_env.files import write_file, write_json
from training.learning.ppo import NonFiniteError
from training.learning.rollout import Rollout
from training.run.folder import FAILURE_JSON, FAILURE_TENSORS, RunFolder
from training.run.metrics import STRENGTH, STRENGTH_INTERVAL

# Before its first step the network gives the probabilities that it played with, up to rounding: some 1e-5 in float32.
_MAX_RATIO_ERROR = 0.1
_ARRAYS = (
    "observations",
    "hidden",
    "action_masks",
    "actions",
    "teacher_actions",
    "log_probs",
    "values",
    "advantages",
    "returns",
    "policy_weights",
)


class DivergenceError(FloatingPointError):
    """An update moved the policy beyond all measure; the message says by what and how far."""


# What ends a run and leaves the offending batch.
FAILURES = (NonFiniteError, DivergenceError)


def check_divergence(metrics: Mapping[str, float], max_kl: float) -> None:
    """Look whether an update broke the policy, or learned from another's play.

    Args:
        max_kl: nats that an update may move the policy.

    Raises:
        DivergenceError: Where its metrics show that.
    """
    if not metrics["learning/approximate_kl"] <= max_kl:
        raise DivergenceError(f"the update moved the policy by {metrics['learning/approximate_kl']:.3g} nats, max_kl is {max_kl:g}")
    if not metrics["learning/first_ratio_error"] <= _MAX_RATIO_ERROR:
        raise DivergenceError(
            f"before the update the policy differed from the one that played: first_ratio_error is "
            f"{metrics['learning/first_ratio_error']:.3g}, at most {_MAX_RATIO_ERROR:g} is rounding"
        )


def save_failure(run_dir: Path, iteration: int, rollout: Rollout, network, info: dict[str, Any], error: Exception) -> Path:
    """Write the batch and the network at the moment of failure into its folder; returns the folder.

    The network is as it was before the step that failed, or after the update that diverged.
    """
    folder = RunFolder(run_dir).failure(iteration)
    save_policy(folder, network, info)
    arrays = {name: np.ascontiguousarray(getattr(rollout, name)) for name in _ARRAYS}
    write_file(folder / FAILURE_TENSORS, safetensors.numpy.save(arrays))
    write_json(folder / FAILURE_JSON, {"iteration": iteration, "kind": type(error).__name__, "message": str(error)})
    return folder


@dataclass
class StrengthMonitor:
    """The best measurement against each anchor so far: anchor -> (decisions, points a deal, half the 95 % interval).

    Attributes:
        fallen: what to say of the anchors against which the last measurement lies below the best, the intervals apart.
    """

    best: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    fallen: dict[str, str] = field(default_factory=dict)

    def add(self, metrics: Mapping[str, float], decisions: float) -> list[str]:
        """Take in the metrics ``strength/...``; returns what to say of each anchor that is found fallen by them."""
        said = []
        for name in [name for name in metrics if name.startswith(STRENGTH)]:
            anchor = name.removeprefix(STRENGTH)
            mean, half = metrics[name], metrics[STRENGTH_INTERVAL + anchor]
            when, best, best_half = self.best.get(anchor, (decisions, mean, half))
            self.fallen.pop(anchor, None)
            if mean + half < best - best_half:
                self.fallen[anchor] = (
                    f"strength against {anchor} fell from {best:+,.0f} ± {best_half:,.0f} at {when:,.0f} decisions "
                    f"to {mean:+,.0f} ± {half:,.0f} at {decisions:,.0f}"
                )
                said.append(self.fallen[anchor])
            if anchor not in self.best or mean > best:
                self.best[anchor] = (decisions, mean, half)
        return said

    def state(self) -> dict[str, Any]:
        """For the checkpoint."""
        return {"best": {anchor: list(values) for anchor, values in self.best.items()}, "fallen": dict(self.fallen)}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Inverse of ``state``."""
        self.best = {anchor: tuple(values) for anchor, values in state["best"].items()}
        self.fallen = dict(state["fallen"])


def monitor_of_log(log: Iterable[Mapping[str, float]]) -> StrengthMonitor:
    """The monitor as it stands after the lines of a run's log."""
    monitor = StrengthMonitor()
    for line in log:
        monitor.add(line, line["run/decisions"])
    return monitor

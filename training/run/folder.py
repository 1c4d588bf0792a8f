"""The files of a run folder: the one place that knows their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from agents.neural.checkpoint import POINTER_NAME
from hf_env.files import PART

CONFIG_NAME = "config.json"
LOG_NAME = "metrics.jsonl"
GAMES_NAME = "games.jsonl"
LEAGUE_NAME = "league.json"
CURVE_NAME = "learning_curve.png"
REPORT_NAME = "report.md"
# Beside a policy's two files (agents/neural/checkpoint.py) in the folder of a checkpoint.
STATE_TENSORS, STATE_JSON = "state.safetensors", "state.json"
# Beside them in the folder of a failure.
FAILURE_TENSORS, FAILURE_JSON = "batch.safetensors", "failure.json"
_CHECKPOINTS = "checkpoints"
# Folders of this naming alone are the run's; all else in checkpoints/ is the user's.
_OWN_NAME = re.compile(r"[0-9]{8,}")


@dataclass(frozen=True)
class RunFolder:
    """Where the files of a run are."""

    path: Path

    @property
    def config(self) -> Path:
        """All settings."""
        return self.path / CONFIG_NAME

    @property
    def pointer(self) -> Path:
        """The name of the newest checkpoint; agents/neural/checkpoint.py reads it too."""
        return self.path / POINTER_NAME

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.path / _CHECKPOINTS

    def checkpoint(self, name: str) -> Path:
        """The folder of one checkpoint; a name is as ``pointed`` gives it."""
        return self.checkpoints / name

    def finished_checkpoints(self) -> list[Path]:
        """Folders of finished checkpoints, oldest first."""
        return sorted(self._own_folders(""), key=lambda folder: int(folder.name))

    def unfinished_checkpoints(self) -> list[Path]:
        """Folders of checkpoints that a killed process left half written."""
        return self._own_folders(PART)

    def _own_folders(self, ending: str) -> list[Path]:
        """Folders that a run has named, with this ending; no links."""
        if not self.checkpoints.is_dir():
            return []
        ours = [
            path
            for path in self.checkpoints.iterdir()
            if path.name.endswith(ending) and _OWN_NAME.fullmatch(path.name.removesuffix(ending))
        ]
        return [path for path in ours if path.is_dir() and not path.is_symlink()]

    @staticmethod
    def pointed(name: str) -> str:
        """What the pointer says of a checkpoint's name: its path in the run folder."""
        return f"{_CHECKPOINTS}/{name}"

    def member(self, digest: str) -> Path:
        """The tensors of a frozen self, by their SHA-256."""
        return self.path / "pool" / f"{digest}.safetensors"

    @property
    def log(self) -> Path:
        """The metrics of each iteration."""
        return self.path / LOG_NAME

    @property
    def games(self) -> Path:
        """The line-ups of the games that ended in each iteration."""
        return self.path / GAMES_NAME

    @property
    def tensorboard(self) -> Path:
        """The folder of TensorBoard's log."""
        return self.path / "tensorboard"

    @property
    def league(self) -> Path:
        """The results against each player of the league."""
        return self.path / LEAGUE_NAME

    @property
    def curve(self) -> Path:
        """The learning curve."""
        return self.path / CURVE_NAME

    @property
    def report(self) -> Path:
        """The report."""
        return self.path / REPORT_NAME

    def failure(self, update: int) -> Path:
        """The folder of an update that broke down."""
        return self.path / "failures" / f"{update:08d}"

    def evaluation(self, anchor: str) -> Path:
        """The final evaluation against an anchor."""
        return self.path / f"evaluation-{anchor}.json"

    def strength_curve(self, ending: str) -> Path:
        """The strength of the frozen selves.

        Args:
            ending: "json" or "png".
        """
        return self.path / f"strength_curve.{ending}"

    def holds_run(self) -> bool:
        """Whether a run was begun here that a new one would overwrite.

        A run that ended before its first checkpoint has learned nothing, and leaves its config at most.
        """
        return self.pointer.exists() or self.log.exists() or bool(self.finished_checkpoints())

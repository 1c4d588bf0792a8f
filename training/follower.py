"""A process of a run other than the calling one: it does what rank 0 says until that is gone (training/processes.py)."""

from __future__ import annotations

import pickle
import signal
import sys
from pathlib import Path

from agents.neural.checkpoint import CheckpointError
from training.config import TrainConfig
from training.processes import FOLLOWED, LostProcessError, Processes, end_with
from training.run.guards import FAILURES
from training.trainer import Trainer, make_games


def follow(config: TrainConfig, run_dir: Path, rank: int, size: int, meeting_place: Path) -> None:
    """Play and learn as the process of that rank, until rank 0 ends.

    Args:
        config: the run's settings.
        run_dir: the run's folder, which is only read.
        rank: from 1 to size - 1.
        size: of all processes.
        meeting_place: the folder in which the processes meet.
    """
    processes = Processes(rank, size)
    trainer = Trainer(config, run_dir, make_games(config, rank, size), processes=processes)
    processes.meeting_place = meeting_place
    processes.connect()
    while True:
        trainer.do_as_told()


def main() -> None:
    """Follow as the pickled arguments on standard input say; end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    setup = pickle.load(sys.stdin.buffer)
    end_with(sys.stdin.buffer)
    try:
        follow(**setup)
    except (LostProcessError, *FAILURES):
        # Rank 0 says what has happened.
        sys.exit(FOLLOWED)
    except CheckpointError as error:
        sys.exit(f"process {setup['rank']}: {error}")

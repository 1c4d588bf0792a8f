"""A run from its beginning to its end: ``train`` and ``resume``; stop on budget or signal."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.neural.checkpoint import read_json
from agents.neural.devices import usable_device
from hf_env.files import write_json
from training.config import ConfigError, TrainConfig
from training.effects import without_effect
from training.locks import only_writer
from training.processes import default_processes, led_processes
from training.run.folder import RunFolder
from training.run.progress import ProgressDisplay
from training.run.report import write_report
from training.trainer import EvaluateFn, Trainer, make_games


@dataclass(frozen=True)
class TrainResult:
    """How a run ended.

    Attributes:
        stopped_by: "budget" or "signal".
        seconds: of all its parts together.
        processes: that it ran on.
    """

    run_dir: Path
    checkpoint: Path
    decisions: int
    iterations: int
    seconds: float
    stopped_by: str
    processes: int = 1


@contextmanager
def open_trainer(config: TrainConfig, run_dir: Path, evaluate_fn: EvaluateFn | None = None, games=None) -> Iterator[Trainer]:
    """A trainer with the other processes that its config asks for, which end with the context.

    Args:
        games: of one process; None makes them by the config.

    Raises:
        ConfigError: For such games and several processes, and for a device that this machine lacks.
        ProcessError: Where a process ends before its time.
    """
    try:
        device = usable_device(config.device)
    except ValueError as error:
        raise ConfigError(f"device = {error}") from None
    if config.processes == 0:
        several = games is None and device.type == "cpu"
        config = config.replace(processes=default_processes(config.num_games) if several else 1)
    if games is not None and config.processes > 1:
        raise ConfigError("games that are given are those of one process: set processes = 1")
    with led_processes(config.processes, {"config": config, "run_dir": run_dir}) as processes:
        trainer = Trainer(config, run_dir, games or make_games(config, 0, processes.size), evaluate_fn, processes)
        processes.connect()
        yield trainer


def train(
    config: TrainConfig,
    run_dir: Path | str,
    evaluate_fn: EvaluateFn | None = None,
    *,
    games=None,
    show_progress: bool = True,
    should_stop: Callable[[], bool] | None = None,
) -> TrainResult:
    """Train from the beginning in a new run folder; warn of settings that change nothing beside the others.

    Args:
        config: the settings.
        run_dir: the folder, made if missing.
        evaluate_fn: measures the policy against anchors, now and then: a function of the policy that gives {name: (points a
            deal ahead, half the 95 % interval)}.
        games: None makes them by the config.
        show_progress: a line on the terminal.
        should_stop: asked after every iteration. SIGINT and SIGTERM stop the run too, after the iteration at hand; what was
            learned is saved either way.

    Raises:
        ConfigError: Where the folder already holds a run; NonFiniteError.
        FolderInUseError: Where another process writes into it.
        DivergenceError: Where learning broke down (the last checkpoint stays, and the offending batch is kept).
        ProcessError: Where a process of the run has ended.
    """
    run_dir = Path(run_dir)
    for line in without_effect(config):
        warnings.warn(line, stacklevel=2)
    with only_writer(run_dir):
        if RunFolder(run_dir).holds_run():
            raise ConfigError(f"{run_dir} already holds a run: resume it or choose another folder")
        return _begin(config, run_dir, evaluate_fn, games, show_progress, should_stop)


def _begin(config: TrainConfig, run_dir: Path, evaluate_fn: EvaluateFn | None, games, show_progress: bool, should_stop) -> TrainResult:
    """Train from the beginning in a folder that holds no checkpoint."""
    with open_trainer(config, run_dir, evaluate_fn, games) as trainer:
        if config.initial_policy is not None:
            trainer.begin_from(config.initial_policy)
        write_json(RunFolder(run_dir).config, trainer.config.to_json())
        # From here on there is always a checkpoint to resume, whenever the process is killed.
        trainer.save()
        return _run(trainer, show_progress, should_stop)


def resume(
    run_dir: Path | str,
    evaluate_fn: EvaluateFn | None = None,
    *,
    games=None,
    show_progress: bool = True,
    should_stop: Callable[[], bool] | None = None,
    **changes: Any,
) -> TrainResult:
    """Continue a run from its newest checkpoint, as if it had never stopped.

    A run that ended before its first checkpoint begins anew.

    Args:
        run_dir: the run's folder.
        evaluate_fn, games, show_progress, should_stop: as for ``train``.
        changes: new values of settings that do not touch what was learned, such as a larger budget. A longer budget
            stretches the schedules.

    Raises:
        CheckpointError: Where the folder has no whole checkpoint, or one of other settings.
        ConfigError: For changes that a run cannot take.
        FolderInUseError: Where another process goes on with it.
    """
    run_dir = Path(run_dir)
    with only_writer(run_dir):
        config = TrainConfig.from_json(read_json(RunFolder(run_dir).config)).replace(**changes)
        if not RunFolder(run_dir).holds_run():
            return _begin(config, run_dir, evaluate_fn, games, show_progress, should_stop)
        with open_trainer(config, run_dir, evaluate_fn, games) as trainer:
            trainer.restore()
            write_json(RunFolder(run_dir).config, trainer.config.to_json())
            return _run(trainer, show_progress, should_stop)


def _run(trainer: Trainer, show_progress: bool, should_stop: Callable[[], bool] | None) -> TrainResult:
    stopped_by = "budget"
    last_save = time.perf_counter()
    with _signals() as signalled, ProgressDisplay(show_progress) as display:
        while trainer.progress < 1.0:
            display.update(trainer.progress, trainer.iterate())
            if signalled.is_set() or (should_stop is not None and should_stop()):
                stopped_by = "signal"
                break
            if time.perf_counter() - last_save > trainer.config.checkpoint_seconds:
                trainer.save()
                last_save = time.perf_counter()
        folder = trainer.save()
        trainer.log.close()
    write_report(trainer.run_dir)
    return TrainResult(trainer.run_dir, folder, trainer.decisions, trainer.iteration, trainer.seconds, stopped_by, trainer.processes.size)


@contextmanager
def _signals():
    """An event that SIGINT and SIGTERM set; a second signal acts as it would have without us."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def on_signal(number, frame) -> None:
        event.set()
        restore()

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield event
    finally:
        restore()

"""Processes that learn as one: each plays games of its own, and all take the same steps.

One of them, of rank 0, is the process that called ``train``; it starts the others and tells them what to do. They talk
through torch.distributed, by gloo on the CPU. A process that lacks another's answer ends, so none outlives the run.
"""

from __future__ import annotations

import math
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from hf_env.vector.threads import available_cores

_Thing = TypeVar("_Thing")
MOST_PROCESSES = 8
# While rank 0 measures, the others wait. One that ends is noticed at once, whatever this is.
_PATIENCE = timedelta(days=1)
# For the others to end after they are told to.
_SECONDS_TO_END = 10.0
# Exit code of a process that ends because another has ended, or because learning broke down on all.
FOLLOWED = 75
_CODE = "import sys; sys.path[:] = {path!r}; from training.follower import main; main()"


class LostProcessError(RuntimeError):
    """Another process of the run does not answer."""


class ProcessError(RuntimeError):
    """A process of the run has ended; the message is one line for a user."""


class Processes:
    """The processes of a run as one of them sees them.

    What is gathered, added or told is so by all of them at the same point of their programs.

    Args:
        rank: this process's number, 0 to size - 1.
        size: how many there are.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        self.children: list[subprocess.Popen] = []
        self.meeting_place: Path | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """What the seeds of this process's streams grow with; none for rank 0."""
        return (self.rank,) if self.rank else ()

    def connect(self) -> None:
        """Meet the other processes in ``meeting_place``, a folder that all of them see.

        Raises:
            LostProcessError: where one that this process has started ended before.
        """
        if self.size == 1 or self.meeting_place is None:
            return
        path = str(self.meeting_place / "store")
        failures: list[Exception] = []

        def meet() -> None:
            try:
                store = dist.FileStore(path, self.size)
                dist.init_process_group("gloo", store=store, rank=self.rank, world_size=self.size, timeout=_PATIENCE)
            except RuntimeError as error:
                failures.append(error)

        # On a thread, so that the wait for a process that never comes can be ended.
        thread = threading.Thread(target=meet, daemon=True)
        thread.start()
        while thread.is_alive():
            if any(child.poll() is not None for child in self.children):
                raise LostProcessError
            thread.join(0.05)
        if failures:
            raise LostProcessError(str(failures[0])) from None

    def gather(self, thing: _Thing) -> list[_Thing]:
        """What each process gave, in the order of their ranks."""
        if self.size == 1:
            return [thing]
        found: list[Any] = [None] * self.size
        with _noticing():
            dist.all_gather_object(found, thing)
        return found

    def first(self, thing: _Thing, rank: int = 0) -> _Thing:
        """What the process of that rank gave."""
        if self.size == 1:
            return thing
        found: list[Any] = [thing if self.rank == rank else None]
        with _noticing():
            dist.broadcast_object_list(found, src=rank)
        return found[0]

    def add(self, numbers: torch.Tensor) -> torch.Tensor:
        """The sum over the processes, the same to the bit on each."""
        if self.size == 1:
            return numbers
        total = numbers.cpu().contiguous()
        with _noticing():
            dist.all_reduce(total)
        return total.to(numbers.device)


@contextmanager
def _noticing() -> Iterator[None]:
    """Turns what gloo raises where a connection breaks into LostProcessError."""
    try:
        yield
    except RuntimeError as error:
        raise LostProcessError(str(error).splitlines()[0]) from None


@contextmanager
def led_processes(size: int, setup: dict[str, Any]) -> Iterator[Processes]:
    """Start the other processes of a run, and end them with the context.

    Args:
        size: of all processes, this one too; for 1 nothing is started.
        setup: keyword arguments of ``training.follower.follow`` for each, beside its rank and the folder to meet in.

    Raises:
        ProcessError: where one of them ends before its time.
    """
    processes = Processes(0, size)
    if size == 1:
        yield processes
        return
    if dist.is_initialized():
        raise ProcessError("torch.distributed is in use in this process already: train with processes = 1, or in another process")
    folder = Path(tempfile.mkdtemp(prefix="hf_env-"))
    try:
        for rank in range(1, size):
            processes.children.append(_start(setup | {"rank": rank, "size": size, "meeting_place": folder}))
        processes.meeting_place = folder
        yield processes
    except LostProcessError:
        raise ProcessError(_who_ended(processes.children, size)) from None
    finally:
        _end(processes.children)
        if dist.is_initialized():
            dist.destroy_process_group()
        shutil.rmtree(folder, ignore_errors=True)


def _start(setup: dict[str, Any]) -> subprocess.Popen:
    """A process that follows; it ends when its standard input does, so with this process."""
    # A session of its own: Ctrl-C is for rank 0 alone, which stops the run after the iteration at hand.
    command = [sys.executable, "-c", _CODE.format(path=sys.path)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    assert child.stdin is not None
    with suppress(OSError):  # it has ended: ``connect`` says so
        pickle.dump(setup, child.stdin)
        child.stdin.flush()
    return child


def _end(children: list[subprocess.Popen]) -> None:
    for child in children:
        with suppress(OSError):
            if child.stdin is not None:
                child.stdin.close()
    for child in children:
        try:
            child.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _who_ended(children: list[subprocess.Popen], size: int) -> str:
    """Which process ended first, as far as exit codes tell."""
    with suppress(subprocess.TimeoutExpired):
        children[0].wait(1.0)
    ended = [(child.returncode, rank) for rank, child in enumerate(children, 1) if child.poll() is not None]
    # Those that merely followed come last.
    for code, rank in sorted(ended, key=lambda each: each[0] == FOLLOWED):
        return f"process {rank} of {size} has ended (exit code {code}); the run can be resumed from its last checkpoint"
    return f"the {size} processes of the run have lost each other; it can be resumed from its last checkpoint"


def default_processes(num_games: int) -> int:
    """As many processes as there are cores for them, at most 8 and one a game."""
    return max(1, min(usable_cores(), MOST_PROCESSES, num_games))


def usable_cores(root: Path = Path("/")) -> int:
    """Cores that this process may use: by its affinity, and by the quota of its control groups (Linux, v1 and v2).

    Args:
        root: where /proc and /sys lie.
    """
    return max(1, min([available_cores(), *(math.ceil(quota) for quota in _quotas(root))]))


def _quotas(root: Path) -> Iterator[float]:
    """Cores that each control group of this process, and each group above it, allows."""
    groups = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        names = controllers.split(",")
        if controllers and "cpu" not in names:
            continue
        # A container may see its own group as the root, under another path than this file's.
        tops = [groups] if not controllers else [groups / "cpu", groups / controllers]
        for top in tops:
            place = Path(path.strip("/"))
            for folder in [place, *place.parents]:
                yield from _quota(top / folder, version_2=not controllers)


def _quota(folder: Path, version_2: bool) -> Iterator[float]:
    if version_2:
        words = _read(folder / "cpu.max").split()
    else:
        words = [_read(folder / name).strip() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
    with suppress(ValueError):  # "max", or nothing at all
        quota, period = map(float, words)
        if quota > 0 and period > 0:
            yield quota / period


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def end_with(stream: Any) -> None:
    """End this process once the stream does: whoever holds its other end is gone."""

    def watch() -> None:
        while stream.read(1):
            pass
        os._exit(FOLLOWED)

    threading.Thread(target=watch, daemon=True).start()

"""The threads of a VectorGame with more than one: kept as long as it lives, asleep while nothing is to do."""

import os
import threading
import weakref
from typing import Any

import numpy as np

from hf_env.engine import crew as c

# Looks for the next pass before a thread goes to sleep; a look is about 50 nanoseconds, so this is some 200 microseconds:
# longer than what stands between two steps of a fast loop, and short beside a network's inference.
_PATIENCE = 4000


def bound(entry: Any, arguments: tuple) -> Any:
    """The function compiled for arguments of these types, after a call with them; interpreted, the entry itself.

    Called by way of the entry, Numba looks at the types of all arguments each time: half of a single game's step.
    """
    entry(*arguments)  # compiles it, or loads it
    if hasattr(entry, "get_overload"):
        return entry.get_overload(tuple(entry.typeof_pyval(argument) for argument in arguments))
    return entry


class Crew:
    """Threads that share out each pass over a VectorGame's games.

    arguments: what follows ``patience`` in ``take_part``, for each thread; the first is the caller's. A crew works for one
    caller at a time.
    """

    def __init__(self, arguments: list[tuple]) -> None:
        self._own, self._size = arguments[0], len(arguments)
        stopped = np.zeros(c.LINE * 3, np.int64)
        stopped[c.STOP] = 1
        self._call = call = bound(c.take_part, (stopped, 2, 1, 0, 0, *self._own))
        # On a cache line of its own: np.zeros aligns to 16 bytes only.
        room = np.zeros(c.LINE * (self._size + 2), np.int64)
        self._words = room[-room.ctypes.data // 8 % c.LINE :][: c.LINE * (self._size + 1)]
        self._wake = [threading.Semaphore(0) for _ in arguments[1:]]
        self._process = os.getpid()
        for who, (wake, own) in enumerate(zip(self._wake, arguments[1:], strict=True), start=1):
            # Nothing of a thread refers to the crew, so that the crew's end can be noticed.
            work = call, self._words, self._size, who, own, wake
            threading.Thread(target=_work, args=work, name=f"hf_env-{who}", daemon=True).start()
        weakref.finalize(self, _end, self._words, self._wake)

    @property
    def usable(self) -> bool:
        """Whether its threads run in this process: a forked child has none of them."""
        return self._process == os.getpid()

    def run(self) -> int:
        """One pass; what ``take_part`` returns to the leader."""
        if c.post(self._words, self._size):
            try:
                self._wake_all()
            except BaseException:  # an interrupt: the others have begun, and wait for this thread
                self._wake_all()
                self._lead()
                raise
        return self._lead()

    def _wake_all(self) -> None:
        for wake in self._wake:
            wake.release()

    def _lead(self) -> int:
        return int(self._call(self._words, self._size, c.LEADER, 0, 0, *self._own))


def _work(call: Any, words: np.ndarray, size: int, who: int, own: tuple, wake: threading.Semaphore) -> None:
    last = 0
    while last >= 0:
        last = int(call(words, size, who, last, _PATIENCE, *own))
        if last >= 0:
            wake.acquire()


def _end(words: np.ndarray, wakes: list[threading.Semaphore]) -> None:
    words[c.STOP] = 1
    for wake in wakes:
        wake.release()

"""What a benchmark hands back, and how long it goes on."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# A measurement waits so long at most for a game's end: thousands of games side by side need millions of decisions for it.
PATIENCE_SECONDS = 60.0
# A measurement is cut into parts of this length, whose median stands: a neighbour's burst of work spoils few of them.
PART_SECONDS = 0.5


class BenchmarkError(RuntimeError):
    """A measurement that would not mean what it says: no game ended, or the state it ended in is wrong."""


@dataclass(frozen=True)
class Row:
    """One measured figure.

    Attributes:
        section: group of the table, a key of the command's --only.
        key: short and stable, for the baseline and scripts.
        label: what a reader sees.
        value: in `unit`, "decisions/s" and the like being better when larger.
        details: counts that show that something was played, and whatever belongs to the figure.
    """

    section: str
    key: str
    label: str
    value: float
    unit: str
    details: dict[str, Any] = field(default_factory=dict)


def rate(
    play: Callable[[], int], seconds: float, is_enough: Callable[[], bool] = lambda: True, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, int, float]:
    """Call `play` over and over; it returns how many decisions it made.

    Args:
        clock: gives the seconds that decisions are counted against.
        seconds: of wall time, gone on with until is_enough(), up to PATIENCE_SECONDS in all.

    Returns:
        Decisions a second (the median over parts of PART_SECONDS), decisions and seconds in all.
    """
    part_seconds = min(PART_SECONDS, seconds)
    speeds: list[float] = []
    decisions = 0
    begun = now = time.perf_counter()
    while now - begun < seconds or (not is_enough() and now - begun < PATIENCE_SECONDS):
        started, clocked, made = now, clock(), 0
        while now - started < part_seconds:
            made += play()
            now = time.perf_counter()
        speeds.append(made / (clock() - clocked))
        decisions += made
    return statistics.median(speeds), decisions, now - begun


def microseconds(call: Callable[[], Any], seconds: float) -> float:
    """Wall time of one call, the smallest mean over batches of 200: what the call costs when nothing else runs."""
    call()
    best = float("inf")
    begun = now = time.perf_counter()
    while now - begun < seconds:
        started = now
        for _ in range(200):
            call()
        now = time.perf_counter()
        best = min(best, (now - started) / 200)
    return best * 1e6

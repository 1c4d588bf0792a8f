"""Whether the engine has become slower: its speed over that of a fixed NumPy loop timed beside it, against a stored baseline.

``python -m training.benchmarks.guard FILE`` measures and writes a new baseline; tests/benchmarks compares with it. A
ratio of two things timed in turn changes less from machine to machine, and with other work on it, than either does.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from agents.scripted.playout import Table
from hf_env import hand_and_foot_v0
from hf_env.files import write_text
from hf_env.rules import load_rules
from hf_env.vector.game import VectorGame
from training.benchmarks.loops import AecPlay
from training.benchmarks.vector import RandomPlay

# Raised when the loop below changes: baselines of another loop are not comparable.
LOOP_VERSION = 1
# A ratio below this share of the baseline is worth a warning.
WARN_BELOW = 0.8
_HANDS, _KINDS, _PASSES = 256, 15, 20


class NumpyLoop:
    """256 hands of 15 kinds of cards that draw and discard at random, in NumPy alone: the yardstick, never to be changed."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)
        self._hands = np.full((_HANDS, _KINDS), 2, np.int16)
        self._rows = np.arange(_HANDS)
        self._out = np.zeros((_HANDS, 4 * _KINDS), np.int16)

    def play(self) -> int:
        """A fixed number of turns of all hands; their number."""
        hands, rows, out = self._hands, self._rows, self._out
        for _ in range(_PASSES):
            hands[rows, self._random.integers(0, _KINDS, _HANDS)] += 1
            discards = (self._random.random((_HANDS, _KINDS)) * (hands > 0)).argmax(1)
            hands[rows, discards] -= 1
            out[:, :_KINDS] = hands
            out[:, _KINDS : 2 * _KINDS] = hands > 0
            out[:, 2 * _KINDS : 3 * _KINDS] = np.cumsum(hands, 1)
            out[:, 3 * _KINDS :] = hands[::-1]
        if hands.sum() != _HANDS * _KINDS * 2:
            raise RuntimeError("the yardstick has lost cards")
        return _PASSES * _HANDS


def _subjects() -> dict[str, Callable[[], int]]:
    """What is guarded: each a function that plays for some milliseconds and returns its decisions."""
    vector = RandomPlay(256, "whitnack", 0)
    aec = AecPlay(hand_and_foot_v0.env(), 0)
    whitnack = load_rules("whitnack")
    snapshots = VectorGame(8, "whitnack", 0)

    def play_vector() -> int:
        return sum(vector.step() for _ in range(40))

    def play_aec() -> int:
        return sum(aec.chunk() for _ in range(10))

    def play_greedy() -> int:
        table = Table(whitnack, ["greedy"] * whitnack.players, 32)
        table.play()
        return int(table.decisions.sum())

    def play_snapshots() -> int:
        for _ in range(500):
            snapshots.restore_trusted(1, snapshots.snapshot(0))
        return 500

    return {"vector": play_vector, "aec": play_aec, "greedy": play_greedy, "snapshots": play_snapshots}


def _timed(play: Callable[[], int]) -> float:
    """Decisions a second of the processor's time."""
    started = time.process_time()
    return play() / (time.process_time() - started)


def measure_ratios(rounds: int = 15) -> dict[str, float]:
    """Of each guarded thing: median over the rounds of its speed over the NumPy loop's just before and after it.

    By the processor's time, which other work on the machine disturbs less than the clock's.
    """
    loop = NumpyLoop()
    ratios = {}
    for name, play in _subjects().items():
        for warm in (loop.play, play):
            warm()
        found, before = [], _timed(loop.play)
        for _ in range(rounds):
            speed = _timed(play)
            after = _timed(loop.play)
            found.append(2 * speed / (before + after))
            before = after
        ratios[name] = statistics.median(found)
    return ratios


def slower(ratios: dict[str, float], baseline: dict[str, float]) -> list[str]:
    """One line for each ratio that is below WARN_BELOW of the baseline's.

    Raises:
        ValueError: Where the names differ.
    """
    if set(ratios) != set(baseline):
        raise ValueError(f"the baseline is of {sorted(baseline)}, measured were {sorted(ratios)}: write a new baseline")
    return [
        f"{name}: {ratios[name]:.3g} times the NumPy loop, {1 - ratios[name] / baseline[name]:.0%} below the baseline of "
        f"{baseline[name]:.3g}"
        for name in sorted(ratios)
        if ratios[name] < WARN_BELOW * baseline[name]
    ]


def read_baseline(path: Path) -> dict[str, float]:
    """The ratios of a baseline.

    Raises:
        ValueError: Where it is of another loop.
    """
    baseline = json.loads(path.read_text(encoding="utf-8"))
    if baseline["loop"] != LOOP_VERSION:
        raise ValueError(f"{path} is of NumPy loop {baseline['loop']}, this is {LOOP_VERSION}: write a new baseline")
    return baseline["ratios"]


def write_baseline(path: Path) -> None:
    """Measure, and write the ratios with what they were measured on."""
    from training.benchmarks.report import circumstances

    rounded = {name: float(f"{ratio:.4g}") for name, ratio in measure_ratios(45).items()}
    values = {"loop": LOOP_VERSION, "ratios": rounded, "measured": circumstances()}
    write_text(path, json.dumps(values, indent=2) + "\n")


if __name__ == "__main__":
    write_baseline(Path(sys.argv[1]))

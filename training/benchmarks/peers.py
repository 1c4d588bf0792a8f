"""Our environments beside other libraries' card games: the same loop, one after the other, each a process on one core.

Decisions are counted against the processor's time: on a core that a process has to itself that is the clock's, and on a
shared one it changes less. Each of these processes computes all the time that it has.

``python -m training.benchmarks.peers LIBRARY GAME SEED SECONDS`` is such a process; it prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

from training.benchmarks.peer_plays import OUR_GAMES, make_play
from training.benchmarks.rows import BenchmarkError, Row, rate

OURS_VECTOR, OURS_AEC = ("hf_env", "VectorGame"), ("hf_env", "AEC environment")
# Peers by library. Those driven a game at a time through last() and step() are held against our AEC environment too.
PEERS = (
    ("OpenSpiel", "gin_rummy"), ("OpenSpiel", "euchre"), ("OpenSpiel", "spades"), ("OpenSpiel", "hearts"), ("OpenSpiel", "crazy_eights"),
    ("RLCard", "gin-rummy"), ("RLCard", "doudizhu"), ("RLCard", "mahjong"), ("RLCard", "uno"),
    ("RLCard by PettingZoo", "doudizhu"), ("RLCard by PettingZoo", "uno"),
    ("PettingZoo", "gin_rummy"), ("PettingZoo", "texas_holdem"), ("PettingZoo", "leduc_holdem"), ("PettingZoo", "hanabi"),
    ("pgx", "leduc_holdem"), ("pgx", "sparrow_mahjong"),
)  # fmt: skip
# Libraries whose loop is a game at a time in Python, as our AEC environment's is. RLCard's own has no last(), and wraps nothing.
_STEPPED = ("RLCard", "RLCard by PettingZoo", "PettingZoo")
# One core, whatever a library would like; jax sizes its pool by the cores it may use.
_ONE_CORE = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
# Exit code of a process whose library is not installed.
_MISSING = 3
# A process may take so long beyond its measurement: importing, compiling.
_PATIENCE_SECONDS = 300


def peer_steps(seed: int, seconds: float, missing: dict[str, str]) -> list[Callable[[], list[Row]]]:
    """One step for each peer; ours are measured first and last, and the mean of the two stands.

    Rows come with the last step, when all is known.

    Args:
        missing: filled with the peers that are not installed.
    """
    speeds: dict[tuple[str, str], list[dict]] = {}

    def measure(name: tuple[str, str]) -> list[Row]:
        result = run_peer(*name, seed, seconds)
        if isinstance(result, str):
            missing[" ".join(name)] = result
        else:
            speeds.setdefault(name, []).append(result)
        return []

    order = [OURS_VECTOR, OURS_AEC, *PEERS, OURS_VECTOR, OURS_AEC]
    return [*(lambda name=name: measure(name) for name in order), lambda: compare(speeds)]


def compare(speeds: dict[tuple[str, str], list[dict]]) -> list[Row]:
    """Rows of all that was measured; a peer's has the ratio of ours to it.

    Args:
        speeds: by (library, game), the results of run_peer, whose speeds are averaged.
    """
    means = {name: sum(result["speed"] for result in results) / len(results) for name, results in speeds.items()}
    rows = []
    for (library, game), results in speeds.items():
        details = {"games_ended": sum(result["games"] for result in results), "decisions": sum(result["decisions"] for result in results)}
        details["by_clock"] = sum(result["by_clock"] for result in results) / len(results)
        label = f"{library} {game}"
        if (library, game) == OURS_VECTOR:
            label += f", whitnack, {OUR_GAMES} games"
        elif (library, game) != OURS_AEC:
            details["ratio"] = means[OURS_VECTOR] / means[library, game]
            if library in _STEPPED:
                details["aec_ratio"] = means[OURS_AEC] / means[library, game]
                details["note"] = f"our AEC environment {details['aec_ratio']:.1f} times"
        rows.append(Row("peers", f"peers/{library}/{game}".replace(" ", "-"), label, means[library, game], "decisions/s", details))
    return rows


def run_peer(library: str, game: str, seed: int, seconds: float) -> dict | str:
    """Measure one peer in a process of its own on one core: {"speed", "by_clock", "decisions", "games"}, or why it is missing.

    Raises:
        BenchmarkError: Where ours fails; a peer that fails is missing, with the last line of its error.
    """
    command = [sys.executable, "-m", "training.benchmarks.peers", library, game, str(seed), str(seconds)]
    try:
        done = subprocess.run(
            command, env=os.environ | _ONE_CORE, capture_output=True, text=True, timeout=_PATIENCE_SECONDS + 20 * seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return "it took too long"
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    if library == "hf_env":
        raise BenchmarkError(f"{game}: {reason}")
    return reason if done.returncode == _MISSING else f"it failed: {reason}"


def main(library: str, game: str, seed: str, seconds: str) -> int:
    """What a peer's process does; its exit code."""
    if hasattr(os, "sched_setaffinity"):
        # The last of them: the first serves most interrupts. Before the library is imported, whose pool is then of one core.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    try:
        play = make_play(library, game, int(seed))
    except ImportError as error:
        print(str(error).splitlines()[0], file=sys.stderr)
        return _MISSING
    play.chunk()
    begun, before = time.perf_counter(), play.decisions
    speed, _, _ = rate(play.chunk, float(seconds), lambda: play.games > 0, clock=time.process_time)
    by_clock = (play.decisions - before) / (time.perf_counter() - begun)
    if not play.games:
        print(f"no game ended in {play.decisions:,} decisions", file=sys.stderr)
        return 1
    if hasattr(play, "check"):
        play.check()
    print(json.dumps({"speed": speed, "by_clock": by_clock, "decisions": play.decisions, "games": play.games}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

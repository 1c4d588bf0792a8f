"""The first game of a new process, with an empty cache of compiled kernels and with a full one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from training.benchmarks.rows import BenchmarkError, Row

ROOT = Path(__file__).parents[2]
# Prints the seconds by the clock and of the processor from the import to a hundred decisions.
FIRST_GAME = """
import json, time
import numpy as np
start = time.perf_counter()
begun = time.process_time()
from hf_env import hand_and_foot_v0
env = hand_and_foot_v0.env()
env.reset(seed=1)
rng = np.random.default_rng(0)
for _ in range(100):
    seen = env.observe(env.agent_selection)
    env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
print(json.dumps([time.perf_counter() - start, time.process_time() - begun]))
"""


def _first_game(cache: str) -> tuple[float, float]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", FIRST_GAME], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchmarkError(f"the first game failed: {done.stderr.strip().splitlines()[-1]}")
    seconds, processor = json.loads(done.stdout)
    return seconds, processor


def start_rows() -> list[Row]:
    """Seconds from the import to a hundred decisions, cold and warm."""
    with tempfile.TemporaryDirectory() as cache:
        tries = {"cold": _first_game(cache), "warm": _first_game(cache)}
    labels = {"cold": "first game, nothing compiled yet", "warm": "first game of a later process"}
    return [
        Row("start", f"start/{key}", labels[key], seconds, "s", {"processor_seconds": processor})
        for key, (seconds, processor) in tries.items()
    ]

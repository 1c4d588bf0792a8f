"""Memory does not grow with play, and many processes may start at once on an empty cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.subprocesses import ROOT, run_python
from training.benchmarks.start import FIRST_GAME

MEMORY = """
import json
from pathlib import Path
from training.benchmarks.vector import RandomPlay

def resident():
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0])

play = RandomPlay(1024, "whitnack", 0, threads={threads})
found = []
for decisions in (1_000_000, 10_000_000):
    while play.decisions < decisions:
        play.step()
    found.append(resident())
print(json.dumps([*found, play.ended]))
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_stays_as_it_is(threads):
    early, late, ended = json.loads(run_python(MEMORY.replace("{threads}", str(threads)), timeout=1200))
    print(f"\n{early} kB after 1 million decisions, {late} kB after 10 million, {ended} games")
    assert ended > 5000 and abs(late - early) <= 0.05 * early


@pytest.mark.long
def test_sixteen_processes_start_at_once_on_an_empty_cache(tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    processes = [
        subprocess.Popen([sys.executable, "-c", FIRST_GAME], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(16)
    ]
    try:
        for number, process in enumerate(processes):
            out, err = process.communicate(timeout=3000)
            assert process.returncode == 0, (number, err[-2000:])
            assert json.loads(out)[0] > 0
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert list(tmp_path.rglob("*.nbi")) and not list(tmp_path.rglob("*.tmp.*"))

"""Spoiled and crafted files by the thousand: no traceback, no signal, no late answer, no file of the user's touched.

``python -m tests.fuzz.pool KIND COUNT SEED`` runs cases alone; with ``FIRST`` behind it and COUNT 1, one case again.
"""

import os
import time

import pytest

from tests.fuzz.cases import case, make
from tests.fuzz.pool import run_cases, table

COUNTS = {
    "runs": 2_000, "crafted": 2_000, "records": 1_000, "positions": 1_000, "snapshots": 1_000, "rules": 500, "configs": 500,
    "contests": 300,
}  # fmt: skip
# Of each kind but runs of whole commands, which take a second each.
SMOKE = {"crafted": 12, "records": 24, "positions": 60, "snapshots": 60, "rules": 30, "configs": 24}


@pytest.mark.filterwarnings("ignore::agents.neural.policy.UntrainedRulesWarning")
@pytest.mark.parametrize("kind", SMOKE)
def test_a_few_dozen_of_each_kind(kind, tmp_path):
    folder = tmp_path / "originals"
    folder.mkdir()
    make(kind, folder)
    for number in range(SMOKE[kind]):
        answer = case(kind, 1, number, folder, tmp_path / f"room{number}")
        assert answer.is_fine, (number, answer)


@pytest.mark.long
@pytest.mark.parametrize("kind", COUNTS)
def test_thousands_of_spoiled_files(kind):
    seed, started = int(os.environ.get("FUZZ_SEED", time.time_ns() % 1_000_000)), time.monotonic()
    answers, slowest = run_cases(kind, COUNTS[kind], seed, processes=2)
    lines = table(kind, seed, answers, slowest, time.monotonic() - started)
    print("\n".join(lines))
    assert all(answer.is_fine for answer in answers.values()), "\n".join(lines)

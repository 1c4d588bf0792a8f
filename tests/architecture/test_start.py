"""Importing is light and compiles nothing; the first game on a new machine starts soon; edits compile anew."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.architecture.subprocesses import ROOT, run_python
from training.benchmarks.start import FIRST_GAME

# On a quiet machine 1.5 s and 20 s; test machines are shared, so these are wide and the figures are printed.
IMPORT_SECONDS, FIRST_GAME_SECONDS = 1.5, 20
SLACK = float(os.environ.get("HF_ENV_TEST_SLACK", "4"))

IMPORT = """
import json, sys, time
start = time.perf_counter()
import hf_env
seconds = time.perf_counter() - start
heavy = [name for name in ("torch", "agents", "training", "numba", "llvmlite", "pettingzoo", "PIL") if name in sys.modules]
import gymnasium
print(json.dumps([seconds, heavy, "HandAndFoot-v0" in gymnasium.registry]))
"""

PUBLIC = """
import json, sys
import hf_env
for name in hf_env.__all__:
    getattr(hf_env, name)
print(json.dumps([sorted(dir(hf_env)), [name for name in ("torch", "agents", "training") if name in sys.modules]]))
"""


def files(folder: Path) -> list[Path]:
    """All files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


def test_importing_is_light_and_compiles_nothing(tmp_path):
    tries = []
    for _ in range(3):
        seconds, heavy, registered = json.loads(run_python(IMPORT, NUMBA_CACHE_DIR=str(tmp_path)))
        assert heavy == [] and registered
        tries.append(seconds)
    assert files(tmp_path) == []
    print(f"\nimport hf_env: {min(tries):.2f} s")
    assert min(tries) < IMPORT_SECONDS * SLACK


def test_all_public_names_are_there_without_torch_agents_or_training():
    names, heavy = json.loads(run_python(PUBLIC))
    assert heavy == []
    assert {"load_rules", "list_rules", "ACTIONS", "ObservationLayout", "VectorGame", "deck_for", "records"} <= set(names)


TRAINING = """
import sys
import training, training.evaluation, agents
print("torch" in sys.modules, "matplotlib" in sys.modules)
print(all(callable(getattr(training, name)) for name in training.__all__), "torch" in sys.modules)
print(all(hasattr(training.evaluation, name) for name in training.evaluation.__all__))
try:
    training.learn
except AttributeError as error:
    print(error)
"""


def test_training_imports_torch_on_first_use_only():
    lines = run_python(TRAINING).splitlines()
    assert lines[:3] == ["False False", "True True", "True"]
    assert lines[3].startswith("module 'training' has no attribute 'learn'; it has ConfigError, TrainConfig,")


@pytest.mark.long
def test_the_first_game_starts_soon_and_the_next_process_at_once(tmp_path):
    # The processor's time: it is the clock's on a quiet machine, and other work on a shared one changes it less.
    wall, first = json.loads(run_python(FIRST_GAME, NUMBA_CACHE_DIR=str(tmp_path)))
    print(f"\nfirst reset and 100 steps with an empty cache: {first:.1f} s of one processor, {wall:.1f} s by the clock")
    assert files(tmp_path), "nothing was cached"
    wall, second = json.loads(run_python(FIRST_GAME, NUMBA_CACHE_DIR=str(tmp_path)))
    print(f"the same with a warm cache: {second:.1f} s, {wall:.1f} s by the clock")
    assert first < FIRST_GAME_SECONDS * SLACK
    assert second < min(2 * SLACK, first / 3)


CACHE_KEY = """
from pathlib import Path
import hf_env.kernels.compile as jit
here = Path(jit.__file__).parent
print(jit.cache_folder(here).name, jit.cache_folder(here.parent / "observation").name)
"""


@pytest.mark.parametrize("edited", ["engine/cards.py", "kernels/compile.py"])
def test_an_edit_of_any_kernel_source_changes_the_key_of_the_cache(tmp_path, edited):
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "hf_env", copy / "hf_env", ignore=shutil.ignore_patterns("__pycache__"))
    before = run_python(CACHE_KEY, path=copy, NUMBA_CACHE_DIR=str(tmp_path / "cache")).split()
    path = copy / "hf_env" / edited
    path.write_text(path.read_text() + "\n# edited\n")
    after = run_python(CACHE_KEY, path=copy, NUMBA_CACHE_DIR=str(tmp_path / "cache")).split()
    assert before[0] != after[0] and before[1] != after[1]
    # Bounds checking is compiled in, so it has a cache of its own.
    checked = run_python(CACHE_KEY, path=copy, NUMBA_CACHE_DIR=str(tmp_path / "cache"), NUMBA_BOUNDSCHECK="1").split()
    assert checked[0] != after[0]


AGENTS_KEY = """
from pathlib import Path
import hf_env.kernels.compile as jit
agents = Path(jit.__file__).parents[2] / "agents"
print(*(jit.cache_folder(agents / name).name for name in ("search", "scripted", "neural")))
"""


def test_a_folder_of_kernels_is_keyed_by_those_that_it_imports_from(tmp_path):
    # The search compiles the scripted players into its playouts; these know nothing of it.
    copy = tmp_path / "copy"
    for package in ("hf_env", "agents"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))

    def keys():
        return run_python(AGENTS_KEY, path=copy, NUMBA_CACHE_DIR=str(tmp_path / "cache")).split()

    before = keys()
    edited = copy / "agents" / "scripted" / "greedy" / "laying.py"
    edited.write_text(edited.read_text() + "\n# edited\n")
    after = keys()
    assert [a != b for a, b in zip(before, after, strict=True)] == [True, True, False]
    edited = copy / "agents" / "search" / "worlds.py"
    edited.write_text(edited.read_text() + "\n# edited\n")
    assert [a != b for a, b in zip(after, keys(), strict=True)] == [True, False, False]


CACHED_CALL = """
import json
import numpy as np
from hf_env import VectorGame
vec = VectorGame(2, "mini", 0)
vec.games["scores"][0, 0] = 100
print(json.dumps(int(vec.observation_layout.decode(vec.observe(0)[0])["scores"][0])))
"""


@pytest.mark.long
def test_an_edited_helper_is_compiled_anew_into_its_cached_callers(tmp_path):
    copy, cache = tmp_path / "copy", str(tmp_path / "cache")
    shutil.copytree(ROOT / "hf_env", copy / "hf_env", ignore=shutil.ignore_patterns("__pycache__"))
    assert run_python(CACHED_CALL, path=copy, NUMBA_CACHE_DIR=cache) == "20\n"
    path = copy / "hf_env" / "observation" / "options.py"
    text = path.read_text()
    assert "POINTS_UNIT = 5\n" in text
    path.write_text(text.replace("POINTS_UNIT = 5\n", "POINTS_UNIT = 10\n"))
    assert run_python(CACHED_CALL, path=copy, NUMBA_CACHE_DIR=cache) == "10\n"

"""The kernels say the same compiled, as ordinary Python, and with their bounds checked."""

import json

import pytest

from tests.architecture.digest import all_lines
from tests.architecture.subprocesses import run_python

RUN = "from tests.architecture.digest import all_lines; import json; print(json.dumps(all_lines({scale})))"


@pytest.fixture(scope="module")
def compiled():
    return all_lines(3)


def compare(compiled: dict[str, list[str]], other: dict[str, list[str]]) -> None:
    """Name the first decision that differs."""
    assert set(compiled) == set(other)
    for name, lines in compiled.items():
        for number, (ours, theirs) in enumerate(zip(lines, other[name], strict=True)):
            assert ours == theirs, f"{name}, decision {number}"


def test_games_differ_and_repeat(compiled):
    assert len({tuple(lines) for lines in compiled.values()}) == len(compiled)
    compare(compiled, all_lines(3))


def test_interpreted_kernels_say_the_same(compiled, tmp_path):
    # Overflow would be a RuntimeWarning of NumPy.
    variables = {"NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "error::RuntimeWarning"}
    output = run_python(RUN.format(scale=3), **variables)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    compare(compiled, json.loads(output))


@pytest.mark.long
def test_no_index_is_out_of_bounds():
    # Compiled kernels look at no bounds; with the check a bad index raises. Its code is cached apart.
    compare(all_lines(12), json.loads(run_python(RUN.format(scale=12), NUMBA_BOUNDSCHECK="1", timeout=600)))


@pytest.mark.long
def test_no_index_is_out_of_bounds_in_long_games():
    compare(all_lines(200), json.loads(run_python(RUN.format(scale=200), NUMBA_BOUNDSCHECK="1", timeout=3000)))


@pytest.mark.long
def test_interpreted_kernels_say_the_same_in_long_games():
    compare(all_lines(10), json.loads(run_python(RUN.format(scale=10), NUMBA_DISABLE_JIT="1", timeout=3000)))

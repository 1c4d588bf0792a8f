"""The notebooks: valid, without output, on the public interface only, and executed from the first cell to the last.

The first two are executed each time, all of them by ``make test-long``: ``pytest tests/notebooks -m '' -s`` prints how long
each takes, in seconds of the clock and of the processors.
"""

import ast
import os
import re
import resource
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.architecture.subprocesses import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
SECONDS_TOGETHER = 600  # on 2 cores with nothing else to do
SLACK = float(os.environ.get("HF_ENV_TEST_SLACK", "4"))
# What the notebooks may use of this project.
PUBLIC = {"hf_env", "hf_env.rendering.animation", "agents", "training", "training.evaluation"}


def read(path: Path):
    return nbformat.read(path, as_version=4)


def code(path: Path) -> list[str]:
    """The code cells."""
    return [cell.source for cell in read(path).cells if cell.cell_type == "code"]


def execute(path: Path, folder: Path) -> tuple[list, float, float]:
    """The outputs of all cells together, and the seconds of the clock and of the processors."""
    notebook = read(path)
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    client = NotebookClient(
        notebook, timeout=SECONDS_TOGETHER * SLACK, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return outputs, time.perf_counter() - started, busy


def num_pictures(outputs: list) -> int:
    return sum("image/png" in output.get("data", {}) for output in outputs)


def check(outputs: list, path: Path, folder: Path) -> None:
    """A picture for each plot and table drawn, nothing left behind, nothing on stderr."""
    drawn = sum(cell.count("plt.show()") + bool(re.search(r"\.picture\(.*\)$", cell)) for cell in code(path))
    assert num_pictures(outputs) == drawn >= 1
    assert list(folder.iterdir()) == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


def test_they_are_numbered():
    assert [int(name.split("_")[0]) for name in NAMES] == list(range(1, 8))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_valid_and_without_output(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        assert cell.metadata == {}
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
    first = notebook.cells[0]
    assert first.cell_type == "markdown" and first.source.startswith(f"# {int(path.stem[:2])} ")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_on_the_public_interface(path):
    """Imports are of public modules and names; no path of a machine, no name with an underscore."""
    tree = ast.parse("\n".join(code(path)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), node.attr
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ("hf_env", "agents", "training"):
            assert node.module in PUBLIC, node.module
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.match(r"[~/]\w|[A-Z]:\\", node.value), node.value


def test_the_first_one_executes(tmp_path):
    outputs, _, _ = execute(NOTEBOOKS[0], tmp_path)
    check(outputs, NOTEBOOKS[0], tmp_path)


@pytest.mark.long
def test_all_execute_in_ten_minutes(tmp_path):
    total = 0.0
    for path in NOTEBOOKS:
        folder = tmp_path / path.stem
        folder.mkdir()
        outputs, seconds, busy = execute(path, folder)
        print(f"\n{path.stem}: {seconds:.0f} s, of the processors {busy:.0f} s, {num_pictures(outputs)} pictures", end="")
        check(outputs, path, folder)
        total += seconds
    print(f"\ntogether {total:.0f} s")
    assert total < SECONDS_TOGETHER * SLACK

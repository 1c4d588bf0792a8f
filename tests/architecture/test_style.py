"""The linter, the formatter's check and the type checker are `make lint`, which continuous integration runs before the tests."""

import subprocess
import sys

import pytest

from tests.architecture.subprocesses import ROOT

COMMANDS = {"lint": ("ruff", "check", "."), "format": ("ruff", "format", "--check", "."), "types": ("mypy",)}


def test_make_lint_runs_them_all():
    done = subprocess.run(["make", "-n", "lint"], cwd=ROOT, capture_output=True, text=True, check=True)
    for command in COMMANDS.values():
        assert any(line.endswith("/" + " ".join(command)) for line in done.stdout.splitlines()), done.stdout


def test_continuous_integration_lints_and_tests():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "make lint || exit 1" in lines and any(line.startswith("make test ") for line in lines)


@pytest.mark.long
def test_the_type_checker_finds_a_mistake_in_the_public_interface(tmp_path):
    # Were the packages not typed for their users (py.typed), or excluded by the configuration, this would pass.
    mistake = tmp_path / "mistake.py"
    mistake.write_text("import hf_env\n\nnumber: int = hf_env.load_rules('mini').to_toml()\n")
    command = (sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--follow-imports", "silent", str(mistake))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1 and "mistake.py:3" in done.stdout, done.stdout

"""Linter, formatter and type checker, as `make lint` runs them: each is clean."""

import subprocess
import sys

import pytest

from tests.architecture.subprocesses import ROOT

COMMANDS = {"lint": ("ruff", "check", "."), "format": ("ruff", "format", "--check", "."), "types": ("mypy",)}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a module of this environment in the repository's root."""
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_clean(command):
    done = run(*command)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-5000:]}{done.stderr[-2000:]}"


def test_make_lint_runs_the_same():
    done = subprocess.run(["make", "-n", "lint"], cwd=ROOT, capture_output=True, text=True, check=True)
    for command in COMMANDS.values():
        assert any(line.endswith("/" + " ".join(command)) for line in done.stdout.splitlines()), done.stdout


def test_the_type_checker_finds_a_mistake_in_the_public_interface(tmp_path):
    # Were the packages not typed for their users (py.typed), or excluded by the configuration, this would pass.
    mistake = tmp_path / "mistake.py"
    mistake.write_text("import hf_env\n\nnumber: int = hf_env.load_rules('mini').to_toml()\n")
    done = run("mypy", "--cache-dir", str(tmp_path / "cache"), "--follow-imports", "silent", str(mistake))
    assert done.returncode == 1 and "mistake.py:3" in done.stdout, done.stdout

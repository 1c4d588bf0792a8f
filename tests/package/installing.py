"""The package built, and installed into environments of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(command: Sequence[str | Path], folder: Path, timeout: float = 1800, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; no variable of the surroundings leads it to this repository."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "NUMBA_", "VIRTUAL_ENV"))}
    return subprocess.run(command, cwd=folder, env=environment | variables, capture_output=True, text=True, timeout=timeout, check=False)


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it; both files. Raises AssertionError with what was said where that fails."""
    done = run([sys.executable, "-m", "build", "--outdir", folder, ROOT], folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


class Installation:
    """A new environment with the wheel in it, and an empty folder to work in."""

    def __init__(self, folder: Path, wheel: Path, extra: str = "") -> None:
        """Install the wheel with one extra, or none, and nothing else. Raises AssertionError where that fails."""
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        # All installations of one wheel compile the same engine.
        self._cache = folder.parent / "cache"
        venv.create(folder / "env", with_pip=True)
        self._bin = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        done = self.run("python", "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), wanted)
        assert done.returncode == 0, done.stderr[-3000:]

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the folder `work`."""
        return run([self._bin / program, *arguments], self.work, NUMBA_CACHE_DIR=str(self._cache))

    def works(self, program: str, *arguments: str) -> str:
        """What the program prints. Raises AssertionError, with all that it said, unless it succeeds."""
        done = self.run(program, *arguments)
        assert done.returncode == 0, f"{program} {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def refuses(self, extra: str, program: str, *arguments: str) -> str:
        """The one line in which the program says that this extra is missing. Raises AssertionError where it says otherwise."""
        done = self.run(program, *arguments)
        said = f"{program} {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode == 2 and f"hf-env[{extra}]" in done.stderr, said
        assert len(done.stderr.strip().splitlines()) == 1, said
        return done.stderr.strip()

    def has(self, module: str) -> bool:
        """Whether a module can be imported there."""
        return self.run("python", "-c", f"import {module}").returncode == 0


def first_ten_lines() -> str:
    """The Python of README.md's section of that name."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"## The first ten lines\n+```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]

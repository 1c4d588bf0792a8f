"""Fresh Python processes for the tests: with their own cache, or with kernels interpreted."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_python(code: str, *, path: Path = ROOT, timeout: float = 300, **variables: str) -> str:
    """Run code in a fresh process with these environment variables; its standard output.

    Raises AssertionError with its error output if it fails.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=path, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout

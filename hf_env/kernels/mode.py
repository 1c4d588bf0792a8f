"""How kernels run: compiled as the package compiles them, by stock Numba, or as ordinary Python.

Compiling works on Numba's private side, which changes between its versions. ``HF_ENV_PLAIN_NUMBA=1`` leaves that alone: the same
kernels run by ``njit(cache=True)``, with the same results, and take some three times as long to compile. Stock Numba's
cache does not notice a change in another file: whoever edits kernels empties it.
"""

import os
import warnings

import numba
from numba.core import config

# Whose private side the package was tested with: the oldest (.ci/oldest) and the pinned one.
TESTED_VERSIONS = ("0.61", "0.68")
# NUMBA_DISABLE_JIT=1: the same source as ordinary Python, for a debugger and for coverage.
INTERPRETED = bool(config.DISABLE_JIT)
PLAIN = not INTERPRETED and os.environ.get("HF_ENV_PLAIN_NUMBA", "") not in ("", "0")


def check_version(version: str) -> None:
    """Warn where kernels are compiled by another version of Numba than was tested."""
    if not INTERPRETED and not PLAIN and not version.startswith(tuple(f"{tested}." for tested in TESTED_VERSIONS)):
        warnings.warn(
            f"hf_env's kernels were tested with Numba {', '.join(TESTED_VERSIONS)}, and this is {version}: "
            "if it fails, install that version, or set HF_ENV_PLAIN_NUMBA=1",
            stacklevel=2,
        )


check_version(numba.__version__)

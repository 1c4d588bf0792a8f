"""What is missing where an optional extra of the package is not installed, in one line."""

from __future__ import annotations

import importlib.util
import sys

# Needed by training only; the rest of the command works without.
TRAINING = ("torch", "safetensors", "tensorboard", "matplotlib")


def missing_extra(what: str, extra: str, *modules: str) -> str | None:
    """None where all modules can be imported, else a line on what to install.

    Args:
        what: as "training needs".
    """
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    return f"{what} {', '.join(missing)}: pip install 'hf-env[{extra}]', or in a clone pip install -e '.[{extra}]'"


def require_extra(what: str, extra: str, *modules: str) -> None:
    """End the process with that line and exit code 2 where a module is missing: for scripts, before their own imports."""
    line = missing_extra(what, extra, *modules)
    if line is not None:
        print(line, file=sys.stderr)
        sys.exit(2)

"""The command ``handfoot``: checks that ``agents`` and ``training`` are this project's, then runs training/cli/main.py.

``agents`` and ``training`` are common names. Another package of such a name would hide ours, the command's own
module with it, so the check stands in a module with a name of its own; ``python -m handfoot`` runs it too.
"""

import importlib.util
import sys
from importlib import metadata
from pathlib import Path

_DISTRIBUTION = "hf-env"
# A file of ours that a foreign package of the same name is most unlikely to hold.
_OWN_FILES = {"agents": "scripted/dispatch.py", "training": "evaluation/duplicate.py"}


def foreign_package(name: str, home: Path) -> str | None:
    """What is wrong with the package that ``import <name>`` would find; None if it is the one beside this file.

    Args:
        home: the folder that this project's packages lie in.
    """
    spec = importlib.util.find_spec(name)
    folders = [Path(place).resolve() for place in (spec.submodule_search_locations or [])] if spec else []
    own = home / name
    if folders == [own] and (own / _OWN_FILES[name]).is_file():
        return None
    where = str(folders[0]) if folders else (spec.origin if spec else "nowhere")
    others = [dist for dist in metadata.packages_distributions().get(name, []) if dist.lower() != _DISTRIBUTION]
    if others:
        advice = f"run: pip uninstall {' '.join(sorted(set(others)))}, then install {_DISTRIBUTION} again"
    else:
        advice = f"remove or rename that, or install {_DISTRIBUTION} in an environment of its own"
    return f"the package {name!r} found at {where} is not this project's ({own}); {advice}"


def main() -> None:
    """Run the command; exits with its code, 2 where a foreign package is in the way."""
    for name in _OWN_FILES:
        problem = foreign_package(name, Path(__file__).resolve().parent)
        if problem is not None:
            print(f"handfoot: {problem}", file=sys.stderr)
            sys.exit(2)
    from training.cli.main import main as run

    run()


if __name__ == "__main__":
    main()

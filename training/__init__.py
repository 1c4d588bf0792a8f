"""Self-play training and evaluation. Start at training/trainer.py; the command is ``handfoot train``.

Importing is light: what needs torch comes on first use.
"""

import importlib
from typing import TYPE_CHECKING

_HOMES = {
    "ConfigError": "training.config",
    "TrainConfig": "training.config",
    "TrainResult": "training.sessions",
    "read_log": "training.run.report",
    "resume": "training.sessions",
    "train": "training.sessions",
}
__all__ = [*_HOMES]

if TYPE_CHECKING:
    from training.config import ConfigError, TrainConfig  # noqa: F401
    from training.run.report import read_log  # noqa: F401
    from training.sessions import TrainResult, resume, train  # noqa: F401


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'training' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

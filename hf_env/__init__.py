"""Hand and Foot for reinforcement learning: engine, PettingZoo and Gymnasium environments, vectorised games.

Importing compiles nothing and imports neither torch nor agents nor training; what is heavy comes on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "ACTIONS": "hf_env.actions",
    "HandAndFootEnv": "hf_env.envs.aec",
    "IllegalActionError": "hf_env.vector.game",
    "ObservationLayout": "hf_env.observation.layout",
    "PositionError": "hf_env.positions",
    "RuleSet": "hf_env.rules",
    "RulesError": "hf_env.rules",
    "StateLayout": "hf_env.observation.layout",
    "VectorGame": "hf_env.vector.game",
    "deck_for": "hf_env.records",
    "format_counts": "hf_env.engine.cards",
    "list_rules": "hf_env.rules",
    "load_rules": "hf_env.rules",
}
_MODULES = ("hand_and_foot_v0", "records", "positions")
__all__ = [*_HOMES, *_MODULES]

if TYPE_CHECKING:
    from hf_env import hand_and_foot_v0, positions, records  # noqa: F401
    from hf_env.actions import ACTIONS  # noqa: F401
    from hf_env.engine.cards import format_counts  # noqa: F401
    from hf_env.envs.aec import HandAndFootEnv  # noqa: F401
    from hf_env.observation.layout import ObservationLayout, StateLayout  # noqa: F401
    from hf_env.positions import PositionError  # noqa: F401
    from hf_env.records import deck_for  # noqa: F401
    from hf_env.rules import RulesError, RuleSet, list_rules, load_rules  # noqa: F401
    from hf_env.vector.game import IllegalActionError, VectorGame  # noqa: F401


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"hf_env.{name}")
    raise AttributeError(f"module 'hf_env' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def _register() -> None:
    """Make ``gymnasium.make("HandAndFoot-v0")`` known."""
    from gymnasium.envs.registration import register, registry

    if "HandAndFoot-v0" not in registry:
        register(
            "HandAndFoot-v0",
            entry_point="hf_env.envs.gymnasium_seat:HandAndFootSeatEnv",
            vector_entry_point="hf_env.envs.gymnasium_vector:HandAndFootSeatVectorEnv",
            disable_env_checker=True,
        )


_register()

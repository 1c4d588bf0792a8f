"""Scripted players: kernels that choose an action from what their seat may know, and policies made of them.

There is a class for each row of agents/scripted/table.py: ``GreedyPolicy`` of `greedy`, and so on.
"""

from typing import Any

from agents.scripted.players import POLICIES, ScriptedPolicy, check, make
from agents.scripted.playout import play_deals

_CLASSES = {policy.__name__: policy for policy in POLICIES.values()}
__all__ = ["ScriptedPolicy", "check", "make", "play_deals"]
__all__ += _CLASSES


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _CLASSES[name]

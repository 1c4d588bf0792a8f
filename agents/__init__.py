"""Players of Hand and Foot: scripted, searching, neural, human. ``load`` finds one by name or path."""

from agents.analysis import Analysis, Move, analyse
from agents.play.games import play_games
from agents.policy import FunctionPolicy, Policy, PolicyBatch, as_policy
from agents.registry import UnknownPolicyError, load

__all__ = [
    "Analysis",
    "FunctionPolicy",
    "Move",
    "Policy",
    "PolicyBatch",
    "UnknownPolicyError",
    "analyse",
    "as_policy",
    "load",
    "play_games",
]

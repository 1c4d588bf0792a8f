"""Players of Hand and Foot: scripted, searching, neural, human. ``load`` finds one by name or path."""

from agents.analysis import Analysis, Move, analyse
from agents.catalogue import UnknownPolicyError, load
from agents.policy import FunctionPolicy, Policy, PolicyBatch, as_policy
from agents.seating import play_games

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

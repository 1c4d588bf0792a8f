"""Players of Hand and Foot: scripted, searching, neural, human. ``load`` finds one by name or path."""

from agents.catalogue import UnknownPolicyError, load
from agents.policy import FunctionPolicy, Policy, PolicyBatch, as_policy

__all__ = ["FunctionPolicy", "Policy", "PolicyBatch", "UnknownPolicyError", "as_policy", "load"]

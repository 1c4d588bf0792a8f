"""A person as a policy: the terminal table."""

from agents.human.policy import HumanPolicy, PersonLeft, TakeBack

__all__ = ["HumanPolicy", "PersonLeft", "TakeBack"]

"""A person as a policy: the terminal table."""

from agents.human.policy import HumanPolicy, PersonLeft
from agents.play.table import play_at_table

__all__ = ["HumanPolicy", "PersonLeft", "play_at_table"]

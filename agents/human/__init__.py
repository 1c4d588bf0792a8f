"""A person as a policy: the terminal table."""

from agents.human.policy import HumanPolicy, PersonLeft
from agents.play.table import play_at_table

__all__ = ["HumanPolicy", "PersonLeft", "make", "play_at_table"]


def make(name: str, **options: str) -> HumanPolicy:
    """The person at this process's terminal, as the catalogue makes policies. Raises KeyError for an option."""
    if options:
        raise KeyError(f"no option {sorted(options)[0]}")
    return HumanPolicy()

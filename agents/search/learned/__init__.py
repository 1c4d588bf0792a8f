"""A learned policy inside the search: its probabilities order the actions, it plays the playouts, its value cuts them."""

from agents.search.learned.rollouts import LearnedRollouts

__all__ = ["LearnedRollouts"]

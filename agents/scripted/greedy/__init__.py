"""The player `greedy`: a plain sensible player."""

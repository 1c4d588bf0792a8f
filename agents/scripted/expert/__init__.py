"""The player `expert`: the strongest scripted player."""

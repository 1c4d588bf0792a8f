"""What a seed means: the version of the cards that belong to a seed and a deal."""

SEEDS_VERSION = 2

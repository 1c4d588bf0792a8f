"""The slow, obvious reference implementation of Hand and Foot that the engine is compared with."""

"""A run's folder: checkpoints, state, log and report."""

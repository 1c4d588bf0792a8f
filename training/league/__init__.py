"""Who plays whom in training."""

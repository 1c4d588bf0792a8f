"""The network whose weights are shared over the ranks: in PyTorch, fused for training, and for a single row."""

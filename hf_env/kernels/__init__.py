"""Compiler plumbing: how kernels are compiled, cached and linked. Knows no game."""

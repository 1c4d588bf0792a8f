"""A loop of the benchmarks at engine speed: copying games."""

from hf_env.kernels.compile import copy_record, entry


@entry
def copy_games(sources, targets, times):
    """Copy the games over, sources[i] to targets[i], so many times.

    Args:
        sources, targets: (N,) GAME_DTYPE.
    """
    for _ in range(times):
        for i in range(sources.shape[0]):
            copy_record(targets[i], sources[i])

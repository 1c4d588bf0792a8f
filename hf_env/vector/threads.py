"""Blocks of games on threads: compiled kernels hold no lock of the interpreter, so blocks run side by side."""

import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

# A block begins at a multiple of this many games where there are plenty: two threads then share few cache lines.
_ALIGNMENT = 64
_Block = TypeVar("_Block")
_Result = TypeVar("_Result")


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="hf_env")


# A forked child has no threads but its own: a pool that it inherited would never answer.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def even_blocks(size: int, number: int) -> list[slice]:
    """0..size in at most `number` contiguous blocks of nearly equal size, none of them empty."""
    bounds = [size * block // number for block in range(number + 1)]
    return [slice(low, high) for low, high in itertools.pairwise(bounds) if low < high]


def split(num_games: int, threads: int) -> list[slice]:
    """0..num_games in at most `threads` contiguous blocks of nearly equal size, none of them empty."""
    unit = _ALIGNMENT if num_games >= 8 * _ALIGNMENT * threads else 1
    return [slice(unit * block.start, min(num_games, unit * block.stop)) for block in even_blocks(-(-num_games // unit), threads)]


def run_blocks(call: Callable[[_Block], _Result], blocks: list[_Block]) -> list[_Result]:
    """call(block) of every block, the first on this thread and the others on threads of their own; results in order.

    Returns, or raises what a call raised, only once all calls have ended.
    """
    if len(blocks) == 1:  # as often as not, and waiting for nobody takes as long as a hundred decisions
        return [call(blocks[0])]
    futures = [_pool(len(blocks) - 1).submit(call, block) for block in blocks[1:]]
    try:
        first = call(blocks[0])
    finally:
        wait(futures)
    return [first, *(future.result() for future in futures)]

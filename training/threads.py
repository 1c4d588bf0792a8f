"""How many threads PyTorch should use: measured, because two threads on a core that is busy elsewhere are slower than one.

PyTorch splits every operation over its threads and waits for all of them, so one that must share its core holds up the
others thousands of times a second. Measured on 2 cores, both busy with other work: 1 thread learned four times as
fast as 2; on idle cores 2 are faster.
"""

from __future__ import annotations

import copy
import time

import torch
from torch import nn

from hf_env.threads import available_cores

# A candidate is measured for so long; a second thread must gain so much, since it is a burden on others.
_SECONDS = 0.25
_LEAST_GAIN = 1.1
_ROWS = 2048


def _passes_a_second(network: nn.Module, observations: torch.Tensor) -> float:
    """Forward and backward passes of the network a second, as things are now."""
    started = time.perf_counter()
    passes = 0
    while True:
        logits, values = network(observations)
        (logits.square().mean() + values.square().mean()).backward()
        passes += 1
        elapsed = time.perf_counter() - started
        if elapsed > _SECONDS:
            return passes / elapsed


def fastest_threads(network: nn.Module, observations: torch.Tensor) -> int:
    """The number of threads, 1 or a doubling of it up to all cores, that learns fastest now; PyTorch is left set to it.

    network: with ``forward`` of a policy's network; a copy is used. observations: (N, F) int16, of which so many rows
    are made as a minibatch has. Takes about a quarter of a second for each number tried.
    """
    cores = available_cores()
    candidates = sorted({min(2**power, cores) for power in range(cores.bit_length() + 1)})
    network = copy.deepcopy(network)
    rows = observations[torch.arange(_ROWS) % len(observations)]
    best, best_speed = 1, 0.0
    for threads in candidates:
        torch.set_num_threads(threads)
        speed = _passes_a_second(network, rows)
        if speed > best_speed * (_LEAST_GAIN if best_speed else 1.0):
            best, best_speed = threads, speed
    torch.set_num_threads(best)
    return best

"""How many threads PyTorch should use: measured, because two threads on a core that is busy elsewhere are slower than one.

PyTorch splits every operation over its threads and waits for all of them, so one that must share its core holds up the
others thousands of times a second. Measured on 2 cores, both busy with other work: 1 thread learned four times as
fast as 2; on idle cores 2 are faster.
"""

from __future__ import annotations

import time

import torch
from torch import nn

from hf_env.threads import available_cores

# A candidate is measured for so long; a second thread must gain so much, since it is a burden on others.
_SECONDS = 0.25
_LEAST_GAIN = 1.1
_ROWS = 2048


def _passes_a_second(layers: nn.Module, inputs: torch.Tensor) -> float:
    """Forward and backward passes of a training-like network a second, as things are now."""
    started = time.perf_counter()
    passes = 0
    while True:
        layers(inputs).square().mean().backward()
        passes += 1
        elapsed = time.perf_counter() - started
        if elapsed >= _SECONDS:
            return passes / elapsed


def fastest_threads(width_in: int, width: int) -> int:
    """The number of threads, 1 or a doubling of it up to all cores, that learns fastest now; PyTorch is left set to it.

    width_in, width: of the network's first layer. Takes about a quarter of a second for each number tried.
    """
    cores = available_cores()
    candidates = sorted({min(2**power, cores) for power in range(cores.bit_length() + 1)})
    with torch.random.fork_rng(devices=[]):
        layers = nn.Sequential(nn.Linear(width_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        inputs = torch.ones(_ROWS, width_in)
    best, best_speed = 1, 0.0
    for threads in candidates:
        torch.set_num_threads(threads)
        speed = _passes_a_second(layers, inputs)
        if speed > best_speed * (_LEAST_GAIN if best_speed else 1.0):
            best, best_speed = threads, speed
    torch.set_num_threads(best)
    return best

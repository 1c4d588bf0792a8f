"""Work on rows cut into parts, which threads of one process do side by side.

PyTorch can share each operation among threads, but a network as small as ours spends more time waiting for the other
threads than it gains, and on a busy core that wait is thousands of times a second. Here each thread takes its rows
through the whole network, forwards and backwards (PyTorch holds no lock of the interpreter meanwhile), and the parts'
results are added in their order. So the number of parts, not of threads, decides how sums are rounded: a run repeats
exactly on any number of threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from hf_env.vector.threads import available_cores, even_blocks, run_blocks
from training.config import TrainConfig

_Result = TypeVar("_Result")
# Fewer rows than this are not worth a second thread; what more than this leave on their way through a network does not stay
# in a core's cache.
_LEAST_ROWS, _MOST_ROWS = 64, 2048


class Parts:
    """Cuts rows into ``number`` parts or, of more than ``most_rows`` rows each, a multiple of it; works on them with ``threads``
    threads; 0: as many as there are cores.
    """

    def __init__(self, number: int, threads: int, most_rows: int = _MOST_ROWS) -> None:
        self.number, self.most_rows = number, most_rows
        self.threads = min(number, threads or available_cores())

    @classmethod
    def of(cls, config: TrainConfig) -> Parts:
        """As a run's config says; a device other than the CPU takes all rows in one part."""
        return cls(config.parts, config.threads) if config.device == "cpu" else cls(1, 1, sys.maxsize)

    def cut(self, num_rows: int) -> list[slice]:
        """Contiguous parts of 0..num_rows, none of them empty; one alone where there are few rows."""
        number = self.number if num_rows >= self.number * _LEAST_ROWS else 1
        return even_blocks(num_rows, number * -(-num_rows // (number * self.most_rows)))

    def run(self, call: Callable[[slice], _Result], num_rows: int) -> list[_Result]:
        """call(part) of each part of ``num_rows`` rows; the results in order."""
        parts = self.cut(num_rows)
        shares = [parts[share] for share in even_blocks(len(parts), self.threads)]
        return [result for results in run_blocks(lambda share: [call(part) for part in share], shares) for result in results]

"""Ranks that claim no more than the matches show.

A policy is above another only where their match shows that it is better, or where a chain of such
matches says so and their own match does not point the other way. Policies that beat each other in a circle have no
order among them, and share their ranks. A policy's ranks run from 1 + the number of those above it to the number of
all less those below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ranking:
    """The order of P policies, as far as their matches give one.

    Attributes:
        above: (P, P) bool, whether the first is above the second.
        best, worst: (P,) ranks from 1.
        order: indices, whoever is above another before it, and else the better mean first.
        circles: groups of policies that beat each other in a circle, or of which a chain of matches says one thing and
            their own match hints at the other.
    """

    above: np.ndarray
    best: np.ndarray
    worst: np.ndarray
    order: tuple[int, ...]
    circles: tuple[tuple[int, ...], ...]

    def unordered(self) -> list[tuple[int, ...]]:
        """Pairs (i, j), i < j, with no order between them that are not in one circle."""
        together = {(i, j) for circle in self.circles for i in circle for j in circle}
        n = len(self.best)
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
        return [pair for pair in pairs if not (self.above[pair] or self.above[pair[::-1]] or pair in together)]

    def sentences(self, names: Sequence[str], why: Callable[[tuple[int, ...]], str]) -> list[str]:
        """What the ranking says and does not say, in words.

        Args:
            names: of the policies.
            why: why a pair (i, j), i < j, has no order.
        """
        lines = [
            f"No order among {_list([names[i] for i in circle])}: they beat each other in a circle, or the matches do not exclude it."
            for circle in self.circles
        ]
        lines += [f"No order between {names[pair[0]]} and {names[pair[1]]}: {why(pair)}." for pair in self.unordered()]
        return lines or ["Every pair has an order."]


def rank(means: np.ndarray, better: np.ndarray) -> Ranking:
    """The ranking that the matches allow.

    Args:
        means: (P, P) points a deal of the first against the second, antisymmetric.
        better: (P, P) bool, whether the first is better than the second with the confidence that is asked for.
    """
    n = len(means)
    claims = better.copy()
    while True:
        chained = reach(claims)
        implied = chained & ~chained.T & ~better
        # A chain says so, but the pair's own match points the other way: a circle is not excluded.
        doubted = implied & (means <= 0)
        if not doubted.any():
            break
        claims |= doubted.T
    above = chained & ~chained.T
    best, worst = 1 + above.sum(0), n - above.sum(1)
    return Ranking(above, best, worst, _order(above, means.sum(1)), _circles(chained & chained.T))


def _order(above: np.ndarray, means: np.ndarray) -> tuple[int, ...]:
    """Indices: next is always the best mean among those above whom nobody is left."""
    order: list[int] = []
    left = list(range(len(means)))
    while left:
        free = [i for i in left if not above[left, i].any()]
        order.append(max(free, key=lambda i: (means[i], -i)))
        left.remove(order[-1])
    return tuple(order)


def reach(claims: np.ndarray) -> np.ndarray:
    """Transitive closure of a relation (P, P) bool (Warshall 1962)."""
    closed = claims.copy()
    for middle in range(len(closed)):
        closed |= closed[:, middle, None] & closed[None, middle]
    return closed


def _circles(mutual: np.ndarray) -> tuple[tuple[int, ...], ...]:
    groups = {tuple(np.flatnonzero(row | (np.arange(len(row)) == i)).tolist()) for i, row in enumerate(mutual)}
    return tuple(sorted(group for group in groups if len(group) > 1))


def _list(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

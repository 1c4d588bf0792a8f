"""Which candidate deserves how many playouts, and when to leave the rollout player's own choice.

Sequential halving (Karnin, Koren, Somekh 2013): the budget is spread evenly over about log2 K rounds; in each, all
candidates left are played on the same further worlds, and the better half goes on.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


class CandidateReturns:
    """Returns of K candidates, the first being the rollout player's own choice (the base), on common worlds.

    Whoever is left has been played on every world so far, so that all comparisons with the base are paired.
    """

    def __init__(self, num_candidates: int) -> None:
        self.left = np.arange(num_candidates)
        self.counts = np.zeros(num_candidates, np.int64)
        self.sums = np.zeros(num_candidates)
        # Of the differences from the base, world by world.
        self.gains = np.zeros(num_candidates)
        self.squares = np.zeros(num_candidates)
        self.num_worlds = 0

    def add(self, returns: np.ndarray) -> None:
        """Add returns (W, len(left)) of the candidates left, on W further worlds."""
        differences = returns - returns[:, :1]
        self.num_worlds += len(returns)
        self.counts[self.left] += len(returns)
        self.sums[self.left] += returns.sum(0)
        self.gains[self.left] += differences.sum(0)
        self.squares[self.left] += (differences**2).sum(0)

    def halve(self) -> None:
        """Keep the base and the best of the others, half of the candidates in all; the earlier one among equals."""
        others = self.left[1:]
        best = others[np.argsort(-self.gains[others], kind="stable")][: halved(len(self.left)) - 1]
        self.left = np.concatenate([self.left[:1], np.sort(best)])

    def means(self) -> np.ndarray:
        """Mean return (K,) of each candidate, NaN where it was never played."""
        with np.errstate(invalid="ignore"):
            return self.sums / self.counts

    def choice(self, guard: float) -> int:
        """Index of the best candidate left, if it is better than the base by `guard` standard errors; else the base, 0."""
        best = self.left[int(np.argmax(self.gains[self.left]))]
        n = self.num_worlds
        if best == 0 or n < 2:
            return 0
        mean = self.gains[best] / n
        variance = max(self.squares[best] / n - mean**2, 0.0) * n / (n - 1)
        return int(best) if mean > guard * math.sqrt(variance / n) else 0


def halved(num: int) -> int:
    """How many of so many candidates go on. Rounded down, so that one world a round costs 2 K playouts at most."""
    return max(2, num // 2)


def num_rounds(num_candidates: int) -> int:
    """Rounds until the base and one other are left and have been compared."""
    return 1 if num_candidates <= 2 else 1 + num_rounds(halved(num_candidates))


def sequential_halving(candidates: CandidateReturns, rollouts: int, play: Callable[[np.ndarray, int, int], np.ndarray]) -> None:
    """Spend up to `rollouts` playouts on two or more candidates.

    Each round gets its share of what is left of the budget, at least one world; what halving leaves over goes to the last round.

    Args:
        candidates: Their returns, added to.
        rollouts: Playouts of all candidates together.
        play: (indices of candidates, first world, W) -> returns (W, K).
    """
    rounds = num_rounds(len(candidates.left))
    for done in range(rounds):
        share = (rollouts - int(candidates.counts.sum())) // (rounds - done)
        worlds = max(1, share // len(candidates.left))
        candidates.add(play(candidates.left, candidates.num_worlds, worlds))
        if done < rounds - 1:
            candidates.halve()

"""Intervals for means over deals that are not independent of each other, and what may be concluded from them.

All deals of a game seed share cards, dealers and running scores, in both seatings. So the game seed is the unit of
sampling: a cluster. The mean is a ratio of two sums over clusters, and its variance that of the linearised ratio
(Cochran 1977, Sampling Techniques, 6.3); with clusters of equal size it is the ordinary t interval of the cluster means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# Below this the distribution of a cluster's mean is not known well enough for a t interval to be trusted.
MIN_CLUSTERS = 30
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and its interval at CONFIDENCE; unbounded, with a standard error of nan, for a single cluster."""

    mean: float
    low: float
    high: float
    standard_error: float
    num_clusters: int

    @property
    def half_width(self) -> float:
        """Half the interval's length; inf for a single cluster."""
        return math.inf if math.isinf(self.high) else (self.high - self.low) / 2

    def to_json(self) -> dict[str, float | int | None]:
        """The fields as JSON values; null for what is not known."""
        values = {"mean": self.mean, "low": self.low, "high": self.high, "standard_error": self.standard_error}
        known = {name: value if math.isfinite(value) else None for name, value in values.items()}
        return known | {"num_clusters": self.num_clusters}


def clustered_interval(sums: np.ndarray, counts: np.ndarray) -> Interval:
    """The mean a unit, sum(sums) / sum(counts), with its t interval on len(sums) - 1 degrees of freedom.

    sums: (C,) sum of each cluster's values. counts: (C,) numbers of the cluster's units, above 0.
    Raises ValueError for no clusters, or arrays of other shapes.
    """
    from scipy.special import stdtrit

    sums, counts = np.asarray(sums, np.float64), np.asarray(counts, np.float64)
    n = len(sums)
    if n == 0 or sums.shape != (n,) or counts.shape != (n,) or not (counts > 0).all():
        raise ValueError("an interval needs one sum and one count above 0 for each of at least one cluster")
    total = counts.sum()
    mean = float(sums.sum() / total)
    if n == 1:
        return Interval(mean, -math.inf, math.inf, math.nan, n)
    residuals = sums - mean * counts
    standard_error = float(np.sqrt(n / (n - 1) * np.square(residuals).sum()) / total)
    half = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * standard_error
    return Interval(mean, mean - half, mean + half, standard_error, n)


def verdict(difference: Interval) -> str:
    """"better" or "worse" where the interval excludes 0 and has MIN_CLUSTERS clusters or more, else "inconclusive"."""
    if difference.num_clusters < MIN_CLUSTERS:
        return "inconclusive"
    if difference.low > 0:
        return "better"
    return "worse" if difference.high < 0 else "inconclusive"

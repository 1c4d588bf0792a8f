"""Intervals for means over deals that are not independent of each other, and what may be concluded from them.

All deals of a game seed share cards, dealers and running scores, in both seatings. So the game seed is the unit of
sampling: a cluster. The mean is a ratio of two sums over clusters, and its variance that of the linearised ratio
(Cochran 1977, Sampling Techniques, 6.3); with clusters of equal size it is the ordinary t interval of the cluster means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

# Below this the distribution of a cluster's mean is not known well enough for a t interval to be trusted alone: the exact
# sign test must agree. Where two policies do not differ, a cluster's sign is as likely either way, whatever its distribution.
MIN_CLUSTERS = 30
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean and its interval at CONFIDENCE; unbounded, with a standard error of nan, for a single cluster.

    Attributes:
        num_above, num_below: clusters whose own part of the mean is above 0, and below.
    """

    mean: float
    low: float
    high: float
    standard_error: float
    num_clusters: int
    num_above: int = 0
    num_below: int = 0

    @property
    def half_width(self) -> float:
        """Half the interval's length; inf for a single cluster."""
        return math.inf if math.isinf(self.high) else (self.high - self.low) / 2

    def to_json(self) -> dict[str, float | int | None]:
        """The fields as JSON values; null for what is not known."""
        values = {"mean": self.mean, "low": self.low, "high": self.high, "standard_error": self.standard_error}
        known = {name: value if math.isfinite(value) else None for name, value in values.items()}
        return known | {"num_clusters": self.num_clusters}


def clustered_interval(sums: np.ndarray, counts: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """The mean a unit, sum(sums) / sum(counts), with its t interval on len(sums) - 1 degrees of freedom.

    Args:
        sums: (C,) sum of each cluster's values.
        counts: (C,) numbers of the cluster's units, above 0.

    Raises:
        ValueError: For no clusters, or arrays of other shapes.
    """
    return combined_interval([1.0], np.asarray(sums)[None], np.asarray(counts)[None], confidence)


def share_interval(sums: np.ndarray, counts: np.ndarray) -> Interval:
    """As `clustered_interval` for a share of games, from 0 to 1.

    Where all games were won, or none, the games show no variance; then the bound is that of clusters that are all won
    or all lost (Clopper and Pearson 1934).
    """
    interval = clustered_interval(sums, counts)
    if interval.num_clusters == 1:
        return interval
    low, high = max(interval.low, 0.0), min(interval.high, 1.0)
    bound = ((1 - CONFIDENCE) / 2) ** (1 / interval.num_clusters)
    if interval.mean == 1.0:
        low = bound
    elif interval.mean == 0.0:
        high = 1 - bound
    return replace(interval, low=low, high=high)


def combined_interval(weights, sums: np.ndarray, counts: np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """A weighted sum of several means over the same clusters, such as a difference of two, with its t interval.

    Args:
        weights: (K,).
        sums, counts: (K, C), for each mean as in `clustered_interval`; what the means share within a cluster cancels or
            adds as it must, since the residuals are combined before they are squared.

    Raises:
        ValueError: For no clusters, or arrays of other shapes.
    """
    from scipy.special import stdtrit

    weights, sums, counts = (np.asarray(array, np.float64) for array in (weights, sums, counts))
    n = sums.shape[-1] if sums.ndim else 0
    if n == 0 or sums.shape != (len(weights), n) or counts.shape != sums.shape or not (counts > 0).all():
        raise ValueError("an interval needs one sum and one count above 0 for each of at least one cluster")
    totals = counts.sum(1)
    means = sums.sum(1) / totals
    mean = float(weights @ means)
    parts = (weights / totals) @ sums
    signs = int((parts > 0).sum()), int((parts < 0).sum())
    if n == 1:
        return Interval(mean, -math.inf, math.inf, math.nan, n, *signs)
    residuals = (weights / totals) @ (sums - means[:, None] * counts)
    standard_error = float(np.sqrt(n / (n - 1) * np.square(residuals).sum()))
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * standard_error
    return Interval(mean, mean - half, mean + half, standard_error, n, *signs)


def clusters_needed(interval: Interval, half_width: float, confidence: float = CONFIDENCE) -> int | None:
    """Clusters in all, at least 2, for an interval of this half width, if they vary as those of `interval` did.

    Solves n = (t(n - 1) * s / half_width)^2, s the clusters' standard deviation. None where the variance is not known.
    """
    from scipy.special import stdtrit

    if not math.isfinite(interval.standard_error):
        return None
    variance = interval.standard_error**2 * interval.num_clusters

    def enough(n: int) -> bool:
        return float(stdtrit(n - 1, (1 + confidence) / 2)) * math.sqrt(variance / n) <= half_width

    high = 2
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(high, 2)


def paired_variance(sums: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    """Standard errors of the mean difference: as played, and had every game had cards of its own.

    Args:
        sums, counts: (C, K) of each cluster's K games. Games on cards of their own would vary as the games of one seating
            do from cluster to cluster, and independently: their variances add (Cochran 1977, 6.3, each seating a stratum).
            nan for a single cluster.
    """
    sums, counts = np.asarray(sums, np.float64), np.asarray(counts, np.float64)
    n = len(sums)
    if n < 2:
        return math.nan, math.nan
    means = sums.sum(0) / counts.sum(0)
    residuals = sums - means * counts
    residuals -= residuals.mean(0)
    scale = math.sqrt(n / (n - 1)) / counts.sum()
    paired = np.square(residuals.sum(1)).sum()
    return scale * math.sqrt(paired), scale * math.sqrt(np.square(residuals).sum())


def shown_order(difference: Interval, confidence: float = CONFIDENCE) -> int:
    """What a difference shows at the confidence of its interval: 1 better, -1 worse, 0 nothing.

    The interval must exclude 0; of fewer than MIN_CLUSTERS clusters the sign test must show the same.
    """
    sign = int(difference.low > 0) - int(difference.high < 0)
    if difference.num_clusters < MIN_CLUSTERS:
        agree, other = difference.num_above, difference.num_below
        if sign < 0:
            agree, other = other, agree
        if agree <= other or _sign_test(agree, other) > 1 - confidence:
            return 0
    return sign


def _sign_test(agree: int, other: int) -> float:
    """Two-sided p value of the exact sign test (Dixon and Mood 1946)."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(agree, other), agree + other, 0.5)))


def clusters_missing(difference: Interval, confidence: float = CONFIDENCE) -> int | None:
    """About how many more clusters would show an order, if they are as those of before; None where nothing tells."""
    n = difference.num_clusters
    fewest = next(m for m in range(2, MIN_CLUSTERS + 1) if m == MIN_CLUSTERS or _sign_test(m, 0) <= 1 - confidence)
    if n == 1:
        return fewest - 1
    if difference.low <= 0 <= difference.high:
        needed = clusters_needed(difference, abs(difference.mean), confidence) if difference.mean else None
        return None if needed is None else max(needed, fewest, n + 1) - n
    all_agree = max(difference.num_above, difference.num_below) == n
    return max(fewest if all_agree else MIN_CLUSTERS, n + 1) - n


def why_nothing_shown(difference: Interval, deals_a_cluster: float, confidence: float = CONFIDENCE) -> str:
    """Why ``shown_order`` is 0, and how many more deals it would take, in words.

    Args:
        deals_a_cluster: mean number of deals of a cluster.
    """
    n, above, below = difference.num_clusters, difference.num_above, difference.num_below
    if n == 1:
        reason = "one game seed gives no interval"
    elif difference.low <= 0 <= difference.high:
        reason = f"the {100 * confidence:.4g} % interval of the difference holds 0"
    else:
        reason = f"{n} game seeds, {max(above, below)} of them one way and {min(above, below)} the other, are too few for the sign test"
    missing = clusters_missing(difference, confidence)
    if missing is None:
        return reason
    return f"{reason}; about {math.ceil(missing * deals_a_cluster):,} more deals would be needed, if they are as these"


def verdict(difference: Interval) -> str:
    """The verdict: "better" or "worse" where ``shown_order`` says so, else "inconclusive"."""
    return {1: "better", -1: "worse", 0: "inconclusive"}[shown_order(difference)]

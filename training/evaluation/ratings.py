"""Ratings from games won: the model of Bradley and Terry (1952), on Elo's scale, fitted by the library choix.

A rating is one number a policy, so it presupposes an order on a line. Where the policies have none, `misfit` shows it:
the share of games that the ratings expect is far from the share that was won.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hf_env.seeds import FOR_RESAMPLING, generator
from training.evaluation.ranking import reach
from training.evaluation.statistics import CONFIDENCE

# Points of rating for ten times the odds to win (Elo 1978).
ELO_A_TENFOLD = 400.0
# Added to every pair as games drawn, so that a policy that won all its games has a finite rating.
DRAWN_GAMES = 1.0
NUM_RESAMPLES = 500


@dataclass(frozen=True)
class Ratings:
    """Ratings of P policies.

    Attributes:
        unbeaten: whether some policies never lost a game to the others, so that their distance to them is at least the one
            told: it comes from the DRAWN_GAMES.
        ratings, low, high: (P,) Elo points, their mean 0, with the interval.
        expected: (P, P) share of games that the ratings give the first against the second, the sides being equal in number.
    """

    unbeaten: bool
    ratings: np.ndarray
    low: np.ndarray
    high: np.ndarray
    expected: np.ndarray

    def to_json(self, names: Sequence[str]) -> dict[str, Any]:
        """By name, as JSON values."""
        columns = zip(names, self.ratings, self.low, self.high, strict=True)
        policies = {name: {"rating": float(r), "low": float(low), "high": float(high)} for name, r, low, high in columns}
        return {"policies": policies, "unbeaten": self.unbeaten}


def rate(won: np.ndarray, games: int, num_sides: int, seed: int = 0) -> Ratings:
    """Fit ratings.

    Args:
        won: (P, P, C) games won by the first alone against the second on all other sides, by cluster; nan on the diagonal.
        games: of a pair in each cluster.
        num_sides: with more than two, the odds of the side alone are multiplied by the number of the others, so that equal
            policies get equal ratings. The interval is that of the percentiles of NUM_RESAMPLES samples of clusters with
            replacement, the same clusters for all pairs (Efron and Tibshirani 1993, 13).
    """
    clusters = won.shape[2]
    whole = _fit(won.mean(2), games * clusters, num_sides)
    resampling = generator(seed, FOR_RESAMPLING, clusters)
    samples = np.empty((NUM_RESAMPLES, len(won)))
    for row in samples:
        weights = resampling.multinomial(clusters, np.full(clusters, 1 / clusters))
        row[:] = _fit(won @ weights / clusters, games * clusters, num_sides, whole)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
    expected = 1 / (1 + 10 ** ((whole[None, :] - whole[:, None]) / ELO_A_TENFOLD))
    beaten = reach(np.nan_to_num(won.sum(2)) > 0)
    unbeaten = not (beaten | np.eye(len(won), dtype=bool)).all()
    return Ratings(unbeaten, whole, low, high, expected)


def _fit(won_a_cluster: np.ndarray, games: int, num_sides: int, near: np.ndarray | None = None) -> np.ndarray:
    """Elo points (P,).

    Args:
        won_a_cluster: (P, P) mean games won in a cluster, out of `num_sides`.
        near: where to begin.
    """
    from choix import ilsr_pairwise_dense

    share = np.clip(np.nan_to_num(won_a_cluster / num_sides, nan=0.5), 0.0, 1.0)
    fair = share * (num_sides - 1) / (share * (num_sides - 1) + (1 - share))
    # With two sides the two cells of a pair are the same games; with more they are two halves of the evidence.
    fair = (fair + 1 - fair.T) / 2
    counts = fair * games + DRAWN_GAMES / 2
    np.fill_diagonal(counts, 0.0)
    unit = ELO_A_TENFOLD / np.log(10)
    points = unit * ilsr_pairwise_dense(counts, initial_params=None if near is None else near / unit, max_iter=10_000)
    return points - points.mean()

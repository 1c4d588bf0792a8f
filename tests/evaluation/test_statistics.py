"""The clustered interval and the verdict."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from training.evaluation import MIN_CLUSTERS, Interval, clustered_interval, verdict
from training.evaluation.statistics import (
    clusters_missing,
    clusters_needed,
    combined_interval,
    paired_variance,
    share_interval,
    shown_order,
    why_nothing_shown,
)


def test_equal_clusters_give_the_t_interval_of_their_means():
    sums = np.array([8.0, -4.0, 20.0, 12.0, 0.0])
    interval = clustered_interval(sums, np.full(5, 4))
    expected = stats.t.interval(0.95, 4, loc=np.mean(sums / 4), scale=stats.sem(sums / 4))
    assert (interval.low, interval.high) == pytest.approx(expected)
    assert interval.mean == pytest.approx(1.8) and interval.half_width == pytest.approx(expected[1] - 1.8)


def test_clusters_of_different_size_are_weighted_by_their_deals():
    interval = clustered_interval([10.0, 30.0, 2.0], [1, 3, 2])
    residuals = np.array([10 - 7 * 1, 30 - 7 * 3, 2 - 7 * 2])
    assert interval.mean == 7.0
    assert interval.standard_error == pytest.approx(np.sqrt(1.5 * (residuals**2).sum()) / 6)


def test_more_deals_of_the_same_games_are_no_more_evidence():
    sums = np.random.default_rng(0).normal(size=40)
    once, tenfold = clustered_interval(sums, np.ones(40)), clustered_interval(10 * sums, np.full(40, 10))
    assert (tenfold.low, tenfold.high) == pytest.approx((once.low, once.high))


def test_one_cluster_says_nothing():
    interval = clustered_interval([100.0], [8])
    assert interval.mean == 12.5 and math.isinf(interval.low) and math.isinf(interval.half_width)
    assert json.dumps(interval.to_json(), allow_nan=False)
    assert interval.to_json()["low"] is None


@pytest.mark.parametrize(("sums", "counts"), [([], []), ([1.0], [0]), ([1.0, 2.0], [1]), ([[1.0]], [[1]])])
def test_no_interval_without_clusters(sums, counts):
    with pytest.raises(ValueError, match="at least one cluster"):
        clustered_interval(sums, counts)


FEW, MANY = MIN_CLUSTERS - 1, MIN_CLUSTERS


@pytest.mark.parametrize(
    ("low", "high", "clusters", "above", "expected"),
    [
        (0.1, 2.0, MANY, 15, "better"),
        (-2.0, -0.1, MANY, 15, "worse"),
        (0.0, 2.0, 1000, 1000, "inconclusive"),
        (-2.0, 0.0, 1000, 0, "inconclusive"),
        (0.0, 0.0, 1000, 500, "inconclusive"),
        # Few clusters: as many must point the same way as the sign test asks for.
        (0.1, 2.0, FEW, FEW, "better"),
        (-2.0, -0.1, FEW, 0, "worse"),
        (0.1, 2.0, FEW, 21, "better"),
        (0.1, 2.0, FEW, 20, "inconclusive"),
        (0.1, 2.0, FEW, 0, "inconclusive"),
        (-2.0, -0.1, FEW, FEW, "inconclusive"),
        (0.1, 2.0, 6, 6, "better"),
        (0.1, 2.0, 5, 5, "inconclusive"),
        (-math.inf, math.inf, 1, 1, "inconclusive"),
    ],
)
def test_verdict(low, high, clusters, above, expected):
    assert verdict(Interval((low + high) / 2, low, high, 0.5, clusters, above, clusters - above)) == expected


def test_the_sign_test_is_that_of_scipy():
    sums = np.random.default_rng(8).normal(0.5, 1, (200, 12))
    for row in sums:
        interval = clustered_interval(row, np.ones(12))
        above = int((row > 0).sum())
        assert (interval.num_above, interval.num_below) == (above, 12 - above)
        agrees = stats.binomtest(above, 12).pvalue <= 0.05 and (above > 6) == (interval.mean > 0)
        assert (verdict(interval) != "inconclusive") == (agrees and not interval.low <= 0 <= interval.high)


# What the differences of a game seed may look like where two policies do not differ: as likely either way.
NO_DIFFERENCE = {
    "normal": lambda g, shape: g.normal(size=shape),
    "even": lambda g, shape: g.uniform(-1, 1, shape),
    "far out": lambda g, shape: g.standard_t(2, shape),
    "mostly equal": lambda g, shape: np.where(g.random(shape) < 0.8, 0.0, g.choice([-5.0, 5.0], shape)),
    "two values": lambda g, shape: g.choice([-1.0, 1.0], shape) + 0.01 * g.normal(size=shape),
}


def false_orders(name, clusters, samples, confidence):
    """Share of samples without a difference in which an order is claimed."""
    draws = NO_DIFFERENCE[name](np.random.default_rng(clusters), (samples, clusters))
    counts = np.ones(clusters)
    return np.mean([shown_order(clustered_interval(row, counts, confidence), confidence) != 0 for row in draws])


@pytest.mark.parametrize("name", NO_DIFFERENCE)
def test_few_game_seeds_without_a_difference_give_a_false_order_no_more_often_than_is_said(name):
    for clusters in (2, 6, 12, 25):
        assert false_orders(name, clusters, 400, 0.95) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.long
@pytest.mark.parametrize("name", NO_DIFFERENCE)
@pytest.mark.parametrize("confidence", [0.95, 1 - 0.05 / 6])
def test_every_small_sample_keeps_its_level(name, confidence):
    level = 1 - confidence
    for clusters in range(2, MIN_CLUSTERS):
        assert false_orders(name, clusters, 2000, confidence) <= level + 4 * math.sqrt(level / 2000), clusters


def test_few_game_seeds_show_what_is_plain():
    generator = np.random.default_rng(9)
    for clusters, least in ((6, 0.95), (25, 0.99)):
        shown = [shown_order(clustered_interval(generator.normal(4, 1, clusters), np.ones(clusters))) for _ in range(200)]
        assert np.mean(shown) >= least


def test_what_is_missing_is_told_and_is_enough():
    generator = np.random.default_rng(10)
    for mean in (0.05, 0.3, -0.6):
        interval = clustered_interval(generator.normal(0, 1, 40) + mean, np.ones(40))
        if shown_order(interval):
            continue
        n = 40 + clusters_missing(interval)
        half = stats.t.ppf(0.975, n - 1) * interval.standard_error * np.sqrt(40 / n)
        assert half <= abs(interval.mean) < half * 1.1
    assert why_nothing_shown(clustered_interval([5.0], [8]), 8).startswith("one game seed gives no interval; about 40 more deals")
    agreeing = clustered_interval([9.0, 10.0, 11.0], [1, 1, 1])
    assert why_nothing_shown(agreeing, 8) == (
        "3 game seeds, 3 of them one way and 0 the other, are too few for the sign test; about 24 more deals would be needed, "
        "if they are as these"
    )
    assert why_nothing_shown(clustered_interval([0.0, 0.0], [1, 1]), 8) == "the 95 % interval of the difference holds 0"


def test_coverage_with_clusters_of_random_sizes():
    """The ratio's interval holds the true mean in about 95 of 100 samples, also with 30 clusters of uneven size."""
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(1000):
        counts = generator.integers(2, 12, 30)
        shared = generator.normal(size=30)
        sums = counts * shared + np.sqrt(counts) * generator.normal(size=30)
        interval = clustered_interval(sums, counts)
        held += interval.low <= 0 <= interval.high
    assert 920 <= held <= 975


def test_a_difference_of_means_over_the_same_clusters():
    generator = np.random.default_rng(2)
    shared, counts = generator.normal(size=50), np.full(50, 4)
    sums = np.stack([40 + 3 * shared, 20 + 3 * shared]) + 0.1 * generator.normal(size=(2, 50))
    interval = combined_interval([1, -1], sums, np.stack([counts, counts]))
    plain = clustered_interval(sums[0] - sums[1], counts)
    assert (interval.mean, interval.low, interval.high) == pytest.approx((plain.mean, plain.low, plain.high))
    assert interval.standard_error < clustered_interval(sums[0], counts).standard_error / 5


def test_more_confidence_is_wider():
    sums = np.random.default_rng(0).normal(size=40)
    wide = clustered_interval(sums, np.ones(40), 0.99)
    expected = stats.t.interval(0.99, 39, loc=np.mean(sums), scale=stats.sem(sums))
    assert (wide.low, wide.high) == pytest.approx(expected)


def test_clusters_needed_reach_the_precision_and_one_less_does_not():
    interval = clustered_interval(np.random.default_rng(0).normal(0, 100, 50), np.ones(50))
    deviation = interval.standard_error * np.sqrt(50)
    for wanted in (200.0, 20.0, 3.0):
        n = clusters_needed(interval, wanted)
        assert stats.t.ppf(0.975, n - 1) * deviation / np.sqrt(n) <= wanted
        assert n == 2 or stats.t.ppf(0.975, n - 2) * deviation / np.sqrt(n - 1) > wanted
    assert clusters_needed(clustered_interval([5.0], [1]), 10.0) is None


def test_paired_variance_finds_what_cancels():
    generator = np.random.default_rng(4)
    luck = generator.normal(0, 10, 20_000)
    games = np.stack([luck, -luck], axis=1) + generator.normal(0, 2, (20_000, 2)) + [50, -50]
    paired, unpaired = paired_variance(games, np.ones((20_000, 2)))
    assert paired == pytest.approx(np.sqrt(2 * 4) / 2 / np.sqrt(20_000), rel=0.05)
    assert unpaired == pytest.approx(np.sqrt(2 * 104) / 2 / np.sqrt(20_000), rel=0.05)
    assert paired == pytest.approx(clustered_interval(games.sum(1), np.full(20_000, 2)).standard_error)


def test_paired_variance_of_games_that_share_nothing_is_no_gain():
    games = np.random.default_rng(5).normal(size=(20_000, 3))
    paired, unpaired = paired_variance(games, np.ones((20_000, 3)))
    assert paired == pytest.approx(unpaired, rel=0.03)


def test_a_share_of_all_or_none_has_a_bound():
    interval = share_interval(np.full(40, 2.0), np.full(40, 2))
    assert (interval.mean, interval.high) == (1.0, 1.0)
    assert interval.low == pytest.approx(stats.binomtest(40, 40).proportion_ci(0.95, method="exact").low)
    none = share_interval(np.zeros(40), np.full(40, 2))
    assert (none.low, none.high) == (0.0, pytest.approx(1 - interval.low))
    some = share_interval(np.array([2.0] * 39 + [0.0]), np.full(40, 2))
    assert some.high == 1.0 and some.low == clustered_interval(np.array([2.0] * 39 + [0.0]), np.full(40, 2)).low

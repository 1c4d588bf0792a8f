"""Ranks claim no more than the matches show; ratings are those of Bradley and Terry."""

import numpy as np
import pytest

from training.evaluation.ranking import rank
from training.evaluation.ratings import rate


def _means(*above: float) -> np.ndarray:
    """An antisymmetric matrix from its upper triangle, row by row."""
    n = {1: 2, 3: 3, 6: 4}[len(above)]
    means = np.zeros((n, n))
    means[np.triu_indices(n, 1)] = above
    return means - means.T


def _why(pair):
    return "why"


def _ranks(ranking):
    return list(zip(ranking.best.tolist(), ranking.worst.tolist(), strict=True))


def test_a_clear_order():
    means = _means(100, 200, 100)
    ranking = rank(means, means > 50)
    assert _ranks(ranking) == [(1, 1), (2, 2), (3, 3)] and ranking.circles == () and ranking.order == (0, 1, 2)
    assert ranking.sentences("ABC", _why) == ["Every pair has an order."]
    turned = rank(-means, -means > 50)
    assert _ranks(turned) == [(3, 3), (2, 2), (1, 1)] and turned.order == (2, 1, 0)


@pytest.mark.parametrize("size", [1, 1000])
def test_rock_paper_scissors_have_no_order(size):
    means = size * _means(100, -300, 100)
    ranking = rank(means, means > 0)
    assert not ranking.above.any() and _ranks(ranking) == [(1, 3)] * 3 and ranking.circles == ((0, 1, 2),)
    (sentence,) = ranking.sentences(["rock", "paper", "scissors"], _why)
    assert sentence.startswith("No order among rock, paper and scissors: they beat each other in a circle")


def test_a_circle_has_a_place_among_others():
    means = _means(50, 100, -100, 50, 100, 50)
    means[0, 3], means[3, 0] = 100, -100
    means[1:3, 3], means[3, 1:3] = 90, -90
    means[0, 1], means[1, 2], means[2, 0] = 100, 100, 100
    means[1, 0], means[2, 1], means[0, 2] = -100, -100, -100
    ranking = rank(means, means > 0)
    assert _ranks(ranking) == [(1, 3)] * 3 + [(4, 4)] and ranking.above[:3, 3].all()


def test_nothing_shown_is_no_order():
    means = _means(10, 20, 5)
    ranking = rank(means, np.zeros((3, 3), bool))
    assert _ranks(ranking) == [(1, 3)] * 3 and ranking.circles == () and len(ranking.unordered()) == 3
    assert "No order between A and B: why." in ranking.sentences("ABC", _why)


def test_a_chain_gives_an_order_where_the_match_does_not_contradict():
    means = _means(100, 5, 100)
    assert _ranks(rank(means, means > 50)) == [(1, 1), (2, 2), (3, 3)]


def test_a_chain_gives_none_where_the_match_points_the_other_way():
    means = _means(100, -5, 100)
    ranking = rank(means, means > 50)
    assert not ranking.above.any() and ranking.circles == ((0, 1, 2),)


def test_where_no_order_holds_the_better_mean_stands_first():
    nothing = np.zeros((4, 4), bool)
    means = _means(-10, -20, -40, -5, -30, -20)
    assert rank(means, nothing).order == (3, 2, 1, 0)
    assert rank(0 * means, nothing).order == (0, 1, 2, 3)
    # What is shown holds, whatever the means.
    shown = nothing.copy()
    shown[0, 3] = shown[1, 2] = True
    ranking = rank(means, shown)
    assert ranking.order == (1, 2, 0, 3)
    generator = np.random.default_rng(6)
    for _ in range(200):
        means = np.triu(generator.normal(size=(5, 5)), 1)
        means -= means.T
        ranking = rank(means, means > generator.uniform(0, 2))
        places = np.argsort(ranking.order)
        assert (places[:, None] < places)[ranking.above].all()


def test_part_of_an_order():
    means = _means(100, 100, 0)
    ranking = rank(means, means > 50)
    assert _ranks(ranking) == [(1, 1), (2, 3), (2, 3)]
    assert ranking.sentences("ABC", _why) == ["No order between B and C: why."]


def _games(shares: dict[tuple[int, int], float], clusters: int, n: int, seed: int = 0) -> np.ndarray:
    won, generator = np.full((n, n, clusters), np.nan), np.random.default_rng(seed)
    for (a, b), share in shares.items():
        won[a, b] = generator.binomial(2, share, clusters)
        won[b, a] = 2 - won[a, b]
    return won


def test_ratings_find_the_strengths_that_made_the_games():
    true = np.array([200.0, 0.0, -50.0, -150.0])
    shares = {(a, b): 1 / (1 + 10 ** ((true[b] - true[a]) / 400)) for a in range(4) for b in range(a + 1, 4)}
    ratings = rate(_games(shares, 4000, 4), 2, 2)
    assert ratings.ratings == pytest.approx(true - true.mean(), abs=12) and not ratings.unbeaten
    assert (ratings.low < ratings.ratings).all() and (ratings.ratings < ratings.high).all()
    assert ratings.expected[0, 1] == pytest.approx(shares[0, 1], abs=0.02)


def test_intervals_of_ratings_hold_the_truth_about_as_often_as_they_say(monkeypatch):
    monkeypatch.setattr("training.evaluation.ratings.NUM_RESAMPLES", 100)
    true = np.array([60.0, 0.0, -60.0])
    shares = {(a, b): 1 / (1 + 10 ** ((true[b] - true[a]) / 400)) for a in range(3) for b in range(a + 1, 3)}
    held = np.zeros(3)
    for seed in range(40):
        ratings = rate(_games(shares, 60, 3, seed), 2, 2)
        held += (ratings.low <= true) & (true <= ratings.high)
    assert held.sum() >= 105  # 114 of 120 expected


def test_a_circle_gets_equal_ratings_that_do_not_fit():
    won = _games({(0, 1): 0.9, (1, 2): 0.9, (0, 2): 0.1}, 2000, 3)
    ratings = rate(won, 2, 2)
    assert np.abs(ratings.ratings).max() < 15 and abs(ratings.expected[0, 1] - 0.9) > 0.3


def test_games_all_won_give_finite_ratings_that_are_said_to_be_bounds():
    ratings = rate(_games({(0, 1): 1.0}, 50, 2), 2, 2)
    assert ratings.unbeaten and 400 < ratings.ratings[0] - ratings.ratings[1] < 2000


def test_three_sides_equal_policies_have_equal_ratings():
    generator = np.random.default_rng(3)
    won = np.full((2, 2, 3000), np.nan)
    won[0, 1], won[1, 0] = generator.binomial(3, 1 / 3, (2, 3000))
    assert np.abs(rate(won, 3, 3).ratings).max() < 12

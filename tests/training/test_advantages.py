"""Credit: one stream a seat, a deal's end terminal for all, a cut bootstrapped from each seat's own observation."""

import numpy as np
import pytest

from training.learning.advantages import Played, seat_advantages


def advantages_of(seats, rewards, ended, values, cut_values, gae_lambda, rows=None, end_values=None):
    """One game: seats (T,), rewards (T, S), ended (T,), values (T,) of the decisions, cut_values (S,)."""
    num_steps, num_seats = np.shape(rewards)
    rows = np.arange(num_steps) if rows is None else np.asarray(rows)
    advantages = np.full(len(values), np.nan, np.float32)
    entry = np.empty((1, num_seats), np.float32)
    end_values = np.zeros((num_steps, 1, num_seats), np.float32) if end_values is None else end_values
    played = Played(
        rows[:, None].astype(np.int32), np.asarray(seats, np.int32)[:, None], np.asarray(rewards, np.float32)[:, None],
        np.asarray(ended, bool)[:, None], end_values,
    )  # fmt: skip
    seat_advantages(played, np.asarray(values, np.float32), np.asarray(cut_values, np.float32)[None], gae_lambda, advantages, entry)
    return advantages, entry[0]


def sides(*points):
    """Rewards (T, 4) of two sides: seats 0 and 2 get the points, 1 and 3 the opposite."""
    return np.array([[p, -p, p, -p] for p in points], np.float32)


def test_an_ask_and_its_answer_in_the_middle_of_a_turn():
    # Seat 0 plays (+2), asks, its partner 2 answers (the side is paid 8 by it), seat 0 plays on (+1) and goes out (+5).
    seats, ended = [0, 0, 2, 0, 0], [0, 0, 0, 0, 1]
    values = [1.0, 4.0, 2.0, 3.0, 0.5]
    advantages, _ = advantages_of(seats, sides(2, 0, 8, 1, 5), ended, values, [9, 9, 9, 9], 0.5)
    # Seat 0's stream: decisions 0, 1, 3, 4; decision 1 is paid what the answer brought.
    last = 5 - 0.5
    third = 1 + 0.5 - 3.0 + 0.5 * last
    second = 0 + 8 + 3.0 - 4.0 + 0.5 * third
    first = 2 + 4.0 - 1.0 + 0.5 * second
    # Seat 2's stream: its answer alone, paid everything of its side from then to the end.
    answer = 8 + 1 + 5 - 2.0
    np.testing.assert_allclose(advantages, [first, second, answer, third, last], rtol=1e-6)


def test_a_deal_ends_for_seats_that_wait():
    # Seats 0 to 3 decide once each; then seat 0 ends the deal, and seat 1 begins the next one.
    seats, ended = [0, 1, 2, 3, 0, 1], [0, 0, 0, 0, 1, 0]
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    advantages, _ = advantages_of(seats, sides(0, 0, 0, 0, 10, 0), ended, values, [7, 8, 7, 8], 0.9)
    assert advantages[1] == pytest.approx(-10 - 2)  # no value of the next deal leaks back
    assert advantages[2] == pytest.approx(10 - 3)
    assert advantages[3] == pytest.approx(-10 - 4)
    assert advantages[4] == pytest.approx(10 - 5)
    assert advantages[0] == pytest.approx(0 + 5 - 1 + 0.9 * (10 - 5))
    assert advantages[5] == pytest.approx(0 + 8 - 6)


def test_a_cut_in_the_middle_of_a_turn():
    # Seat 1 is in the middle of its turn when the rollout ends; 0 decided before it, 2 and 3 did not at all.
    seats, values = [0, 1, 1], [1.0, 2.0, 3.0]
    cut_values = [10.0, 20.0, 30.0, 40.0]
    advantages, entry = advantages_of(seats, sides(1, 2, 4), [0, 0, 0], values, cut_values, 0.5)
    last = -4 + 20.0 - 3.0
    np.testing.assert_allclose(advantages, [1 + 2 + 4 + 10.0 - 1.0, -2 + 3.0 - 2.0 + 0.5 * last, last])
    # Before the first step, seat 2 sees all that its side will be paid and its own value at the cut.
    np.testing.assert_allclose(entry[2:], [7 + 30.0, -7 + 40.0])
    np.testing.assert_allclose(entry[0], 0 + 1.0 + 0.5 * advantages[0])


def test_left_out_decisions_pass_their_rewards_to_the_one_before():
    seats = [0, 0, 0]
    kept, _ = advantages_of(seats, sides(1, 2, 4), [0, 0, 1], [1.0, 0.5], np.zeros(4), 0.5, rows=[0, -1, 1])
    last = 4 - 0.5
    np.testing.assert_allclose(kept, [1 + 2 + 0.5 - 1.0 + 0.5 * last, last])


def test_a_game_cut_short_is_worth_its_end_value():
    end_values = np.zeros((2, 1, 4), np.float32)
    end_values[0, 0] = [3, 4, 5, 6]
    advantages, _ = advantages_of([1, 0], sides(1, 0), [1, 0], [2.0, 0.0], np.full(4, 9.0), 0.5, end_values=end_values)
    assert advantages[0] == pytest.approx(-1 + 4 - 2)


def random_rollout(seed, steps=60, games=7, num_seats=4):
    generator = np.random.default_rng(seed)
    seats = generator.integers(0, num_seats, (steps, games)).astype(np.int32)
    rewards = generator.integers(-5, 6, (steps, games, num_seats)).astype(np.float32)
    ended = generator.random((steps, games)) < 0.07
    kept = generator.random((steps, games)) < 0.7
    rows = np.full((steps, games), -1, np.int32)
    rows[kept] = np.arange(kept.sum())
    values = generator.integers(-9, 10, kept.sum()).astype(np.float32)
    cut_values = generator.integers(-9, 10, (games, num_seats)).astype(np.float32)
    return rows, seats, rewards, ended, np.zeros((steps, games, num_seats), np.float32), values, cut_values


def run(rollout, gae_lambda):
    *_, values, cut_values = rollout
    advantages, entry = np.empty_like(values), np.empty_like(cut_values)
    seat_advantages(Played(*rollout[:5]), *rollout[5:], gae_lambda, advantages, entry)
    return advantages, entry


@pytest.mark.parametrize("num_seats", [2, 3, 4, 6])
def test_with_lambda_one_the_advantage_is_the_remaining_return_minus_the_value(num_seats):
    rollout = rows, seats, rewards, ended, _, values, cut_values = random_rollout(num_seats, num_seats=num_seats)
    advantages, entry = run(rollout, 1.0)

    def remaining(step, game, seat):
        total = 0.0
        for later in range(step, len(rows)):
            total += rewards[later, game, seat]
            if ended[later, game]:
                return total
        return total + cut_values[game, seat]

    for step, game in zip(*np.nonzero(rows >= 0), strict=True):
        row = rows[step, game]
        assert advantages[row] == remaining(step, game, seats[step, game]) - values[row]  # exact: small integers
    expected = [[remaining(0, game, seat) for seat in range(num_seats)] for game in range(rows.shape[1])]
    np.testing.assert_array_equal(entry, expected)


@pytest.mark.parametrize("gae_lambda", [0.0, 0.6, 0.98])
def test_each_stream_is_plain_gae(gae_lambda):
    """Against the textbook recursion on each seat's stream, taken apart by hand."""
    rollout = rows, seats, rewards, ended, _, values, cut_values = random_rollout(11)
    advantages, _ = run(rollout, gae_lambda)
    steps, games = rows.shape
    for game in range(games):
        for seat in range(4):
            own = [t for t in range(steps) if rows[t, game] >= 0 and seats[t, game] == seat]
            expected = 0.0
            for here, after in reversed(list(zip(own, [*own[1:], None], strict=True))):
                span = range(here, steps if after is None else after)
                end = next((t for t in span if ended[t, game]), None)
                paid = sum(rewards[t, game, seat] for t in span if end is None or t <= end)
                if end is not None:
                    following, carried = 0.0, 0.0
                elif after is None:
                    following, carried = cut_values[game, seat], 0.0
                else:
                    following, carried = values[rows[after, game]], expected
                expected = paid + following - values[rows[here, game]] + gae_lambda * carried
                assert advantages[rows[here, game]] == pytest.approx(expected, rel=1e-5, abs=1e-5)

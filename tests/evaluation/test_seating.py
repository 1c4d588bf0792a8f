"""The match runner: whole games, and clear errors for players that do not play."""

import numpy as np
import pytest

from agents import load
from agents.play.games import PolicyError, UnfitPolicyError, play_games
from agents.play.schedule import policy_name
from hf_env.rules import load_rules
from tests.evaluation.players import Answers, first_legal, illegal


def _play(player, **changes):
    settings = {"rules": "mini", "lineups": np.zeros((3, 2), int), "game_seeds": [1, 2, 3]} | changes
    return play_games([player], **settings)


def test_whole_games_in_order():
    rules = load_rules("mini", deals=3)
    results = _play(first_legal, rules=rules)
    assert results.deal_games.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert results.deal_numbers.tolist() == [1, 2, 3] * 3
    assert np.array_equal(results.totals, results.deal_scores.reshape(3, 3, 2).sum(1))


@pytest.mark.parametrize("num_slots", [1, 2, 3, 100])
def test_slots_make_no_difference(num_slots):
    results = _play(load("random"), num_slots=num_slots)
    whole = _play(load("random"))
    assert np.array_equal(results.deal_scores, whole.deal_scores) and results.num_decisions == whole.num_decisions


def test_equal_seeds_and_keys_give_equal_games():
    results = _play(load("random"), game_seeds=[5, 5, 5], key_games=[0, 0, 1])
    assert np.array_equal(results.deal_scores[0], results.deal_scores[1])
    assert results.num_decisions > 0


def test_game_starts_once_for_each_seat():
    starts = []

    class Spy:
        def act(self, batch):
            starts.extend(zip(batch.games[batch.game_starts].tolist(), batch.seats[batch.game_starts].tolist(), strict=True))
            return first_legal(batch.observations, batch.action_masks)

    _play(Spy(), num_slots=2)
    assert sorted(starts) == [(game, seat) for game in range(3) for seat in range(2)]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (illegal, r"'crooked' \(seat \d, game seed \d, deal 1\) chose '.*', which is illegal: "),
        (lambda batch: np.full(len(batch), 127), "returned 127; actions are 0 to 126"),
        (lambda batch: np.full(len(batch), -1), "returned -1; actions are 0 to 126"),
        (lambda batch: np.full(len(batch), 2**64 - 1, np.uint64), "returned 18446744073709551615"),
        (lambda batch: first_legal(batch.observations, batch.action_masks).astype(float), "float64 of shape .* integers"),
        (lambda batch: np.zeros((len(batch), 2), int), "integers, an action for each row"),
        (lambda batch: 0, "integers, an action for each row"),
        (lambda batch: None, "integers, an action for each row"),
        (lambda batch: batch.action_masks.astype(bool), "integers, an action for each row"),
        (lambda batch: [[1], [2, 3]], "'crooked' returned"),
        (lambda batch: ZeroDivisionError("oh"), "'crooked' failed in act: ZeroDivisionError: oh"),
    ],
)
def test_rubbish_names_the_policy(answer, message):
    with pytest.raises(PolicyError, match=message) as caught:
        _play(Answers(answer))
    assert "\n" not in str(caught.value) and "crooked" in str(caught.value)


def test_names_given_stand_in_errors():
    with pytest.raises(PolicyError, match="policy 'Anna' "):
        _play(Answers(illegal), names=["Anna"])


def test_a_policy_may_refuse_the_table():
    class ForFour:
        name = "four"

        def start(self, num_games, rules, seed):
            raise ValueError(f"made for 4 seats, not {rules.players}")

        act = staticmethod(first_legal)

    with pytest.raises(UnfitPolicyError, match="policy 'four' cannot play here: made for 4 seats, not 2"):
        _play(ForFour())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lineups": np.zeros((3, 4), int)}, r"not \(3, 2\)"),
        ({"lineups": np.ones((3, 2), int)}, "indices of the 1 policies"),
        ({"lineups": np.full((3, 2), -1)}, "indices of the 1 policies"),
        ({"game_seeds": [], "lineups": np.zeros((0, 2), int)}, "at least one game"),
        ({"game_seeds": [1, -2, 3]}, "game_seeds"),
    ],
)
def test_arrays_that_do_not_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        _play(first_legal, **changes)


def test_what_is_no_policy_is_refused():
    with pytest.raises(TypeError, match="neither a policy"):
        _play(7)


def test_names():
    assert [policy_name(one) for one in ("greedy", load("greedy"), first_legal)] == ["greedy", "greedy", "first_legal"]

"""A policy that fails forfeits the game, and only that game; the others are what they are without it."""

import numpy as np
import pytest

from agents.play.games import Forfeit, Judge, PolicyError, play_games
from agents.play.judging import FAULTS
from hf_env import records
from hf_env.rules import load_rules
from tests.evaluation.players import Faulty, first_legal, last_legal

POINTS = -7000
RULES = load_rules("mini", deals=2)


def _play(faulty, games=6, **changes):
    settings = {
        "rules": RULES, "lineups": np.tile([[0, 1], [1, 0]], (games // 2, 1)), "game_seeds": np.arange(games) // 2,
        "names": ["faulty", "sound"], "judge": Judge(POINTS),
    }  # fmt: skip
    return play_games([faulty, last_legal], **settings | changes)


@pytest.mark.parametrize(
    ("kind", "fault", "said"),
    [
        ("illegal", "illegal", "which is illegal: "),
        ("exception", "exception", "failed in act: ZeroDivisionError: oh no"),
        ("shape", "answer", "integers, an action for each row"),
        ("nan", "answer", "not a number among them; it must return"),
        ("none", "answer", "returned object"),
    ],
)
@pytest.mark.parametrize("num_slots", [1, 6])
def test_only_the_game_is_forfeited_in_which_it_fails(kind, fault, said, num_slots):
    sound, results = _play(first_legal), _play(Faulty(kind, games={1, 4}), num_slots=num_slots)
    assert [one.game for one in results.forfeits] == [1, 4]
    for one in results.forfeits:
        assert one.policy == 0 and one.kind == fault and fault in FAULTS and one.deals == 2
        assert one.reason.startswith("policy 'faulty' ") and said in one.reason and "\n" not in one.reason
    forfeited = np.isin(results.deal_games, [1, 4])
    assert np.array_equal(results.deal_games, sound.deal_games)
    assert np.array_equal(results.deal_scores[~forfeited], sound.deal_scores[~forfeited])
    # Game 1 has it in seat 1, game 4 in seat 0.
    assert results.deal_scores[forfeited].tolist() == [[0, POINTS]] * 2 + [[POINTS, 0]] * 2
    assert results.totals[1].tolist() == [0, 2 * POINTS] and (results.out_seats[forfeited] == -1).all()
    assert not results.behaviour["turns"][forfeited].any() and results.behaviour["turns"][~forfeited].all()


def test_a_policy_that_always_fails_forfeits_every_game():
    results = _play(Faulty("nan", from_decision=0))
    assert len(results.forfeits) == 6 and len(results.deal_games) == 12
    assert all(one.deal == 1 and one.decision < 20 for one in results.forfeits)


def test_a_policy_that_cannot_start_forfeits_every_game():
    results = _play(Faulty("start"))
    assert {one.reason for one in results.forfeits} == {"policy 'faulty' failed in start: ZeroDivisionError: no start"}
    assert len(results.forfeits) == 6
    with pytest.raises(PolicyError, match="'faulty' failed in start: ZeroDivisionError: no start"):
        _play(Faulty("start"), judge=None)


def test_more_games_than_slots_go_on_after_forfeits():
    few, many = (_play(Faulty("exception", games={0, 2, 3}), games=20, num_slots=n) for n in (3, 20))
    assert np.array_equal(few.deal_scores, many.deal_scores) and few.forfeits == many.forfeits


def test_a_game_to_a_target_counts_for_the_deals_that_were_begun():
    rules = load_rules("mini", deals=1, target=100_000, max_deals=3)
    results = _play(Faulty("exception", games={0}, from_decision=60), rules=rules)
    (forfeit,) = results.forfeits
    assert forfeit.deal == forfeit.deals == (results.deal_games == 0).sum() > 1


def test_both_sides_of_a_policy_lose_by_forfeit():
    rules = load_rules("three-player", deals=1)
    results = play_games([Faulty("nan"), first_legal], [[0, 1, 0]], [1], rules=rules, judge=Judge(POINTS))
    assert results.deal_scores.tolist() == [[POINTS, 0, POINTS]]


@pytest.mark.parametrize("singly", [frozenset(), frozenset({0})])
def test_a_forfeit_known_beforehand_comes_at_its_decision(singly):
    free = _play(Faulty("exception", games={2}))
    decision = free.forfeits[0].decision
    known = Forfeit(2, 0, -1, 0, decision, "time", "policy 'faulty' did not answer")
    asked = []
    judge = Judge(POINTS, (known,), singly, asked.append)
    results = _play(first_legal, judge=judge)
    assert results.forfeits[0].decision == decision and results.forfeits[0].kind == "time"
    assert results.forfeits[0].seat == free.forfeits[0].seat and len(results.forfeits) == 1
    assert np.array_equal(results.deal_scores, free.deal_scores)
    assert not any(decision in one.decisions[one.games == 2] for one in asked if one and one.policy == 0)
    assert (max(len(one.games) for one in asked if one and one.policy == 0) == 1) == bool(singly)
    at_once = Forfeit(2, 0, -1, 0, -1, "time", "policy 'faulty' did not answer")
    assert _play(first_legal, judge=Judge(POINTS, (at_once,))).forfeits[0].decision < decision


@pytest.mark.parametrize("num_slots", [2, 6])
@pytest.mark.parametrize("rules", ["mini", "whitnack", "bicycle"])
def test_records_of_all_games_replay(rules, num_slots):
    rule_set = load_rules(rules, deals=2)
    kept = {}
    lineup = [seat % 2 for seat in range(rule_set.players)]
    results = play_games(
        [Faulty("illegal", games={1}), last_legal], [lineup] * 6, np.arange(6) + 10, rules=rule_set, num_slots=num_slots,
        judge=Judge(POINTS), on_record=kept.__setitem__, names=["faulty", "sound"],
    )  # fmt: skip
    assert sorted(kept) == list(range(6))
    for game, record in kept.items():
        over = records.replay(record)[0]["game_over"]
        assert record["seed"] == game + 10 and record["players"] == ["faulty", "sound"] * (rule_set.players // 2)
        assert bool(over) == (game != 1)
        if game == 1:
            assert record["deals"][-1]["scores"] is None and record["forfeit"]["player"] == "faulty"
            assert record["forfeit"]["scores"] == [POINTS, 0] and record["forfeit"]["deals"] == 2
        else:
            scores = [deal["scores"] for deal in record["deals"]]
            assert scores == results.deal_scores[results.deal_games == game].tolist() and "forfeit" not in record


def test_records_hold_reshuffles():
    rules = load_rules("mini", stock_out="reshuffle", max_turns=60)
    kept = {}
    play_games([first_legal], np.zeros((3, 2), int), [1, 2, 3], rules=rules, on_record=kept.__setitem__)
    assert any(deal["reshuffles"] for record in kept.values() for deal in record["deals"])
    for record in kept.values():
        records.replay(record)

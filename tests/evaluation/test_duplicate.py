"""Duplicate evaluation: what is held equal, what cancels, what is counted."""

import json

import numpy as np
import pytest

from agents import load
from agents.play.games import play_games
from hf_env.rules import load_rules
from hf_env.vector.game import VectorGame
from tests.evaluation.players import Noted, first_legal, last_legal
from training.evaluation import ANCHORS, MIN_CLUSTERS, anchor_evaluation, clustered_interval, evaluate
from training.evaluation.matches import cluster_seeds

SHORT_TARGET = load_rules("mini", deals=1, target=300, max_deals=6)


@pytest.mark.parametrize("player", ["greedy", first_legal])
@pytest.mark.parametrize("rules", ["whitnack", "three-player", "six-pairs", "six-threes", "mini", SHORT_TARGET])
def test_a_deterministic_player_against_itself_is_exactly_even(player, rules):
    result = evaluate(player, player, deals=30, seed=3, rules=rules)
    assert result.difference.mean == 0.0 and result.difference.low == 0.0 and result.difference.high == 0.0
    assert not result.cluster_differences.any()
    assert result.games_won.mean == pytest.approx(1 / result.num_seatings, abs=1e-15)
    assert result.points_a == result.points_b and result.gone_out_a == result.gone_out_b
    assert result.verdict == "inconclusive"


def test_a_random_player_against_itself_plays_its_seatings_apart():
    result = evaluate("random", "random", deals=80, rules="mini")
    assert result.cluster_differences.any()


def test_swapping_deterministic_players_turns_the_sign():
    there = evaluate("greedy", first_legal, deals=16, seed=5)
    back = evaluate(first_legal, "greedy", deals=16, seed=5)
    assert there.difference.mean == -back.difference.mean != 0
    assert (there.difference.low, there.difference.high) == (-back.difference.high, -back.difference.low)
    assert there.games_won.mean == 1 - back.games_won.mean
    assert (there.points_a, there.gone_out_a) == (back.points_b, back.gone_out_b)


@pytest.mark.parametrize(("rules", "sides"), [("whitnack", 2), ("six-pairs", 3), ("six-threes", 2), ("three-player", 3)])
def test_a_sits_once_on_each_side_on_equal_cards(rules, sides):
    a, b = Noted(), Noted()
    result = evaluate(a, b, deals=1, seed=11, rules=rules)
    rule_set = load_rules(rules)
    assert result.num_seatings == sides and result.num_clusters == 1 and result.num_games == sides
    assert result.num_deals == sides * rule_set.deals and a.started == b.started == 1
    for seating in range(sides):
        own = {seat for seat in range(rule_set.players) if rule_set.side_of(seat) == seating}
        assert a.seats_of_game[seating] == own
        assert b.seats_of_game[seating] == set(range(rule_set.players)) - own
    sights = a.first_sights | b.first_sights
    for (game, deal, seat), sight in sights.items():
        assert sights.get((0, deal, seat), sight) == sight, f"seating {game}, deal {deal}, seat {seat}"
    assert len({deal for _, deal, _ in sights}) == rule_set.deals


def test_no_two_decisions_share_a_key():
    a = Noted()
    result = evaluate(a, a, deals=33, seed=2, rules="mini")
    assert len(a.keys) == len(set(a.keys)) == result.num_decisions and a.started == 1


@pytest.mark.parametrize(
    ("deals", "rules", "played"), [(1, "whitnack", 8), (8, "whitnack", 8), (9, "whitnack", 16), (13, "six-pairs", 24), (3, "mini", 4)]
)
def test_deals_are_rounded_up_to_whole_clusters(deals, rules, played):
    result = evaluate(first_legal, last_legal, deals=deals, rules=rules)
    assert result.num_deals == played == result.cluster_deals.sum() and result.asked_deals == deals


def test_games_to_a_target_are_played_whole_until_there_are_deals_enough():
    result = evaluate("greedy", "random", deals=100, rules=SHORT_TARGET)
    assert result.num_deals >= 100 and len(set(result.cluster_deals.tolist())) > 1
    assert result.num_clusters == len(result.cluster_seeds) == len(set(result.cluster_seeds.tolist()))
    assert result.difference == clustered_interval(result.cluster_differences, result.cluster_deals)


def test_a_longer_evaluation_begins_with_the_shorter_one():
    short, long = (evaluate("random", "greedy", deals=n, seed=4, rules="mini") for n in (20, 60))
    assert np.array_equal(long.cluster_seeds[:10], short.cluster_seeds)
    assert np.array_equal(long.cluster_differences[:10], short.cluster_differences)


def test_results_do_not_depend_on_the_batch():
    few, many = (evaluate("random", "greedy", deals=24, seed=4, rules="three-player", num_slots=n) for n in (2, 512))
    assert np.array_equal(few.cluster_differences, many.cluster_differences)
    assert few.games_won == many.games_won and few.num_decisions == many.num_decisions


def test_the_seed_decides():
    first, again, other = (evaluate("random", "greedy", deals=20, seed=s, rules="mini") for s in (1, 1, 2))
    assert first.difference == again.difference != other.difference


def test_game_seeds_are_apart_from_training_games():
    training = VectorGame(64, "mini", 7).game_seeds
    assert not set(training.tolist()) & set(cluster_seeds(7, 0, 64).tolist())
    assert (cluster_seeds(7, 0, 64) >= 0).all()


def test_figures_are_those_of_the_games():
    result = evaluate("greedy", "random", deals=40, seed=9, rules="three-player")
    seeds, players = result.cluster_seeds, [load("greedy"), load("random")]
    total, won, points, outs, num_deals = 0.0, 0.0, 0, 0, 0
    for cluster, game_seed in enumerate(seeds):
        for seating in range(3):
            lineup = [0 if seat == seating else 1 for seat in range(3)]
            games = play_games(
                players, [lineup], [game_seed], rules="three-player", seed=9,
                key_games=[cluster], rotations=[seating],
            )  # fmt: skip
            for scores, out in zip(games.deal_scores, games.out_seats, strict=True):
                total += scores[seating] - np.delete(scores, seating).mean()
                points += scores[seating]
                outs += out == seating
                num_deals += 1
            best = games.totals[0].max()
            won += (games.totals[0, seating] == best) / (games.totals[0] == best).sum()
    assert num_deals == result.num_deals
    assert result.difference.mean == pytest.approx(total / num_deals)
    assert result.points_a == pytest.approx(points / num_deals) and result.gone_out_a == pytest.approx(outs / num_deals)
    assert result.games_won.mean == pytest.approx(won / (3 * len(seeds)))


def test_greedy_beats_random():
    result = evaluate("greedy", "random", deals=8 * MIN_CLUSTERS)
    assert result.verdict == "better" and result.num_clusters == MIN_CLUSTERS and result.difference.mean > 3000
    assert evaluate("random", "greedy", deals=8 * MIN_CLUSTERS).verdict == "worse"
    # Few game seeds are enough where all of them say the same, and five are not.
    assert evaluate("greedy", "random", deals=8 * 6).verdict == "better"
    few = evaluate("greedy", "random", deals=8 * 5)
    assert few.verdict == "inconclusive" and few.why_inconclusive() == (
        "5 game seeds, 5 of them one way and 0 the other, are too few for the sign test; about 8 more deals would be needed, "
        "if they are as these"
    )


def test_a_list_of_rule_sets():
    result = evaluate("greedy", "greedy", deals=50, rules=["whitnack", "family-ask"])
    assert result.num_deals == 56 and result.difference.mean == 0.0
    assert [one.name for one in result.rules] == ["whitnack", "family-ask"]
    with pytest.raises(ValueError, match="equal numbers of seats"):
        evaluate("greedy", "greedy", rules=["whitnack", "mini"])


def test_progress_ends_with_all_deals():
    calls = []
    result = evaluate("random", "greedy", deals=20, rules=SHORT_TARGET, on_progress=lambda *call: calls.append(call))
    assert calls == sorted(calls) and calls[-1][0] == result.num_deals
    assert all(done <= total for done, total in calls)


def test_json_holds_what_is_needed_to_repeat_and_recompute():
    result = evaluate("random", "greedy", deals=60, seed=8, rules="mini")
    values = json.loads(json.dumps(result.to_json(), allow_nan=False))
    clusters = values["clusters"]
    again = clustered_interval(clusters["difference_sums"], clusters["deals"])
    assert again.to_json() == values["difference_a_deal"]
    assert values["rules"][0]["fingerprint"] == load_rules("mini").fingerprint
    assert (values["policy_a"], values["policy_b"], values["seed"]) == ("random", "greedy", 8)


@pytest.mark.parametrize(("name", "value"), [("deals", 0), ("deals", 1.5), ("deals", True), ("seed", -1), ("seed", 2**63)])
def test_bad_numbers_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        evaluate("random", "random", **{name: value})


def test_anchors_for_the_trainer():
    measure = anchor_evaluation("mini", seed=1, deals=20)
    results = measure(first_legal)
    assert list(results) == list(ANCHORS) and results == measure(first_legal)
    assert all(np.isfinite(results[anchor]).all() for anchor in ANCHORS)


def _coverage(rules, deals_each: int, repeats: int) -> int:
    """In how many of `repeats` matches the interval of a random player against itself holds 0."""
    result = evaluate("random", "random", deals=deals_each * repeats, seed=6, rules=rules)
    per_match = result.num_clusters // repeats
    held = 0
    for match in range(repeats):
        part = slice(match * per_match, (match + 1) * per_match)
        interval = clustered_interval(result.cluster_differences[part], result.cluster_deals[part])
        held += interval.low <= 0 <= interval.high
    return held


@pytest.mark.parametrize("rules", ["whitnack", "mini"])
def test_coverage_of_the_interval(rules):
    """A player against itself: 100 matches of 40 deals. 88 to 99 of 100 hold the 0 with a chance of 99 % if 95 % do."""
    assert 88 <= _coverage(rules, 40, 100) <= 99


@pytest.mark.long
@pytest.mark.parametrize("rules", ["whitnack", "three-player", "mini"])
def test_coverage_of_the_interval_in_400_matches_of_200_deals(rules):
    """A stochastic player against itself: the interval of 95 % holds 0 in 92 to 98 % of the matches."""
    held = _coverage(rules, 200, 400)
    print(f"\n{rules}: 0 is in {held} of 400 intervals, {held / 4:.2f} %")
    assert 368 <= held <= 392

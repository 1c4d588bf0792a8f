"""Tournament and cross-play: what is counted, what is said of it, and the report."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents import load
from agents.play.games import play_games
from hf_env.rules import load_rules
from tests.evaluation.players import Circle, Faulty, first_legal, last_legal
from training.evaluation import evaluate
from training.evaluation.contests import Plan, crossplay, tournament
from training.evaluation.crossplay import NoPartnersError
from training.evaluation.duplicate import evaluate as evaluate_here
from training.evaluation.matches import cluster_seeds
from training.evaluation.recount import Recount, report_files
from training.evaluation.report import crossplay_html, evaluation_html, misfits, tournament_html

MINI = load_rules("mini")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def circle():
    players = [Circle(number) for number in range(3)]
    return tournament([*players, first_legal], Plan(deals=128, rules=MINI, processes=1))


def test_three_artificial_players_in_a_circle_get_no_order(circle):
    assert circle.names == ("rock", "paper", "scissors", "first_legal")
    for a, b in ((1, 0), (2, 1), (0, 2)):
        assert circle.pairs[a, b].points.low > 0, "the players do not make a circle"
    assert circle.ranking.circles == ((0, 1, 2),)
    assert circle.ranking.best.tolist() == [1, 1, 1, 4] and circle.ranking.worst.tolist() == [3, 3, 3, 4]
    assert circle.to_json()["order"]["circles"] == [["rock", "paper", "scissors"]]
    assert not any(above[0] != "first_legal" and above[1] != "first_legal" for above in circle.to_json()["order"]["above"])
    html = tournament_html(circle, out=False)
    assert "No order among rock, paper and scissors" in html and "1 to 3" in html
    assert misfits(circle) and "One number a policy does not describe these matches" in html


def test_a_pair_is_its_evaluation():
    result = tournament(["random", "greedy", first_legal], Plan(deals=80, seed=5, rules=MINI, processes=1))
    alone = evaluate_here("random", "greedy", deals=80, seed=5, rules=MINI)
    pair, mirrored = result.pairs[0, 1], result.pairs[1, 0]
    assert pair.points == alone.difference and pair.won == alone.games_won
    assert (mirrored.points.mean, mirrored.points.low) == (-pair.points.mean, -pair.points.high)
    assert mirrored.won.mean == pytest.approx(1 - pair.won.mean)
    values = result.to_json()["matches"][0]
    assert (values["points_a"], values["points_b"]) == (alone.points_a, alone.points_b)
    # All pairs play the same cards.
    assert result.cluster_seeds["game_seeds"] == alone.cluster_seeds.tolist()
    assert result.order_confidence == pytest.approx(1 - 0.05 / 3)


def test_three_sides_are_played_both_ways():
    rules = load_rules("three-player", deals=1)
    result = tournament(["greedy", first_legal], Plan(deals=90, seed=2, rules=rules, processes=1))
    there = evaluate_here("greedy", first_legal, deals=90, seed=2, rules=rules)
    back = evaluate_here(first_legal, "greedy", deals=90, seed=2, rules=rules)
    assert result.pairs[0, 1].points == there.difference and result.pairs[1, 0].points == back.difference
    assert result.differences[0, 1].mean == pytest.approx((there.difference.mean - back.difference.mean) / 2)
    assert result.ranking.order == (0, 1) and result.ratings.ratings[0] > 0 > result.ratings.ratings[1]
    assert "greedy" in tournament_html(result)


def test_crossplay_seats_every_pairing_in_both_orders():
    rules = load_rules("whitnack", deals=1)
    players, names = [load("greedy"), first_legal, load("random")], ["greedy", "first_legal", "random"]
    result = crossplay(players[:2], players[2], Plan(deals=8, seed=3, rules=rules, processes=1))
    sums = {}
    for p, q in ((0, 0), (0, 1), (1, 1)):
        total, number = 0.0, 0
        seeds = cluster_seeds(3, 0, 2)
        lineups = [[first, 2, second, 2] for first, second in ((p, q), (q, p))] + [
            [2, first, 2, second] for first, second in ((p, q), (q, p))
        ]
        # Greedy and first_legal do not use their keys; the random opponents do, so the seatings must be the match's own.
        order = [(0, lineups[0], 0), (1, lineups[2], 1)] + ([(2, lineups[1], 0), (3, lineups[3], 1)] if p != q else [])
        for cluster, game_seed in enumerate(seeds):
            for seating, lineup, side in order:
                games = play_games(players, [lineup], [game_seed], rules=rules, seed=3, key_games=[cluster], rotations=[seating])
                total += games.deal_scores[0, side] - games.deal_scores[0, 1 - side]
                number += 1
        sums[p, q] = total / number
    for pairing, mean in sums.items():
        assert result.cells[pairing].mean == pytest.approx(mean)
    assert result.self_play.mean == pytest.approx((sums[0, 0] + sums[1, 1]) / 2)
    assert result.cross_play.mean == pytest.approx(sums[0, 1])
    assert result.gap.mean == pytest.approx((sums[0, 0] + sums[1, 1]) / 2 - sums[0, 1])
    assert {one.num_clusters for one in result.cells.values()} == {2}
    assert result.partners[0].worst == 1 and result.partners[0].with_worst.mean == pytest.approx(sums[0, 1])
    assert names[:2] == list(result.names) and result.opponents == "random"


def test_the_worst_partner_is_the_worst_and_has_a_wider_interval():
    rules = load_rules("whitnack", deals=1)
    result = crossplay(["greedy", "random", last_legal], "greedy", Plan(deals=64, rules=rules, processes=1))
    figures = result.partners[0]
    means = {q: result.cells[0, q].mean for q in (1, 2)}
    assert figures.worst == min(means, key=means.get)
    assert figures.with_worst.half_width > result.cells[0, figures.worst].half_width
    assert figures.gap.mean == pytest.approx(result.cells[0, 0].mean - sum(means.values()) / 2)
    html = crossplay_html(result)
    assert "the worst of 2 was picked" in html


def test_six_seats_seat_two_policies_in_turn():
    rules = load_rules("six-threes", deals=1)
    result = crossplay([first_legal, last_legal], "random", Plan(deals=8, rules=rules, processes=1))
    mixed = result.matches[1].lineups
    assert mixed[0] == (0, 2, 1, 2, 0, 2) and mixed[3] == (2, 1, 2, 0, 2, 1) and len(mixed) == 4


def test_no_crossplay_without_partners():
    with pytest.raises(NoPartnersError, match="under mini each side is one seat"):
        crossplay(["greedy", "random"], "greedy", Plan(rules="mini"))


@pytest.mark.parametrize(
    ("policies", "said"), [(["random"], "2 to 100 policies, not 1"), (["random", "greedy", "random"], "'random' is named 2 times")]
)
def test_lists_that_cannot_be_played(policies, said):
    with pytest.raises(ValueError, match=said):
        tournament(policies, Plan(rules="mini"))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A tournament in its folder, with forfeits: two games in each of two blocks of each match."""
    out = tmp_path_factory.mktemp("tournament")
    players = ["random", "greedy", Faulty("illegal", games={4, 9})]
    return out, tournament(players, Plan(deals=100, rules=load_rules("mini", deals=2), processes=1, out=out))


def test_totals_recomputed_from_the_records_by_a_separate_script_agree(report):
    out, _ = report
    script = ROOT / "tests" / "evaluation" / "recount_alone.py"
    found = json.loads(subprocess.run([sys.executable, script, out], check=True, capture_output=True, text=True).stdout)
    told = {one["title"]: one for one in json.loads((out / "report.json").read_text())["matches"]}
    assert found.keys() == told.keys() and len(found) == 3
    for title, (deals, difference, won) in found.items():
        assert told[title]["num_deals"] == deals
        assert told[title]["points_a_deal"]["mean"] == pytest.approx(difference, abs=1e-9)
        assert told[title]["games_won"]["mean"] == pytest.approx(won, abs=1e-12)
    assert "project" in script.read_text() and not re.search(r"import (hf_env|agents|training|numpy)", script.read_text())


def test_replays_give_the_totals_of_the_report(report):
    from hf_env import records

    out, _ = report
    files, told = report_files(out)
    count = Recount()
    for path in files:
        for record in records.read(path):
            count.add(record)
    assert count.first_difference(told) is None and sum(one.forfeits for one in count.matches.values()) == 8
    told.matches[1].clusters.difference_sums[3] += 5
    assert "difference_sums" in count.first_difference(told)
    told.matches.pop()
    assert "only in the records" in count.first_difference(told)


def test_forfeits_are_reported_apart(report):
    _, result = report
    entries = result.to_json()["forfeits"]
    assert len(entries) == 8 and {one["policy"] for one in entries} == {"faulty"} and {one["kind"] for one in entries} == {"illegal"}
    assert sorted((one["match"], one["cluster"], one["seating"]) for one in entries)[0] == ("greedy against faulty", 2, 0)
    assert result.to_json()["matches"][1]["forfeits"] == {"faulty": 4}
    html = tournament_html(result)
    assert "policy &#39;faulty&#39;" in html and "−10,000 points" in html.replace("-10,000", "−10,000")


@pytest.mark.parametrize("which", ["tournament", "crossplay", "evaluation"])
def test_reports_are_whole_pages_that_need_nothing_else(which, report):
    if which == "tournament":
        html = tournament_html(report[1])
    elif which == "crossplay":
        html = crossplay_html(crossplay([first_legal, last_legal], "random", Plan(deals=8, rules="whitnack", processes=1)))
    else:
        html = evaluation_html(evaluate("random", "random", deals=40, rules="mini"))
    assert html.startswith("<!doctype html>") and html.rstrip().endswith("</html>")
    sources = re.findall(r"""(?:src|href)\s*=\s*["']([^"']{0,30})""", html)
    assert sources and all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert "http://" not in html and "https://" not in html and "<script" not in html and "None" not in html and "nan" not in html


def test_names_are_text_in_reports_not_markup():
    class Named:
        def __init__(self, name) -> None:
            self.name = name

        def act(self, batch):
            return first_legal(batch.observations, batch.action_masks)

    html = evaluation_html(evaluate(Named("<b>A</b>"), Named("B & C"), deals=40, rules="mini"))
    assert "<b>A" not in html and "&lt;b&gt;A" in html and "B &amp; C" in html


def test_one_cluster_and_a_policy_against_itself_make_a_report():
    assert "no interval" in evaluation_html(evaluate("greedy", "greedy", deals=2, rules="mini"))


def test_behaviour_is_what_the_games_show():
    seen = {"takes": 0, "asks": 0}
    player = load("greedy")

    class Watched:
        name = "watched"

        def act(self, batch):
            actions = player.act(batch)
            from hf_env import ACTIONS

            labels = [ACTIONS.label(int(action)) for action in actions]
            seen["takes"] += sum(label.startswith("take") for label in labels)
            seen["asks"] += labels.count("ask")
            return actions

    result = evaluate(Watched(), "random", deals=24, rules="whitnack")
    figures = result.behaviour_a
    assert figures["deals"] == result.num_deals == 24 and seen["takes"] > 0
    assert figures["takes"] * 24 == pytest.approx(seen["takes"]) and figures["asks"] * 24 == pytest.approx(seen["asks"])
    assert figures["gone_out"] == result.gone_out_a and 1 <= figures["opening_round"] < figures["foot_round"] <= figures["rounds"]
    assert 0 < figures["opened"] <= 1 and figures["yes"] + figures["no"] == pytest.approx(figures["asks"])
    assert result.behaviour_b["stranded"] > figures["stranded"] > 0
    out = [seat.gone_out for seat in result.seats]
    assert np.mean(out) * 2 == pytest.approx(result.gone_out_a)


def test_precision_and_the_saving_of_duplicate_deals():
    result = evaluate("random", "greedy", deals=200, rules="mini")
    half = result.difference.half_width
    assert result.more_deals(half * 1.0001) == 0
    more = result.more_deals(half / 2)
    assert more == pytest.approx(3 * 200, rel=0.05)
    longer = evaluate("random", "greedy", deals=200 + more, rules="mini")
    assert longer.difference.half_width == pytest.approx(half / 2, rel=0.25)
    assert result.saving == pytest.approx((result.standard_error_unpaired / result.difference.standard_error) ** 2)
    assert evaluate("greedy", "greedy", deals=40, rules="mini").saving is None
    assert evaluate("random", "greedy", deals=2, rules="mini").more_deals(5) is None

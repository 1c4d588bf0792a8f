"""What search's choices are worth: the sampled decisions, their sum over a deal, and the command."""

import importlib.util

import numpy as np
import pytest
from click.testing import CliRunner

from agents.registry import load
from hf_env import load_rules
from training.studies.search_gain import Values, choices, gains, main, sample_decisions

SPEC = "search:rollouts=24,player=greedy"
DEALS = 120


@pytest.fixture(scope="module")
def decisions():
    return sample_decisions(load(SPEC), load_rules("mini"), DEALS, 1e-9, seed=5)


def test_the_sampled_decisions_have_a_choice_and_show_no_hidden_card(decisions):
    batch = decisions.batch
    assert (batch.action_masks.sum(1) > 1).all()
    assert (decisions.games["to_move"] == batch.seats).all() and (decisions.deals % 2 == batch.seats % 2).all()
    views, rows = batch.views.games, np.arange(len(batch))
    assert np.array_equal(views["hands"][rows, batch.seats], decisions.games["hands"][rows, batch.seats])
    others = views["hands"].copy()
    others[rows, batch.seats] = 0
    assert (others <= views["known"]).all() and (views["stock"] == 0).all() and (views["feet"] == 0).all()
    assert (decisions.games["stock"] != 0).any()


def test_a_sample_stands_for_all_the_decisions_and_takes_the_weightiest(decisions):
    some = sample_decisions(load(SPEC), load_rules("mini"), DEALS, 3000.0, seed=5)
    assert len(some.batch) < len(decisions.batch) / 2 and np.isin(some.batch.keys, decisions.batch.keys).all()
    assert some.a_deal(np.ones(len(some.batch))).mean == pytest.approx(len(decisions.batch) / DEALS, rel=0.3)
    assert 0 < some.chances.min() < 0.1 < 0.5 < some.chances.max() <= 1
    assert (decisions.chances[decisions.chances != decisions.chances.min()] == 1).all()


@pytest.mark.long
def test_the_gains_of_a_deal_sum_up_to_what_a_match_says(decisions):
    """The lemma, over all decisions of the same games: two measurements of one number."""
    from training.evaluation import evaluate

    policy, rules = load(SPEC), load_rules("mini")
    # The keys of the deals themselves: the choices that were played.
    result = policy.search(decisions.batch)
    found = decisions.a_deal(gains(result.actions[None], result.base, Values(decisions, load(SPEC).rollout_policy, 20, seed=1)))
    match = evaluate(policy, "greedy", deals=1200, seed=5, rules=rules).difference
    assert found.low > 0 and match.low > 0, (found, match)
    assert abs(found.mean - match.mean) < 3 * np.hypot(found.standard_error, match.standard_error)


def test_the_players_own_choice_gains_nothing_and_is_not_played(decisions):
    values = Values(decisions, load(SPEC).rollout_policy, 4, seed=1)
    chosen, base = choices(load(SPEC), decisions.batch, 2, seed=1)
    assert chosen.shape == (2, len(decisions.batch)) and (chosen[0] != chosen[1]).any()
    assert (gains(base[None], base, values) == 0).all() and np.isnan(values.means).all()
    points = gains(chosen, base, values)
    assert (points[(chosen == base).all(0)] == 0).all() and (points != 0).any()


def test_an_action_is_judged_from_the_true_hands_on_other_orders_of_the_stock(decisions):
    values = Values(decisions, load(SPEC).rollout_policy, 6, seed=1)
    games = values._orders(0)
    truth = decisions.games[0]
    assert all((games[name] == truth[name]).all() for name in ("hands", "feet", "discard", "stock_next"))
    left = slice(int(truth["stock_next"]), int(truth["stock_end"]))
    assert (np.sort(games["stock"][:, left]) == np.sort(truth["stock"][left])).all()
    assert len({one.tobytes() for one in games["stock"]}) == 6


def test_an_action_may_be_judged_on_worlds_that_the_seat_believes_in(decisions):
    values = Values(decisions, load(SPEC).rollout_policy, 6, seed=1, believed=True)
    row = int(np.argmax(decisions.games["stock_end"] - decisions.games["stock_next"]))
    worlds, truth, seat = values._worlds(row), decisions.games[row], int(decisions.batch.seats[row])
    assert (worlds["hands"][:, seat] == truth["hands"][seat]).all() and (worlds["discard"] == truth["discard"]).all()
    assert (worlds["hands"].sum(2) == truth["hands"].sum(1)).all()
    assert any((world["hands"] != truth["hands"]).any() for world in worlds) and len({world.tobytes() for world in worlds}) == 6
    assert np.array_equal(values._worlds(row), worlds)
    action = int(np.flatnonzero(decisions.batch.action_masks[row])[0])
    assert values.of(row, action) == values._play(row, action).mean()


def test_the_command_prints_a_row_a_search_and_names_what_it_cannot_take():
    run = CliRunner().invoke
    options = ["--rules", "mini", "--states", SPEC, "--deals", "8", "--certain", "50", "--orders", "5"]
    shown = run(main, [SPEC, "search:rollouts=8,player=greedy", *options])
    assert shown.exit_code == 0, shown.output
    rows = [line for line in shown.output.splitlines() if line.startswith("| search:")]
    assert len(rows) == 2 and rows[0].endswith("|  |  |") and " to " in rows[1].split("|")[5]
    learned = "search:rollouts=8,policy=pretrained"
    if importlib.util.find_spec("torch") is not None:
        shown = run(main, [learned, f"{learned},mode=sample", "--states", learned, "--deals", "2", "--orders", "5", "--believed"])
        assert shown.exit_code == 0, shown.output
        assert len([line for line in shown.output.splitlines() if line.startswith(f"| {learned}")]) == 2
    for wrong, said in (
        ["greedy", "greedy is not a search"],
        ["search:rollouts=8", "different rollout players"],
        [f"{learned},rules=whitnack", "different rollout players"],
        [learned, "no shipped player was made for 2 seats in 2 sides"],
        ["x", "'x'"],
    ):
        refused = run(main, [wrong, *options])
        assert refused.exit_code == 2 and said in refused.output

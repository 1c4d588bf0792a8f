"""How well `expert` plays, and that its numbers, rules of play and ablation belong together."""

import math

import numpy as np
import pytest

from agents.scripted import play_deals
from agents.scripted.dispatch import GREEDY
from agents.scripted.expert.outlook import at_least
from agents.scripted.expert.tuned import TUNED, tuned_for
from agents.scripted.expert.weights import HIGH, LOW, NUM_WEIGHTS, RULES_OF_PLAY, WEIGHTS
from hf_env.kernels.compile import entry
from hf_env.rules import list_rules, load_rules
from training.evaluation.statistics import clustered_interval
from training.studies.ablate_expert import without
from training.studies.tune_expert import duel, from_unit, to_unit

JUDGED = ("whitnack", "bicycle", "family")
# Neither the tuning's deals nor the ablation's.
SEED = 31


@entry
def tails(means, counts, out):
    for i in range(len(means)):
        out[i] = at_least(means[i], counts[i])


def over_greedy(name, num_deals):
    rules = load_rules(name)
    points = duel(rules, tuned_for(rules), GREEDY, num_deals, SEED)
    interval = clustered_interval(points, np.ones(len(points)))
    print(f"\nexpert over greedy, {name}, {num_deals} duplicate deals: {interval.mean:+.0f} ({interval.low:+.0f} to {interval.high:+.0f})")
    return interval


@pytest.mark.parametrize("name", [name if name == "mini" else pytest.param(name, marks=pytest.mark.long) for name in list_rules()])
def test_expert_beats_greedy(name):
    assert over_greedy(name, 1000).low > 100


@pytest.mark.long
@pytest.mark.parametrize("name", JUDGED)
def test_expert_beats_greedy_by_300_points_a_deal(name):
    assert over_greedy(name, 4000).low >= 300


def test_it_is_fast_enough_for_rollouts():
    # Counted in decisions, not in time: no deal drags on because nobody wants to go out.
    result = play_deals(load_rules("whitnack"), ["expert"] * 4, 300, seed=2)
    assert (result["end_reason"] > 0).all()
    assert result["decisions"].mean() < 400
    assert (result["out_seat"] >= 0).mean() > 0.3


def test_chances_are_poisson_tails():
    means, counts = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 12, 25), np.arange(0, 9), indexing="ij"))
    out = np.empty(len(means))
    tails(means, counts, out)
    exact = [1 - sum(math.exp(-m) * m**i / math.factorial(i) for i in range(n)) for m, n in zip(means, counts, strict=True)]
    np.testing.assert_allclose(out, exact, atol=2e-3)


def test_weights_have_names_ranges_and_meanings():
    assert len({weight.name for weight in WEIGHTS}) == NUM_WEIGHTS == TUNED.shape[1]
    assert all(weight.meaning and weight.low < weight.high for weight in WEIGHTS)
    assert (TUNED >= LOW).all() and (TUNED <= HIGH).all()
    np.testing.assert_allclose(from_unit(to_unit(TUNED)), TUNED)


@pytest.mark.parametrize("rule", RULES_OF_PLAY)
def test_every_rule_of_play_changes_the_play(rule):
    changed = []
    for rules in map(load_rules, JUDGED):
        changed.append((duel(rules, tuned_for(rules), without(rule, rules), 60, 5) != 0).any())
    assert any(changed), "it changes nothing"


def test_every_weight_belongs_to_a_rule_of_play_or_is_a_plain_estimate():
    plain = {"half_turns", "reach", "wild_reach", "drawn_card", "opening_round", "opening_late", "out_theirs", "out_ours", "out_held"}
    named = {WEIGHTS[index].name for changes in RULES_OF_PLAY.values() for index in changes}
    assert named.isdisjoint(plain)
    assert named | plain == {weight.name for weight in WEIGHTS}

"""The fitted value at a playout's cut: what it reads, and which rule sets it is for."""

import numpy as np
import pytest

from agents.search.features import ALL_OWED, FEATURES, HELD, IN_FOOT, NUM_FEATURES, SIDE_FEATURES, TABLE, WILDS_HELD, write_features
from agents.search.values import (
    FittedValue,
    FittedValueError,
    ValueWeights,
    fitted_value,
    is_fitted_to,
    leaf_value,
    load_fitted,
    no_weights,
    save_fitted,
)
from hf_env import load_rules
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import JOKER, TWO
from hf_env.kernels.compile import entry
from tests.search.decisions import reached


@entry
def features_of(games, rules, side, spare, out):
    for i in range(games.shape[0]):
        write_features(games[i], rules[0], side, spare, out[i])


@entry
def values_of(games, rules, side, weights, layers, out):
    for i in range(games.shape[0]):
        out[i] = leaf_value(games[i], rules[0], side, weights, layers)


def features(games, rules, side):
    out = np.full((len(games), NUM_FEATURES), np.nan)
    features_of(games, rules.to_record(), np.int64(side), np.empty(NUM_FEATURES), out)
    return out


@pytest.mark.parametrize("preset", ["whitnack", "three-player", "six-threes"])
def test_features_count_what_their_names_say(preset):
    rules = load_rules(preset)
    games = reached(rules, 100, seed=1)
    sides = rules.num_sides
    seen = [features(games, rules, side) for side in range(sides)]
    for side, own in enumerate(seen):
        assert np.isfinite(own).all()
        scores = [GameAccess(rules.to_record(), games[i : i + 1]).scores()[side] for i in range(len(games))]
        penalty = 0  # of an unfinished wild meld: none in these rule sets
        np.testing.assert_allclose((own[:, TABLE] - own[:, HELD]) * 1000 - penalty, scores)
        seats = range(side, rules.players, sides)
        wilds = sum(games["hands"][:, seat, TWO].astype(int) + games["hands"][:, seat, JOKER] for seat in seats)
        np.testing.assert_allclose(own[:, WILDS_HELD], wilds)
        np.testing.assert_allclose(own[:, IN_FOOT], games["in_foot"][:, list(seats)].sum(1))
        # The others are the mean of the other sides.
        others = np.mean([seen[other][:, :SIDE_FEATURES] for other in range(sides) if other != side], axis=0)
        np.testing.assert_allclose(own[:, SIDE_FEATURES : 2 * SIDE_FEATURES], others, atol=1e-12)
    assert (seen[0][:, ALL_OWED] > 0).any()


def test_the_value_is_the_networks_output():
    rules = load_rules("whitnack")
    games = reached(rules, 30, seed=2)
    rng = np.random.default_rng(0)
    weights = ValueWeights(*(rng.normal(size=layer.shape) for layer in no_weights()))
    out = np.empty(len(games))
    values_of(games, rules.to_record(), np.int64(1), weights, np.empty((4, NUM_FEATURES)), out)
    w1, b1, w2, b2, w3, b3 = weights
    hidden = np.maximum(features(games, rules, 1) @ w1 + b1, 0)
    np.testing.assert_allclose(out, np.maximum(hidden @ w2 + b2, 0) @ w3 + b3)


def test_the_fitted_value_of_greedy_foresees_the_result():
    from agents.scripted.playout import Table

    rules = load_rules("whitnack")
    table = Table(rules, ["greedy"] * 4, 600, seed=123)
    table.play(120)
    games = table.games[table.games["phase"] != 3].copy()
    live = table.games["phase"] != 3
    out = np.empty(len(games))
    values_of(games, rules.to_record(), np.int64(0), fitted_value("greedy").weights, np.empty((4, NUM_FEATURES)), out)
    table.play()
    final = (table.games["deal_scores"][:, 0] - table.games["deal_scores"][:, 1])[live]
    print(f"\ncorrelation with the deal's result: {np.corrcoef(out, final)[0, 1]:.2f}")
    assert np.corrcoef(out, final)[0, 1] > 0.35
    assert abs(out.mean() - final.mean()) < 4 * final.std() / np.sqrt(len(final))


def test_which_rule_sets_a_value_is_for():
    whitnack = load_rules("whitnack")
    value = FittedValue(no_weights(), whitnack.to_record())
    assert is_fitted_to(value, whitnack.to_record()[0])
    assert is_fitted_to(value, whitnack.with_overrides(deals=1).to_record()[0])
    assert not is_fitted_to(value, whitnack.with_overrides(books_to_go_out=[1, 1, 0]).to_record()[0])
    assert not is_fitted_to(None, whitnack.to_record()[0])
    assert fitted_value("random") is None
    assert is_fitted_to(fitted_value("greedy"), load_rules("family").to_record()[0])


def test_a_file_that_does_not_fit_is_an_error(tmp_path, monkeypatch):
    import agents.search.values as values

    monkeypatch.setattr(values, "FOLDER", tmp_path)
    rules, path = load_rules("mini").to_record(), tmp_path / "greedy.npz"
    weights = no_weights()._asdict()
    save_fitted(path, weights, rules)
    with np.load(path) as stored:
        good = dict(stored)
    for changed, said in (
        ({"format": "hf-search-values/1"}, "of the format hf-search-values/1"),
        ({"features": np.array([*FEATURES[:-1], "luck"])}, "reads 'luck', which is no longer there"),
        ({"rules/luck": np.zeros(1, np.int32)}, "reads 'luck', which is no longer there"),
        ({"rules/quota": np.zeros((1, 7), np.int32)}, "reads 'quota', which is no longer there as it was"),
        ({"w1": np.zeros((NUM_FEATURES + 1, 48))}, "w1 has shape"),
    ):
        np.savez(path, **(good | changed))
        with pytest.raises(FittedValueError, match=said):
            values.fitted_value.__wrapped__("greedy")
    save_fitted(path, weights, rules)
    assert values.fitted_value.__wrapped__("greedy") is not None


def test_a_value_of_fewer_features_and_options_goes_on(tmp_path):
    rng = np.random.default_rng(1)
    weights = ValueWeights(*(rng.normal(size=array.shape) for array in no_weights()))
    rules, path = load_rules("mini").to_record(), tmp_path / "grown.npz"
    save_fitted(path, weights._asdict(), rules)
    with np.load(path) as stored:
        older = dict(stored)
    kept = np.delete(np.arange(NUM_FEATURES), WILDS_HELD)
    older |= {"features": np.array(FEATURES)[kept], "w1": weights.w1[kept]}
    del older["rules/permission"]
    np.savez(path, **older)
    value = load_fitted(path)
    assert not value.weights.w1[WILDS_HELD].any()
    np.testing.assert_array_equal(value.weights.w1[kept], weights.w1[kept])
    # The option that came since must be at its default, which mini's is not.
    assert not is_fitted_to(value, rules[0])
    same = rules.copy()
    same["permission"] = load_rules().to_record()["permission"]
    assert is_fitted_to(value, same[0])

"""The policy protocol: keys, batches, plain functions, names; and that none of it needs torch."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from agents.policy import DecisionCounter, FunctionPolicy, PolicyBatch, as_policy, decision_keys, player_seed, seat_root, uniforms
from agents.registry import PolicySpec, UnknownPolicyError, check_spec, load, parse_spec
from hf_env import VectorGame
from hf_env.policy_batch import NoLegalActionError, seat_keys


def make_batch(size=3, **changes):
    fields = {
        "observations": np.zeros((size, 5), np.int16),
        "action_masks": np.ones((size, 7), np.int8),
        "games": np.arange(size),
        "seats": np.zeros(size, np.int32),
        "game_starts": np.zeros(size, bool),
        "keys": decision_keys(0, np.arange(size), 0, 0, 0),
    }
    return PolicyBatch(**(fields | changes))


def test_keys_depend_on_each_number_and_on_nothing_else():
    base = decision_keys(3, [5], [0], [1], [9])[0]
    for other in ((4, 5, 0, 1, 9), (3, 6, 0, 1, 9), (3, 5, 1, 1, 9), (3, 5, 0, 2, 9), (3, 5, 0, 1, 10)):
        assert decision_keys(*other)[0] != base
    together = decision_keys(3, np.arange(10), 0, 1, 9)
    assert together[5] == base
    many = decision_keys(0, np.repeat(np.arange(1000), 100), 0, 0, np.tile(np.arange(100), 1000))
    assert len(np.unique(many)) == 100_000


def test_keys_take_any_seed():
    assert decision_keys(-1, 0, 0, 0, 0) == decision_keys(2**64 - 1, 0, 0, 0, 0)


def test_uniforms_are_uniform_and_draws_differ():
    keys = decision_keys(1, np.arange(200_000), 0, 0, 0)
    first, second = uniforms(keys), uniforms(keys, 1)
    assert first.min() >= 0 and first.max() < 1
    counts = np.histogram(first, 20, (0, 1))[0]
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 60  # chi square with 19 degrees; 43.8 is one in a thousand
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.01


def test_counter_counts_each_seat_and_restarts():
    counter = DecisionCounter(2, 4)
    players = [player_seed(7, seat % 2) for seat in range(4)]
    for slot in (0, 1):
        counter.start(slot, players, game=10 + slot)

    def key(game, seat, decision):
        return seat_keys(seat_root(players[seat], game, 0, seat), np.array([decision]))[0]

    slots = np.array([0, 1])
    keys, starts = counter.next(slots, np.array([2, 2]))
    assert starts.all()
    assert keys.tolist() == [key(10, 2, 0), key(11, 2, 0)]
    keys, starts = counter.next(slots, np.array([2, 3]))
    assert starts.tolist() == [False, True]
    assert keys.tolist() == [key(10, 2, 1), key(11, 3, 0)]
    counter.start(0, players, game=12)
    keys, starts = counter.next(slots, np.array([2, 2]))
    assert starts.tolist() == [True, False]
    assert keys.tolist() == [key(12, 2, 0), key(11, 2, 1)]


def test_plain_functions_are_policies():
    policy = load(lambda observations, action_masks: action_masks.argmax(1))
    assert isinstance(policy, FunctionPolicy)
    np.testing.assert_array_equal(policy.act(make_batch()), [0, 0, 0])
    assert as_policy(policy) is policy
    with pytest.raises(TypeError, match="neither a policy"):
        as_policy(3)
    with pytest.raises(TypeError, match="is a class"):
        as_policy(FunctionPolicy)


def test_views_are_made_once_and_only_when_asked_for():
    made = []
    batch = make_batch(make_views=lambda: made.append(1) or ["view"])
    assert not made
    assert batch.views == ["view"] and batch.views == ["view"]
    assert made == [1]
    with pytest.raises(RuntimeError, match="without views"):
        _ = make_batch().views


def test_specs_have_options_and_paths_may_have_colons():
    assert parse_spec("search:rollouts=200,seed=1") == PolicySpec("search", {"rollouts": "200", "seed": "1"})
    assert parse_spec("C:/runs/mine") == PolicySpec("C:/runs/mine")
    assert parse_spec("runs/a:b:mode=argmax") == PolicySpec("runs/a:b", {"mode": "argmax"})
    for wrong in ("greedy:=3", ":mode=argmax", "x:mode="):
        with pytest.raises(UnknownPolicyError):
            parse_spec(wrong)


def test_the_options_of_a_policy_inside_a_search_are_its_own():
    text = "search:policy=pretrained,rollouts=9,rules=several,mode=argmax"
    spec = parse_spec(text)
    assert spec == PolicySpec("search", {"rollouts": "9"}, PolicySpec("pretrained", {"rules": "several", "mode": "argmax"}))
    assert str(spec) == "search:rollouts=9,policy=pretrained,rules=several,mode=argmax"
    assert parse_spec(str(spec)) == parse_spec(spec) == pickle.loads(pickle.dumps(spec)) == spec and hash(spec) == hash(parse_spec(text))
    with pytest.raises(UnknownPolicyError, match="mode is an option of the policy inside"):
        parse_spec("search:mode=argmax")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gredy", "neither a known policy"),
        ("greedy:speed=2", "no option 'speed'"),
        ("greedy:noise=2", "noise=2 must be"),
        ("search:speed=2", "no option 'speed'"),
        ("search:rollouts=1", "rollouts=1 must be 2 or more"),
        ("search:policy=greedy", "policy=greedy has no probabilities"),
        ("search:policy=nowhere", "'nowhere' is neither"),
        ("search:policy=pretrained,mode=best", "unknown mode 'best'"),
        ("pretrained:rules=mini", "no rules=mini"),
        ("pretrained:mode=best", "unknown mode 'best'"),
        ("pretrained:speed=2", "no option 'speed'"),
        ("python:json", "not of the form"),
    ],
)
def test_a_spec_is_checked_without_loading(monkeypatch, text, said):
    with monkeypatch.context() as patch:
        patch.setattr("agents.neural.checkpoint.network_from_bytes", None)
        with pytest.raises(UnknownPolicyError, match=said):
            check_spec(parse_spec(text))
    with pytest.raises(UnknownPolicyError, match=said):
        load(text)


SOUND = ("expert:noise=0.1", "search:rollouts=9,policy=pretrained,mode=sample", "pretrained:rules=several", "python:a:b")


@pytest.mark.parametrize("text", SOUND)
def test_a_sound_spec_passes_and_nothing_is_loaded(monkeypatch, text):
    monkeypatch.setattr("agents.neural.checkpoint.network_from_bytes", None)
    check_spec(parse_spec(text))


def test_unknown_names_are_refused_in_one_line(tmp_path):
    with pytest.raises(UnknownPolicyError, match="neither a known policy") as caught:
        load("gredy")
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="holds no policy"):
        load(str(tmp_path))


def test_protocol_and_catalogue_need_no_torch():
    code = "import sys; import agents.policy, agents.registry; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_policy_is_asked_about_a_row_without_a_legal_action():
    masks = np.ones((3, 7), np.int8)
    masks[1] = 0
    with pytest.raises(NoLegalActionError, match="row 1 has no legal action"):
        make_batch(action_masks=masks)
    games = VectorGame(4, "mini", autoreset="DISABLED")
    games.stop([2])  # a game that is over has no legal action
    slots, starts = np.arange(4), np.zeros(4, bool)
    with pytest.raises(NoLegalActionError, match="row 2 has no legal action"):
        PolicyBatch.of(games, slots, np.arange(4, dtype=np.uint64), starts)
    live = PolicyBatch.of(games, slots[:2], np.arange(2, dtype=np.uint64), starts[:2])
    assert len(live) == 2 and len(live.rows(np.zeros(2, bool))) == 0

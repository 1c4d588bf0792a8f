"""A learned policy inside the search."""

import numpy as np
import pytest

import agents
from agents.registry import UnknownPolicyError
from agents.search import SearchPolicy
from agents.search.learned import LearnedRollouts
from hf_env import load_rules
from hf_env.engine.access import GameAccess
from hf_env.engine.state import PHASE_OVER
from hf_env.kernels.compile import INTERPRETED
from hf_env.observation.layout import ObservationLayout
from tests.observation.shuffling import shuffled_world
from tests.search.decisions import batch_of, reached, row_of

RULES = load_rules("mini")


class FirstLegal:
    """Plays the first legal action and values every state alike; notes the observations that it gets."""

    def __init__(self, reward="score_difference", shaping=None) -> None:
        self.info = {"value_of": {"reward": reward, "shaping": shaping}}
        self.widths, self.cut = set(), 0

    def act(self, batch):
        self.widths.add(batch.observations.shape[1])
        return batch.action_masks.argmax(1)

    def evaluate(self, batch):
        self.cut += len(batch)
        falling = batch.action_masks / np.arange(1, batch.action_masks.shape[1] + 1)
        return falling.astype(np.float32), np.full(len(batch), 0.25, np.float32)


def play_out(world, action, rules):
    """A world's game after an action and first legal ones, to the deal's end."""
    access = GameAccess(rules.to_record(), np.array([world]))
    access.play(action)
    while not access.is_over:
        access.play(access.legal()[0])
    return access


def test_playouts_to_the_end_are_the_policys_own():
    from tests.search.test_worlds import worlds_of

    batch = batch_of(reached(RULES, 12, seed=1), RULES)
    policy = FirstLegal()
    rollouts = LearnedRollouts(policy, 0)
    row = int(np.flatnonzero(batch.action_masks.sum(1) > 2)[0])
    actions = np.flatnonzero(batch.action_masks[row])[:3]
    returns = rollouts.play(batch, row, actions, 2, 3)
    side = int(batch.seats[row]) % 2
    for world, found in zip(worlds_of(batch, row, 5)[2:], returns, strict=True):
        for action, value in zip(actions, found, strict=True):
            scores = play_out(world, action, RULES).scores()
            assert value == scores[side] - scores[1 - side]
    assert policy.widths == {ObservationLayout((2, 2)).width} and policy.cut == 0


@pytest.mark.parametrize("shaping", [None, "full"])
def test_a_cut_playout_is_worth_the_policys_value(shaping):
    # One turn ends with the discard; the seat's next decision is a round later.
    batch = batch_of(reached(RULES, 40, seed=2), RULES)
    policy = FirstLegal(shaping=shaping)
    returns = LearnedRollouts(policy, 2).play(batch, 3, np.flatnonzero(batch.action_masks[3])[:1], 0, 60)
    assert policy.cut > 0
    cut = returns.ravel() == 250.0
    if shaping is None:
        assert cut.sum() == policy.cut
    else:
        # To the value comes what the sides have: it differs from world to world.
        assert len(np.unique(returns)) > 5 and not cut.all()


@pytest.mark.parametrize(("reward", "shaping"), [("win", None), ("score_difference", "table"), (None, None)])
def test_a_value_of_another_kind_is_not_used(reward, shaping):
    policy = FirstLegal(reward, shaping)
    batch = batch_of(reached(RULES, 40, seed=2), RULES)
    LearnedRollouts(policy, 2).play(batch, 3, np.flatnonzero(batch.action_masks[3])[:1], 0, 5)
    assert policy.cut == 0


def test_candidates_come_in_the_order_of_their_probability():
    batch = batch_of(reached(RULES, 30, seed=3), RULES)
    order = LearnedRollouts(FirstLegal(), 2).order(batch, 4)
    for row, legal in enumerate(batch.action_masks):
        expected = np.flatnonzero(legal)[:4]
        np.testing.assert_array_equal(order[row, : len(expected)], expected)
        assert (order[row, len(expected) :] == -1).all()


def test_what_is_unlikely_is_no_candidate_but_the_first_choice_always_is():
    batch = batch_of(reached(RULES, 30, seed=3), RULES)
    for least, length in ((0.3, 3), (0.5, 2), (1.0, 1)):
        order = LearnedRollouts(FirstLegal(), 2, least).order(batch, 127)
        for row, legal in enumerate(batch.action_masks):
            # The probability of action a is 1 / (a + 1) here.
            expected = [action for place, action in enumerate(np.flatnonzero(legal)) if place == 0 or 1 / (action + 1) >= least]
            assert (order[row] >= 0).sum() == len(expected) <= max(1, length)
            np.testing.assert_array_equal(order[row, : len(expected)], expected)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The folder of an untrained policy for whitnack's table."""
    pytest.importorskip("torch")
    from agents.neural import NetworkConfig, build_network
    from agents.neural.checkpoint import save_policy

    layout = ObservationLayout((4, 2))
    network = build_network(NetworkConfig("mlp", width=16), layout.scales(), 127, seed=1)
    folder = tmp_path_factory.mktemp("policy")
    save_policy(folder, network, {"num_seats": 4, "num_sides": 2, "value_of": {"reward": "score_difference", "shaping": "full"}})
    return folder


def test_a_checkpoint_by_spec_is_legal_blind_and_independent_of_its_batch(checkpoint):
    rules = load_rules("whitnack")
    games = reached(rules, 16, seed=4)
    games = games[games["phase"] != PHASE_OVER]
    batch = with_observations(games, rules)
    policy = agents.load(f"search:policy={checkpoint},rollouts=8,depth=2,guard=0,min_probability=0")
    policy.start(1, rules, 0)
    result = policy.search(batch)
    assert (batch.action_masks[np.arange(len(batch)), result.actions] == 1).all()
    assert result.counts.sum(1).max() <= 8 and (result.actions != result.base).any()
    rng = np.random.default_rng(1)
    others = np.concatenate([shuffled_world(g, rules, int(g["to_move"]), rng) for g in games])
    blind = policy.search(with_observations(others, rules))
    np.testing.assert_array_equal(blind.actions, result.actions)
    np.testing.assert_array_equal(blind.counts, result.counts)
    np.testing.assert_array_equal(blind.means, result.means)
    for row in (0, 5):
        alone = policy.search(row_of(batch, row))
        assert alone.actions[0] == result.actions[row]
        np.testing.assert_array_equal(alone.means[0], result.means[row])


def with_observations(games, rules):
    """The batch of these decisions with what their seats observe."""
    from dataclasses import replace

    from tests.observation.driving import holding

    return replace(batch_of(games, rules), observations=holding(games, rules).observations.copy())


def test_mistakes_with_policies(checkpoint):
    for spec, words in {
        "search:policy=greedy": "policy=greedy has no probabilities",
        "search:policy=nowhere": "'nowhere' is neither a known policy",
        f"search:policy={checkpoint},player=greedy": "give player or policy, not both",
    }.items():
        with pytest.raises(UnknownPolicyError, match=words):
            agents.load(spec)
    with pytest.raises(ValueError, match="num_seats"):
        agents.load(f"search:policy={checkpoint}").start(1, load_rules("two-player"), 0)
    assert SearchPolicy(policy=str(checkpoint)).name == f"search:rollouts=200,policy={checkpoint}"


def test_options_of_the_policy_inside():
    pytest.importorskip("torch")
    for options in ("rules=whitnack,mode=sample", "rules=several,mode=argmax"):
        spec = f"search:rollouts=9,policy=pretrained,{options}"
        policy = agents.load(spec)
        assert policy.name == agents.load(policy.name).name == spec
        assert policy.rollout_policy.policy.mode == spec.rpartition("=")[2]
    assert "bicycle" in policy.rollout_policy.policy.info["rules_names"]
    # Its likeliest actions unless told otherwise; an object plays as it does.
    usual = agents.load("search:policy=pretrained,rules=whitnack")
    assert usual.rollout_policy.policy.mode == "argmax" and (usual.depth, usual.guard) == (16, 1.5)
    assert SearchPolicy(policy=agents.load("pretrained:rules=whitnack,mode=sample")).rollout_policy.policy.mode == "sample"
    assert (SearchPolicy().depth, SearchPolicy().guard) == (8, 1.0)
    for spec, words in {
        "search:mode=argmax": "mode is an option of the policy inside; give policy too",
        "search:policy=pretrained,mode=best": "unknown mode 'best'",
        "search:policy=pretrained,rules=mini": "no rules=mini",
        "search:policy=pretrained,min_probability=2": "min_probability=2.0 must be at most 1",
        "search:policy=pretrained,least=0.1": "least is called min_probability now; write min_probability=0.1",
    }.items():
        with pytest.raises(UnknownPolicyError, match=words):
            agents.load(spec)


@pytest.fixture(scope="module")
def positions():
    """Decisions of whitnack with more than one legal action, with what their seats observe."""
    rules = load_rules("whitnack")
    batch = with_observations(reached(rules, 40, seed=4, players=("expert",)), rules)
    return batch.rows(np.flatnonzero(batch.action_masks.sum(1) > 1))


@pytest.mark.skipif(INTERPRETED, reason="interpreted, PyTorch runs the network")
@pytest.mark.parametrize("mode", ["sample", "argmax"])
@pytest.mark.parametrize("depth", [0, 4])
def test_compiled_playouts_are_those_side_by_side(positions, mode, depth, monkeypatch):
    pytest.importorskip("torch")
    from agents.neural import policy as policy_module

    rollouts = LearnedRollouts(agents.load(f"pretrained:rules=whitnack,mode={mode}"), depth)
    rows = range(0, len(positions), 3)
    actions = [np.flatnonzero(positions.action_masks[row])[:3] for row in rows]
    compiled = [rollouts.play(positions, row, of_row, 2, 4) for row, of_row in zip(rows, actions, strict=True)]
    # The same arithmetic for the rows of a batch, so that nothing but the playing differs.
    monkeypatch.setattr(policy_module, "_FEW_ROWS", 1000)
    rollouts._compiled = None
    for row, of_row, found in zip(rows, actions, compiled, strict=True):
        np.testing.assert_allclose(found, rollouts.play(positions, row, of_row, 2, 4), rtol=1e-4, atol=0.5)
    assert len(np.unique(np.concatenate([found.ravel() for found in compiled]))) > 30


@pytest.mark.skipif(INTERPRETED, reason="interpreted, PyTorch runs the network")
def test_threads_find_the_same(positions):
    pytest.importorskip("torch")
    spec = "search:policy=pretrained,rules=whitnack,rollouts=40,guard=0,depth=4"
    found = [agents.load(f"{spec},threads={threads}").search(positions) for threads in (1, 4)]
    np.testing.assert_array_equal(found[0].actions, found[1].actions)
    np.testing.assert_array_equal(found[0].means, found[1].means)
    assert (found[0].actions != found[0].base).any()


@pytest.mark.parametrize("kind", ["scripted", "compiled", "side by side"])
def test_playing_on_to_the_end(positions, kind):
    """As the player's own deals end: all seats by it, from the true cards."""
    if kind != "scripted":
        pytest.importorskip("torch")
    spec = "search:player=greedy" if kind == "scripted" else "search:policy=pretrained,rules=whitnack,mode=sample"
    inside = agents.load(spec).rollout_policy
    if kind == "side by side":
        inside._compiled = None
    rules, games = load_rules("whitnack"), reached(load_rules("whitnack"), 12, seed=5, players=("expert",))
    records, keys = rules.to_record(), np.arange(12, dtype=np.uint64)
    own, others = (inside.play_to_end(games.copy(), records, seat, keys) for seat in (0, 1))
    np.testing.assert_array_equal(own, -others)
    played = games.copy()
    inside.play_to_end(played, records, 0, keys)
    assert (played["phase"] == PHASE_OVER).all()
    np.testing.assert_array_equal(own, played["deal_scores"][:, 0] - played["deal_scores"][:, 1])
    if kind != "scripted":
        # Deterministic, whatever the mode of the playouts: the first of these games by hand.
        access, number = GameAccess(records, games[:1].copy()), 0
        while not access.is_over:
            number += 1
            access.play(int(inside.base.act(with_observations(access.games, rules))[0]))
        scores = access.scores()
        assert number > 5 and own[0] == scores[0] - scores[1]

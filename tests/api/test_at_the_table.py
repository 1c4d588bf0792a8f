"""What the environment gives to somebody who sits at it: the decision at hand, reasons, pictures, labels."""

import pickle

import numpy as np
import pytest

from agents import load
from agents.play.games import play_games
from hf_env import ACTIONS, format_counts, hand_and_foot_v0
from hf_env.records import steps
from hf_env.rendering.rgb_array import draw_table
from tests.architecture.subprocesses import run_python


@pytest.fixture
def env():
    table = hand_and_foot_v0.env(rules="mini")
    table.reset(seed=3)
    return table


def test_the_decision_is_what_the_agent_observes(env):
    starts = []
    for _ in range(20):
        batch, observation = env.decision(), env.observe(env.agent_selection)
        assert len(batch) == 1 and env.possible_agents[batch.seats[0]] == env.agent_selection
        assert np.array_equal(batch.observations[0], observation["observation"])
        assert np.array_equal(batch.action_masks[0], observation["action_mask"])
        starts.append((int(batch.seats[0]), bool(batch.game_starts[0])))
        env.step(int(np.flatnonzero(batch.action_masks[0])[0]))
    for seat in (0, 1):
        assert [is_first for one, is_first in starts if one == seat] == [True] + [False] * (sum(one == seat for one, _ in starts) - 1)


def test_the_decision_is_int16_whatever_the_agent_observes():
    table = hand_and_foot_v0.env(rules="mini", observation_dtype="float32")
    table.reset(seed=3)
    assert table.decision().observations.dtype == np.int16


def test_a_policy_plays_by_decisions_as_it_plays_in_a_match():
    """`greedy` uses no chance, so the same cards give the same game."""
    table = hand_and_foot_v0.env(rules="mini")
    table.reset(seed=5)
    greedy, labels = load("greedy"), []
    while not table.terminations[table.agent_selection]:
        action = greedy.act(table.decision())[0]
        labels.append(ACTIONS.label(action))
        table.step(action)
    records = []
    play_games(["greedy"], [[0, 0]], [5], rules="mini", on_record=lambda game, record: records.append(record))
    assert labels == records[0]["deals"][0]["actions"]


def test_a_decision_stays_as_it_was(env):
    batch = env.decision()
    before = pickle.dumps((batch.observations, batch.action_masks, batch.seats))
    env.step(ACTIONS.parse("draw"))
    env.step(int(np.flatnonzero(env.decision().action_masks[0])[0]))
    assert pickle.dumps((batch.observations, batch.action_masks, batch.seats)) == before
    seat = int(batch.seats[0])
    hand = env.layout.decode(batch.observations[0])["hand"]
    assert batch.views.games[0]["hands"][seat][: len(hand)].astype(int).tolist() == hand.tolist(), "views are of the moment of the decision"


def test_the_seed_of_a_decision_is_its_chance(env):
    keys = {int(env.decision(seed).keys[0]) for seed in range(5)}
    first = int(env.decision().keys[0])
    assert len(keys) == 5 and first in keys
    env.step(ACTIONS.parse("draw"))
    assert int(env.decision().keys[0]) != first


def test_views_hide_what_the_seat_cannot_know(env):
    seat = int(env.decision().seats[0])
    view = env.decision().views.games[0]
    assert view["hands"][seat].sum() == 6 and view["hands"][1 - seat].sum() == 0


def test_nobody_decides_before_the_start_and_after_the_end(env):
    with pytest.raises(RuntimeError, match="reset"):
        hand_and_foot_v0.env(rules="mini").decision()
    greedy = load("greedy")
    while not env.terminations[env.agent_selection]:
        env.step(greedy.act(env.decision())[0])
    with pytest.raises(RuntimeError, match="over"):
        env.decision()


def test_why_illegal(env):
    assert env.why_illegal("ask") == env.why_illegal(ACTIONS.parse("ask")) == "a turn begins with drawing or taking"
    assert env.why_illegal("draw") == "it is legal"
    with pytest.raises(ValueError, match="no action"):
        env.why_illegal("dance")
    with pytest.raises(RuntimeError, match="reset"):
        hand_and_foot_v0.env(rules="mini").why_illegal("draw")


def test_legal_labels(env):
    mask = env.decision().action_masks[0]
    assert ACTIONS.legal(mask) == [ACTIONS.label(number) for number in np.flatnonzero(mask)] and "draw" in ACTIONS.legal(mask)
    assert ACTIONS.legal(np.zeros(127)) == []
    with pytest.raises(ValueError, match="127"):
        ACTIONS.legal([1, 0])


def test_counts_as_text():
    assert format_counts([2, 0, 0, 1]) == "447"


def test_a_picture_in_any_render_mode(env):
    mover, other = int(env.decision().seats[0]), 1 - int(env.decision().seats[0])
    drawn = hand_and_foot_v0.env(rules="mini", render_mode="rgb_array")
    drawn.reset(seed=3)
    assert env.render() is None
    assert env.picture().size == (800, 600)
    assert np.array_equal(env.picture(), drawn.render())
    assert np.array_equal(env.picture(mover), env.picture("mover"))
    pictures = [env.picture(view).tobytes() for view in (mover, other, "all")]
    assert len(set(pictures)) == 3
    assert env.picture()._repr_png_().startswith(b"\x89PNG"), "what a notebook shows"
    with pytest.raises(ValueError, match="view=2"):
        env.picture(2)
    with pytest.raises(RuntimeError, match="reset"):
        hand_and_foot_v0.env(rules="mini").picture()


def test_a_picture_of_the_end_shows_all_cards():
    records = []
    play_games(["greedy"], [[0, 0]], [5], rules="mini", on_record=lambda game, record: records.append(record))
    table = hand_and_foot_v0.env(rules="mini")
    table.reset(seed=5)
    for step in steps(records[0]):
        if step.action is not None:
            table.step(step.action)
    assert np.array_equal(table.picture(), draw_table(step.games, 0, step.rules, None))


WITHOUT_PILLOW = """
import sys
sys.modules["PIL"] = None
from hf_env import hand_and_foot_v0
env = hand_and_foot_v0.env(rules="mini")
env.reset(seed=1)
try:
    env.picture()
except ImportError as error:
    print(error)
"""


def test_a_picture_without_pillow_says_what_to_install():
    assert run_python(WITHOUT_PILLOW) == "drawing a table needs Pillow: pip install 'hf-env[render]'\n"

"""VectorGame refuses what it cannot do in one line, and nothing has changed then."""

import numpy as np
import pytest

from hf_env import ACTIONS, IllegalActionError, VectorGame
from hf_env.rules import RulesError
from tests.api.test_vector_game import advance, assert_same, choose, everything, keys_of


def test_an_illegal_action_raises_before_any_game_has_moved():
    vec = VectorGame(6, "whitnack", 4)
    advance(vec, 50)
    for bad_slot in (0, 3, 5):
        actions = choose(vec.action_masks, keys_of(vec))
        illegal = int(np.flatnonzero(vec.action_masks[bad_slot] == 0)[bad_slot])
        actions[bad_slot] = illegal
        before = everything(vec)
        with pytest.raises(IllegalActionError) as error:
            vec.step(actions)
        message = str(error.value)
        label = ACTIONS.label(illegal)
        assert message.startswith(f"game {bad_slot}: {label} by seat {vec.seats[bad_slot]} is illegal: ")
        assert "\n" not in message and len(message.split("illegal: ")[1]) > 8
        assert_same(before, everything(vec))
    for wrong in (-1, 127, 2**40):
        actions = choose(vec.action_masks, keys_of(vec))
        actions[2] = wrong
        with pytest.raises(IllegalActionError, match=f"^game 2: {wrong} by seat . is no action"):
            vec.step(actions)
        assert_same(before, everything(vec))


@pytest.mark.parametrize("actions", [[0, 0, 0], 0, [[0], [0]], [0.0, 0.0], ["draw", "draw"], [True, True], [None, None], []], ids=str)
def test_actions_of_another_shape_or_type_are_refused(actions):
    vec = VectorGame(2, "mini", 0)
    before = everything(vec)
    with pytest.raises(ValueError, match="step needs"):
        vec.step(actions)
    assert_same(before, everything(vec))


BAD = [
    {"num_games": 0}, {"num_games": 2.0}, {"num_games": None}, {"num_games": True}, {"num_games": "3"}, {"seed": -1},
    {"seed": 2**63}, {"seed": 1.0}, {"seed": "0"}, {"seed": True}, {"reward": "money"}, {"reward": ["win"]},
    {"episode": "hand"}, {"episode": None}, {"shaping": "none"}, {"shaping": 0}, {"autoreset": "NEXT_STEP"},
    {"autoreset": None}, {"autoreset": True}, {"events": 2}, {"events": None}, {"observations": "no"},
    {"max_decisions": 0}, {"max_decisions": 1e6}, {"deal": 2}, {"episode": "deal", "deal": 0},
    {"episode": "deal", "deal": 1001}, {"episode": "deal", "deal": 1.0}, {"rules": "no-such"}, {"rules": []},
    {"rules": 3}, {"rules": {"players": 9}}, {"rules": ["mini", "whitnack"]}, {"rules": ["whitnack", "six-pairs"]},
    {"rules": ["six-pairs", "six-threes"]},
]  # fmt: skip


@pytest.mark.parametrize("arguments", BAD, ids=str)
def test_a_bad_argument_gives_one_line(arguments):
    given = {"num_games": 2, "rules": "mini", "seed": 0} | arguments
    with pytest.raises(ValueError) as error:
        VectorGame(**given)
    message = str(error.value)
    name = list(arguments)[-1]
    assert "\n" not in message and len(message) < 400
    assert name in message or isinstance(error.value, RulesError), message


BAD_CALLS = {
    "reset(-1)": lambda vec: vec.reset(-1),
    "two game_seeds": lambda vec: vec.reset(game_seeds=[1, 2]),
    "game_seeds below 0": lambda vec: vec.reset(game_seeds=[1, 2, -3]),
    "game_seeds of floats": lambda vec: vec.reset(game_seeds=[1.5, 2, 3]),
    "game_seeds too large": lambda vec: vec.reset(game_seeds=[1, 2, 2**63]),
    "slot too large": lambda vec: vec.reset(slots=[3]),
    "slot below 0": lambda vec: vec.reset(slots=[-1]),
    "slots of floats": lambda vec: vec.reset(slots=[0.5]),
    "slots of text": lambda vec: vec.reset(slots="all"),
    "too short mask of slots": lambda vec: vec.reset(slots=np.array([True, False])),
    "seat too large": lambda vec: vec.observe(2),
    "seat below 0": lambda vec: vec.observe([0, 1, -1]),
    "two seats": lambda vec: vec.observe([0, 1]),
    "seat of a float": lambda vec: vec.observe(0.5),
    "out too narrow": lambda vec: vec.observe(0, out=np.zeros((3, 5), np.int16)),
    "out of int32": lambda vec: vec.observe(0, out=np.zeros((3, vec.observation_width), np.int32)),
    "out not in rows": lambda vec: vec.observe(0, out=np.zeros((vec.observation_width, 3), np.int16).T),
    "states out too short": lambda vec: vec.states(out=np.zeros((2, vec.state_layout.width), np.int16)),
    "snapshot of slot 3": lambda vec: vec.snapshot(3),
    "snapshot of slot -1": lambda vec: vec.snapshot(-1),
    "restore to slot -1": lambda vec: vec.restore(-1, vec.snapshot(0)),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_of_methods_change_nothing(name):
    vec = VectorGame(3, "mini", 0)
    before = everything(vec)
    with pytest.raises(ValueError) as error:
        BAD_CALLS[name](vec)
    assert "\n" not in str(error.value)
    assert_same(before, everything(vec))

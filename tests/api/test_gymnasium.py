"""HandAndFoot-v0: one seat of a table as a Gymnasium environment."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hf_env  # noqa: F401  (registers the environment)
from agents.scripted import GreedyPolicy
from hf_env import ACTIONS, IllegalActionError, load_rules
from hf_env.envs.gymnasium_seat import HandAndFootSeatEnv


def first_legal(observations, action_masks):
    """A policy as a plain function."""
    return action_masks.argmax(1)


def play(env, seed, stop=10_000):
    """Play a game at random; the observations, rewards and infos of all steps."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    trace = [(observation, 0.0, info)]
    for _ in range(stop):
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        trace.append((observation, reward, info))
        if terminated or truncated:
            assert terminated and not info["action_mask"].any() and not env.unwrapped.action_masks().any()
            return trace
    return trace


@pytest.mark.parametrize("arguments", [{}, {"rules": "mini"}, {"rules": "six-pairs", "seat": 5, "observation_dtype": "int16"}])
def test_check_env(arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(gymnasium.make("HandAndFoot-v0", **arguments).unwrapped, skip_render_check=True)


def test_masks_and_spaces():
    env = gymnasium.make("HandAndFoot-v0", rules="mini").unwrapped
    rng = np.random.default_rng(0)
    observation, info = env.reset(seed=3)
    for _ in range(30):
        assert env.observation_space.contains(observation) and observation.dtype == np.float32
        assert info["action_mask"].dtype == np.int8 and env.action_masks().dtype == bool
        assert np.array_equal(env.action_masks(), info["action_mask"] == 1)
        assert all(env.action_masks()[env.action_space.sample()] for _ in range(20))
        observation, _, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        if terminated:
            break


@pytest.mark.parametrize("seats", [None, {1: "random", 2: GreedyPolicy(), 3: first_legal}, {1: "greedy"}])
def test_a_seed_repeats_the_game_whoever_sits_there(seats):
    rules = load_rules("whitnack", deals=1)
    traces = [play(HandAndFootSeatEnv(rules, seats=seats), 5) for _ in range(2)]
    assert len(traces[0]) == len(traces[1]) > 20
    for one, two in zip(*traces, strict=True):
        assert np.array_equal(one[0], two[0]) and one[1] == two[1] and str(one[2]) == str(two[2])


@pytest.mark.parametrize("shaping", [None, "table", "full"])
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_the_seats_rewards_add_up(seat, shaping):
    # Others may move before the agent's first decision and after its last one.
    others = {other: GreedyPolicy() for other in range(3) if other != seat}
    env = HandAndFootSeatEnv(load_rules("mini", players=3, decks=2, deals=2), seat=seat, seats=others, shaping=shaping)
    for seed in range(25):
        trace = play(env, seed)
        deals = [deal["scores"] for deal in trace[-1][2]["deal_results"]]
        assert len(deals) == 2
        expected = sum(scores[seat] - (sum(scores) - scores[seat]) / 2 for scores in deals)
        assert abs(sum(step[1] for step in trace) * 1000 - expected) < 0.5


def test_an_illegal_action_raises_and_changes_nothing():
    env = HandAndFootSeatEnv("mini", observation_dtype="int16")
    observation, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    for wrong in (illegal, 127, -1, 1.0, True):
        with pytest.raises(IllegalActionError if wrong is illegal else ValueError) as raised:
            env.step(wrong)
        assert "\n" not in str(raised.value)
        assert np.array_equal(env.action_masks(), info["action_mask"] == 1)
    assert np.array_equal(env._observation(), observation)


def test_a_policy_that_plays_an_illegal_action_is_named():
    def stubborn(observations, action_masks):
        return np.array([ACTIONS.parse("yes")])

    with pytest.raises(IllegalActionError, match=r"the policy in seat 1: .*yes"):
        play(HandAndFootSeatEnv("mini", seats={1: stubborn}), 2)


@pytest.mark.parametrize(
    "arguments",
    [
        {"seat": 4}, {"seat": -1}, {"seat": "player_0"}, {"seats": {0: "random"}}, {"seats": {7: "random"}},
        {"seats": {1: "nobody"}}, {"seats": {1: 5}}, {"observation_dtype": "float64"},
        {"render_mode": "svg"}, {"render_view": "mover"}, {"reward": "x"}, {"shaping": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_argument_gives_one_line(arguments):
    with pytest.raises(ValueError) as error:
        HandAndFootSeatEnv(**arguments)
    assert "\n" not in str(error.value) and next(iter(arguments)) in str(error.value)


def test_before_reset_and_after_the_end():
    env = HandAndFootSeatEnv("mini", render_mode="ansi")
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    play(env, 4)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    env.reset(seed=1)
    assert env.render().count("(you)") == 1

"""HandAndFoot-v0 as a vector environment on VectorGame: the same games as N single environments."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import hf_env  # noqa: F401  (registers the environment)
from agents.scripted import ExpertPolicy, GreedyPolicy
from hf_env import ACTIONS, IllegalActionError, load_rules
from hf_env.envs.gymnasium_seat import HandAndFootSeatEnv
from hf_env.envs.gymnasium_vector import HandAndFootSeatVectorEnv

ONE_DEAL = load_rules("whitnack", deals=1)


def drawn(masks, rng):
    """(N,) a legal action of each row, 0 where there is none."""
    return (masks * (1.0 - rng.random(masks.shape))).argmax(1)


def play(env, steps, seed=0, info=None):
    """Step at random; yields what each step returned."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        found = env.step(drawn(info["action_mask"], rng))
        info = found[-1]
        yield found


def assert_same_info(one, two):
    assert set(one) == set(two)
    for key, value in one.items():
        if isinstance(value, dict):
            assert_same_info(value, two[key])
        elif value.dtype == object:
            assert len(value) == len(two[key])
            assert all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in zip(value, two[key], strict=True))
        else:
            assert np.array_equal(value, two[key]), key


def first_legal(observations, action_masks):
    """A policy as a plain function."""
    return action_masks.argmax(1)


def test_make_vec_gives_spaces_masks_and_the_declared_autoreset():
    env = gymnasium.make_vec("HandAndFoot-v0", num_envs=5, vectorization_mode="vector_entry_point", rules="mini")
    assert isinstance(env.unwrapped, HandAndFootSeatVectorEnv) and env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    single = HandAndFootSeatEnv("mini")
    assert env.single_observation_space == single.observation_space and env.single_action_space.n == len(ACTIONS)
    observations, info = env.reset(seed=3)
    for _ in range(60):
        assert observations.dtype == np.float32 and env.observation_space.contains(observations)
        assert info["action_mask"].dtype == np.int8 and info["_action_mask"].all()
        assert np.array_equal(env.unwrapped.action_masks(), info["action_mask"] == 1)
        actions = env.action_space.sample()
        assert env.action_space.contains(actions) and env.unwrapped.action_masks()[np.arange(5), actions].all()
        observations, rewards, terminations, truncations, info = env.step(actions)
        assert rewards.shape == terminations.shape == truncations.shape == (5,) and rewards.dtype == np.float64
    env.close()


@pytest.mark.parametrize(
    "arguments,steps",
    [
        ({"rules": "mini"}, 150),
        ({"rules": "mini", "seat": 1, "shaping": "full", "observation_dtype": "int16", "reward": "win"}, 150),
        ({"rules": "three-player", "seat": 1, "seats": {0: "greedy", 2: first_legal}, "episode": "deal", "shaping": "table"}, 250),
        ({"rules": ONE_DEAL, "seat": 2, "seats": {0: GreedyPolicy(), 1: ExpertPolicy(), 3: "random"}, "events": True}, 250),
    ],
    ids=["mini", "shaped", "three", "scripted"],
)
def test_it_equals_single_environments(arguments, steps):
    """Over several games a slot, autoreset included."""
    singles = SyncVectorEnv([lambda: HandAndFootSeatEnv(**arguments)] * 4, autoreset_mode=AutoresetMode.SAME_STEP)
    ours = HandAndFootSeatVectorEnv(4, **arguments)
    seen = [env.reset(seed=11) for env in (singles, ours)]
    assert np.array_equal(seen[0][0], seen[1][0])
    assert_same_info(seen[0][1], seen[1][1])
    games = 0
    runs = [play(env, steps, 5, info) for env, (_, info) in zip((singles, ours), seen, strict=True)]
    for theirs, mine in zip(*runs, strict=True):
        for a, b in zip(theirs[:4], mine[:4], strict=True):
            assert np.array_equal(a, b) and a.dtype == b.dtype
        assert_same_info(theirs[4], mine[4])
        games += int(mine[2].sum())
    assert games >= 4


def test_the_last_step_of_a_game_tells_its_end_and_shows_the_next_beginning():
    env = HandAndFootSeatVectorEnv(6, "mini", seats={1: "greedy"})
    _, first = env.reset(seed=1)
    ended = 0
    for observations, _, terminations, _, info in play(env, 120, 2, first):
        assert ("final_obs" in info) == terminations.any() == ("final_info" in info)
        assert info["action_mask"].any(1).all()
        for slot in np.flatnonzero(terminations):
            ended += 1
            assert info["_final_obs"][slot] and info["_final_info"][slot]
            assert not np.array_equal(info["final_obs"][slot], observations[slot])
            assert not info["final_info"]["action_mask"][slot].any()
            assert len(info["final_info"]["deal_results"][slot]) == 1 and info["deal_results"][slot] == []
        if terminations.any():
            assert all(info["final_obs"][slot] is None for slot in np.flatnonzero(~terminations))
    assert ended > 6


def test_without_autoreset_an_ended_game_stays_until_it_is_reset():
    env = HandAndFootSeatVectorEnv(4, "mini", autoreset_mode=AutoresetMode.DISABLED)
    assert env.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    observations, first = env.reset(seed=5)
    over = np.zeros(4, bool)
    for now, rewards, terminations, _, info in play(env, 400, 1, first):
        observations = now
        assert "final_obs" not in info
        assert terminations[over].all() and (rewards[over] == 0).all() and not info["action_mask"][over].any()
        over = terminations.copy()
        if over.all():
            break
    assert over.all()
    mask = np.array([True, False, True, False])
    fresh, info = env.reset(seed=[5, None, 9, None], options={"reset_mask": mask})
    assert info["_action_mask"].tolist() == mask.tolist() and info["action_mask"].any(1).tolist() == mask.tolist()
    assert np.array_equal(fresh[~mask], observations[~mask])
    assert np.array_equal(fresh[0], HandAndFootSeatEnv("mini").reset(seed=5)[0])
    assert np.array_equal(fresh[2], HandAndFootSeatEnv("mini").reset(seed=9)[0])
    after = env.step(drawn(info["action_mask"], np.random.default_rng(0)))
    assert after[2].tolist() == (~mask).tolist()


def test_seeds_repeat_and_go_on():
    env, other = HandAndFootSeatVectorEnv(3, "mini"), HandAndFootSeatVectorEnv(3, "mini")
    first = env.reset(seed=7)[0]
    assert np.array_equal(first, other.reset(seed=[7, 8, 9])[0])
    following = env.reset()[0]
    assert not np.array_equal(first, following) and np.array_equal(following, other.reset()[0])
    mixed = env.reset(seed=[7, None, 9])[0]
    assert np.array_equal(mixed[[0, 2]], first[[0, 2]]) and not np.array_equal(mixed[1], first[1])
    unseeded = [HandAndFootSeatVectorEnv(1).reset()[0] for _ in range(2)]
    assert not np.array_equal(*unseeded)


@pytest.mark.parametrize("seed", [-1, 2**63 - 2, [1, 2], [1, 2, -3], 1.5, "abc"])
def test_bad_seeds(seed):
    with pytest.raises(ValueError, match="seed") as error:
        HandAndFootSeatVectorEnv(3, "mini").reset(seed=seed)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("mask", [[True, False], np.zeros(2, bool), np.ones(3, bool), np.ones(2, int), np.array([True, False])])
def test_bad_reset_masks(mask):
    with pytest.raises(ValueError, match="reset_mask"):
        HandAndFootSeatVectorEnv(2, "mini").reset(options={"reset_mask": mask})


def test_an_illegal_action_names_the_slot_and_moves_nothing():
    env = HandAndFootSeatVectorEnv(3, "mini", observation_dtype="int16")
    with pytest.raises(RuntimeError, match="reset"):
        env.step(np.zeros(3, int))
    observations, info = env.reset(seed=1)
    good = drawn(info["action_mask"], np.random.default_rng(0))
    for wrong in (int(np.flatnonzero(info["action_mask"][2] == 0)[0]), 127, -1):
        with pytest.raises(IllegalActionError, match="game 2") as error:
            env.step([*good[:2], wrong])
        assert "\n" not in str(error.value)
    for wrong in (good[:2], good * 1.0):
        with pytest.raises(ValueError, match="actions"):
            env.step(wrong)
    assert np.array_equal(env._observations(), observations)


def test_a_policy_that_plays_an_illegal_action_is_named():
    def stubborn(observations, action_masks):
        return np.full(len(observations), ACTIONS.parse("yes"))

    env = HandAndFootSeatVectorEnv(3, "mini", seats={1: stubborn})

    def begin_and_play():
        _, info = env.reset(seed=2)
        list(play(env, 50, 0, info))

    with pytest.raises(IllegalActionError, match=r"the policy in seat 1: .*yes"):
        begin_and_play()


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_envs": 0}, {"autoreset_mode": "NEXT_STEP"}, {"autoreset_mode": AutoresetMode.NEXT_STEP}, {"seat": 4},
        {"seats": {0: "random"}}, {"observation_dtype": "float64"}, {"render_mode": "human"}, {"render_view": 1}, {"rules": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_a_bad_argument_gives_one_line(arguments):
    with pytest.raises(ValueError) as error:
        HandAndFootSeatVectorEnv(**arguments)
    assert "\n" not in str(error.value)


def test_every_table_is_rendered():
    env = HandAndFootSeatVectorEnv(2, "mini", render_mode="ansi")
    assert env.render() is None
    env.reset(seed=1)
    texts = env.render()
    assert len(texts) == 2 and texts[0] != texts[1] and all(text.count("(you)") == 1 for text in texts)
    pictures = HandAndFootSeatVectorEnv(2, "mini", render_mode="rgb_array", render_view="all")
    pictures.reset(seed=1)
    assert [picture.shape for picture in pictures.render()] == [(600, 800, 3)] * 2

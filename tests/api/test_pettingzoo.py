"""The environment as PettingZoo means it: the library's own tests, and what docs/environment.md says."""

import json
import pickle
import warnings

import numpy as np
import pytest
from pettingzoo.test import api_test, performance_benchmark, seed_test

from hf_env import ACTIONS, IllegalActionError, hand_and_foot_v0, list_rules, load_rules
from hf_env.vector.game import END_REASONS

# What the library says of every environment whose observation is a dict with a mask.
pytestmark = pytest.mark.filterwarnings("ignore:Observation:UserWarning:pettingzoo")

ASK, YES, NO = (ACTIONS.parse(label) for label in ("ask", "yes", "no"))
ARGUMENTS = [
    {},
    {"rules": "mini", "observation_dtype": "float32"},
    {"rules": "whitnack", "observation_dtype": "float32", "events": True},
    {"episode": "deal"},
    {"episode": "deal", "deal": 3, "rules": "family"},
    {"rules": "six-pairs", "reward": "win"},
    {"rules": "three-player", "reward": "score"},
    {"shaping": "table"},
    {"rules": "mini", "shaping": "full", "reward": "win"},
    {"rules": "mini", "max_decisions": 30},
    {"rules": ["whitnack", "saskatchewan", "bicycle"]},
]


def legal(env) -> np.ndarray:
    """Ids of the selected agent's legal actions."""
    return np.flatnonzero(env.observe(env.agent_selection)["action_mask"])


def laying(env, rng) -> int:
    """An action that goes forward: lays where it can, asks, answers at random, else draws or discards."""
    labels = {ACTIONS.label(action): int(action) for action in legal(env)}
    for start in ("ask", "take", "meld", "add"):
        found = [action for label, action in labels.items() if label.startswith(start)]
        if found:
            return int(rng.choice(found))
    return int(rng.choice(list(labels.values())))


def play(env, seed, choose=None):
    """Play a game to its end, yielding after every step."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    while not (any(env.terminations.values()) or any(env.truncations.values())):
        env.step(choose(env, rng) if choose else int(rng.choice(legal(env))))
        yield env


@pytest.mark.parametrize("arguments", [*ARGUMENTS, *({"rules": name} for name in list_rules())], ids=str)
def test_api(arguments):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "reset knows no options")
        api_test(hand_and_foot_v0.env(**arguments), num_cycles=300)


def test_raw_env_is_the_same_environment():
    assert type(hand_and_foot_v0.env()) is hand_and_foot_v0.raw_env
    assert hand_and_foot_v0.env().metadata["name"] == "hand_and_foot_v0"


@pytest.mark.parametrize("rules", ["whitnack", "mini"])
def test_seeds(rules):
    seed_test(lambda: hand_and_foot_v0.env(rules=rules), num_cycles=200)


def test_performance_benchmark_runs(capsys):
    performance_benchmark(hand_and_foot_v0.env())
    assert "turns per second" in capsys.readouterr().out


def test_spaces_are_the_same_objects_and_hold_what_is_observed():
    env = hand_and_foot_v0.env(rules="mini")
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert env.action_space(agent).n == len(ACTIONS) == 127
    for _ in play(env, 5):
        for agent in env.agents:
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            assert seen["action_mask"].dtype == np.int8
            over = any(env.terminations.values())
            assert bool(seen["action_mask"].any()) == (agent == env.agent_selection and not over)
        state = env.state()
        assert env.state_space.contains(state)


def test_observations_are_the_callers_to_keep():
    env = hand_and_foot_v0.env(rules="mini")
    env.reset(seed=1)
    agent = env.agent_selection
    kept = env.observe(agent)
    copy = {name: value.copy() for name, value in kept.items()}
    env.step(int(legal(env)[0]))
    env.observe(agent)
    assert all(np.array_equal(kept[name], copy[name]) for name in kept)
    kept["observation"][:] = -1
    kept["action_mask"][:] = 1
    assert env.observe(agent)["observation"].min() >= -32767 and not (env.observe(agent)["observation"] == -1).all()


@pytest.mark.parametrize("rules", ["whitnack", "mini", "five-player"])
def test_all_agents_terminate_in_the_same_step(rules):
    env = hand_and_foot_v0.env(rules=rules)
    for _ in play(env, 3):
        assert len(set(env.terminations.values())) == 1
        assert not any(env.truncations.values())
        assert set(env.agents) == set(env.possible_agents)
    assert all(env.terminations.values()) and len(env.terminations) == env.max_num_agents
    for left in range(env.max_num_agents, 0, -1):
        assert len(env.agents) == left
        with pytest.raises(ValueError):
            env.step(0)
        env.step(None)
    assert env.agents == []
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)


def test_a_cut_game_is_truncated_for_all():
    env = hand_and_foot_v0.env(max_decisions=25)
    steps = sum(1 for _ in play(env, 3))
    assert steps == 25 and all(env.truncations.values()) and not any(env.terminations.values())
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.agents)


@pytest.mark.parametrize("rules", ["whitnack", "mini", "family-ask"])
def test_every_illegal_action_raises_with_a_reason_and_changes_nothing(rules):
    env = hand_and_foot_v0.env(rules=rules)
    reasons: set[str] = set()
    for step, _ in enumerate(play(env, 9, laying)):
        if any(env.terminations.values()) or step > 260:
            break
        if step % 4:
            continue
        before = (env.snapshot(), env.agent_selection, dict(env.rewards), dict(env._cumulative_rewards), str(env.infos))
        seen = {agent: env.observe(agent) for agent in env.agents}
        mask = seen[env.agent_selection]["action_mask"]
        for action in np.flatnonzero(mask == 0):
            with pytest.raises(IllegalActionError) as error:
                env.step(int(action))
            message = str(error.value)
            assert message.startswith(f"{ACTIONS.label(action)} by {env.agent_selection} is illegal: ") and "\n" not in message
            reasons.add(message.split(": ", 1)[1])
        assert before == (env.snapshot(), env.agent_selection, env.rewards, env._cumulative_rewards, str(env.infos))
        for agent, old in seen.items():
            new = env.observe(agent)
            assert all(np.array_equal(old[name], new[name]) for name in old)
    assert len(reasons) > 8


@pytest.mark.parametrize("action", [-1, 127, 10**9, 2.0, True, "draw", None, [1], np.float32(3)])
def test_what_is_no_action_is_refused_in_one_line(action):
    env = hand_and_foot_v0.env(rules="mini")
    env.reset(seed=0)
    before = env.snapshot()
    with pytest.raises(ValueError) as error:
        env.step(action)
    assert "\n" not in str(error.value) and "action" in str(error.value)
    assert env.snapshot() == before


def test_before_the_first_reset():
    env = hand_and_foot_v0.env(rules="mini", render_mode="ansi")
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.state, env.render, env.position):
        with pytest.raises(RuntimeError, match="reset"):
            call()
    env.reset(seed=1)
    with pytest.raises(KeyError):
        env.observe("player_2")


BAD = [
    ("rules", "whitnak"), ("rules", 7), ("rules", []), ("rules", ["whitnack", "mini"]), ("rules", None),
    ("reward", "points"), ("reward", None), ("reward", ["win"]), ("shaping", {}), ("episode", "hand"),
    ("shaping", "tables"), ("shaping", True), ("observation_dtype", "int32"), ("observation_dtype", np.float32),
    ("render_mode", "svg"), ("render_view", 4), ("render_view", "player_0"), ("render_view", -1),
    ("max_decisions", 0), ("max_decisions", 1.5), ("max_decisions", None), ("deal", 1), ("deal", 0), ("deal", "x"),
    ("events", "yes"),
]  # fmt: skip


@pytest.mark.parametrize("name,value", BAD, ids=str)
def test_a_bad_argument_gives_one_line_that_names_it(name, value):
    with pytest.raises(ValueError) as error:
        hand_and_foot_v0.env(**{name: value})
    message = str(error.value)
    assert "\n" not in message and len(message) < 400
    assert name in message or "rule" in message.lower(), message


@pytest.mark.parametrize("deal", [0, -1, 1001, 1.0, True, "2"])
def test_a_bad_deal_number(deal):
    with pytest.raises(ValueError, match=r"^deal="):
        hand_and_foot_v0.env(episode="deal", deal=deal)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", True])
def test_a_bad_seed(seed):
    env = hand_and_foot_v0.env(rules="mini")
    with pytest.raises(ValueError, match="seed="):
        env.reset(seed=seed)


def test_infos_hold_public_facts_only():
    env = hand_and_foot_v0.env(rules=load_rules("whitnack", deals=2, books_to_go_out=[0, 0, 0], partner_foot=False))
    outs = 0
    for seed in range(6):
        finished = 0
        for _ in play(env, seed, laying):
            assert set(env.infos) == set(env.agents)
            infos = list(env.infos.values())
            assert all(info == infos[0] for info in infos)
            assert set(infos[0]) == {"last_action", "deal_results"}
            assert infos[0]["last_action"] in set(ACTIONS)
            json.dumps(infos[0])
            finished = len(infos[0]["deal_results"])
        results = env.infos["player_0"]["deal_results"]
        assert finished == len(results) == 2
        totals = np.zeros(2, int)
        for number, result in enumerate(results, 1):
            assert set(result) == {"deal", "scores", "reason"} | ({"out"} if result["reason"] == "out" else set())
            assert result["deal"] == number and result["reason"] in END_REASONS[1:]
            assert all(type(score) is int and score % 5 == 0 for score in result["scores"])
            totals += result["scores"]
            outs += result["reason"] == "out"
        assert totals.tolist() == env.position()["scores"]
    assert outs > 3


@pytest.mark.parametrize("rules,partners", [("whitnack", 1), ("six-threes", 2)])
def test_the_partners_answer_in_the_middle_of_a_turn(rules, partners):
    # An easy quota, so that the question comes up soon.
    env = hand_and_foot_v0.env(rules=load_rules(rules, books_to_go_out=[0, 0, 0]))
    sides = env.max_num_agents // (partners + 1)
    asked = answered_no = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            action = laying(env, rng)
            if action != ASK:
                env.step(action)
                continue
            asked += 1
            asker = int(env.agent_selection[-1])
            env.step(ASK)
            for number in range(1, partners + 1):
                partner = (asker + number * sides) % env.max_num_agents
                assert env.agent_selection == f"player_{partner}"
                assert legal(env).tolist() == [YES, NO]
                assert not env.observe(f"player_{asker}")["action_mask"].any()
                seen = env.layout.decode(env.observe(env.agent_selection)["observation"])
                assert seen["asked"][(asker - partner) % env.max_num_agents] == 1 and seen["phase"].tolist() == [0, 0, 1]
                says = NO if rng.random() < 0.3 else YES
                answered_no += says == NO
                env.step(says)
                if says == NO:
                    break
            assert env.agent_selection == f"player_{asker}"
            mine = env.layout.decode(env.observe(env.agent_selection)["observation"])
            assert mine["may_go_out"][0] == (says == YES) and ASK not in legal(env)
        if asked > 12 and answered_no > 2:
            break
    assert asked > 5 and answered_no > 1


def test_reset_keeps_rules_and_reward_settings():
    env = hand_and_foot_v0.env(rules="mini", reward="score", shaping="table", episode="deal", deal=1, render_view=1)
    first = [dict(env.rewards) for _ in play(env, 4)]
    assert any(any(rewards.values()) for rewards in first[:-1])  # shaped
    list(play(env, 8))
    assert [dict(env.rewards) for _ in play(env, 4)] == first
    assert env.rules == load_rules("mini") and env.render_view == 1
    with pytest.warns(UserWarning, match="reset knows no options"):
        env.reset(seed=4, options={"rules": "whitnack"})
    assert env.rules == load_rules("mini")


def test_resets_without_a_seed_go_on_from_the_last_one():
    def decks(count):
        env = hand_and_foot_v0.env(rules="mini")
        env.reset(seed=3)
        seen = [env.position()["stock"]]
        for _ in range(count):
            env.reset()
            seen.append(env.position()["stock"])
        return seen

    assert decks(5) == decks(5) and len(set(decks(5))) == 6
    unseeded = []
    for _ in range(2):
        env = hand_and_foot_v0.env(rules="mini")
        env.reset()
        unseeded.append(env.position()["stock"])
    assert unseeded[0] != unseeded[1]


def test_render_as_text():
    env = hand_and_foot_v0.env(rules="whitnack", render_mode="ansi")
    for step, _ in enumerate(play(env, 2, laying)):
        text = env.render()
        assert isinstance(text, str) and all(f"Seat {seat}: " in text for seat in range(4))
        if not any(env.terminations.values()):
            assert text.count("(you)") == text.count("; hand ") == 1
            assert f"> Seat {env.agent_selection[-1]}: " in text
        if step == 300:
            break
    assert hand_and_foot_v0.env(rules="mini").render() is None
    everything = hand_and_foot_v0.env(rules="whitnack", render_mode="ansi", render_view="all")
    everything.reset(seed=2)
    assert everything.render().count("; foot ") == 4


def test_the_human_mode_prints_after_each_step(capsys):
    env = hand_and_foot_v0.env(rules="mini", render_mode="human")
    env.reset(seed=1)
    env.step(int(legal(env)[0]))
    assert capsys.readouterr().out.count("Deal 1 of 1") == 1
    assert env.render() is None


def test_pickles_at_every_decision():
    env = hand_and_foot_v0.env(rules=load_rules("mini", deals=2), shaping="table", events=True)
    for step, _ in enumerate(play(env, 6)):
        if step % 5 and not any(env.terminations.values()):
            continue
        twin = pickle.loads(pickle.dumps(env))
        assert twin.snapshot() == env.snapshot() and twin.infos == env.infos and twin.agents == env.agents
        rng = np.random.default_rng(step)
        ours = env.snapshot()
        for _ in range(12):
            if any(twin.terminations.values()):
                break
            twin.step(int(rng.choice(legal(twin))))
        assert env.snapshot() == ours  # nothing is shared
    replayed = pickle.loads(pickle.dumps(env))
    env.reset()
    replayed.reset()
    assert env.snapshot() == replayed.snapshot()


def test_snapshot_and_restore_go_on_alike():
    env = hand_and_foot_v0.env(rules="mini", reward="score", shaping="full")
    other = hand_and_foot_v0.env(rules="mini", reward="score", shaping="full")
    other.reset(seed=99)
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for step in range(1000):
        if step == 20:
            other.restore(env.snapshot())
        if step >= 20:
            assert other.agent_selection == env.agent_selection and other.snapshot() == env.snapshot()
            for agent in env.agents:
                a, b = env.observe(agent), other.observe(agent)
                assert all(np.array_equal(a[name], b[name]) for name in a)
        if any(env.terminations.values()):
            break
        action = int(rng.choice(legal(env)))
        env.step(action)
        if step >= 20:
            other.step(action)
            assert other.rewards == env.rewards and other.infos == env.infos
    assert step > 40 and all(other.terminations.values())
    with pytest.raises(ValueError, match="bytes"):
        env.restore(b"short")


def test_what_a_caller_does_to_the_results_of_deals_changes_nothing():
    env = hand_and_foot_v0.env(rules={"preset": "mini", "deals": 3})
    env.reset(seed=2)
    kept = []
    rng = np.random.default_rng(0)
    while not any(env.terminations.values()):
        seen, _, _, _, info = env.last()
        if len(info["deal_results"]) > len(kept):
            kept.append(info["deal_results"])
            assert [one["deal"] for one in kept[-1]] == list(range(1, len(kept) + 1))
        env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
    assert len(kept) == 2 and len(kept[0]) == 1
    kept[1].clear()
    assert len(env.infos["player_0"]["deal_results"]) == 3

"""Each agent's rewards add up to its scaled result, whatever the reward, the shaping and the way of playing."""

import itertools

import numpy as np
import pytest

from hf_env import VectorGame, hand_and_foot_v0, list_rules, load_rules
from tests.observation.driving import Driver, play

REWARDS = ("score_difference", "score", "win")
SHAPINGS = (None, "table", "full")
# float32 rewards of many steps are added; a point is worth 0.001, and scores are multiples of 5.
TOLERANCE = 5e-4
# By rules, what differs from the preset: an easy quota, so that some deals are gone out.
TABLES = {
    "whitnack": {"deals": 2, "books_to_go_out": [1, 0, 0]},
    "three-player": {"deals": 2},
    "six-pairs": {"deals": 1, "books_to_go_out": [1, 0, 0]},
    "mini": {"deals": 3},
    "six-threes": {"deals": 1, "unfinished_wild_penalty": 300, "sevens_book": 1000},
}
EVERY_FORM = list(itertools.product(REWARDS, SHAPINGS, TABLES))
# The other presets as they are, each in one form here and in all of them in the long test.
OTHERS = [name for name in list_rules() if name not in TABLES]
FORMS = list(itertools.product(REWARDS, SHAPINGS))
ONE_FORM = [(*FORMS[number % len(FORMS)], name) for number, name in enumerate(OTHERS)]


def result(reward: str, scores: np.ndarray, totals: np.ndarray, seats: int) -> np.ndarray:
    """(seats,) what each seat must have got: scores (deals, sides) and totals (sides,) are raw points."""
    sides = len(totals)
    if reward == "win":
        winners = totals == totals.max()
        if winners.all():
            by_side = np.zeros(sides)
        else:
            by_side = np.where(winners, 1 / winners.sum(), -1 / (sides - 1))
    elif reward == "score":
        by_side = scores.sum(0) / 1000
    else:
        deals = [[(own - (deal.sum() - own) / (sides - 1)) / 1000 for own in deal] for deal in scores.astype(float)]
        by_side = np.sum(deals, 0)
    return np.array([by_side[seat % sides] for seat in range(seats)])


@pytest.mark.parametrize("reward,shaping,table", EVERY_FORM + ONE_FORM)
def test_rewards_add_up_in_vector_games(reward, shaping, table):
    # 45 combinations of 24 games, 1,080 games, and 10 of 8.
    check_vector_ledger(load_rules(table).with_overrides(**TABLES.get(table, {})), reward, shaping, 24 if table in TABLES else 8)


@pytest.mark.long
@pytest.mark.parametrize("reward,shaping,name", list(itertools.product(REWARDS, SHAPINGS, list_rules())))
def test_rewards_of_every_preset_add_up_in_vector_games(reward, shaping, name):
    check_vector_ledger(load_rules(name), reward, shaping, 24)


def check_vector_ledger(rules, reward, shaping, num_games):
    """Play games side by side with and without shaping and check what every seat received."""
    vec = VectorGame(num_games, rules, 11, reward=reward, shaping=shaping, autoreset="DISABLED")
    plain = VectorGame(num_games, rules, 11, reward=reward, autoreset="DISABLED")
    driver = "greedy_or_random" if shaping else "non_discard"
    sums, deal_sums, plain_deal_sums = (np.zeros((num_games, vec.num_seats)) for _ in range(3))
    deals: list[list[list[int]]] = [[] for _ in range(num_games)]
    shaped_steps = 0
    for actions in play(vec, Driver(driver, 1)):
        plain.step(actions)
        assert plain.games["scores"].tobytes() == vec.games["scores"].tobytes()
        sums += vec.rewards
        deal_sums += vec.rewards
        plain_deal_sums += plain.rewards
        within = ~vec.deal_ended
        assert not plain.rewards[within].any()  # unshaped rewards come with a deal's end only
        if reward == "win":
            assert not plain.rewards[~plain.terminated].any()
        shaped_steps += int(vec.rewards[within].any(1).sum())
        ended = np.flatnonzero(vec.deal_ended)
        # A deal's sum is the same with shaping.
        assert np.abs(deal_sums[ended] - plain_deal_sums[ended]).max(initial=0) < TOLERANCE
        deal_sums[ended] = plain_deal_sums[ended] = 0
        for i in ended:
            deals[i].append(vec.deal_scores[i].tolist())
        if reward != "score":
            assert np.abs(vec.rewards.sum(1)).max() < TOLERANCE
    assert (shaped_steps > 100) == (shaping is not None)
    for i in range(num_games):
        totals = vec.games[i]["scores"][: vec.num_sides]
        assert np.sum(deals[i], 0).tolist() == totals.tolist()
        assert np.abs(sums[i] - result(reward, np.array(deals[i]), totals, vec.num_seats)).max() < TOLERANCE


def ledger_of_aec(rules, reward, shaping, seeds, episode="game"):
    """Play games through the AEC environment and check what every agent received. Returns the number of games."""
    env = hand_and_foot_v0.env(rules=rules, reward=reward, shaping=shaping, episode=episode)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        env.reset(seed=seed)
        step_sums = dict.fromkeys(env.possible_agents, 0.0)
        last_sums = dict.fromkeys(env.possible_agents, 0.0)
        terminal = dict.fromkeys(env.possible_agents, 0)
        for agent in env.agent_iter():
            seen, reward_now, terminated, truncated, _ = env.last()
            last_sums[agent] += reward_now
            if terminated or truncated:
                terminal[agent] += 1
                env.step(None)
                continue
            mask = seen["action_mask"].copy()
            if rng.random() < 0.5 and mask[1:113].any():
                mask[113:] = 0  # rather lays than discards
            env.step(int((mask * (1.0 - rng.random(127))).argmax()))
            for name, value in env.rewards.items():
                step_sums[name] += value
            if any(env.terminations.values()):
                position = env.position()
                results = env.infos[agent]["deal_results"]
        scores, totals = np.array([deal["scores"] for deal in results]), np.array(position["scores"])
        expected = result(reward, scores, totals, len(env.possible_agents))
        for seat, name in enumerate(env.possible_agents):
            # What last() gives is what an agent learns from; it must miss nothing and count nothing twice.
            assert abs(step_sums[name] - expected[seat]) < TOLERANCE, (seed, name)
            assert abs(last_sums[name] - expected[seat]) < TOLERANCE, (seed, name)
            assert terminal[name] == 1
    return len(seeds)


@pytest.mark.parametrize("shaping", SHAPINGS)
@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_add_up_through_the_aec_environment(reward, shaping):
    games = ledger_of_aec(load_rules("mini", deals=2), reward, shaping, range(80))
    games += ledger_of_aec(load_rules("mini", players=3, decks=2), reward, shaping, range(100, 126))
    games += ledger_of_aec("mini", reward, shaping, range(200, 206), episode="deal")
    games += ledger_of_aec(load_rules("whitnack", deals=1), reward, shaping, range(2))
    games += ledger_of_aec(load_rules("six-pairs", deals=1), reward, shaping, range(1))
    assert games == 115  # 1,035 games in the nine forms of this test


@pytest.mark.parametrize("reward,shaping,name", [(*FORMS[number % len(FORMS)], name) for number, name in enumerate(list_rules())])
def test_rewards_of_every_preset_add_up_through_the_aec_environment(reward, shaping, name):
    rules = load_rules(name)
    short = rules.with_overrides(**({"deals": 1} if rules.target is None else {"max_deals": 2}))
    assert ledger_of_aec(short, reward, shaping, range(300, 302)) == 2


@pytest.mark.long
@pytest.mark.parametrize("reward,shaping,name", list(itertools.product(REWARDS, SHAPINGS, list_rules())))
def test_rewards_of_whole_games_of_every_preset_add_up_through_the_aec_environment(reward, shaping, name):
    assert ledger_of_aec(name, reward, shaping, range(400, 404)) == 4


@pytest.mark.long
@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_of_whole_games_add_up_through_the_aec_environment(reward):
    assert ledger_of_aec("whitnack", reward, "full", range(120)) + ledger_of_aec("five-player", reward, None, range(60)) == 180


@pytest.mark.parametrize(
    "totals,expected",
    [
        ([100, 50], [1, -1]), ([70, 70], [0, 0]), ([5, -5, 0], [1, -0.5, -0.5]), ([9, 9, 0], [0.5, 0.5, -0.5]),
        ([1, 1, 1], [0, 0, 0]), ([3, 8, 8, 8], [-1 / 3, 1 / 3, 1 / 3, 1 / 3]),
    ],
)  # fmt: skip
def test_a_win_is_shared(totals, expected):
    players = len(totals)
    vec = VectorGame(1, load_rules("mini", players=players, decks=3), 4, reward="win", autoreset="DISABLED")
    driver = Driver("random", 0)
    while not vec.terminated[0]:
        before = vec.games[0].copy()
        actions = driver.actions(vec)
        vec.step(actions)
    # Once more the last step, with the totals so that these come out.
    scored = vec.deal_scores[0].tolist()
    vec.games[0] = before
    vec.games[0]["scores"][:players] = 5 * np.array(totals) - scored
    vec.terminated[:] = False
    vec.refresh()
    vec.step(actions)
    assert vec.terminated[0] and vec.games[0]["scores"][:players].tolist() == (5 * np.array(totals)).tolist()
    assert np.allclose(vec.rewards[0], expected, atol=1e-6)


def test_table_shaping_pays_open_points_at_once():
    vec = VectorGame(1, "whitnack", 3, reward="score", shaping="table", autoreset="DISABLED")
    driver, seen = Driver("greedy", 0), 0
    layout = vec.observation_layout
    for _ in range(400):
        before = layout.decode(vec.observe(0)[0])["table_scores"].astype(int)
        vec.step(driver.actions(vec))
        if vec.deal_ended[0]:
            break
        after = layout.decode(vec.observe(0)[0])["table_scores"].astype(int)
        assert np.allclose(vec.rewards[0] * 1000, np.tile((after - before) * 5, 2), atol=1e-3)
        seen += (after != before).any()
    assert seen > 10

"""A policy gets copies: whatever it writes into what it was handed, the engine's own masks, rules and games judge."""

import gymnasium
import numpy as np
import pytest

import hf_env  # noqa: F401 - registers the Gymnasium environment
from agents.play.games import PolicyError, play_games
from agents.play.judging import Judge
from agents.play.table import play_at_table
from hf_env import hand_and_foot_v0, load_rules
from hf_env.envs.gymnasium_vector import HandAndFootSeatVectorEnv

RULES = load_rules("mini", deals=2)


class Honest:
    """Plays the lowest legal action."""

    def start(self, num_games, rules, seed):
        pass

    def act(self, batch):
        return batch.action_masks.argmax(1)


class WritesAll(Honest):
    """Answers honestly, and writes into everything that it was handed, now and in `start`."""

    def start(self, num_games, rules, seed):
        for one in rules if isinstance(rules, tuple) else [rules]:
            one.__dict__.update(red3_laid=5000, deals=1, target=None)

    def act(self, batch):
        answer = super().act(batch)
        batch.views.rules["red3_laid"] = 5000
        batch.views.rules["dirty_book"] = 9000
        batch.views.rules["players"] = 99
        batch.views.games.view(np.uint8)[:] = 255
        for name in ("observations", "games", "seats", "keys", "game_starts", "action_masks"):
            getattr(batch, name)[:] = 1
        return answer


class MakesAllLegal(Honest):
    """Calls an illegal action legal and plays it; asked again alone, once more."""

    def act(self, batch):
        illegal = batch.action_masks.argmin(1)
        batch.action_masks[:] = 1
        return illegal


class RuinsThenRaises(MakesAllLegal):
    """Raises in a batch of several rows after writing into it, so that it is asked for each row alone."""

    def act(self, batch):
        several = len(batch) > 1
        answer = super().act(batch)
        if several:
            raise RuntimeError("one by one")
        return answer


def in_a_match(policy):
    results = play_games([policy, "greedy"], [[0, 1], [1, 0]] * 8, np.arange(16), rules=RULES)
    return results.deal_scores.tolist()


def at_the_table(policy):
    return play_at_table([policy, Honest()], RULES, 5)["scores"][0].tolist()


def in_gymnasium(policy):
    env = gymnasium.make("HandAndFoot-v0", rules=RULES, seats={1: policy})
    totals = []
    for seed in range(4):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            _, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
            totals.append(reward)
        totals.append([result["scores"] for result in info["deal_results"]])
    return totals


def in_gymnasiums_vector(policy):
    envs = HandAndFootSeatVectorEnv(8, RULES, seats={1: policy}, autoreset_mode="DISABLED")
    _, info = envs.reset(seed=0)
    over, totals = np.zeros(8, bool), []
    while not over.all():
        _, rewards, over, _, info = envs.step(info["action_mask"].argmax(1))
        totals.append(rewards.tolist())
    return totals


FORMS = [in_a_match, at_the_table, in_gymnasium, in_gymnasiums_vector]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_policy_writes_changes_nothing(form):
    assert form(WritesAll()) == form(Honest())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("policy", [MakesAllLegal, RuinsThenRaises])
def test_an_illegal_action_stays_illegal(form, policy):
    with pytest.raises((PolicyError, ValueError, RuntimeError), match=r"illegal|one by one"):
        form(policy())


@pytest.mark.parametrize("policy", [MakesAllLegal, RuinsThenRaises])
def test_an_illegal_action_is_forfeited_where_forfeits_count(policy):
    results = play_games([policy(), "greedy"], [[0, 1]] * 16, np.arange(16), rules=RULES, judge=Judge(-10_000))
    assert {forfeit.kind for forfeit in results.forfeits} == {"illegal"} and len(results.forfeits) == 16


def test_env_decision_hands_over_copies():
    env = hand_and_foot_v0.env(rules=RULES)
    env.reset(seed=1)
    before = env.unwrapped.snapshot(), env.observe("player_0")["action_mask"].tolist(), env.unwrapped.rules.to_toml()
    batch = env.unwrapped.decision()
    WritesAll().act(batch)
    assert (env.unwrapped.snapshot(), env.observe("player_0")["action_mask"].tolist(), env.unwrapped.rules.to_toml()) == before
    assert env.unwrapped._vec.rule_records["players"].tolist() == [2]

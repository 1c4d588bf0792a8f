"""The shipped policies: small, described, loaded without a network connection, fast, and as strong as their cards say."""

import json
import socket
import time

import numpy as np
import pytest
import torch

import hf_env
from agents.neural import NeuralPolicy
from agents.registry import UnknownPolicyError, known_policies, load
from agents.shipped import FOLDER, PLAYERS
from hf_env import load_rules
from training.evaluation import evaluate

# Rule sets that the card of "several" says it was not trained under.
HELD_OUT = "brouillette"


def policy(name: str, mode: str = "argmax") -> NeuralPolicy:
    return load(f"pretrained:rules={name},mode={mode}")


@pytest.mark.parametrize("name", PLAYERS)
def test_it_is_small_and_has_a_card_that_is_of_this_policy(name):
    folder = FOLDER / name
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3_000_000
    info = json.loads((folder / "policy.json").read_text())
    card = (folder / "CARD.md").read_text()
    assert info["sha256"] in card and f"{info['lineage']['decisions']:,}" in card
    for heading in ("## How it was trained", "## How strong it is", "## Weaknesses"):
        assert heading in card
    for rules in info["rules_names"]:
        assert f"`{rules}`" in card and load_rules(rules).fingerprint in info["rules_fingerprints"]


def test_names():
    assert "pretrained" in known_policies()
    assert load("pretrained:rules=whitnack").mode == "sample"
    with pytest.raises(UnknownPolicyError, match="pretrained has no rules=chess; there is rules=whitnack and rules=several"):
        load("pretrained:rules=chess")


@pytest.mark.parametrize("name", PLAYERS)
def test_it_loads_without_a_connection(name, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    assert policy(name).info["num_seats"] == 4


@pytest.mark.parametrize("name", PLAYERS)
def test_a_decision_takes_less_than_a_millisecond_of_a_core(name):
    env = hf_env.hand_and_foot_v0.env()
    env.reset(seed=0)
    decision, player = env.unwrapped.decision(), policy(name)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        player.act(decision)
        fastest = float("inf")
        for _ in range(20):
            begun = time.process_time()
            for _ in range(20):
                player.act(decision)
            fastest = min(fastest, (time.process_time() - begun) / 20)
    finally:
        torch.set_num_threads(threads)
    assert fastest < 1e-3


@pytest.mark.parametrize("name", PLAYERS)
def test_it_plays_its_rule_sets_and_beats_greedy(name):
    for rules in policy(name).info["rules_names"]:
        result = evaluate(policy(name), "greedy", deals=160, seed=8, rules=rules)
        assert result.difference.mean > 0, rules
        if rules == "whitnack":
            assert result.difference.low > 0


def test_the_seats_of_a_policy_against_itself_are_alike():
    """A and B are one network; both seatings of a game are the same game, so a seat's own results are looked at."""
    result = evaluate(policy("whitnack"), policy("whitnack", "sample"), deals=400, seed=3, rules="whitnack", names=("a", "b"))
    assert len(result.seats) == 4
    for one in result.seats:
        for other in result.seats:
            assert one.difference.low <= other.difference.high


@pytest.mark.long
def test_whitnack_beats_expert():
    result = evaluate(policy("whitnack"), "expert", deals=4000, seed=1, rules="whitnack")
    print(f"pretrained against expert: {result.difference}, games {result.games_won}")
    assert result.difference.low > 0 and result.games_won.mean >= 0.6


@pytest.mark.long
def test_several_beats_greedy_under_all_of_its_rule_sets_and_expert_under_most():
    player = policy("several")
    names = [*player.info["rules_names"], HELD_OUT]
    assert HELD_OUT not in player.info["rules_names"]
    against = {
        anchor: {rules: evaluate(player, anchor, deals=2000, seed=1, rules=rules) for rules in names} for anchor in ("greedy", "expert")
    }
    for anchor, results in against.items():
        for rules, result in results.items():
            print(f"several against {anchor} under {rules}: {result.difference}, games {result.games_won}")
    trained = [name for name in names if name != HELD_OUT]
    assert all(against["greedy"][name].difference.low > 0 for name in trained)
    assert np.mean([against["expert"][name].difference.low > 0 for name in trained]) > 0.5

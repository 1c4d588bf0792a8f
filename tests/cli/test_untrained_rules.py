"""A policy under rules that its training did not have: it plays, and that is said once."""

import subprocess
import sys
import warnings

import pytest

from agents.neural import NetworkConfig, NeuralPolicy, UntrainedRulesWarning, build_network, save_policy
from hf_env import VectorGame, load_rules


def test_rules_that_a_policy_was_not_trained_under_are_warned_of(tmp_path):
    games = VectorGame(2, "mini", 0)
    network = build_network(NetworkConfig(width=8, rank_width=8), games.observation_scale, games.num_actions, 0, games.observation_layout)
    trained = load_rules("mini")
    info = {"rules_fingerprints": [trained.fingerprint], "rules_names": ["mini"]}
    policy = NeuralPolicy(network, info=info)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy.start(1, trained, 0)
    with pytest.warns(UntrainedRulesWarning, match="trained under mini; under two-player it may play badly"):
        policy.start(1, load_rules("two-player"), 0)
    with pytest.warns(UntrainedRulesWarning, match="under mini with other options than it was trained with it may play badly"):
        policy.start(1, load_rules("mini", clean_book=505), 0)
    save_policy(tmp_path, network, info)
    for processes in ("1", "2"):
        options = ["--rules", "two-player", "--deals", "8", "--processes", processes]
        # A process of its own: pytest takes the warnings of this one.
        command = [sys.executable, "-m", "handfoot", "evaluate", str(tmp_path), "random", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        sentence = "was trained under mini; under two-player it may play badly"
        assert done.stderr.splitlines() == [f"handfoot: warning: this policy {sentence}"]
        assert done.stdout.splitlines()[-1].strip() == f"{tmp_path} {sentence}"

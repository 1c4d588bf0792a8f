"""The unharmed files that the cases spoil, made once in a folder."""

import json
import os
import random
from pathlib import Path

import numpy as np

import hf_env.rules
from agents.neural import NetworkConfig
from hf_env import VectorGame, hand_and_foot_v0, records
from hf_env.rules.preset_files import preset_names
from tests.fuzz.answers import ask_command
from training.config import TrainConfig
from training.sessions import train
from training.settings import shipped_configs

# What is the user's in a run folder, and beside it.
MINE = ("run/mine.txt", "run/checkpoints/best/notes", "run/checkpoints/last", "run/pool/mine.safetensors", "outside/treasure")
# The tournament that is gone on with.
CONTEST = ("tournament", "random", "greedy", "--deals", 8, "--rules", "mini", "--set", "deals=2", "--processes", 1)


def make_run(folder):
    """A small run of a league of past selves, with things of the user's in it."""
    config = TrainConfig(
        rules={"preset": "mini", "deals": 2}, num_games=8, rollout_steps=32, minibatch_size=32, update_epochs=1,
        time_budget_seconds=None, decisions_budget=8 * 32 * 8, processes=1, network=NetworkConfig(width=8, rank_width=4),
        seats=("learner", "pool:opponents"), pools={"opponents": {"past": 3, "expert": 1, "greedy:noise=0.1": 1}},
        pool_size=3, pool_interval=0.3, num_evaluations=0, checkpoint_seconds=0.0, seed=3, critic="all_cards",
    )  # fmt: skip
    train(config, folder / "run", show_progress=False)
    for name in MINE:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("last"):
            path.symlink_to(os.path.join("..", "..", "outside"))
        else:
            path.write_text(f"{name} is mine\n")


def make_records(folder):
    """A file of records of games of several rule sets, the last of them with cards of its own."""
    from agents import load
    from agents.play.games import play_games

    kept = []
    for rules in ("mini", "three-player", "whitnack"):
        vec = VectorGame(1, rules, 0)
        lineup = np.zeros((1, vec.num_seats), int)
        play_games([load("greedy")], lineup, np.array([5]), rules=rules, on_record=lambda _, record: kept.append(record))
    kept.append({name: value for name, value in kept[0].items() if name != "seeds"})
    records.write(folder / "games.jsonl", kept)


def make_positions(folder):
    """Positions of many moments of games of several rule sets."""
    found = []
    for rules in ("mini", "whitnack", "family-ask", "three-player"):
        env = hand_and_foot_v0.env(rules=rules)
        env.reset(seed=4)
        rng = random.Random(rules)
        for number in range(120):
            if env.terminations[env.agent_selection]:
                break
            env.step(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()))
            if number % 20 == 19 and not any(env.terminations.values()):
                found.append(env.unwrapped.position())
    (folder / "positions.json").write_text(json.dumps(found))


def make_contest(folder):
    """The folder of a small tournament."""
    answer = ask_command(*CONTEST, "--out", folder / "contest")
    assert answer == ("accepted", ""), answer


def make_files_of_rules(folder):
    """The rule sets that come with the package."""
    (folder / "rules").mkdir()
    for name in preset_names():
        (folder / "rules" / f"{name}.toml").write_bytes((Path(hf_env.rules.__file__).parent / "presets" / f"{name}.toml").read_bytes())


def make_configs(folder):
    """The configs that come with the package."""
    (folder / "configs").mkdir()
    for name, path in shipped_configs().items():
        (folder / "configs" / f"{name}.toml").write_bytes(path.read_bytes())


def make_snapshots(folder):
    """Snapshots of many moments of games of several rule sets, by name and number."""
    (folder / "snapshots").mkdir()
    for name in ("mini", "whitnack"):
        vec = VectorGame(1, name, 5)
        for step in range(200):
            vec.step(vec.random_actions())
            if step % 20 == 19:
                (folder / "snapshots" / f"{name}-{step:03d}").write_bytes(vec.snapshot(0))

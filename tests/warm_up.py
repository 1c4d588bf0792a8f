"""Compiles the kernels before the tests start, so that their workers find them: ``python -m tests.warm_up``.

The kernels are cached on disk. Without this every worker would compile them at the same time. Parts run side by side.
"""

import subprocess
import sys

import numpy as np


def engine() -> None:
    """A game in every form of the environment, with every entry that they use; a record, a position."""
    import gymnasium

    from agents import load
    from hf_env import VectorGame, hand_and_foot_v0, records
    from hf_env.engine.access import GameAccess
    from hf_env.positions import from_position
    from hf_env.rules import load_rules

    for rules in ("whitnack", load_rules("whitnack", add_to_complete="any", permission="binding_both")):
        games = VectorGame(8, rules, 0, shaping="full")
        for _ in range(50):
            games.step(games.random_actions())
        games.observe(0), games.states(), games.restore(0, games.snapshot(1))
    env = hand_and_foot_v0.env(rules="mini")
    env.reset(seed=1)
    env.unwrapped.decision(), env.unwrapped.why_illegal("ask"), from_position(env.unwrapped.position())
    gymnasium.make("HandAndFoot-v0", rules="mini").reset(seed=1)
    access, recorder = GameAccess(load_rules("mini").to_record()), records.GameRecorder()
    access.start(1)
    recorder.start("mini", 1, ["a", "b"])
    recorder.deal(access.games, 0)
    while not access.is_over:
        action = int(access.legal()[0])
        access.play(action)
        recorder.action(access.games, 0, action)
    records.replay(recorder.record())
    load("greedy")


def players() -> None:
    """Deals of every scripted player, and a decision of each."""
    from agents.play.games import play_games
    from agents.scripted.playout import play_deals
    from hf_env.rules import load_rules

    rules = load_rules("mini")
    for name in ("random", "greedy", "beam", "expert"):
        play_deals(rules, [name] * 2, 2)
        play_games([name, "random"], np.array([[0, 1]]), np.array([1]), rules=rules)


def learned() -> None:
    """A decision of each network and of each search."""
    from agents import load
    from hf_env import hand_and_foot_v0

    env = hand_and_foot_v0.env()
    env.reset(seed=1)
    for spec in ("pretrained", "search:rollouts=8", "search:player=greedy,rollouts=8", "search:policy=pretrained,rollouts=8"):
        policy = load(spec)
        policy.start(1, env.unwrapped.rules, 0)
        policy.act(env.unwrapped.decision())


PARTS = {"engine": engine, "players": players, "learned": learned}


def main() -> int:
    """Run the part that is named, or all side by side; the exit code says whether they went well."""
    if len(sys.argv) > 1:
        PARTS[sys.argv[1]]()
        return 0
    children = [subprocess.Popen([sys.executable, "-m", "tests.warm_up", name]) for name in PARTS]
    return max(child.wait() for child in children)


if __name__ == "__main__":
    sys.exit(main())

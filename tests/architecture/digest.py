"""Games reduced to one line a decision, so that two ways of running the kernels can be compared bit by bit."""

import json
import sys
import zlib

import numpy as np

from hf_env import VectorGame
from hf_env.engine.action_ids import DISCARD, DRAW
from tests.rules.strategies import random_rule_set

# Random rule sets that between them reshuffle, ask with both answers binding, grow books, freeze, and forbid or
# require the last discard.
RANDOM_RULES = (0, 2, 10, 25, 29, 44, 58, 5)
SHAPINGS = (None, "table", "full")
REWARDS = ("score_difference", "score", "win")


def choose(mask: np.ndarray, key: int) -> int:
    """A legal action, rather a lay-down or take than a draw or discard; made of the key alone."""
    number = zlib.crc32(str(key).encode())
    legal = np.flatnonzero(mask)
    busy = legal[(legal != DRAW) & (legal < DISCARD)]
    if len(busy) and number % 5:
        legal = busy
    return int(legal[(number >> 8) % len(legal)])


def lines(rules, seed: int, steps: int) -> list[str]:
    """One line for each decision of a game: who plays what, and checksums of mask, observations, rewards and record."""
    vec = VectorGame(1, rules, seed, autoreset="SAME_STEP", events=True, shaping=SHAPINGS[seed % 3], reward=REWARDS[seed // 3 % 3])
    found = []
    for step in range(steps):
        action = choose(vec.action_masks[0], seed * 1_000_003 + step)
        shown = [vec.action_masks, vec.observations, vec.observe((step + seed) % vec.num_seats), vec.states()]
        vec.step([action])
        shown += [vec.rewards, vec.deal_ended, vec.deal_scores]
        shown += [np.ascontiguousarray(vec.games[name]) for name in vec.games.dtype.names]
        value = 0
        for array in shown:
            value = zlib.crc32(array.tobytes(), value)
        found.append(f"{vec.seats[0]} {action} {value:08x}")
    return found


def all_lines(scale: int) -> dict[str, list[str]]:
    """The games of the comparison; a larger scale plays longer."""
    found = {f"whitnack {seed}": lines("whitnack", seed, 60 * scale) for seed in (1, 2)}
    found["easy"] = lines({"books_to_go_out": [0, 0, 0], "hand_size": 5, "foot_size": 3, "opening": [0]}, 5, 80 * scale)
    found["mini"] = lines("mini", 3, 80 * scale)
    for seed in RANDOM_RULES:
        found[f"random rules {seed}"] = lines(random_rule_set(seed), seed, 80 * scale)
    return found


if __name__ == "__main__":
    print(json.dumps(all_lines(int(sys.argv[1]) if len(sys.argv) > 1 else 1)))

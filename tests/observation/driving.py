"""Test games driven on VectorGame, N side by side, and the states that they reach.

Random play alone almost never sees a foot and never goes out; these drivers together reach everything.
"""

from collections.abc import Iterator

import numpy as np

from agents.scripted.dispatch import GREEDY, choose_batch
from hf_env import VectorGame, load_rules
from hf_env.engine.action_ids import DISCARD, DRAW, NO, YES
from hf_env.rules import RuleSet

DRIVERS = ("random", "non_discard", "greedy", "greedy_or_random", "easy_quota")


class Driver:
    """Chooses an action for every game of a VectorGame. name: one of DRIVERS; "easy_quota" plays as greedy_or_random."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.rng = np.random.default_rng([DRIVERS.index(name), seed])

    def uniform(self, masks: np.ndarray) -> np.ndarray:
        """(N,) a legal action of each row; 0 where there is none."""
        return (masks * (1.0 - self.rng.random(masks.shape))).argmax(1)

    def actions(self, vec: VectorGame) -> np.ndarray:
        """(N,) int64."""
        masks = vec.action_masks
        if self.name == "random":
            return self.uniform(masks)
        if self.name == "non_discard":
            busy = masks.copy()
            busy[:, DISCARD:] = 0
            busy[:, DRAW] = 0
            use = busy.any(1) & (self.rng.random(len(masks)) < 0.8)
            return self.uniform(np.where(use[:, None], busy, masks))
        chosen = np.empty(len(masks), np.int32)
        keys = self.rng.integers(0, 2**63, len(masks)).astype(np.uint64)
        choose_batch(np.int64(GREEDY), vec.games, vec.rule_records, vec.seats, masks, keys, chosen)
        if self.name == "greedy":
            return chosen.astype(np.int64)
        answering = masks[:, YES] | masks[:, NO]
        at_random = (self.rng.random(len(masks)) < 0.2) | (answering != 0)
        return np.where(at_random, self.uniform(masks), chosen)


def rules_for(driver: str, rules="whitnack") -> RuleSet:
    """The rule set that a driver plays: with the quota lowered to 1, 0, 0 for the last one."""
    loaded = load_rules(rules)
    return loaded.with_overrides(books_to_go_out=[1, 0, 0]) if driver == "easy_quota" else loaded


def play(vec: VectorGame, driver: Driver, max_steps: int = 1_000_000) -> Iterator[np.ndarray]:
    """Step until all games are over (autoreset "DISABLED") or so many steps are made; yields the actions of each step,
    after it."""
    for _ in range(max_steps):
        if (vec.terminated | vec.truncated).all():
            return
        actions = driver.actions(vec)
        vec.step(actions)
        yield actions


def reached_games(rules, driver: str, count: int, seed: int = 0, over: bool = True) -> np.ndarray:
    """(count,) records of states that the driver's games reach, spread over their whole length and chosen at random.

    over: some of them are states after the game's end.
    """
    num_games = max(8, count // 12)
    vec = VectorGame(num_games, rules, seed, autoreset="DISABLED")
    choosing = np.random.default_rng([7, seed])
    reservoir: list[np.ndarray] = []
    seen = 0
    for _ in play(vec, Driver(driver, seed)):
        # Reservoir sampling: each live state of all the games has the same chance.
        for slot in np.flatnonzero(~vec.terminated):
            seen += 1
            if len(reservoir) < count:
                reservoir.append(vec.games[slot].copy())
            else:
                at = choosing.integers(seen)
                if at < count:
                    reservoir[at] = vec.games[slot].copy()
    if over:
        for i in range(min(num_games, count // 20)):
            reservoir[i] = vec.games[i].copy()
    return np.array(reservoir)


def holding(games: np.ndarray, rules, **arguments) -> VectorGame:
    """A VectorGame whose slots hold these records."""
    vec = VectorGame(len(games), rules, 0, autoreset="DISABLED", **arguments)
    put(vec, games)
    return vec


def put(vec: VectorGame, games: np.ndarray) -> None:
    """Set the records of a VectorGame and write its buffers."""
    vec.games[:] = games
    vec.terminated[:] = False
    vec.truncated[:] = False
    vec.refresh()


def observe_all(vec: VectorGame) -> np.ndarray:
    """(seats, N, F) what every seat sees now; a copy."""
    return np.stack([vec.observe(seat).copy() for seat in range(vec.num_seats)])

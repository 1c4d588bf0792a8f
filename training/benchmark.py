"""The speed of VectorGame under random legal play, masks and full observations written: what ``handfoot bench`` prints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hf_env.engine.jit import entry
from hf_env.engine.rng import advance, below
from hf_env.vector_game import VectorGame


@entry
def choose_random_legal(masks, states, actions):
    """actions[i] = a legal action of row i, each as likely.

    masks: (N, A) int8. states: (N,) uint64, a random stream a row, moved on. actions: (N,) int64, overwritten.
    """
    legal = np.empty(masks.shape[1] + 1, np.int64)
    for i in range(masks.shape[0]):
        # Without a branch: every action is written, only a legal one moves the place of the next.
        number = 0
        for action in range(masks.shape[1]):
            legal[number] = action
            number += masks[i, action]
        states[i] = advance(states[i])
        actions[i] = legal[below(states[i], number)]


@dataclass(frozen=True)
class BenchmarkResult:
    """What was measured on one core.

    decisions_per_second: choosing actions included. engine_per_second: steps alone. sampling_share: of the time.
    """

    num_games: int
    num_decisions: int
    seconds: float
    decisions_per_second: float
    engine_per_second: float
    sampling_share: float
    deals_ended: int
    games_ended: int
    observation_width: int
    num_actions: int


def run_benchmark(
    rules: Any = "whitnack",
    seconds: float = 5.0,
    num_games: int = 256,
    seed: int = 0,
    on_progress: Callable[[float, float], None] | None = None,
) -> BenchmarkResult:
    """Play random legal actions in all games for a time; compiling is not counted.

    rules: as for VectorGame. seconds: of wall time, above 0. num_games: side by side. on_progress: called with the
    seconds gone and in all.

    Raises RuntimeError if no game ended meanwhile: then the figure would stand for the beginnings of games only.
    """
    games = VectorGame(num_games, rules, seed)
    states = np.random.default_rng(seed).integers(0, 2**63, num_games).astype(np.uint64)
    actions = np.zeros(num_games, np.int64)
    for _ in range(2):
        choose_random_legal(games.action_masks, states, actions)
        games.step(actions)
    steps = deals = ended = 0
    sampling = stepping = shown = 0.0
    begun = now = time.perf_counter()
    while now - begun < seconds:
        before = now
        choose_random_legal(games.action_masks, states, actions)
        chosen = time.perf_counter()
        games.step(actions)
        now = time.perf_counter()
        sampling += chosen - before
        stepping += now - chosen
        steps += 1
        deals += int(np.count_nonzero(games.deal_ended))
        ended += int(np.count_nonzero(games.terminated))
        if on_progress is not None and now - shown > 0.2:
            shown = now
            on_progress(now - begun, seconds)
    if ended == 0:
        raise RuntimeError(f"no game ended in {seconds:g} s of {num_games} games: measure longer, or with fewer games")
    elapsed = now - begun
    return BenchmarkResult(
        num_games, steps * num_games, elapsed, steps * num_games / elapsed, steps * num_games / stepping,
        sampling / elapsed, deals, ended, games.observation_width, games.num_actions,
    )  # fmt: skip

"""Loops of the benchmarks at engine speed: choosing a random legal action in every game, copying games."""

import numpy as np

from hf_env.engine.jit import copy_record, entry
from hf_env.engine.rng import advance, below


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


@entry
def copy_games(sources, targets, times):
    """Copy the games over, sources[i] to targets[i], so many times. sources, targets: (N,) GAME_DTYPE."""
    for _ in range(times):
        for i in range(sources.shape[0]):
            copy_record(targets[i], sources[i])

"""Loops of the benchmarks at engine speed: choosing a random legal action in every game, copying games."""

from hf_env.engine.jit import copy_record, entry
from hf_env.engine.lanes import count_bits
from hf_env.engine.lay_downs import legal_bits, nth_legal
from hf_env.engine.rng import advance, below


@entry
def choose_random_legal(masks, states, actions):
    """actions[i] = a legal action of row i, each as likely.

    masks: (N, 127) int8. states: (N,) uint64, a random stream a row, moved on. actions: (N,) int64, overwritten.
    """
    for i in range(masks.shape[0]):
        low, high = legal_bits(masks[i])
        states[i] = advance(states[i])
        actions[i] = nth_legal(low, high, below(states[i], count_bits(low) + count_bits(high)))


@entry
def copy_games(sources, targets, times):
    """Copy the games over, sources[i] to targets[i], so many times. sources, targets: (N,) GAME_DTYPE."""
    for _ in range(times):
        for i in range(sources.shape[0]):
            copy_record(targets[i], sources[i])

"""Who decides in test games: from nothing but random to a sensible player.

Random play seldom sees a foot and never goes out; these together reach everything. See `DRIVERS`.
"""

import random
from collections.abc import Callable, Sequence

import numpy as np

from agents.scripted.dispatch import GREEDY, choose_batch
from hf_env.actions import ACTIONS
from hf_env.engine import action_ids as ids
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import BLACK3, JOKER, TWO
from hf_env.engine.state import PHASE_ANSWER

Driver = Callable[[GameAccess, Sequence[int], random.Random], int]


def play_random(game: GameAccess, legal: Sequence[int], rng: random.Random) -> int:
    """Any legal action."""
    return int(rng.choice(legal))


def play_non_discard(game: GameAccess, legal: Sequence[int], rng: random.Random) -> int:
    """With probability 0.8 one that neither draws nor discards, where there is one."""
    busy = [action for action in legal if ids.DRAW < action < ids.DISCARD]
    return int(rng.choice(busy if busy and rng.random() < 0.8 else legal))


def play_greedy(game: GameAccess, legal: Sequence[int], rng: random.Random) -> int:
    """agents.scripted's `greedy`."""
    seats = np.array([game.game["to_move"]], np.int32)
    keys = np.array([rng.getrandbits(64)], np.uint64)
    actions = np.zeros(1, np.int32)
    choose_batch(np.int64(GREEDY), game.games, game.rules, seats, game.work.mask[None], keys, actions)
    return int(actions[0])


def play_greedy_or_random(game: GameAccess, legal: Sequence[int], rng: random.Random) -> int:
    """As `greedy`, but every fifth action, and every answer, at random."""
    if rng.random() < 0.2 or int(game.game["phase"]) == PHASE_ANSWER:
        return play_random(game, legal, rng)
    return play_greedy(game, legal, rng)


def play_eager(game: GameAccess, legal: Sequence[int], rng: random.Random) -> int:
    """Takes when it can, asks, lays whatever it can (naturals first), discards what it holds least of; answers at random.

    Often at its last cards, where the rules are thorniest.
    """
    found = [action for action in legal if ids.TAKE <= action <= ids.TAKE_MELD or action == ids.ASK]
    lay_downs = [action for action in legal if ids.MELD <= action < ids.ASK]
    wilds = [action for action in lay_downs if "2" in ACTIONS.label(action) or "*" in ACTIONS.label(action)]
    naturals = [action for action in lay_downs if action not in wilds]
    for actions in (found, naturals, wilds):
        if actions:
            return int(rng.choice(actions))
    if legal[0] < ids.DISCARD:
        return play_random(game, legal, rng)
    hand = game.game["hands"][int(game.game["to_move"])]
    kinds = [action - ids.DISCARD for action in legal]
    order = [(kind in (TWO, JOKER), kind != BLACK3, int(hand[kind]), rng.random(), kind) for kind in kinds]
    return ids.DISCARD + min(order)[-1]


# The last is for whitnack with an easier quota, where its games often end by going out.
EASY_QUOTA = [1, 0, 0]
DRIVERS: dict[str, Driver] = {
    "random": play_random,
    "non_discard": play_non_discard,
    "greedy": play_greedy,
    "greedy_or_random": play_greedy_or_random,
    "eager": play_eager,
    "easy_quota": play_greedy_or_random,
}

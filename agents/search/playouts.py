"""Candidates played out on common worlds by a scripted player, at engine speed."""

import numpy as np

from agents.scripted.playout import ILLEGAL, UNLIMITED, play_on
from agents.search.worlds import sample_world
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.cards import MAX_CARDS, MAX_SEATS
from hf_env.engine.jit import copy_record, entry, kernel
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.rng import combine
from hf_env.engine.state import GAME_DTYPE
from hf_env.engine.transitions import apply_action

# What play_worlds returns beside OK.
OK, NO_WORLD, STUCK = 0, 1, 2


@kernel
def score_difference(g, r, side):
    """A finished deal's score of a side less the mean of the others', in points."""
    sides = int(r["sides"])
    own = int(g["deal_scores"][side])
    total = 0
    for other in range(sides):
        total += int(g["deal_scores"][other])
    return own - (total - own) / (sides - 1.0)


@entry
def play_worlds(views, rules, row, seat, key, number, actions, first, returns):
    """Play every action on worlds first, first + 1, ... of one decision to the deal's end, all seats by one player.

    views: (N,) GAME_DTYPE, redacted; row: int64, the decision's. rules: (R,) RULES_DTYPE. seat: int64. key: uint64, of the
    decision: a world's cards and its players' randomness are made of it and the world's number, so that all actions
    meet the same. number: int64, the player's (agents.scripted.dispatch). actions: (K,) int64, legal. returns: (W, K)
    float64, overwritten: score differences in points.

    Returns OK, NO_WORLD (see sample_world), or STUCK if the player chose an illegal action.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    tmp = np.empty(2, GAME_DTYPE)
    plans = np.empty((NUM_ROWS, PLAN_WIDTH), np.int64)
    pool = np.empty(MAX_CARDS, np.uint8)
    games = np.empty(2, GAME_DTYPE)
    players = np.full(MAX_SEATS, number, np.int64)
    noise = np.zeros(MAX_SEATS, np.float64)
    view = views[row]
    r = rules[np.int64(view["rule"])]
    side = seat % int(r["sides"])
    for world in range(returns.shape[0]):
        if not sample_world(view, r, seat, key, first + world, pool, plans, games[0]):
            return NO_WORLD
        playing = combine(key, first + world)
        for k in range(actions.shape[0]):
            g = games[1]
            copy_record(g, games[0])
            apply_action(g, r, actions[k])
            if play_on(g, r, players, noise, playing, 1, UNLIMITED, mask, tmp, plans) == ILLEGAL:
                return STUCK
            returns[world, k] = score_difference(g, r, side)
    return OK

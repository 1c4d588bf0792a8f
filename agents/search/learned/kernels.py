"""Playouts by a network of ranks, whole in compiled code: between two decisions of a few rows Python takes longer than they do."""

import numpy as np

from agents.neural.masked_categorical import best_action, sample_action
from agents.neural.ranks.single_row import run_row
from agents.scripted.playout import UNLIMITED
from agents.search.playouts import NO_WORLD, OK, score_difference
from agents.search.worlds import sample_world
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.cards import MAX_CARDS
from hf_env.engine.legality import write_mask
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.rng import advance, mix, uniform
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action
from hf_env.kernels.compile import copy_record, entry, kernel
from hf_env.observation.encoder import STALE, write_observation

# What the entries return beside OK and NO_WORLD: a score that no observation holds.
OVERFLOW = 3


@kernel
def _then(key, part):
    """The key that ``hf_env.policy_batch.decision_keys`` goes on to with a further number."""
    return mix(advance(key ^ np.uint64(part)))


@kernel
def _play_out(g, r, key, number, seat, last_turn, with_standing, samples, scale, network, work, mask, tmp, plans, seen, logits):
    """Play a game on by the network to its deal's end or to the cut, with ``LearnedRollouts``' keys.

    key, number: of the decision and the world. seat: whose decision of turn last_turn or later cuts the
    playout; with_standing: whether what the sides have is added to the network's value. samples: draw actions, else take the
    likeliest. scale: (2,) float64, mean and standard deviation of values, in points. network, work: as of ``run_row``; the rest is to
    work in.

    Returns the score difference for the seat's side, in points; NaN if a score does not fit into an observation.
    """
    side = seat % int(r["sides"])
    made = 0
    while g["phase"] != PHASE_OVER:
        made += 1
        mover = int(g["to_move"])
        cut = mover == seat and g["turns"] >= last_turn
        write_mask(g, r, mask, tmp, plans, 0)
        num_legal, action = 0, 0
        for one in range(NUM_ACTIONS):
            if mask[one] != 0:
                num_legal += 1
                action = one
        if cut or num_legal > 1:
            if write_observation(g, r, mover, seen, 0, STALE) < 0:
                return np.nan
            value = run_row(seen, network, work, logits)
            if cut:
                points = scale[0] + scale[1] * np.float64(value)
                return points + score_difference(g, r, side) if with_standing else points
            if samples:
                own = _then(_then(_then(_then(key, number), 0), mover), made)
                action, _ = sample_action(logits, mask, uniform(advance(own ^ _then(np.uint64(0), 0))))
            else:
                action = best_action(logits, mask)
        apply_action(g, r, action)
    return np.float64(score_difference(g, r, side))


@entry
def play_worlds(views, rules, row, seat, key, actions, first, depth, with_standing, samples, scale, network, work, returns):
    """Play every action on worlds first, first + 1, ... of one decision, all seats by one network.

    views: (N,) GAME_DTYPE, redacted; row: int64, the decision's. rules: (R,) RULES_DTYPE. seat: int64. key: uint64, of the decision.
    actions: (K,) int64, legal. depth: int64, turns after which, at the seat's next decision, the network's value stands for the rest
    of the deal; 0: to its end. with_standing, samples, scale, network, work: as of ``_play_out``. returns: (W, K) float64, overwritten.

    Returns OK, NO_WORLD or OVERFLOW.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    tmp = np.empty(2, GAME_DTYPE)
    plans = np.empty((NUM_ROWS, PLAN_WIDTH), np.int64)
    pool = np.empty(MAX_CARDS, np.uint8)
    games = np.empty(2, GAME_DTYPE)
    seen = np.empty(network.num_columns, np.int16)
    logits = np.empty(NUM_ACTIONS, np.float32)
    view = views[row]
    r = rules[np.int64(view["rule"])]
    last_turn = UNLIMITED if depth == 0 else int(view["turns"]) + depth
    for world in range(returns.shape[0]):
        number = first + world
        if not sample_world(view, r, seat, key, number, pool, plans, games[0]):
            return NO_WORLD
        for k in range(actions.shape[0]):
            g = games[1]
            copy_record(g, games[0])
            apply_action(g, r, actions[k])
            points = _play_out(
                g, r, key, number, seat, last_turn, with_standing, samples, scale, network, work, mask, tmp, plans, seen, logits
            )
            if points != points:
                return OVERFLOW
            returns[world, k] = points
    return OK


@entry
def play_to_end(games, rules, seat, keys, with_standing, samples, scale, network, work, returns):
    """Play every game to its deal's end by one network: games (N,) GAME_DTYPE, changed; returns (N,) float64, overwritten.

    keys: (N,) uint64, of the games; the rest as of ``play_worlds``. Returns OK or OVERFLOW.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    tmp = np.empty(2, GAME_DTYPE)
    plans = np.empty((NUM_ROWS, PLAN_WIDTH), np.int64)
    seen = np.empty(network.num_columns, np.int16)
    logits = np.empty(NUM_ACTIONS, np.float32)
    for i in range(games.shape[0]):
        g = games[i]
        r = rules[np.int64(g["rule"])]
        returns[i] = _play_out(
            g, r, keys[i], 0, seat, UNLIMITED, with_standing, samples, scale, network, work, mask, tmp, plans, seen, logits
        )
        if returns[i] != returns[i]:
            return OVERFLOW
    return OK

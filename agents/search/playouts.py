"""Candidates played out on common worlds by a scripted player, at engine speed."""

import numpy as np

from agents.scripted.playout import ILLEGAL, UNLIMITED, play_on
from agents.search.features import NUM_FEATURES, write_features
from agents.search.values import leaf_value
from agents.search.worlds import sample_world
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.cards import MAX_CARDS, MAX_SEATS
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.rng import combine
from hf_env.engine.scoring import side_score
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action, start_game
from hf_env.kernels.compile import copy_record, entry, kernel

# What play_worlds returns beside OK.
OK, NO_WORLD, STUCK = 0, 1, 2


@kernel
def score_difference(g, r, side):
    """Score of a side less the mean of the others', in points: a finished deal's, else as if it ended now."""
    sides = int(r["sides"])
    own = side_score(g, r, side)
    total = 0
    for other in range(sides):
        total += side_score(g, r, other)
    return own - (total - own) / (sides - 1.0)


@entry
def standings(games, rules, side, out):
    """score_difference of every game for a side: games (N,) GAME_DTYPE, side int64, out (N,) float64, overwritten."""
    for i in range(games.shape[0]):
        out[i] = score_difference(games[i], rules[np.int64(games[i]["rule"])], side)


@entry
def apply_actions(games, rules, actions):
    """Play a legal action in every game: games (N,) GAME_DTYPE, changed; actions (N,) int64."""
    for i in range(games.shape[0]):
        apply_action(games[i], rules[np.int64(games[i]["rule"])], actions[i])


@kernel
def play_turns(g, r, players, noise, key, made, last_turn, mask, tmp, plans, work):
    """play_on until the deal has had `last_turn` turns or has ended."""
    while g["phase"] != PHASE_OVER and g["turns"] < last_turn:
        made = play_on(g, r, players, noise, key, made, made + 1, mask, tmp, plans, work)
        if made == ILLEGAL:
            return ILLEGAL
    return made


@entry
def play_worlds(views, rules, row, seat, key, number, actions, first, depth, w1, b1, w2, b2, w3, b3, returns, work=None):
    """Play every action on worlds first, first + 1, ... of one decision, all seats by one player.

    views: (N,) GAME_DTYPE, redacted; row: int64, the decision's. rules: (R,) RULES_DTYPE. seat: int64. key: uint64, of the
    decision: a world's cards and its players' randomness are made of it and the world's number, so that all actions
    meet the same. number: int64, the player's (agents.scripted.dispatch). actions: (K,) int64, legal. depth: int64,
    turns after which the value of w1 .. b3 (see agents.search.values) stands for the rest of the deal; 0: to its end.
    returns: (W, K) float64, overwritten: score differences in points. work: of dispatch.work_for.

    Returns OK, NO_WORLD (see sample_world), or STUCK if the player chose an illegal action.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    tmp = np.empty(2, GAME_DTYPE)
    plans = np.empty((NUM_ROWS, PLAN_WIDTH), np.int64)
    pool = np.empty(MAX_CARDS, np.uint8)
    games = np.empty(2, GAME_DTYPE)
    players = np.full(MAX_SEATS, number, np.int64)
    noise = np.zeros(MAX_SEATS, np.float64)
    layers = np.empty((4, NUM_FEATURES), np.float64)
    view = views[row]
    r = rules[np.int64(view["rule"])]
    side = seat % int(r["sides"])
    last_turn = UNLIMITED if depth == 0 else int(view["turns"]) + depth
    for world in range(returns.shape[0]):
        if not sample_world(view, r, seat, key, first + world, pool, plans, games[0]):
            return NO_WORLD
        playing = combine(key, first + world)
        for k in range(actions.shape[0]):
            g = games[1]
            copy_record(g, games[0])
            apply_action(g, r, actions[k])
            if play_turns(g, r, players, noise, playing, 1, last_turn, mask, tmp, plans, work) == ILLEGAL:
                return STUCK
            if g["phase"] == PHASE_OVER:
                returns[world, k] = score_difference(g, r, side)
            else:
                returns[world, k] = leaf_value(g, r, side, w1, b1, w2, b2, w3, b3, layers)
    return OK


@entry
def sample_leaves(rules, rule, number, seeds, deals, keys, noise, turns, sides, features, returns, work=None):
    """States for a value to be fitted to: deals played with noise up to a turn, and on from there without.

    rules: (R,) RULES_DTYPE; rule: int64, the one to play. number: int64, the player of all seats. seeds: (N,) int64, of
    the deals; deals: (N,) int64, their numbers. keys: (N,) uint64. noise: (N,) float64, chance of a random action up to
    turns[i], (N,) int64. sides: (N,) int64, for which side to look. features: (N, F) float64 at that turn and returns: (N,)
    float64, the score difference at the end, overwritten; NaN where the deal had ended before. work: of dispatch.work_for.

    Returns OK or STUCK.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    tmp = np.empty(2, GAME_DTYPE)
    plans = np.empty((NUM_ROWS, PLAN_WIDTH), np.int64)
    deck = np.empty(MAX_CARDS, np.uint8)
    games = np.empty(1, GAME_DTYPE)
    players = np.full(MAX_SEATS, number, np.int64)
    chance = np.zeros(MAX_SEATS, np.float64)
    spare = np.empty(NUM_FEATURES, np.float64)
    g = games[0]
    r = rules[rule]
    for i in range(seeds.shape[0]):
        start_game(g, r, rule, seeds[i], deals[i], 1, deck)
        for seat in range(MAX_SEATS):
            chance[seat] = noise[i]
        made = play_turns(g, r, players, chance, keys[i], 0, turns[i], mask, tmp, plans, work)
        if made == ILLEGAL:
            return STUCK
        if g["phase"] == PHASE_OVER:
            returns[i] = np.nan
            continue
        write_features(g, r, sides[i], spare, features[i])
        for seat in range(MAX_SEATS):
            chance[seat] = 0.0
        if play_on(g, r, players, chance, keys[i], made, UNLIMITED, mask, tmp, plans, work) == ILLEGAL:
            return STUCK
        returns[i] = score_difference(g, r, sides[i])
    return OK

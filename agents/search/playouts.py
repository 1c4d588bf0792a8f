"""Candidates played out on common worlds by a scripted player, at engine speed."""

from typing import NamedTuple

import numpy as np

from agents.scripted.dispatch import Players
from agents.scripted.playout import ILLEGAL, UNLIMITED, play_on
from agents.search.features import NUM_FEATURES, write_features
from agents.search.values import leaf_value
from agents.search.worlds import sample_world
from hf_env.engine.cards import MAX_SEATS
from hf_env.engine.rng import combine
from hf_env.engine.scoring import side_score
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action, start_game
from hf_env.engine.workspace import make_workspace
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
def play_turns(g, r, players, key, made, last_turn, work):
    """``play_on`` until the deal has had `last_turn` turns or has ended; returns as it does."""
    while g["phase"] != PHASE_OVER and g["turns"] < last_turn:
        made = play_on(g, r, players, key, made, made + 1, work)
        if made == ILLEGAL:
            return ILLEGAL
    return made


@entry
def play_worlds(decision, actions, first, depth, number, player_work, weights, returns):
    """Play every action on worlds first, first + 1, ... of one decision, all seats by one player.

    Args:
        decision: Decision. A world's cards and its players' randomness are made of its key and the world's number, so that
            all actions meet the same.
        actions: (K,) int64, legal.
        first: int64, the first world.
        depth: int64, turns after which a value stands for the rest of the deal; 0: to its end.
        number: int64, the player's id.
        player_work: Of dispatch.work_for.
        weights: ValueWeights, of that value.
        returns: (W, K) float64, overwritten: score differences in points.

    Returns:
        OK, NO_WORLD (see sample_world), or STUCK if the player chose an illegal action.
    """
    work = make_workspace()
    games = np.empty(2, GAME_DTYPE)
    players = Players(np.full(MAX_SEATS, number, np.int64), np.zeros(MAX_SEATS, np.float64), player_work, None)
    layers = np.empty((4, NUM_FEATURES), np.float64)
    view = decision.views[decision.row]
    r = decision.rules[np.int64(view["rule"])]
    seat = decision.seat
    side = seat % int(r["sides"])
    last_turn = UNLIMITED if depth == 0 else int(view["turns"]) + depth
    for world in range(returns.shape[0]):
        if not sample_world(view, r, seat, decision.key, first + world, work, games[0]):
            return NO_WORLD
        playing = combine(decision.key, first + world)
        for k in range(actions.shape[0]):
            g = games[1]
            copy_record(g, games[0])
            apply_action(g, r, actions[k])
            if play_turns(g, r, players, playing, 1, last_turn, work) == ILLEGAL:
                return STUCK
            if g["phase"] == PHASE_OVER:
                returns[world, k] = score_difference(g, r, side)
            else:
                returns[world, k] = leaf_value(g, r, side, weights, layers)
    return OK


class Leaves(NamedTuple):
    """States for a value to be fitted to, of N deals: how each is come by, and what it is worth."""

    seeds: np.ndarray  # (N,) int64, of the deals
    deals: np.ndarray  # (N,) int64, their numbers from 1
    keys: np.ndarray  # (N,) uint64, of the players' randomness
    noise: np.ndarray  # (N,) float64, chance of a random action up to the turn
    turns: np.ndarray  # (N,) int64, the turn whose state is looked at
    sides: np.ndarray  # (N,) int64, for which side
    features: np.ndarray  # (N, F) float64 of the state, overwritten
    returns: np.ndarray  # (N,) float64, score difference at the deal's end, overwritten; NaN where it had ended before


@entry
def sample_leaves(rules, rule, number, player_work, leaves):
    """Play deals with noise up to a turn, note the state, and play on without.

    Args:
        rules: (R,) RULES_DTYPE.
        rule: int64, the one to play.
        number: int64, the id of the player of all seats.
        player_work: Of dispatch.work_for.
        leaves: Leaves.

    Returns:
        OK or STUCK.
    """
    work = make_workspace()
    games = np.empty(1, GAME_DTYPE)
    chance = np.zeros(MAX_SEATS, np.float64)
    players = Players(np.full(MAX_SEATS, number, np.int64), chance, player_work, None)
    spare = np.empty(NUM_FEATURES, np.float64)
    g = games[0]
    r = rules[rule]
    for i in range(leaves.seeds.shape[0]):
        start_game(g, r, rule, leaves.seeds[i], leaves.deals[i], 1, work.deck)
        for seat in range(MAX_SEATS):
            chance[seat] = leaves.noise[i]
        made = play_turns(g, r, players, leaves.keys[i], 0, leaves.turns[i], work)
        if made == ILLEGAL:
            return STUCK
        if g["phase"] == PHASE_OVER:
            leaves.returns[i] = np.nan
            continue
        write_features(g, r, leaves.sides[i], spare, leaves.features[i])
        for seat in range(MAX_SEATS):
            chance[seat] = 0.0
        if play_on(g, r, players, leaves.keys[i], made, UNLIMITED, work) == ILLEGAL:
            return STUCK
        leaves.returns[i] = score_difference(g, r, leaves.sides[i])
    return OK

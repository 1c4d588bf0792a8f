"""Deals played by `expert` with any weights in any seat, and by the players of the dispatch: for tuning and ablation."""

import numpy as np

from agents.scripted.dispatch import scripted_action
from agents.scripted.expert import choose_expert
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.jit import entry
from hf_env.engine.legality import write_mask
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.rng import combine
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action

# In the place of a player's number: `expert` with the row of weights of that seat.
WEIGHTED = -1


@entry
def play_weighted(games, rules, players, weights, keys):
    """Play every game to the end of its deal.

    games: (N,) GAME_DTYPE, changed. rules: (R,) RULES_DTYPE, indexed by a game's `rule`. players: (N, S) int64, numbers
    of agents.scripted.dispatch by seat, or WEIGHTED. weights: (S, NUM_WEIGHTS) float64, rows of the seats that are
    WEIGHTED. keys: (N,) uint64. Returns the number of the first game in which a player chose an illegal action, -1 if
    none did.
    """
    mask = np.zeros(NUM_ACTIONS, np.int8)
    tmp = np.empty(2, GAME_DTYPE)
    plans = np.empty((NUM_ROWS, PLAN_WIDTH), np.int64)
    for i in range(games.shape[0]):
        g = games[i]
        r = rules[np.int64(g["rule"])]
        made = 0
        while g["phase"] != PHASE_OVER:
            write_mask(g, r, mask, tmp, plans, 0)
            seat = int(g["to_move"])
            number = players[i, seat]
            if number == WEIGHTED:
                action = choose_expert(g, r, seat, mask, weights[seat])
            else:
                action = scripted_action(number, g, r, seat, mask, combine(keys[i], made))
            if action < 0 or not mask[action]:
                return i
            apply_action(g, r, action)
            made += 1
    return -1

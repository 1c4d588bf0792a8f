"""Playouts by a network of ranks, whole in compiled code: between two decisions of a few rows Python takes longer than they do."""

from typing import Any, NamedTuple

import numpy as np

from agents.neural.masked_categorical import best_action, sample_action
from agents.neural.ranks.single_row import run_row
from agents.scripted.playout import UNLIMITED
from agents.search.playouts import NO_WORLD, OK, score_difference
from agents.search.worlds import sample_world
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.legality import write_mask
from hf_env.engine.rng import advance, mix, uniform
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action
from hf_env.engine.workspace import Workspace, make_workspace
from hf_env.kernels.compile import copy_record, entry, kernel
from hf_env.observation.encoder import STALE, write_observation


@kernel
def _then(key, part):
    """The key that ``hf_env.policy_batch.decision_keys`` goes on to with a further number."""
    return mix(advance(key ^ np.uint64(part)))


class NetworkPlayer(NamedTuple):
    """A network of ranks as the player of all seats.

    Attributes:
        with_standing: whether what the sides have is added to the network's value, at a cut.
        samples: draw actions, else take the likeliest.
        scale: (2,) float64, mean and standard deviation of values, in points.
        network, work: as of ``run_row``.
    """

    with_standing: bool
    samples: bool
    scale: np.ndarray
    network: Any
    work: Any


class _Desk(NamedTuple):
    """What a playout works in."""

    rules: Workspace
    seen: np.ndarray  # (F,) int16, the observation
    logits: np.ndarray  # (127,) float32


@kernel
def _play_out(g, r, key, number, seat, last_turn, player, desk):
    """Play a game on by the network to its deal's end or to the cut, with ``LearnedRollouts``' keys.

    Args:
        g: The game's record, changed.
        r: The record of its rule set.
        key: uint64, of the decision.
        number: Of the world.
        seat: Whose decision of turn last_turn or later cuts the playout.
        last_turn: See seat.
        player: NetworkPlayer.
        desk: _Desk.

    Returns:
        The score difference for the seat's side, in points.
    """
    side = seat % int(r["sides"])
    mask = desk.rules.mask
    made = 0
    while g["phase"] != PHASE_OVER:
        made += 1
        mover = int(g["to_move"])
        cut = mover == seat and g["turns"] >= last_turn
        write_mask(g, r, mask, desk.rules)
        num_legal, action = 0, 0
        for legal in range(NUM_ACTIONS):
            if mask[legal] != 0:
                num_legal += 1
                action = legal
        if cut or num_legal > 1:
            write_observation(g, r, mover, desk.seen, 0, STALE)
            value = run_row(desk.seen, player.network, player.work, desk.logits)
            if cut:
                points = player.scale[0] + player.scale[1] * np.float64(value)
                return points + score_difference(g, r, side) if player.with_standing else points
            if player.samples:
                own = _then(_then(_then(_then(key, number), 0), mover), made)
                action, _ = sample_action(desk.logits, mask, uniform(advance(own ^ _then(np.uint64(0), 0))))
            else:
                action = best_action(desk.logits, mask)
        apply_action(g, r, action)
    return np.float64(score_difference(g, r, side))


@entry
def play_worlds(decision, actions, first, depth, player, returns):
    """Play every action on worlds first, first + 1, ... of one decision, all seats by one network.

    Args:
        decision: Decision.
        actions: (K,) int64, legal.
        first: int64, the first world.
        depth: int64, turns after which, at the seat's next decision, the network's value stands for the rest of the deal; 0:
            to its end.
        player: NetworkPlayer.
        returns: (W, K) float64, overwritten: score differences in points.

    Returns:
        OK or NO_WORLD.
    """
    games = np.empty(2, GAME_DTYPE)
    work = make_workspace()
    desk = _Desk(work, np.empty(player.network.num_columns, np.int16), np.empty(NUM_ACTIONS, np.float32))
    view = decision.views[decision.row]
    r = decision.rules[np.int64(view["rule"])]
    last_turn = UNLIMITED if depth == 0 else int(view["turns"]) + depth
    for world in range(returns.shape[0]):
        number = first + world
        if not sample_world(view, r, decision.seat, decision.key, number, work, games[0]):
            return NO_WORLD
        for k in range(actions.shape[0]):
            g = games[1]
            copy_record(g, games[0])
            apply_action(g, r, actions[k])
            returns[world, k] = _play_out(g, r, decision.key, number, decision.seat, last_turn, player, desk)
    return OK


@entry
def play_to_end(games, rules, seat, keys, player, returns):
    """Play every game to its deal's end by one network.

    Args:
        games: (N,) GAME_DTYPE, changed.
        rules: (R,) RULES_DTYPE, indexed by a game's `rule`.
        seat: int64, for whose side the returns are.
        keys: (N,) uint64, of the games.
        player: NetworkPlayer.
        returns: (N,) float64, overwritten: score differences in points.
    """
    desk = _Desk(make_workspace(), np.empty(player.network.num_columns, np.int16), np.empty(NUM_ACTIONS, np.float32))
    for i in range(games.shape[0]):
        g = games[i]
        returns[i] = _play_out(g, rules[np.int64(g["rule"])], keys[i], 0, seat, UNLIMITED, player, desk)

"""Scripted players by number, behind one kernel.

Every player has the signature ``choose(g, r, seat, mask, key, work) -> action`` and reads of the game record the public
fields and ``hands[seat]`` only, so the true record and its redacted copy (hf_env.engine.redact) give the same action.
A number, not a kernel as an argument: Numba would compile the caller anew for it in every process.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.scripted.expert.choose import choose_weighted
from agents.scripted.table import PLAYER_IDS, PLAYERS, ScriptedPlayer
from hf_env.kernels.compile import entry, kernel

RANDOM, GREEDY, EXPERT, BEAM = (PLAYER_IDS[name] for name in ("random", "greedy", "expert", "beam"))
# In the place of a player's number: `expert` with weights of its own, for tuning and ablation.
WEIGHTED = -1


class Players(NamedTuple):
    """Who sits where, in one game or, with a further first dimension, in N games.

    With None for `work` or `weights` the kernels are compiled without the players that need them, so that the others start
    as soon and play as fast.
    """

    numbers: np.ndarray  # (S,) or (N, S) int64, ids of table.py or WEIGHTED
    noise: np.ndarray  # (S,) or (N, S) float64, the chance that a decision is made at random instead
    work: Any = None  # of work_for; None: no player needs any
    weights: np.ndarray | None = None  # (S, NUM_WEIGHTS) float64, rows of the seats that are WEIGHTED; None: no seat is


def work_for(numbers: Iterable[int | np.integer]) -> Any:
    """The buffers that players work in, given their numbers: None where none of them needs any."""
    needed = {int(number) for number in numbers}
    return next((player.make_work() for player in PLAYERS if player.make_work is not None and player.id in needed), None)


def _choice_among(players: Sequence[ScriptedPlayer]) -> Any:
    """The kernel (number, g, r, seat, mask, key, work) -> action of these players; the last one stands for any number left."""
    number_of_first, choose_first = players[0].id, players[0].choose
    if len(players) == 1:

        @kernel
        def only_choice(number, g, r, seat, mask, key, work):
            return choose_first(g, r, seat, mask, key, work)

        return only_choice
    choose_other = _choice_among(players[1:])

    @kernel
    def choice(number, g, r, seat, mask, key, work):
        if number == number_of_first:
            return choose_first(g, r, seat, mask, key, work)
        return choose_other(number, g, r, seat, mask, key, work)

    return choice


_choose = _choice_among(PLAYERS[::-1])


@kernel
def scripted_action(number, g, r, seat, mask, key, work, weights):
    """The action of a scripted player.

    Args:
        number: Its id in table.py, or WEIGHTED.
        g: The game's record, true or redacted.
        r: The record of its rule set.
        seat: Who decides.
        mask: (127,) int8, 1 legal.
        key: uint64, its only randomness.
        work: As of Players.
        weights: As of Players.

    Returns:
        The action; -1 from a player that needs what is not given.
    """
    if number == WEIGHTED:
        if weights is not None:
            return choose_weighted(g, r, seat, mask, weights[seat])
        return -1
    return _choose(number, g, r, seat, mask, key, work)


@entry
def choose_batch(number, games, rules, seats, masks, keys, actions, work=None):
    """Choose actions of one player for N decisions, each row by itself.

    Args:
        number: int64, the player's id.
        games: (N,) GAME_DTYPE, true or redacted.
        rules: (R,) RULES_DTYPE, indexed by a game's `rule`.
        seats: (N,) int32.
        masks: (N, 127) int8.
        keys: (N,) uint64.
        actions: (N,) int32, overwritten.
        work: Of work_for.
    """
    for i in range(games.shape[0]):
        g = games[i]
        actions[i] = scripted_action(number, g, rules[np.int64(g["rule"])], np.int64(seats[i]), masks[i], keys[i], work, None)

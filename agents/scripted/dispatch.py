"""Scripted players by number, behind one kernel.

Every player has the signature ``choose(g, r, seat, mask, key) -> action`` and reads of the game record the public
fields and ``hands[seat]`` only, so the true record and its redacted copy (hf_env.engine.redact) give the same action.
`beam` has one argument more, the buffers that it works in.
A number, not a kernel as an argument: Numba would compile the caller anew for it in every process.
"""

from collections.abc import Iterable

import numpy as np

from agents.scripted.beam.choose import choose_beam
from agents.scripted.beam.search import BeamWork, make_work
from agents.scripted.expert.choose import choose_expert
from agents.scripted.expert.tuned import TUNED, style_of
from agents.scripted.greedy.choose import choose_greedy
from agents.scripted.uniform import choose_random
from hf_env.kernels.compile import entry, kernel

RANDOM, GREEDY, EXPERT, BEAM = 0, 1, 2, 3
# In the place of a player's number: `expert` with weights of its own, for tuning and ablation.
WEIGHTED = -1
NUMBERS = {"random": RANDOM, "greedy": GREEDY, "expert": EXPERT, "beam": BEAM}


def work_for(numbers: Iterable[int | np.integer]) -> BeamWork | None:
    """The buffers that players work in, given their numbers: None where none of them needs any.

    With None the kernels are compiled without those that do, so that the others start as soon and play as fast.
    """
    return make_work() if BEAM in numbers else None


@kernel
def scripted_action(number, g, r, seat, mask, key, work=None, weights=None):
    """The action of player `number` at `seat`. mask: (127,) int8, 1 legal; key: uint64, its only randomness.

    work: of work_for. weights: (S, NUM_WEIGHTS) float64 (expert_weights), rows of the seats that are WEIGHTED. -1 is the
    answer for a player that needs what is not given.
    """
    if number == WEIGHTED:
        if weights is not None:
            return choose_expert(g, r, seat, mask, weights[seat])
        return -1
    if number == BEAM:
        if work is not None:
            return choose_beam(g, r, seat, mask, key, work)
        return -1
    if number == GREEDY:
        return choose_greedy(g, r, seat, mask, key)
    if number == EXPERT:
        return choose_expert(g, r, seat, mask, TUNED[style_of(r)])
    return choose_random(g, r, seat, mask, key)


@entry
def choose_batch(number, games, rules, seats, masks, keys, actions, work=None):
    """Actions of one player for N decisions, each row by itself.

    number: int64. games: (N,) GAME_DTYPE, true or redacted. rules: (R,) RULES_DTYPE, indexed by a game's `rule`.
    seats: (N,) int32. masks: (N, 127) int8. keys: (N,) uint64. actions: (N,) int32, overwritten.
    work: of work_for.
    """
    for i in range(games.shape[0]):
        g = games[i]
        actions[i] = scripted_action(number, g, rules[np.int64(g["rule"])], np.int64(seats[i]), masks[i], keys[i], work)

"""The search of `beam`: the best few positions after each number of lay-downs, from one hand."""

from typing import NamedTuple

import numpy as np

from agents.scripted.beam.value import WEIGHTS, out_value, position_key, turn_value
from hf_env.engine.action_ids import ASK, DISCARD, MELD, NUM_ACTIONS
from hf_env.engine.legality import write_mask
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.engine.transitions import apply_action
from hf_env.engine.workspace import Workspace, make_workspace
from hf_env.kernels.compile import copy_record, kernel

WIDTH = 6
DEPTH = 18
# Places of the games in the work buffer: two fronts of the beam, one position being looked at, and the start.
CHILD, ROOT = 2 * WIDTH, 2 * WIDTH + 1
# Below every value.
WORST = -1e9
NO_ACTION = -1


class BeamWork(NamedTuple):
    """What `beam` works in: games, what write_mask needs, and of each position in a front how it began, its key and value."""

    nodes: np.ndarray  # (2 * WIDTH + 2,) GAME_DTYPE
    rules: Workspace  # for write_mask; its mask is that of the position looked at
    firsts: np.ndarray  # (2 * WIDTH,) int64
    keys: np.ndarray  # (2 * WIDTH,) int64
    values: np.ndarray  # (2 * WIDTH,) float64
    weights: np.ndarray  # (NUM_WEIGHTS,) float64


class Plan(NamedTuple):
    """A sequence of lay-downs: what its end is worth, its first action, and whether it goes out."""

    value: float
    first: int  # NO_ACTION: lay nothing
    out: bool


def make_work(weights: np.ndarray = WEIGHTS) -> BeamWork:
    """New buffers.

    Args:
        weights: (NUM_WEIGHTS,) float64, see agents.scripted.beam.value.
    """
    return BeamWork(
        nodes=np.zeros(2 * WIDTH + 2, GAME_DTYPE),
        rules=make_workspace(),
        firsts=np.zeros(2 * WIDTH, np.int64),
        keys=np.zeros(2 * WIDTH, np.int64),
        values=np.zeros(2 * WIDTH, np.float64),
        weights=np.array(weights, np.float64),
    )


@kernel
def can_discard(mask):
    """Whether some discard is legal: the turn may end."""
    for action in range(DISCARD, NUM_ACTIONS):
        if mask[action]:
            return True
    return False


@kernel
def _keep(work, at, count, first, key, value):
    """Put the looked-at position into the front that begins at `at` and has `count`, if it is new and among the best.

    Returns:
        The front's new count.
    """
    place = at + count
    worst = at
    for i in range(at, at + count):
        if work.keys[i] == key:
            return count
        if work.values[i] < work.values[worst]:
            worst = i
    if count == WIDTH:
        if value <= work.values[worst]:
            return count
        place = worst
    copy_record(work.nodes[place], work.nodes[CHILD])
    work.firsts[place] = first
    work.keys[place] = key
    work.values[place] = value
    return min(count + 1, WIDTH)


@kernel
def _expand(r, seat, chance, work, node, at, count, best):
    """Look at every lay-down that the mask allows in a position and keep the good ones in the front at `at`.

    A lay-down that empties the hand ends a plan: the foot is unknown.

    Returns:
        The front's count and the best Plan so far.
    """
    g = work.nodes[node]
    side = seat % int(r["sides"])
    for action in range(MELD, ASK):
        if not work.rules.mask[action]:
            continue
        child = work.nodes[CHILD]
        copy_record(child, g)
        apply_action(child, r, action)
        first = action if work.firsts[node] == NO_ACTION else work.firsts[node]
        out = child["phase"] == PHASE_OVER
        picked_up = child["in_foot"][seat] != g["in_foot"][seat]
        if out:
            value = out_value(child, r, seat, chance, work.weights)
        else:
            value = turn_value(child, r, seat, chance, work.weights, picked_up)
        if not out and not picked_up:
            count = _keep(work, at, count, first, position_key(child, seat, side), value)
        elif value > best.value:
            best = Plan(value, first, out)
    return count, best


@kernel
def best_plan(r, seat, chance, work):
    """The best sequence of lay-downs from the position in work.nodes[0], a redacted one in the phase of play.

    Where nothing found may end the turn, the Plan's value is WORST and its action leads to the best position found.
    """
    best = Plan(WORST, NO_ACTION, False)
    fallback = NO_ACTION
    here = 0
    count = 1
    work.values[0] = turn_value(work.nodes[0], r, seat, chance, work.weights, False)
    work.firsts[0] = NO_ACTION
    for depth in range(DEPTH + 1):
        there = WIDTH - here
        found = 0
        top = here
        for node in range(here, here + count):
            g = work.nodes[node]
            if work.values[node] > work.values[top]:
                top = node
            write_mask(g, r, work.rules.mask, work.rules)
            if can_discard(work.rules.mask):
                # In the foot the last card's discard goes out.
                out = g["in_foot"][seat] != 0 and g["hand_sizes"][seat] == 1
                value = out_value(g, r, seat, chance, work.weights) if out else work.values[node]
                if value > best.value:
                    best = Plan(value, work.firsts[node], out)
            if depth < DEPTH:
                found, best = _expand(r, seat, chance, work, node, there, found, best)
        fallback = work.firsts[top]
        if found == 0:
            break
        here = there
        count = found
    return Plan(best.value, fallback, best.out) if best.value == WORST else best

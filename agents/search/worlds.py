"""Hidden worlds that a seat cannot tell from the one it is in, drawn from its redacted record.

Which worlds are consistent, and why each is as likely as it is here: docs/search_player.md 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.policy import PolicyBatch
from hf_env.engine.cards import CARDS_PER_DECK, NUM_KINDS, RED3
from hf_env.engine.going_out import can_lay_out
from hf_env.engine.purposes import FOR_SHUFFLE_HIDDEN
from hf_env.engine.rng import advance, combine, shuffle, stream, uniform
from hf_env.engine.state import BINDING_BOTH, PHASE_ANSWER
from hf_env.engine.workspace import make_workspace
from hf_env.kernels.compile import copy_record, entry, kernel

_PER_DECK = np.array(CARDS_PER_DECK, np.int64)
# Deals of the hidden cards until one lets the asker go out; of small hands one in ten to a few hundred does.
MAX_TRIES = 1000


class Decision(NamedTuple):
    """One decision to search, by what its seat may know."""

    views: np.ndarray  # (N,) GAME_DTYPE, redacted
    rules: np.ndarray  # (R,) RULES_DTYPE, indexed by a view's `rule`
    row: np.int64  # the decision's view
    seat: np.int64  # who decides
    key: np.uint64  # of the decision: all randomness is made of it

    @classmethod
    def of(cls, batch: PolicyBatch, row: int) -> Decision:
        """The decision in a row of a batch."""
        views = batch.views
        return cls(views.games, views.rules, np.int64(row), np.int64(batch.seats[row]), np.uint64(batch.keys[row]))


@kernel
def _fill_pool(g, r, seat, pool):
    """Write the cards that the seat cannot place into pool, red 3s left out.

    Returns:
        Their number and the number of red 3s not seen.
    """
    size = 0
    red3s = 0
    for kind in range(NUM_KINDS):
        count = _PER_DECK[kind] * int(r["decks"]) - int(g["discard_kinds"][kind])
        for side in range(int(r["sides"])):
            count -= int(g["red3"][side]) if kind == RED3 else int(g["table"][side, kind])
        for other in range(int(r["players"])):
            count -= int(g["hands"][other, kind]) if other == seat else int(g["known"][other, kind])
        if kind == RED3:
            red3s = count
            continue
        for _ in range(count):
            pool[size] = kind
            size += 1
    return size, red3s


@kernel
def _red3s_in_feet(g, r, foot_cards, stock, red3s, state):
    """How many of the unseen red 3s lie in the feet where the stock is a former discard pile; -1: no such limit.

    No red 3 is ever discarded, and each that was drawn was laid: only an upcard that was not buried can be in it.
    """
    if g["reshuffles"] == 0:
        return -1
    if r["bury"][RED3] or red3s == 0:
        return min(red3s, foot_cards)
    with_one = stock * red3s / (foot_cards - red3s + 1.0) if foot_cards >= red3s else 1e300
    return red3s - 1 if uniform(state) * (1.0 + with_one) < with_one else red3s


@kernel
def _deal_hidden(r, seat, size, red3s, state, pool, out):
    """Deal the shuffled pool to the other hands, the feet and the stock of `out`, whose sizes stand; hands get no red 3."""
    state = shuffle(pool, size, state)
    at = 0
    foot_cards = 0
    for other in range(int(r["players"])):
        foot_cards += int(out["foot_sizes"][other])
        if other == seat:
            continue
        hidden = int(out["hand_sizes"][other])
        for kind in range(NUM_KINDS):
            known = int(out["known"][other, kind])
            out["hands"][other, kind] = known
            hidden -= known
        for _ in range(hidden):
            out["hands"][other, int(pool[at])] += 1
            at += 1
    rest = pool[at:]
    stock = int(out["stock_end"])
    state = advance(state)
    in_feet = _red3s_in_feet(out, r, foot_cards, stock, red3s, state)
    left = size - at
    for i in range(red3s):
        rest[left + i] = RED3
    if in_feet < 0:
        shuffle(rest, left + red3s, advance(state))
    else:
        _part_red3s(rest, foot_cards, left, red3s, in_feet, advance(state))
    at = 0
    for other in range(int(r["players"])):
        for kind in range(NUM_KINDS):
            out["feet"][other, kind] = 0
        for _ in range(int(out["foot_sizes"][other])):
            out["feet"][other, int(rest[at])] += 1
            at += 1
    for i in range(stock):
        out["stock"][i] = rest[at + i]


@kernel
def _part_red3s(rest, foot_cards, left, red3s, in_feet, state):
    """Arrange rest[: left + red3s], the red 3s last: so many of them among the first foot_cards, the others after."""
    first = foot_cards - in_feet
    for i in range(in_feet):
        rest[left + i] = rest[first + i]
        rest[first + i] = RED3
    # What was swapped to the end is natural again; red 3s beyond in_feet stay there.
    state = shuffle(rest, foot_cards, state)
    shuffle(rest[foot_cards:], left + red3s - foot_cards, advance(state))


@kernel
def _asker_can_go_out(out, r, work):
    """Whether the asker, if the seat is to answer one, could lay its hand out.

    Nobody asks in vain. Bound by a yes (permission binding_both) nobody may.
    """
    return out["phase"] != PHASE_ANSWER or can_lay_out(out, r, int(out["turn_seat"]), work)


@kernel
def sample_world(view, r, seat, key, number, work, out):
    """Write world `number` of a decision into `out`: a full game record that `seat` cannot tell from the true one.

    The seed is new: so are later reshuffles. What shaping counts stays 0.

    Args:
        view: The game as the seat may know it (hf_env.engine.redact), at a decision.
        r: The record of its rule set.
        seat: Who decides.
        key: uint64, of the decision.
        number: Of the world, from 0.
        work: A Workspace.
        out: The record to write.

    Returns:
        False where the asker that the seat answers could go out in none of MAX_TRIES deals, and the rules say that it can.
    """
    pool = work.deck
    copy_record(out, view)
    state = stream(key, FOR_SHUFFLE_HIDDEN, number, 0)
    out["seed"] = np.int64(state >> np.uint64(1))
    for attempt in range(MAX_TRIES):
        size, red3s = _fill_pool(view, r, seat, pool)
        _deal_hidden(r, seat, size, red3s, combine(state, attempt), pool, out)
        if _asker_can_go_out(out, r, work):
            return True
    return int(r["permission"]) != BINDING_BOTH


@entry
def sample_worlds(decision, out):
    """Worlds 0, 1, ... of a Decision, as ``search`` plays them: out (W,) GAME_DTYPE, overwritten.

    Returns:
        False as sample_world.
    """
    work = make_workspace()
    view = decision.views[decision.row]
    r = decision.rules[np.int64(view["rule"])]
    for i in range(out.shape[0]):
        if not sample_world(view, r, decision.seat, decision.key, i, work, out[i]):
            return False
    return True

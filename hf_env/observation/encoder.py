"""Writers of the observation and of the state vector: one writer a section, in the layout's order.

Seats are relative to the observer (0 the observer, 1 the next to play, ...), sides too (0 the observer's own).
Nothing private to another seat is ever read by the writers of an observation; hf_env/observation/layout.py says
what each section means and how long it is.
"""

import numpy as np

from hf_env.engine.cards import CARDS_PER_DECK, NUM_KINDS, NUM_NATURALS, RED3, WILD
from hf_env.engine.dealing import deal_entry, opening_minimum
from hf_env.engine.scoring import table_score
from hf_env.engine.seats import side_of
from hf_env.engine.state import (
    ANSWER_NO,
    ANSWER_YES,
    NO_LIMIT,
    NUM_EVENTS,
    NUM_RECENT_DISCARDS,
    PHASE_OVER,
)
from hf_env.engine.transitions import EVENT_SEAT_STRIDE
from hf_env.kernels.compile import clear_values, copy_values, kernel
from hf_env.kernels.lanes import lanes, minus, plus, put_lanes, times
from hf_env.observation.options import NUM_OPTIONS, POINTS_UNIT, write_options

HELD_KINDS = 14  # kinds that can be in a hand: all but the red 3
TOP_CARDS = 7
LIMIT = 32767
_PER_DECK = np.array([*CARDS_PER_DECK, 0], np.int16)  # as many as there are lanes
_MELD_WIDTH = NUM_NATURALS + 1
_PILE_WIDTH = 1 + 3 * NUM_KINDS + TOP_CARDS * NUM_KINDS
# What an output row holds already: nothing, an observation of the same deal, or one of the same seat's turn.
STALE, SAME_DEAL, SAME_TURN = 0, 1, 2


@kernel
def _units(points):
    """Points in units of 5, rounded towards zero."""
    if points >= 0:
        return points // POINTS_UNIT
    return -((-points) // POINTS_UNIT)


@kernel
def _relative(start, offset, count):
    """(start + offset) mod count for an offset of less than one round; a division would cost ten times as much."""
    at = start + offset
    if at >= count:
        return at - count
    if at < 0:
        return at + count
    return at


@kernel
def _write_packet(g, other, out, o, players):
    """One seat's place in hand_sizes, foot_sizes and in_foot."""
    out[o] = g["hand_sizes"][other]
    out[o + players] = g["foot_sizes"][other]
    out[o + 2 * players] = g["in_foot"][other]


@kernel
def _write_recent_discards(g, r, seat, out, o):
    """recent_discards: one-hot, latest first."""
    players = int(r["players"])
    for i in range(players):
        other = _relative(seat, i, players)
        for j in range(NUM_RECENT_DISCARDS):
            kind = int(g["recent_discards"][other, j])
            if kind > 0:
                out[o + kind - 1] = 1
            o += HELD_KINDS
    return o


@kernel
def _table_width(sides):
    """Length of the sections that _write_side writes: melds, books, red3s, opened, and the standing."""
    return sides * (3 * NUM_NATURALS + 2 * _MELD_WIDTH + 3) + 5 * sides


@kernel
def _write_side(g, r, other, out, o, i, sides):
    """One side's rows in meld_naturals .. opened, table_scores, scores and quota_missing; i: its relative number.

    Returns whether its scores fit into int16.
    """
    twos = o + sides * NUM_NATURALS
    jokers = twos + sides * _MELD_WIDTH
    clean = jokers + sides * _MELD_WIDTH
    dirty = clean + sides * NUM_NATURALS
    wild = dirty + sides * NUM_NATURALS
    copy_values(out, o + i * NUM_NATURALS, g["naturals"][other], NUM_NATURALS)
    copy_values(out, twos + i * _MELD_WIDTH, g["twos"][other], _MELD_WIDTH)
    copy_values(out, jokers + i * _MELD_WIDTH, g["jokers"][other], _MELD_WIDTH)
    copy_values(out, clean + i * NUM_NATURALS, g["clean_books"][other], NUM_NATURALS)
    copy_values(out, dirty + i * NUM_NATURALS, g["dirty_books"][other], NUM_NATURALS)
    out[wild + i] = g["clean_books"][other, WILD]
    out[wild + sides + i] = g["red3"][other]
    out[wild + 2 * sides + i] = g["opened"][other]
    standing = wild + 3 * sides
    table = _units(table_score(g, r, other))
    total = _units(int(g["scores"][other]))
    out[standing + i] = table
    out[standing + sides + i] = total
    quota = r["quota"][deal_entry(int(g["deal"]))]
    for k in range(3):
        out[standing + 2 * sides + 3 * i + k] = max(int(quota[k]) - int(g["book_counts"][other, k]), 0)
    return -LIMIT <= table <= LIMIT and -LIMIT <= total <= LIMIT


@kernel
def _write_pile(g, r, out, o):
    """discard_size, discard_kinds, discard_top, take_cards, owed. Expects zeros."""
    size = int(g["discard_size"])
    out[o] = size
    o += 1
    copy_values(out, o, g["discard_kinds"], NUM_KINDS)
    o += NUM_KINDS
    for i in range(min(size, TOP_CARDS)):
        out[o + i * NUM_KINDS + int(g["discard"][size - 1 - i])] = 1
    o += TOP_CARDS * NUM_KINDS
    count = int(r["take_count"])
    if count == NO_LIMIT or count > size:
        count = size
    for i in range(1, count):
        out[o + int(g["discard"][size - 1 - i])] += 1
    o += NUM_KINDS
    for i in range(int(g["taking"])):
        out[o + int(g["discard"][size - 1 - i])] += 1
    return o + NUM_KINDS


@kernel
def _write_stock(g, out, o):
    """stock_size, reshuffles."""
    out[o] = g["stock_end"] - g["stock_next"]
    out[o + 1] = g["reshuffles"]
    return o + 2


@kernel
def _write_phase(g, out, o):
    """phase, one-hot; all 0 once the deal is over."""
    phase = int(g["phase"])
    for i in range(PHASE_OVER):
        out[o + i] = 1 if i == phase else 0
    return o + PHASE_OVER


@kernel
def _write_opening(g, r, seat, out, o):
    """laid, minimum, needed."""
    minimum = opening_minimum(r, int(g["deal"]))
    laid = int(g["laid"])
    own = side_of(r, seat)
    needed = 0
    if not g["opened"][own]:
        needed = minimum - (laid if side_of(r, int(g["turn_seat"])) == own else 0)
    out[o] = laid // POINTS_UNIT
    out[o + 1] = minimum // POINTS_UNIT
    out[o + 2] = max(needed, 0) // POINTS_UNIT
    return o + 3


@kernel
def _write_turn(g, r, seat, out, o):
    """phase, turn_seat, asked, answers, may_go_out, laid, minimum, needed, dealer, deal, deals_left, turns."""
    players = int(r["players"])
    o = _write_phase(g, out, o)
    turn_seat = _relative(int(g["turn_seat"]), -seat, players)
    out[o + turn_seat] = 1
    o += players
    if g["asked"]:
        out[o + turn_seat] = 1
        for i in range(players):
            answer = int(g["answers"][_relative(seat, i, players)])
            out[o + players + i] = 1 if answer == ANSWER_YES else 0
            out[o + 2 * players + i] = 1 if answer == ANSWER_NO else 0
    o += 3 * players
    out[o] = g["may_go_out"]
    o = _write_opening(g, r, seat, out, o + 1)
    out[o + _relative(int(g["dealer"]), -seat, players)] = 1
    o += players
    out[o] = g["deal"]
    out[o + 1] = 0 if g["single_deal"] else max(int(r["max_deals"]) - int(g["deal"]), 0)
    out[o + 2] = g["turns"]
    return o + 3


@kernel
def _write_events(g, r, seat, out, o):
    """events: (relative seat, action + 1, red 3s laid), the latest first, 0 where there was none."""
    players = int(r["players"])
    total = int(g["num_events"])
    for i in range(min(total, NUM_EVENTS)):
        at = (total - 1 - i) % NUM_EVENTS
        code = int(g["events"][at, 0])
        out[o + 3 * i] = (code // EVENT_SEAT_STRIDE - seat + players) % players
        out[o + 3 * i + 1] = code % EVENT_SEAT_STRIDE + 1
        out[o + 3 * i + 2] = g["events"][at, 1]
    return o + 3 * NUM_EVENTS


@kernel
def _write_public(g, r, seat, out, o, events, options):
    """All public sections as the seat sees them; the offset comes back negative if a score did not fit into int16.

    Expects zeros, but for the options, which are left as they stand unless `options`.
    """
    players = int(r["players"])
    sides = int(r["sides"])
    known = o + 3 * players
    for i in range(players):
        other = _relative(seat, i, players)
        _write_packet(g, other, out, o + i, players)
        copy_values(out, known + i * HELD_KINDS, g["known"][other], HELD_KINDS)
    o = _write_recent_discards(g, r, seat, out, known + players * HELD_KINDS)
    fits = True
    side = side_of(r, seat)
    for i in range(sides):
        fits = _write_side(g, r, _relative(side, i, sides), out, o, i, sides) and fits
    o = _write_pile(g, r, out, o + _table_width(sides))
    o = _write_stock(g, out, o)
    o = _write_turn(g, r, seat, out, o)
    if options:
        write_options(g, r, out, o)
    o += NUM_OPTIONS
    if events:
        o = _write_events(g, r, seat, out, o)
    return o if fits else -o


@kernel
def _write_private(g, r, seat, out):
    """hand, and unseen: cards neither in the own hand, nor on the table or the pile, nor known in a hand."""
    hand = lanes(g["hands"][seat])
    put_lanes(out, 0, hand, HELD_KINDS)
    unseen = minus(minus(times(lanes(_PER_DECK), int(r["decks"])), hand), lanes(g["discard_kinds"]))
    red3s = 0
    for side in range(int(r["sides"])):
        unseen = minus(unseen, lanes(g["table"][side]))
        red3s += int(g["red3"][side])
    unseen = plus(unseen, lanes(g["known"][seat]))
    for other in range(int(r["players"])):
        unseen = minus(unseen, lanes(g["known"][other]))
    put_lanes(out, HELD_KINDS, unseen, NUM_KINDS)
    out[HELD_KINDS + RED3] -= red3s
    return HELD_KINDS + NUM_KINDS


@kernel
def _refresh(g, r, seat, out, o):
    """Write again what an action of the seat in its own turn can have changed: its own hand and side, pile, stock, phase.

    `out` holds the same seat's observation of before. Returns as write_observation, but not the length.
    """
    players = int(r["players"])
    sides = int(r["sides"])
    _write_packet(g, seat, out, o, players)
    o += 3 * players
    copy_values(out, o, g["known"][seat], HELD_KINDS)
    o += players * HELD_KINDS * (1 + NUM_RECENT_DISCARDS)
    fits = _write_side(g, r, side_of(r, seat), out, o, 0, sides)
    o += _table_width(sides)
    # Within a turn the pile only ever shrinks, and what is owed of it changes only when it does.
    if out[o] != g["discard_size"]:
        clear_values(out, o, _PILE_WIDTH)
        _write_pile(g, r, out, o)
    o = _write_stock(g, out, o + _PILE_WIDTH)
    o = _write_phase(g, out, o)
    _write_opening(g, r, seat, out, o + 4 * players + 1)
    return 1 if fits else -1


@kernel
def write_observation(g, r, seat, out, events, held):
    """Write what a seat may know into out, (F,) int16, relative to the seat, at any moment of the game.

    held: what `out` holds already, of which only what can have changed is written again. STALE: nothing. SAME_DEAL: an
    observation of this deal. SAME_TURN: this seat's, of before its last action, which was a draw, a take or a lay-down.
    Returns a positive number, negative if a score did not fit into int16.
    """
    if held == SAME_TURN:
        o = _write_private(g, r, seat, out)
        if events:
            _write_events(g, r, seat, out, out.shape[0] - 3 * NUM_EVENTS)
        return _refresh(g, r, seat, out, o)
    end = out.shape[0]
    if held == SAME_DEAL:
        end -= NUM_OPTIONS
        if events:
            end -= 3 * NUM_EVENTS
    clear_values(out, 0, end)
    o = _write_private(g, r, seat, out)
    return _write_public(g, r, seat, out, o, events, held == STALE)


@kernel
def write_state(g, r, out):
    """Write the whole truth into out, (G,) int16, relative to seat 0. Returns as write_observation."""
    clear_values(out, 0, out.shape[0])
    players = int(r["players"])
    o = 0
    for seat in range(players):
        copy_values(out, o, g["hands"][seat], HELD_KINDS)
        o += HELD_KINDS
    for seat in range(players):
        for kind in range(NUM_KINDS):
            out[o + kind] = g["feet"][seat, kind]
        o += NUM_KINDS
    out[o + int(g["to_move"])] = 1
    o += players
    size = int(g["stock_end"]) - int(g["stock_next"])
    for i in range(size):
        card = int(g["stock"][int(g["stock_next"]) + i])
        out[o + card] += 1
        out[o + NUM_KINDS + i] = card + 1
    o += NUM_KINDS + g["stock"].shape[0]
    size = int(g["discard_size"])
    for i in range(size):
        out[o + i] = int(g["discard"][size - 1 - i]) + 1
    o += g["discard"].shape[0]
    return _write_public(g, r, 0, out, o, True, True)

"""Writers of the observation and of the state vector, by the names of the sections.

`at`, a record of OBSERVATION_PLACES or STATE_PLACES, says where each section begins: ``out[at.scores + i]``. Seats are
relative to the observer (0 the observer, 1 the next to play, ...), sides too (0 the observer's own). Nothing private to
another seat is ever read by the writers of an observation; hf_env/observation/sections.py says what each section means
and how long it is.
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
from hf_env.kernels.memory import word
from hf_env.observation.places import (
    OBSERVATION_PLACES,
    OPTIONS,
    READ_CHOICE,
    READ_LIMIT,
    READ_NEXT_MINIMUM,
    READ_POINTS,
    STATE_PLACES,
)
from hf_env.observation.sections import EVENT_WIDTH, HELD_KINDS, LIMIT, POINTS_UNIT, TOP_CARDS, WITH_WILD

_PER_DECK = np.array([*CARDS_PER_DECK, 0], np.int16)  # as many as there are lanes
# What an output row holds already: nothing, an observation of the same deal, or one of the same seat's turn.
STALE, SAME_DEAL, SAME_TURN = 0, 1, 2


@kernel
def _units(points):
    """Points in units of 5, rounded towards zero, and cut off at LIMIT either way."""
    if points >= 0:
        return min(points // POINTS_UNIT, LIMIT)
    return -min((-points) // POINTS_UNIT, LIMIT)


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
def _write_packet(g, other, out, at, i):
    """One seat's place in hand_sizes, foot_sizes, in_foot and known.

    Args:
        i: its relative number.
    """
    out[at.hand_sizes + i] = g["hand_sizes"][other]
    out[at.foot_sizes + i] = g["foot_sizes"][other]
    out[at.in_foot + i] = g["in_foot"][other]
    copy_values(out, at.known + i * HELD_KINDS, g["known"][other], HELD_KINDS)


@kernel
def _write_recent_discards(g, other, out, at, i):
    """One seat's place in recent_discards, one-hot, latest first.

    Args:
        i: its relative number.
    """
    for j in range(NUM_RECENT_DISCARDS):
        kind = int(g["recent_discards"][other, j])
        if kind > 0:
            out[at.recent_discards + (i * NUM_RECENT_DISCARDS + j) * HELD_KINDS + kind - 1] = 1


@kernel
def _write_side(g, r, other, out, at, i):
    """One side's rows in meld_naturals .. opened, table_scores, scores and quota_missing.

    Args:
        i: its relative number.
    """
    copy_values(out, at.meld_naturals + i * NUM_NATURALS, g["naturals"][other], NUM_NATURALS)
    copy_values(out, at.meld_twos + i * WITH_WILD, g["twos"][other], WITH_WILD)
    copy_values(out, at.meld_jokers + i * WITH_WILD, g["jokers"][other], WITH_WILD)
    copy_values(out, at.clean_books + i * NUM_NATURALS, g["clean_books"][other], NUM_NATURALS)
    copy_values(out, at.dirty_books + i * NUM_NATURALS, g["dirty_books"][other], NUM_NATURALS)
    out[at.wild_books + i] = g["clean_books"][other, WILD]
    out[at.red3s + i] = g["red3"][other]
    out[at.opened + i] = g["opened"][other]
    out[at.table_scores + i] = _units(table_score(g, r, other))
    out[at.scores + i] = _units(int(g["scores"][other]))
    quota = r["quota"][deal_entry(int(g["deal"]))]
    for k in range(3):
        out[at.quota_missing + 3 * i + k] = max(int(quota[k]) - int(g["book_counts"][other, k]), 0)


@kernel
def _write_pile(g, r, out, at):
    """discard_size, discard_kinds, discard_top, take_cards, owed. Expects zeros."""
    size = int(g["discard_size"])
    out[at.discard_size] = size
    copy_values(out, at.discard_kinds, g["discard_kinds"], NUM_KINDS)
    for i in range(min(size, TOP_CARDS)):
        out[at.discard_top + i * NUM_KINDS + int(g["discard"][size - 1 - i])] = 1
    count = int(r["take_count"])
    if count == NO_LIMIT or count > size:
        count = size
    for i in range(1, count):
        out[at.take_cards + int(g["discard"][size - 1 - i])] += 1
    for i in range(int(g["taking"])):
        out[at.owed + int(g["discard"][size - 1 - i])] += 1


@kernel
def _rewrite_pile(g, r, out, at):
    """The sections of the pile in place of those of before."""
    clear_values(out, at.discard_size, 1)
    clear_values(out, at.discard_kinds, NUM_KINDS)
    clear_values(out, at.discard_top, TOP_CARDS * NUM_KINDS)
    clear_values(out, at.take_cards, NUM_KINDS)
    clear_values(out, at.owed, NUM_KINDS)
    _write_pile(g, r, out, at)


@kernel
def _write_stock(g, out, at):
    """stock_size, reshuffles."""
    out[at.stock_size] = g["stock_end"] - g["stock_next"]
    out[at.reshuffles] = g["reshuffles"]


@kernel
def _write_phase(g, out, at):
    """phase, one-hot; all 0 once the deal is over."""
    phase = int(g["phase"])
    for i in range(PHASE_OVER):
        out[at.phase + i] = 1 if i == phase else 0


@kernel
def _write_opening(g, r, seat, out, at):
    """laid, minimum, needed."""
    minimum = opening_minimum(r, int(g["deal"]))
    laid = int(g["laid"])
    own = side_of(r, seat)
    needed = 0
    if not g["opened"][own]:
        needed = minimum - (laid if side_of(r, int(g["turn_seat"])) == own else 0)
    out[at.laid] = laid // POINTS_UNIT
    out[at.minimum] = minimum // POINTS_UNIT
    out[at.needed] = max(needed, 0) // POINTS_UNIT


@kernel
def _write_turn(g, r, seat, out, at):
    """phase, turn_seat, asked, answers, may_go_out, laid, minimum, needed, dealer, deal, deals_left, turns."""
    players = int(r["players"])
    _write_phase(g, out, at)
    turn_seat = _relative(int(g["turn_seat"]), -seat, players)
    out[at.turn_seat + turn_seat] = 1
    if g["asked"]:
        out[at.asked + turn_seat] = 1
        for i in range(players):
            answer = int(g["answers"][_relative(seat, i, players)])
            out[at.answers + i] = 1 if answer == ANSWER_YES else 0
            out[at.answers + players + i] = 1 if answer == ANSWER_NO else 0
    out[at.may_go_out] = g["may_go_out"]
    _write_opening(g, r, seat, out, at)
    out[at.dealer + _relative(int(g["dealer"]), -seat, players)] = 1
    out[at.deal] = g["deal"]
    out[at.deals_left] = 0 if g["single_deal"] else max(int(r["max_deals"]) - int(g["deal"]), 0)
    out[at.turns] = g["turns"]


@kernel
def _write_options(g, r, out, at):
    """The rule options, as their declarations say. Expects zeros."""
    deal = int(g["deal"])
    entry = deal_entry(deal)
    for i in range(OPTIONS.shape[0]):
        place = at.options + OPTIONS[i, 0]
        how = OPTIONS[i, 1]
        value = word(r, OPTIONS[i, 2] + entry * OPTIONS[i, 3])
        if how == READ_CHOICE:
            out[place + value] = 1
        elif how == READ_LIMIT:
            if value != NO_LIMIT:
                out[place] = 1
                out[place + 1] = value
        elif how == READ_POINTS:
            out[place] = value // POINTS_UNIT
        elif how == READ_NEXT_MINIMUM:
            out[place] = opening_minimum(r, deal + 1) // POINTS_UNIT
        else:
            out[place] = value


@kernel
def _write_events(g, r, seat, out, at):
    """events: (relative seat, action + 1, red 3s laid), the latest first, 0 where there was none."""
    players = int(r["players"])
    total = int(g["num_events"])
    for i in range(min(total, NUM_EVENTS)):
        ring = (total - 1 - i) % NUM_EVENTS
        code = int(g["events"][ring, 0])
        place = at.events + EVENT_WIDTH * i
        out[place] = (code // EVENT_SEAT_STRIDE - seat + players) % players
        out[place + 1] = code % EVENT_SEAT_STRIDE + 1
        out[place + 2] = g["events"][ring, 1]


@kernel
def _write_public(g, r, seat, out, at, events, options):
    """All public sections as the seat sees them.

    Expects zeros, but for the options, which are left as they stand unless `options`.
    """
    players = int(r["players"])
    sides = int(r["sides"])
    for i in range(players):
        other = _relative(seat, i, players)
        _write_packet(g, other, out, at, i)
        _write_recent_discards(g, other, out, at, i)
    side = side_of(r, seat)
    for i in range(sides):
        _write_side(g, r, _relative(side, i, sides), out, at, i)
    _write_pile(g, r, out, at)
    _write_stock(g, out, at)
    _write_turn(g, r, seat, out, at)
    if options:
        _write_options(g, r, out, at)
    if events:
        _write_events(g, r, seat, out, at)


@kernel
def _write_private(g, r, seat, out, at):
    """hand, and unseen: cards neither in the own hand, nor on the table or the pile, nor known in a hand."""
    hand = lanes(g["hands"][seat])
    put_lanes(out, at.hand, hand, HELD_KINDS)
    unseen = minus(minus(times(lanes(_PER_DECK), int(r["decks"])), hand), lanes(g["discard_kinds"]))
    red3s = 0
    for side in range(int(r["sides"])):
        unseen = minus(unseen, lanes(g["table"][side]))
        red3s += int(g["red3"][side])
    unseen = plus(unseen, lanes(g["known"][seat]))
    for other in range(int(r["players"])):
        unseen = minus(unseen, lanes(g["known"][other]))
    put_lanes(out, at.unseen, unseen, NUM_KINDS)
    out[at.unseen + RED3] -= red3s


@kernel
def _refresh(g, r, seat, out, at):
    """Write again what an action of the seat in its own turn can have changed: its own hand and side, pile, stock, phase.

    `out` holds the same seat's observation of before.
    """
    _write_packet(g, seat, out, at, 0)
    _write_side(g, r, side_of(r, seat), out, at, 0)
    # Within a turn the pile only ever shrinks, and what is owed of it changes only when it does.
    if out[at.discard_size] != g["discard_size"]:
        _rewrite_pile(g, r, out, at)
    _write_stock(g, out, at)
    _write_phase(g, out, at)
    _write_opening(g, r, seat, out, at)


@kernel
def write_observation(g, r, seat, out, events, held):
    """Write what a seat may know into out, (F,) int16, relative to the seat, at any moment of the game.

    Args:
        held: what `out` holds already, of which only what can have changed is written again. STALE: nothing. SAME_DEAL: an
            observation of this deal. SAME_TURN: this seat's, of before its last action, which was a draw, a take or a
            lay-down.
    """
    at = OBSERVATION_PLACES[int(r["players"]), int(r["sides"])]
    if held == SAME_TURN:
        _write_private(g, r, seat, out, at)
        if events:
            _write_events(g, r, seat, out, at)
        _refresh(g, r, seat, out, at)
        return
    # Options change only with the deal, and events of a deal only ever follow each other.
    clear_values(out, 0, at.options if held == SAME_DEAL else out.shape[0])
    _write_private(g, r, seat, out, at)
    _write_public(g, r, seat, out, at, events, held == STALE)


@kernel
def write_state(g, r, out):
    """Write the whole truth into out, (G,) int16, relative to seat 0."""
    clear_values(out, 0, out.shape[0])
    players = int(r["players"])
    at = STATE_PLACES[players, int(r["sides"])]
    for seat in range(players):
        copy_values(out, at.hands + seat * HELD_KINDS, g["hands"][seat], HELD_KINDS)
        for kind in range(NUM_KINDS):
            out[at.feet + seat * NUM_KINDS + kind] = g["feet"][seat, kind]
    out[at.to_move + int(g["to_move"])] = 1
    size = int(g["stock_end"]) - int(g["stock_next"])
    for i in range(size):
        card = int(g["stock"][int(g["stock_next"]) + i])
        out[at.stock_kinds + card] += 1
        out[at.stock_order + i] = card + 1
    size = int(g["discard_size"])
    for i in range(size):
        out[at.discard_order + i] = int(g["discard"][size - 1 - i]) + 1
    _write_public(g, r, 0, out, at, True, True)

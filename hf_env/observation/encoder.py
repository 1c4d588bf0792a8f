"""Writers of the observation and of the state vector: one writer a section, in the layout's order.

Seats are relative to the observer (0 the observer, 1 the next to play, ...), sides too (0 the observer's own).
Nothing private to another seat is ever read by the writers of an observation; hf_env/observation/layout.py says
what each section means and how long it is.
"""

from hf_env.engine.cards import BLACK3, JOKER, NUM_KINDS, NUM_NATURALS, RED3, TWO, WILD
from hf_env.engine.dealing import deal_entry, opening_minimum
from hf_env.engine.jit import kernel
from hf_env.engine.scoring import table_score
from hf_env.engine.state import (
    ANSWER_NO,
    ANSWER_YES,
    NO_LIMIT,
    NUM_EVENTS,
    NUM_RECENT_DISCARDS,
    PHASE_OVER,
)
from hf_env.engine.transitions import EVENT_SEAT_STRIDE

HELD_KINDS = 14  # kinds that can be in a hand: all but the red 3
TOP_CARDS = 7
POINTS_UNIT = 5
LIMIT = 32767
# Values of the rule options: 24 numbers, 5 choices of 3, 2 limits of 2, 14 amounts of points.
NUM_OPTIONS = 57
# Cards of a kind in one deck, as dealing._PER_DECK: naturals and 2s 4, the others 2.
FULL_KIND, HALF_KIND = 4, 2


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
def _write_packets(g, r, seat, out, o):
    """hand_sizes, foot_sizes, in_foot."""
    players = int(r["players"])
    for i in range(players):
        other = _relative(seat, i, players)
        out[o + i] = g["hand_sizes"][other]
        out[o + players + i] = g["foot_sizes"][other]
        out[o + 2 * players + i] = g["in_foot"][other]
    return o + 3 * players


@kernel
def _write_known(g, r, seat, out, o):
    """known: cards publicly known to be in each hand since a take."""
    players = int(r["players"])
    for i in range(players):
        other = _relative(seat, i, players)
        for kind in range(HELD_KINDS):
            out[o + kind] = g["known"][other, kind]
        o += HELD_KINDS
    return o


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
def _write_table(g, r, side, out, o):
    """meld_naturals, meld_twos, meld_jokers, clean_books, dirty_books, wild_books, red3s, opened of all sides."""
    sides = int(r["sides"])
    twos = o + sides * NUM_NATURALS
    jokers = twos + sides * (NUM_NATURALS + 1)
    clean = jokers + sides * (NUM_NATURALS + 1)
    dirty = clean + sides * NUM_NATURALS
    wild = dirty + sides * NUM_NATURALS
    red3 = wild + sides
    opened = red3 + sides
    for i in range(sides):
        other = _relative(side, i, sides)
        for rank in range(NUM_NATURALS):
            out[o + i * NUM_NATURALS + rank] = g["naturals"][other, rank]
            out[clean + i * NUM_NATURALS + rank] = g["clean_books"][other, rank]
            out[dirty + i * NUM_NATURALS + rank] = g["dirty_books"][other, rank]
        for rank in range(NUM_NATURALS + 1):
            out[twos + i * (NUM_NATURALS + 1) + rank] = g["twos"][other, rank]
            out[jokers + i * (NUM_NATURALS + 1) + rank] = g["jokers"][other, rank]
        out[wild + i] = g["clean_books"][other, WILD]
        out[red3 + i] = g["red3"][other]
        out[opened + i] = g["opened"][other]
    return opened + sides


@kernel
def _write_standing(g, r, side, out, o):
    """table_scores, scores, quota_missing of all sides. Returns the new offset, negative if a score does not fit."""
    sides = int(r["sides"])
    fits = True
    quota = r["quota"][deal_entry(int(g["deal"]))]
    for i in range(sides):
        other = _relative(side, i, sides)
        table = _units(table_score(g, r, other))
        total = _units(int(g["scores"][other]))
        if table > LIMIT or table < -LIMIT or total > LIMIT or total < -LIMIT:
            fits = False
        out[o + i] = table
        out[o + sides + i] = total
        at = o + 2 * sides + 3 * i
        for k in range(3):
            out[at + k] = max(int(quota[k]) - int(g["book_counts"][other, k]), 0)
    o += 5 * sides
    return o if fits else -o


@kernel
def _write_pile(g, r, out, o):
    """discard_size, discard_kinds, discard_top, take_cards, owed, stock_size, reshuffles."""
    size = int(g["discard_size"])
    out[o] = size
    o += 1
    for kind in range(NUM_KINDS):
        out[o + kind] = g["discard_kinds"][kind]
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
    o += NUM_KINDS
    out[o] = g["stock_end"] - g["stock_next"]
    out[o + 1] = g["reshuffles"]
    return o + 2


@kernel
def _write_turn(g, r, seat, out, o):
    """phase, turn_seat, asked, answers, may_go_out, laid, minimum, needed, dealer, deal, deals_left, turns."""
    players = int(r["players"])
    sides = int(r["sides"])
    phase = int(g["phase"])
    if phase < PHASE_OVER:
        out[o + phase] = 1
    o += PHASE_OVER
    turn_seat = _relative(int(g["turn_seat"]), -seat, players)
    out[o + turn_seat] = 1
    o += players
    if g["asked"]:
        out[o + turn_seat] = 1
    o += players
    for i in range(players):
        answer = int(g["answers"][_relative(seat, i, players)])
        out[o + i] = 1 if answer == ANSWER_YES else 0
        out[o + players + i] = 1 if answer == ANSWER_NO else 0
    o += 2 * players
    minimum = opening_minimum(r, int(g["deal"]))
    laid = int(g["laid"])
    out[o] = g["may_go_out"]
    out[o + 1] = laid // POINTS_UNIT
    out[o + 2] = minimum // POINTS_UNIT
    own = seat % sides
    if not g["opened"][own]:
        needed = minimum - (laid if int(g["turn_seat"]) % sides == own else 0)
        out[o + 3] = max(needed, 0) // POINTS_UNIT
    o += 4
    out[o + _relative(int(g["dealer"]), -seat, players)] = 1
    o += players
    out[o] = g["deal"]
    out[o + 1] = 0 if g["single_deal"] else max(int(r["max_deals"]) - int(g["deal"]), 0)
    out[o + 2] = g["turns"]
    return o + 3


@kernel
def _one_hot(out, o, index, count):
    out[o + index] = 1
    return o + count


@kernel
def _limit(out, o, value):
    """A limit that may be absent: whether there is one, and its value."""
    if value != NO_LIMIT:
        out[o] = 1
        out[o + 1] = value
    return o + 2


@kernel
def _write_option_counts(g, r, out, o):
    """Options that are numbers or yes / no."""
    deal = int(g["deal"])
    entry = deal_entry(deal)
    out[o] = r["decks"]
    out[o + 1] = r["hand_size"]
    out[o + 2] = r["foot_size"]
    out[o + 3] = r["bury"][RED3]
    out[o + 4] = r["bury"][TWO]
    out[o + 5] = r["bury"][BLACK3]
    out[o + 6] = r["draw"][entry]
    out[o + 7] = r["max_deals"]
    out[o + 8] = r["has_target"]
    out[o + 9] = int(r["target"]) // POINTS_UNIT
    out[o + 10] = opening_minimum(r, deal + 1) // POINTS_UNIT
    out[o + 11] = r["book_size"]
    out[o + 12] = r["max_wilds"]
    out[o + 13] = r["min_naturals"]
    out[o + 14] = r["wild_melds"]
    out[o + 15] = r["take_wild_top"]
    out[o + 16] = r["take_needs_open"]
    out[o + 17] = r["wild_discard_freezes"]
    for i in range(3):
        out[o + 18 + i] = r["quota"][entry, i]
    out[o + 21] = r["partner_foot"]
    out[o + 22] = r["reshuffle"]
    out[o + 23] = r["max_turns"]
    return o + 24


@kernel
def _write_option_choices(r, out, o):
    """Options that are one of three words, one-hot, and the limits that may be absent."""
    o = _one_hot(out, o, int(r["grow"]), 3)
    o = _one_hot(out, o, int(r["wild_limit"]), 3)
    o = _one_hot(out, o, int(r["take_key"]), 3)
    o = _one_hot(out, o, int(r["permission"]), 3)
    o = _one_hot(out, o, int(r["final_discard"]), 3)
    o = _limit(out, o, int(r["wild_book_cap"]))
    return _limit(out, o, int(r["take_count"]))


@kernel
def _write_option_points(r, out, o):
    """Values of cards and bonuses in units of 5 points."""
    points = r["card_points"]
    out[o] = int(points[JOKER]) // POINTS_UNIT
    out[o + 1] = int(points[TWO]) // POINTS_UNIT
    out[o + 2] = int(points[NUM_NATURALS - 1]) // POINTS_UNIT
    out[o + 3] = int(points[4]) // POINTS_UNIT
    out[o + 4] = int(points[0]) // POINTS_UNIT
    out[o + 5] = int(points[BLACK3]) // POINTS_UNIT
    out[o + 6] = int(r["clean_book"]) // POINTS_UNIT
    out[o + 7] = int(r["dirty_book"]) // POINTS_UNIT
    out[o + 8] = int(r["wild_book"]) // POINTS_UNIT
    out[o + 9] = int(r["going_out"]) // POINTS_UNIT
    out[o + 10] = int(r["red3_laid"]) // POINTS_UNIT
    out[o + 11] = int(r["red3_held"]) // POINTS_UNIT
    out[o + 12] = int(r["sevens_book"]) // POINTS_UNIT
    out[o + 13] = int(r["unfinished_wild_penalty"]) // POINTS_UNIT
    return o + 14


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

    options: False leaves the options' values as they stand in `out`; they change only with the deal.
    """
    side = seat % int(r["sides"])
    o = _write_packets(g, r, seat, out, o)
    o = _write_known(g, r, seat, out, o)
    o = _write_recent_discards(g, r, seat, out, o)
    o = _write_table(g, r, side, out, o)
    o = _write_standing(g, r, side, out, o)
    fits = o >= 0
    o = _write_pile(g, r, out, abs(o))
    o = _write_turn(g, r, seat, out, o)
    if options:
        end = _write_option_counts(g, r, out, o)
        end = _write_option_choices(r, out, end)
        _write_option_points(r, out, end)
    o += NUM_OPTIONS
    if events:
        o = _write_events(g, r, seat, out, o)
    return o if fits else -o


@kernel
def _write_unseen(g, r, seat, out, o):
    """unseen: cards of each kind that are neither in the own hand, nor on the table or the pile, nor known in a hand."""
    decks = int(r["decks"])
    for kind in range(JOKER):
        out[o + kind] = decks * FULL_KIND - int(g["hands"][seat, kind]) - int(g["discard_kinds"][kind])
    for kind in range(JOKER, NUM_KINDS):
        out[o + kind] = decks * HALF_KIND - int(g["hands"][seat, kind]) - int(g["discard_kinds"][kind])
    for side in range(int(r["sides"])):
        for kind in range(BLACK3):
            out[o + kind] -= g["table"][side, kind]
        out[o + RED3] -= g["red3"][side]
    for other in range(int(r["players"])):
        if other != seat:
            for kind in range(NUM_KINDS):
                out[o + kind] -= g["known"][other, kind]
    return o + NUM_KINDS


@kernel
def write_observation(g, r, seat, out, events, options):
    """Write what a seat may know into out, (F,) int16, relative to the seat, at any moment of the game.

    options: False if `out` holds an observation of the same deal, whose options need not be written again.
    Returns the number of values written, negative if a score did not fit into int16.
    """
    end = out.shape[0]
    if not options:
        end -= NUM_OPTIONS
        if events:
            end -= 3 * NUM_EVENTS
            for i in range(end + NUM_OPTIONS, out.shape[0]):
                out[i] = 0
    for i in range(end):
        out[i] = 0
    for kind in range(HELD_KINDS):
        out[kind] = g["hands"][seat, kind]
    o = _write_unseen(g, r, seat, out, HELD_KINDS)
    return _write_public(g, r, seat, out, o, events, options)


@kernel
def write_state(g, r, out):
    """Write the whole truth into out, (G,) int16, relative to seat 0. Returns as write_observation."""
    for i in range(out.shape[0]):
        out[i] = 0
    players = int(r["players"])
    o = 0
    for seat in range(players):
        for kind in range(HELD_KINDS):
            out[o + kind] = g["hands"][seat, kind]
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

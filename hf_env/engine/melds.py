"""Melds and books: limits, and laying cards on the table. Rule: docs/rules.md 4."""

import numpy as np

from hf_env.engine.action_ids import (
    ADD,
    ADD_JOKER,
    ADD_JOKER_WILD,
    ADD_TWO,
    ADD_TWO_WILD,
    MELD,
    MELD_WILD,
    NUM_PATTERNS,
    PATTERN_JOKERS,
    PATTERN_NATURALS,
    PATTERN_TWOS,
)
from hf_env.engine.cards import JOKER, MAX_BOOKS, NUM_NATURALS, TWO, WILD
from hf_env.engine.seats import side_of
from hf_env.engine.state import CLEAN_BOOKS, DIRTY_BOOKS, GROW_ANY, GROW_NONE, MORE_NATURALS, NO_LIMIT, TWO_TO_ONE, WILD_BOOKS
from hf_env.kernels.compile import kernel
from hf_env.kernels.lanes import at_least, lanes, minus, plus, times


@kernel
def wild_limit_allows(r, naturals, wilds, is_book):
    """Whether a natural meld (or grown book) may consist of so many naturals and wilds. Rule: docs/rules.md 4.7, 4.8."""
    if wilds == 0:
        return True
    if naturals < int(r["min_naturals"]):  # rules.md 4.8
        return False
    limit = int(r["wild_limit"])
    if limit == TWO_TO_ONE:
        return naturals >= 2 * wilds
    if limit == MORE_NATURALS:
        return naturals > wilds
    return is_book or wilds <= int(r["max_wilds"])


@kernel
def wild_limit_bits(g, r, side):
    """Bits of the ranks whose open meld may take one wild more, as wild_limit_allows; of those without one, anything."""
    naturals = lanes(g["naturals"][side])
    wilds = plus(lanes(g["twos"][side]), lanes(g["jokers"][side]))
    enough = at_least(naturals, int(r["min_naturals"]), NUM_NATURALS)
    limit = int(r["wild_limit"])
    if limit == TWO_TO_ONE:
        return enough & at_least(minus(naturals, times(wilds, 2)), 2, NUM_NATURALS)
    if limit == MORE_NATURALS:
        return enough & at_least(minus(naturals, wilds), 2, NUM_NATURALS)
    return enough & ~at_least(wilds, int(r["max_wilds"]), NUM_NATURALS)


@kernel
def may_start_wild_meld(r, wild_books):
    """Whether a side with so many wild books, and no open wild meld, may start one. Rule: docs/rules.md 4.10."""
    if not r["wild_melds"]:
        return False
    cap = int(r["wild_book_cap"])
    return cap == NO_LIMIT or wild_books < cap


@kernel
def open_size(g, side, rank):
    """Cards in the side's open meld of a rank (WILD: the wild meld), 0 for none."""
    return int(g["naturals"][side, rank]) + int(g["twos"][side, rank]) + int(g["jokers"][side, rank])


@kernel
def growing_book(g, r, side, rank, is_wild):
    """Index of the book that one more card goes to when no meld of the rank is open; -1 for none.

    The dirty one first (the earliest completed), else a clean one, skipping any where the card is illegal.
    Rule: docs/rules.md 4.11, 4.12.
    """
    grow = int(r["grow"])
    if grow == GROW_NONE or (is_wild and grow != GROW_ANY):
        return -1
    clean = -1
    for book in range(int(g["num_books"])):
        if g["book_side"][book] != side or g["book_rank"][book] != rank:
            continue
        if rank == WILD:
            return book
        naturals = int(g["book_naturals"][book])
        wilds = int(g["book_twos"][book]) + int(g["book_jokers"][book])
        if not is_wild:
            legal = wild_limit_allows(r, naturals + 1, wilds, True)
        else:
            legal = wild_limit_allows(r, naturals, wilds + 1, True)
        if not legal:
            continue
        if wilds > 0:
            return book
        if clean < 0:
            clean = book
    return clean


@kernel
def can_add(g, r, side, rank, is_wild):
    """Whether the side's melds of this rank take one more natural or wild (the hand is not looked at)."""
    naturals = int(g["naturals"][side, rank])
    wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
    if naturals + wilds == 0:
        return int(r["grow"]) != GROW_NONE and growing_book(g, r, side, rank, is_wild) >= 0
    if rank == WILD:
        return is_wild
    if is_wild:
        return wild_limit_allows(r, naturals, wilds + 1, False)
    return wild_limit_allows(r, naturals + 1, wilds, False)


@kernel
def _record_book(g, side, rank):
    """Close the side's open meld of a rank as a book."""
    book = int(g["num_books"])
    if book < MAX_BOOKS:
        g["book_side"][book] = side
        g["book_rank"][book] = rank
        g["book_naturals"][book] = g["naturals"][side, rank]
        g["book_twos"][book] = g["twos"][side, rank]
        g["book_jokers"][book] = g["jokers"][side, rank]
        g["num_books"] = book + 1
    wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
    if wilds > 0 and rank != WILD:
        g["dirty_books"][side, rank] += 1
        g["book_counts"][side, DIRTY_BOOKS] += 1
    else:
        g["clean_books"][side, rank] += 1
        g["book_counts"][side, WILD_BOOKS if rank == WILD else CLEAN_BOOKS] += 1
    g["naturals"][side, rank] = 0
    g["twos"][side, rank] = 0
    g["jokers"][side, rank] = 0


@kernel
def _grow_book(g, r, side, rank, naturals, twos, jokers):
    """Put one card onto the book that takes it; a clean book that gets a wild counts as dirty from then on. Rule: docs/rules.md 4.13."""
    wilds = twos + jokers
    book = growing_book(g, r, side, rank, wilds > 0)
    was_clean = int(g["book_twos"][book]) + int(g["book_jokers"][book]) == 0
    g["book_naturals"][book] += naturals
    g["book_twos"][book] += twos
    g["book_jokers"][book] += jokers
    if was_clean and wilds > 0:
        g["clean_books"][side, rank] -= 1
        g["dirty_books"][side, rank] += 1
        g["book_counts"][side, CLEAN_BOOKS] -= 1
        g["book_counts"][side, DIRTY_BOOKS] += 1


@kernel
def place(g, r, side, rank, naturals, twos, jokers):
    """Put cards on the table: a start of three, one card onto the open meld, or one onto a book. Expects it to be legal.

    Rule: docs/rules.md 4.4 to 4.6.
    """
    points = twos * int(r["card_points"][TWO]) + jokers * int(r["card_points"][JOKER])
    if rank != WILD:
        g["table"][side, rank] += naturals
        points += naturals * int(r["card_points"][rank])
    g["table"][side, TWO] += twos
    g["table"][side, JOKER] += jokers
    g["table_points"][side] += points
    size = open_size(g, side, rank)
    if size == 0 and naturals + twos + jokers == 1:
        _grow_book(g, r, side, rank, naturals, twos, jokers)
        return
    g["naturals"][side, rank] += naturals
    g["twos"][side, rank] += twos
    g["jokers"][side, rank] += jokers
    if size + naturals + twos + jokers >= int(r["book_size"]):  # rules.md 4.5
        _record_book(g, side, rank)


@kernel
def lay_down_cards(action):
    """(rank, naturals, 2s, jokers) of a lay-down's id."""
    if action < MELD_WILD:
        pattern = (action - MELD) % NUM_PATTERNS
        return (action - MELD) // NUM_PATTERNS, PATTERN_NATURALS[pattern], PATTERN_TWOS[pattern], PATTERN_JOKERS[pattern]
    if action < ADD:
        return np.int64(WILD), np.int64(0), np.int64(3 - (action - MELD_WILD)), np.int64(action - MELD_WILD)
    if action < ADD_TWO:
        return np.int64(action - ADD), np.int64(1), np.int64(0), np.int64(0)
    if action < ADD_JOKER:
        return np.int64(action - ADD_TWO), np.int64(0), np.int64(1), np.int64(0)
    if action < ADD_TWO_WILD:
        return np.int64(action - ADD_JOKER), np.int64(0), np.int64(0), np.int64(1)
    if action < ADD_JOKER_WILD:
        return np.int64(WILD), np.int64(0), np.int64(1), np.int64(0)
    return np.int64(WILD), np.int64(0), np.int64(0), np.int64(1)


@kernel
def leave_hand(g, seat, kind, count):
    """Take cards out of a hand; a card publicly known to be there goes first. Rule: docs/rules.md 5.11."""
    g["hands"][seat, kind] -= count
    g["hand_sizes"][seat] -= count
    known = int(g["known"][seat, kind])
    if known > 0:
        g["known"][seat, kind] = max(known - count, 0)


@kernel
def leave_hand_for_meld(g, r, seat, rank, naturals, twos, jokers):
    """Take the cards of a lay-down out of a hand.

    Returns:
        Their card points, rules.md 1.3.
    """
    points = 0
    if naturals > 0:
        leave_hand(g, seat, rank, naturals)
        points += naturals * int(r["card_points"][rank])
    if twos > 0:
        leave_hand(g, seat, TWO, twos)
        points += twos * int(r["card_points"][TWO])
    if jokers > 0:
        leave_hand(g, seat, JOKER, jokers)
        points += jokers * int(r["card_points"][JOKER])
    return points


@kernel
def lay_from_hand(g, r, seat, rank, naturals, twos, jokers):
    """Move cards from a seat's hand to its side's melds.

    Returns:
        Their card points.
    """
    points = leave_hand_for_meld(g, r, seat, rank, naturals, twos, jokers)
    place(g, r, side_of(r, seat), rank, naturals, twos, jokers)
    return points

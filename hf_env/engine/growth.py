"""Plans of one rank found by search, for the options that no formula covers: growing books, and both-binding permission.

The search walks over all sequences of lay-downs in one rank. Which wild a card is does not matter to a meld, so a
state is the cards laid, the open meld, and the naturals and wilds of each book in the order of completion.
Rule: docs/rules.md 4.11 (add_to_complete), 7.5 (binding_both).
"""

from typing import NamedTuple

import numpy as np

from hf_env.engine.melds import wild_limit_allows
from hf_env.engine.state import GROW_ANY, GROW_NONE
from hf_env.kernels.compile import kernel

NOTHING = -(1 << 20)
# A state: naturals laid, wilds laid, open naturals, open wilds, books, then (naturals, wilds) of each book.
_LAID, _WILDS, _OPEN, _OPEN_WILDS, _BOOKS, _FIRST = 0, 1, 2, 3, 4, 5
# The states that a search has room for without making more. 8 decks hold 80 cards that fit one rank: 28 books of 3 at most.
GROWTH_ROWS, GROWTH_WIDTH = 256, 64
NO_ROW = -1


class PlanRows(NamedTuple):
    """Where the search writes; `clean` and `clean_but_one` may both be NO_ROW: not wanted."""

    plans: np.ndarray  # (NUM_ROWS, PLAN_WIDTH) int64, of opening.py
    most: int  # plans[most, w]: most naturals laid with exactly w wilds
    clean: int  # most clean books of the rank after all naturals and exactly w wilds are laid
    clean_but_one: int  # the same after all naturals but one


@kernel
def _hash_row(rows, at, width):
    h = 1469598103
    for i in range(width):
        h = ((h ^ int(rows[at, i])) * 16777619) & 0xFFFFFFFF
    return h


@kernel
def _insert(rows, count, table, width):
    """Keep rows[count] if it is new; returns the new count. `table` is a hash table of row numbers, -1 empty."""
    size = table.shape[0]
    at = _hash_row(rows, count, width) % size
    while table[at] >= 0:
        same = True
        other = table[at]
        for i in range(width):
            if rows[other, i] != rows[count, i]:
                same = False
                break
        if same:
            return count
        at = (at + 1) % size
    table[at] = count
    return count + 1


@kernel
def _target_book(r, rows, at, is_wild):
    """As melds.growing_book, on a search state."""
    grow = int(r["grow"])
    if grow == GROW_NONE or (is_wild and grow != GROW_ANY):
        return -1
    clean = -1
    for book in range(int(rows[at, _BOOKS])):
        naturals = int(rows[at, _FIRST + 2 * book])
        wilds = int(rows[at, _FIRST + 2 * book + 1])
        if is_wild:
            legal = wild_limit_allows(r, naturals, wilds + 1, True)
        else:
            legal = wild_limit_allows(r, naturals + 1, wilds, True)
        if legal and wilds > 0:
            return book
        if legal and clean < 0:
            clean = book
    return clean


@kernel
def _extend(r, rows, at, out, naturals, wilds, width):
    """Write into rows[out] the state after one lay-down in rows[at]; False if it is illegal."""
    for i in range(width):
        rows[out, i] = rows[at, i]
    open_naturals = int(rows[at, _OPEN])
    open_wilds = int(rows[at, _OPEN_WILDS])
    rows[out, _LAID] += naturals
    rows[out, _WILDS] += wilds
    if naturals + wilds == 1 and open_naturals + open_wilds == 0:
        book = _target_book(r, rows, at, wilds > 0)
        if book < 0:
            return False
        rows[out, _FIRST + 2 * book] += naturals
        rows[out, _FIRST + 2 * book + 1] += wilds
        return True
    if naturals + wilds == 3 and open_naturals + open_wilds > 0:
        return False
    if not wild_limit_allows(r, open_naturals + naturals, open_wilds + wilds, False):
        return False
    rows[out, _OPEN] += naturals
    rows[out, _OPEN_WILDS] += wilds
    if int(rows[out, _OPEN]) + int(rows[out, _OPEN_WILDS]) >= int(r["book_size"]):
        book = int(rows[out, _BOOKS])
        rows[out, _FIRST + 2 * book] = rows[out, _OPEN]
        rows[out, _FIRST + 2 * book + 1] = rows[out, _OPEN_WILDS]
        rows[out, _BOOKS] = book + 1
        rows[out, _OPEN] = 0
        rows[out, _OPEN_WILDS] = 0
    return True


@kernel
def _clean_books(rows, at):
    clean = 0
    for book in range(int(rows[at, _BOOKS])):
        if rows[at, _FIRST + 2 * book + 1] == 0:
            clean += 1
    return clean


@kernel
def _write_first(g, side, rank, state, width):
    """Write the state before any lay-down: the side's open meld and books of the rank."""
    for i in range(width):
        state[i] = 0
    state[_OPEN] = g["naturals"][side, rank]
    state[_OPEN_WILDS] = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
    book = 0
    for i in range(int(g["num_books"])):
        if g["book_side"][i] == side and g["book_rank"][i] == rank:
            state[_FIRST + 2 * book] = g["book_naturals"][i]
            state[_FIRST + 2 * book + 1] = int(g["book_twos"][i]) + int(g["book_jokers"][i])
            book += 1
    state[_BOOKS] = book


@kernel
def _twice_as_many(states, count, width):
    """New states with room for twice as many, the first `count` copied."""
    bigger = np.zeros((2 * states.shape[0], width), np.int16)
    for i in range(count):
        for j in range(width):
            bigger[i, j] = states[i, j]
    return bigger


@kernel
def rank_plans_by_search(g, r, side, rank, held, wilds, rows, growth):
    """Walk over all ways to lay up to `held` naturals of a rank and up to `wilds` wilds, and write the best into `rows`.

    Args:
        g: The game's record.
        r: The record of its rule set.
        side: Whose melds are laid to.
        rank: 0 to 10.
        held: Naturals of the rank at hand.
        wilds: Wilds at hand.
        rows: PlanRows, of which columns 0 to `wilds` are overwritten.
        growth: (GROWTH_ROWS, GROWTH_WIDTH) int16, overwritten. None leaves the search out at compile time, and writes nothing:
            for rule sets that never ask for it.
    """
    if growth is None:
        return
    plans = rows.plans
    first_books = int(g["clean_books"][side, rank]) + int(g["dirty_books"][side, rank])
    open_cards = int(g["naturals"][side, rank]) + int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
    most_books = first_books + (open_cards + held + wilds) // int(r["book_size"]) + 1
    width = _FIRST + 2 * most_books
    states = growth
    table = np.full(1024, -1, np.int32)
    _write_first(g, side, rank, states[0], width)
    for w in range(wilds + 1):
        plans[rows.most, w] = NOTHING
        if rows.clean != NO_ROW:
            plans[rows.clean, w] = NOTHING
            plans[rows.clean_but_one, w] = NOTHING
    count = _insert(states, 0, table, width)
    at = 0
    while at < count:
        laid = int(states[at, _LAID])
        used = int(states[at, _WILDS])
        plans[rows.most, used] = max(plans[rows.most, used], laid)
        if rows.clean != NO_ROW and laid == held:
            plans[rows.clean, used] = max(plans[rows.clean, used], _clean_books(states, at))
        if rows.clean != NO_ROW and laid == held - 1:
            plans[rows.clean_but_one, used] = max(plans[rows.clean_but_one, used], _clean_books(states, at))
        if count + 6 >= states.shape[0]:
            states = _twice_as_many(states, count, width)
            table = np.full(8 * states.shape[0], -1, np.int32)
            for i in range(count):
                _insert(states, i, table, width)
        for move in range(5):
            # One natural, one wild, or a start with 0, 1 or 2 wilds.
            naturals = 1 if move == 0 else (0 if move == 1 else 5 - move)
            new_wilds = 0 if move == 0 else (1 if move == 1 else move - 2)
            if laid + naturals > held or used + new_wilds > wilds:
                continue
            if _extend(r, states, at, count, naturals, new_wilds, width):
                count = _insert(states, count, table, width)
        at += 1

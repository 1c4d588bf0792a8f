"""What holds in every state of a game: cards are conserved, counters equal what they count, limits are kept.

`first_broken_invariant` recomputes each derived fact from the cards themselves. It is slow beside the engine and no
part of play: tests call it after every action, `positions` on what it has built, a VectorGame on what it is given.
Whatever bytes a record holds, it reads no place outside of it: ranges come first, and the rest relies on them.
"""

import numpy as np

from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.cards import CARDS_PER_DECK, JOKER, MAX_BOOKS, MAX_CARDS, NUM_KINDS, NUM_MELDS, NUM_NATURALS, RED3, TWO, WILD
from hf_env.engine.dealing import opening_minimum
from hf_env.engine.melds import wild_limit_allows
from hf_env.engine.state import (
    ANSWER_NO,
    CLEAN_BOOKS,
    DIRTY_BOOKS,
    END_MAX_TURNS,
    END_OUT,
    GROW_ANY,
    GROW_NONE,
    NO_LIMIT,
    NOT_ENDED,
    NOT_YET,
    NUM_EVENTS,
    NUM_RECENT_DISCARDS,
    PERMISSION_NONE,
    PHASE_ANSWER,
    PHASE_DRAW,
    PHASE_OVER,
    WILD_BOOKS,
)
from hf_env.engine.transitions import EVENT_SEAT_STRIDE
from hf_env.kernels.compile import entry, kernel

_PER_DECK = np.array(CARDS_PER_DECK, np.int64)
# Of points and counters, so that what is added to them in a game does not leave 32 bits. A game of 1,000 deals has fewer.
_MOST = 1 << 30
_MOST_DEALS = 1000

MESSAGES = {
    0: "nothing is broken",
    1: "the cards of a kind are not as many as the decks hold",
    2: "a count of cards is negative",
    3: "a hand's size is not the number of its cards",
    4: "a foot's size is not the number of its cards, or a foot picked up has cards",
    5: "the kinds in the discard pile are miscounted",
    6: "a card is known to be in a hand that does not hold it",
    7: "a red 3 lies in a hand at a decision",
    8: "a hand is empty in the foot, or on a side that has not opened, or at its own turn",
    9: "an open meld has fewer than 3 cards, or as many as a book",
    10: "a meld or book breaks the wild limit",
    11: "a book has a wrong number of cards, or an impossible side or rank",
    12: "the books by rank are miscounted",
    13: "the cards on the table are miscounted",
    14: "there is a wild meld or book that the rules do not allow",
    15: "a side that has not opened has a foot picked up, or melds outside its own opening",
    16: "the points of an opening are miscounted, or it has reached the minimum",
    17: "cards are owed by a take outside an opening, or more than the discard pile holds",
    18: "the question and its answers contradict each other",
    19: "the seat to move is not the one that the phase says",
    20: "the end of the deal contradicts itself",
    21: "the discard pile is empty before a draw",
    22: "an order is given for a reshuffle, outside an action",
    23: "a number is outside of its range",
    24: "a rule set that is not there",
}


@kernel
def _is_from_to(value, low, high):
    return low <= int(value) <= high


@kernel
def _numbers_broken(g, r):
    """Code 23: the numbers of the deal and the turn, and how far the piles reach."""
    seats = int(r["players"]) - 1
    fine = _is_from_to(g["deal"], 1, _MOST_DEALS) and _is_from_to(g["dealer"], 0, seats) and int(g["seed"]) >= 0
    fine = fine and _is_from_to(g["turns"], 0, int(r["max_turns"]))
    fine = fine and _is_from_to(g["turn_seat"], 0, seats) and _is_from_to(g["to_move"], 0, seats)
    fine = fine and _is_from_to(g["phase"], 0, PHASE_OVER) and _is_from_to(g["asked"], 0, 1) and _is_from_to(g["may_go_out"], 0, 1)
    fine = fine and _is_from_to(g["laid"], 0, _MOST) and _is_from_to(g["taking"], 0, MAX_CARDS)
    fine = fine and _is_from_to(g["end_reason"], NOT_ENDED, END_MAX_TURNS) and _is_from_to(g["out_seat"], NOT_YET, seats)
    fine = fine and _is_from_to(g["game_over"], 0, 1) and _is_from_to(g["single_deal"], 0, 1)
    fine = fine and _is_from_to(g["num_books"], 0, MAX_BOOKS) and _is_from_to(g["discard_size"], 0, MAX_CARDS)
    fine = fine and _is_from_to(g["stock_end"], 0, MAX_CARDS) and _is_from_to(g["stock_next"], 0, int(g["stock_end"]))
    fine = fine and _is_from_to(g["reshuffles"], 0, _MOST) and _is_from_to(g["num_events"], 0, _MOST)
    return 0 if fine else 23


@kernel
def _lists_broken(g, r):
    """Code 23: what stands in the piles, in the lists by seat and by side, and in the events."""
    players, sides = int(r["players"]), int(r["sides"])
    for i in range(int(g["discard_size"])):
        if g["discard"][i] >= NUM_KINDS:
            return 23
    for i in range(int(g["stock_next"]), int(g["stock_end"])):
        if g["stock"][i] >= NUM_KINDS:
            return 23
    for seat in range(players):
        fine = _is_from_to(g["answers"][seat], 0, ANSWER_NO) and _is_from_to(g["in_foot"][seat], 0, 1)
        fine = fine and _is_from_to(g["foot_by_discard"][seat], 0, 1) and _is_from_to(g["foot_turn"][seat], NOT_YET, int(r["max_turns"]))
        fine = fine and g["num_takes"][seat] >= 0 and g["num_asks"][seat] >= 0 and g["num_yes"][seat] >= 0 and g["num_no"][seat] >= 0
        for i in range(NUM_RECENT_DISCARDS):
            fine = fine and _is_from_to(g["recent_discards"][seat, i], 0, NUM_KINDS)
        if not fine:
            return 23
    for side in range(sides):
        fine = _is_from_to(g["opened"][side], 0, 1) and _is_from_to(g["opened_by_take"][side], 0, 1)
        fine = fine and _is_from_to(g["opening_turn"][side], NOT_YET, int(r["max_turns"]))
        fine = fine and _is_from_to(g["scores"][side], -_MOST, _MOST) and _is_from_to(g["deal_scores"][side], -_MOST, _MOST)
        fine = fine and _is_from_to(g["stranded"][side], -_MOST, _MOST)
        fine = fine and _is_from_to(g["potential"][side], -_MOST, _MOST) and _is_from_to(g["potential_start"][side], -_MOST, _MOST)
        if not fine:
            return 23
    for i in range(min(int(g["num_events"]), NUM_EVENTS)):
        code = int(g["events"][i, 0])
        if code < 0 or code // EVENT_SEAT_STRIDE >= players or code % EVENT_SEAT_STRIDE >= NUM_ACTIONS:
            return 23
        if not _is_from_to(g["events"][i, 1], 0, MAX_CARDS):
            return 23
    return 0


@kernel
def _packets_broken(g, r):
    """Codes 2 to 8: hands, feet, what is known of them."""
    for seat in range(int(r["players"])):
        held = 0
        foot = 0
        for kind in range(NUM_KINDS):
            if g["hands"][seat, kind] < 0 or g["feet"][seat, kind] < 0 or g["known"][seat, kind] < 0:
                return 2
            held += int(g["hands"][seat, kind])
            foot += int(g["feet"][seat, kind])
            if g["known"][seat, kind] > g["hands"][seat, kind]:
                return 6
        if held != g["hand_sizes"][seat]:
            return 3
        expected = 0 if g["in_foot"][seat] else int(r["foot_size"])
        if foot != g["foot_sizes"][seat] or foot != expected:
            return 4
        if g["phase"] == PHASE_OVER:
            continue
        if g["hands"][seat, RED3] > 0:
            return 7
        side = seat % int(r["sides"])
        if held == 0 and (g["in_foot"][seat] or not g["opened"][side]):
            # An opening may take the last card only by reaching the minimum; what a take owes may still be coming.
            return 8
        if held == 0 and g["turn_seat"] == seat:
            return 8
    return 0


@kernel
def _cards_broken(g, r):
    """Codes 1, 2, 5: conservation of each kind over hands, feet, table, red 3s, discard pile and stock."""
    counts = np.zeros(NUM_KINDS, np.int64)
    discards = np.zeros(NUM_KINDS, np.int64)
    for i in range(int(g["discard_size"])):
        discards[int(g["discard"][i])] += 1
    for i in range(int(g["stock_next"]), int(g["stock_end"])):
        counts[int(g["stock"][i])] += 1
    for kind in range(NUM_KINDS):
        if discards[kind] != g["discard_kinds"][kind]:
            return 5
        counts[kind] += discards[kind]
        for seat in range(int(r["players"])):
            counts[kind] += int(g["hands"][seat, kind]) + int(g["feet"][seat, kind])
        for side in range(int(r["sides"])):
            if g["table"][side, kind] < 0 or g["red3"][side] < 0:
                return 2
            counts[kind] += int(g["table"][side, kind])
            if kind == RED3:
                counts[kind] += int(g["red3"][side])
        if counts[kind] != _PER_DECK[kind] * int(r["decks"]):
            return 1
    return 0


@kernel
def _melds_broken(g, r, side):
    """Codes 9, 10, 14: the open melds of a side."""
    for rank in range(NUM_MELDS):
        naturals = int(g["naturals"][side, rank])
        wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
        if naturals < 0 or g["twos"][side, rank] < 0 or g["jokers"][side, rank] < 0:
            return 2
        if naturals + wilds == 0:
            continue
        if naturals + wilds < 3 or naturals + wilds >= int(r["book_size"]):
            return 9
        if rank != WILD and not wild_limit_allows(r, naturals, wilds, False):
            return 10
        if rank == WILD:
            cap = int(r["wild_book_cap"])
            if naturals > 0 or not r["wild_melds"] or (cap != NO_LIMIT and int(g["clean_books"][side, WILD]) >= cap):
                return 14
    return 0


@kernel
def _books_broken(g, r, table, books):
    """Codes 10, 11, 14: the list of books; adds their cards to table and their numbers to books[side, rank, dirty]."""
    size = int(r["book_size"])
    if g["num_books"] < 0 or g["num_books"] > MAX_BOOKS:
        return 11
    for book in range(int(g["num_books"])):
        side = int(g["book_side"][book])
        rank = int(g["book_rank"][book])
        if side < 0 or side >= int(r["sides"]) or rank < 0 or rank >= NUM_MELDS:
            return 11
        naturals = int(g["book_naturals"][book])
        twos = int(g["book_twos"][book])
        jokers = int(g["book_jokers"][book])
        total = naturals + twos + jokers
        if naturals < 0 or twos < 0 or jokers < 0 or total < size or (total > size and int(r["grow"]) == GROW_NONE):
            return 11
        if rank == WILD:
            if naturals > 0 or not r["wild_melds"] or (total > size and int(r["grow"]) != GROW_ANY):
                return 14
        else:
            table[side, rank] += naturals
            if not wild_limit_allows(r, naturals, twos + jokers, total > size):
                return 10
        table[side, TWO] += twos
        table[side, JOKER] += jokers
        books[side, rank, 1 if rank != WILD and twos + jokers > 0 else 0] += 1
    return 0


@kernel
def _table_broken(g, r):
    """Codes 9 to 14: melds and books, and all that is counted of them."""
    table = np.zeros((int(r["sides"]), NUM_KINDS), np.int64)
    books = np.zeros((int(r["sides"]), NUM_MELDS, 2), np.int64)
    code = _books_broken(g, r, table, books)
    if code != 0:
        return code
    cap = int(r["wild_book_cap"])
    for side in range(int(r["sides"])):
        code = _melds_broken(g, r, side)
        if code != 0:
            return code
        if cap != NO_LIMIT and books[side, WILD, 0] > cap:
            return 14
        for rank in range(NUM_MELDS):
            if books[side, rank, 0] != g["clean_books"][side, rank] or books[side, rank, 1] != g["dirty_books"][side, rank]:
                return 12
            if rank < NUM_NATURALS:
                table[side, rank] += int(g["naturals"][side, rank])
            table[side, TWO] += int(g["twos"][side, rank])
            table[side, JOKER] += int(g["jokers"][side, rank])
        points = 0
        for kind in range(NUM_KINDS):
            if table[side, kind] != g["table"][side, kind]:
                return 13
            points += table[side, kind] * int(r["card_points"][kind])
        if points != g["table_points"][side]:
            return 13
        clean, dirty = 0, 0
        for rank in range(NUM_NATURALS):
            clean += books[side, rank, 0]
            dirty += books[side, rank, 1]
        counts = g["book_counts"][side]
        if clean != counts[CLEAN_BOOKS] or dirty != counts[DIRTY_BOOKS] or books[side, WILD, 0] != counts[WILD_BOOKS]:
            return 12
    return 0


@kernel
def _opening_broken(g, r):
    """Codes 15 to 17: opened, laid, taking."""
    turn_side = int(g["turn_seat"]) % int(r["sides"])
    for side in range(int(r["sides"])):
        if g["opened"][side]:
            continue
        for seat in range(side, int(r["players"]), int(r["sides"])):
            if g["in_foot"][seat]:
                return 15
        points = 0
        cards = 0
        for kind in range(NUM_KINDS):
            points += int(g["table"][side, kind]) * int(r["card_points"][kind])
            cards += int(g["table"][side, kind])
        if cards > 0 and (side != turn_side or g["phase"] == PHASE_DRAW):
            return 15
        if side == turn_side and points != g["laid"]:
            return 16
        if cards > 0 and points >= opening_minimum(r, int(g["deal"])):
            return 16
        if side == turn_side and cards == 0 and g["taking"] != 0:
            return 17
    if g["opened"][turn_side] and g["laid"] != 0:
        return 16
    if g["opened"][turn_side] and g["taking"] != 0:
        return 17
    if g["taking"] < 0 or g["taking"] > g["discard_size"]:
        return 17
    return 0


@kernel
def _question_broken(g, r):
    """Code 18: asked, answers, permission."""
    seat = int(g["turn_seat"])
    players = int(r["players"])
    yes = 0
    no = 0
    answered = 0
    for other in range(players):
        answer = int(g["answers"][other])
        if answer == 0:
            continue
        if other == seat or other % int(r["sides"]) != seat % int(r["sides"]):
            return 18
        answered += 1
        yes += 1 if answer == 1 else 0
        no += 1 if answer == 2 else 0
    partners = players // int(r["sides"]) - 1
    if not g["asked"]:
        return 18 if answered > 0 or g["may_go_out"] or g["phase"] == PHASE_ANSWER else 0
    if int(r["permission"]) == PERMISSION_NONE or partners == 0 or not g["in_foot"][seat]:
        return 18
    if (g["may_go_out"] != 0) != (yes == partners):
        return 18
    if (g["phase"] == PHASE_ANSWER) != (no == 0 and yes < partners):
        return 18
    return 0


@kernel
def _turn_broken(g, r):
    """Codes 18 to 21: who moves, and the end."""
    code = _question_broken(g, r)
    if code != 0:
        return code
    phase = int(g["phase"])
    if phase == PHASE_OVER:
        if g["end_reason"] == NOT_ENDED or (g["end_reason"] == END_OUT) != (g["out_seat"] != NOT_YET):
            return 20
        if g["end_reason"] == END_OUT and (g["hand_sizes"][g["out_seat"]] != 0 or not g["in_foot"][g["out_seat"]]):
            return 20
        return 0
    if g["end_reason"] != NOT_ENDED or g["out_seat"] != NOT_YET or g["game_over"] or g["turns"] >= r["max_turns"]:
        return 20
    if phase != PHASE_ANSWER:
        if g["to_move"] != g["turn_seat"]:
            return 19
        return 21 if phase == PHASE_DRAW and g["discard_size"] == 0 else 0
    seat = (int(g["turn_seat"]) + int(r["sides"])) % int(r["players"])
    while g["answers"][seat] != 0 and seat != g["turn_seat"]:
        seat = (seat + int(r["sides"])) % int(r["players"])
    return 19 if seat != g["to_move"] else 0


@kernel
def first_broken_invariant(g, r):
    """Code of the first invariant that does not hold at this decision (or end of a deal), 0 for none."""
    code = _numbers_broken(g, r)
    if code == 0:
        code = _lists_broken(g, r)
    if code == 0:
        code = _packets_broken(g, r)
    if code == 0:
        code = _cards_broken(g, r)
    if code == 0:
        code = _table_broken(g, r)
    if code == 0:
        code = _opening_broken(g, r)
    if code == 0:
        code = _turn_broken(g, r)
    if code == 0 and g["given_order"] != 0:
        code = 22
    return code


@entry
def find_broken(games, rules):
    """Look for a game that breaks an invariant, whatever its bytes are.

    Args:
        games: (N,) GAME_DTYPE.
        rules: (R,) RULES_DTYPE.

    Returns:
        Index of the first such game and the code of what it breaks; -1 and 0 where all are whole.
    """
    for i in range(games.shape[0]):
        rule = int(games[i]["rule"])
        code = 24 if rule < 0 or rule >= rules.shape[0] else first_broken_invariant(games[i], rules[rule])
        if code != 0:
            return i, code
    return -1, 0

"""The linear value by which `beam` compares what its side has at the end of a turn, in points.

Its weights stand in an array, so that they can be tuned without compiling anew.
"""

import numpy as np

from agents.scripted.estimates import add_caught, book_bonus
from hf_env.engine.cards import BLACK3, NUM_KINDS, NUM_NATURALS, WILD
from hf_env.engine.dealing import deal_entry
from hf_env.engine.melds import may_start_wild_meld, open_size
from hf_env.engine.scoring import table_score
from hf_env.engine.state import CLEAN_BOOKS, DIRTY_BOOKS, WILD_BOOKS
from hf_env.kernels.compile import kernel

# Shares of an unfinished book's bonus, times the squared part of its cards that lie.
CLEAN_SHARE, DIRTY_SHARE, WILD_SHARE = 0, 1, 2
# Points for each book or open meld that counts towards the books that going out requires.
CLEAN_OWED, DIRTY_OWED, WILD_OWED = 3, 4, 5
# Points for what the hand holds of one rank: one card, a pair, more.
SINGLE, PAIR, TRIO = 6, 7, 8
# Points for a pair or more while the side has not opened: a take may open.
PAIR_OPENS = 9
# Shares of a bonus that a wild in the hand stands for: of the wild book, or where none can be made, of the dirty one.
WILD_CAPITAL, DIRTY_CAPITAL = 10, 11
# Share of the held cards that are laid later.
LATER = 12
# Points lost for each card that keeps a hand from its foot: with many turns to come, with none; then in the foot.
CARD_IN_HAND, CARD_IN_HAND_LATE, CARD_IN_FOOT = 13, 14, 15
# Points for leaving the hand empty, so that the foot comes with the next turn, and more of them for getting it in this one.
FOOT, FOOT_NOW = 16, 17
# Points for each card drawn unseen.
DRAWN = 18
# Points that one card of the discard pile is worth to who takes it.
GIFT = 19
NUM_WEIGHTS = 20

# Found by an evolution strategy and single changes, against `greedy` under whitnack, bicycle and family alike. Points for
# having opened, for each card taken and for going out made no difference, and are left out. With a WILD_CAPITAL of 0.18
# wilds are hardly laid at all, and it loses to `greedy`.
WEIGHTS = np.zeros(NUM_WEIGHTS)
WEIGHTS[[CLEAN_SHARE, DIRTY_SHARE, WILD_SHARE]] = 1.25, 0.15, 0.95
WEIGHTS[[CLEAN_OWED, DIRTY_OWED, WILD_OWED]] = 40.0, 10.0, 10.0
WEIGHTS[[SINGLE, PAIR, TRIO, PAIR_OPENS]] = 8.0, 46.0, 63.0, 80.0
WEIGHTS[[WILD_CAPITAL, DIRTY_CAPITAL]] = 0.11, 0.22
WEIGHTS[LATER] = 0.8
WEIGHTS[[CARD_IN_HAND, CARD_IN_HAND_LATE, CARD_IN_FOOT]] = 19.0, 15.0, 1.5
WEIGHTS[[FOOT, FOOT_NOW]] = 250.0, 50.0
WEIGHTS[DRAWN] = 63.0
WEIGHTS[GIFT] = 20.0


@kernel
def meld_prospect(r, rank, naturals, wilds, chance, w):
    """What an open meld promises: a share of its book's bonus, by the squared part of the book that lies."""
    progress = (naturals + wilds) / int(r["book_size"])
    if rank == WILD:
        value = w[WILD_SHARE] * book_bonus(r, rank, wilds) * progress * progress * chance
        return value - int(r["unfinished_wild_penalty"]) * (1.0 - progress * chance)
    share = w[DIRTY_SHARE] if wilds > 0 else w[CLEAN_SHARE]
    return share * book_bonus(r, rank, wilds) * progress * progress * chance


@kernel
def side_prospects(g, r, side, chance, w):
    """What a side's open melds promise, and its readiness to go out."""
    value = 0.0
    clean = int(g["book_counts"][side, CLEAN_BOOKS])
    dirty = int(g["book_counts"][side, DIRTY_BOOKS])
    wild = int(g["book_counts"][side, WILD_BOOKS])
    for rank in range(WILD + 1):
        size = open_size(g, side, rank)
        if size == 0:
            continue
        naturals = int(g["naturals"][side, rank])
        value += meld_prospect(r, rank, naturals, size - naturals, chance, w)
        if rank == WILD:
            wild += 1
        elif naturals < size:
            dirty += 1
        else:
            clean += 1
    quota = r["quota"][deal_entry(int(g["deal"]))]
    value += w[CLEAN_OWED] * min(clean, int(quota[0]))
    value += w[DIRTY_OWED] * min(dirty, int(quota[1]))
    return value + w[WILD_OWED] * min(wild, int(quota[2]))


@kernel
def held_value(g, r, side, kind, held, chance, w):
    """What `held` cards of a kind are worth in a hand of the side."""
    points = int(r["card_points"][kind])
    if held == 0 or kind == BLACK3:
        return -float(held * points)
    # Laid later they count for the side, held to the end against it.
    value = held * points * (2.0 * w[LATER] * chance - 1.0)
    if kind >= NUM_NATURALS:
        if open_size(g, side, WILD) > 0 or may_start_wild_meld(r, int(g["clean_books"][side, WILD])):
            return value + held * w[WILD_CAPITAL] * int(r["wild_book"]) * chance
        return value + held * w[DIRTY_CAPITAL] * int(r["dirty_book"]) * chance
    # Two are a key to the discard pile only where the meld has room for three.
    if held == 1 or open_size(g, side, kind) + 3 > int(r["book_size"]):
        return value + w[SINGLE] * chance
    # An opening that is begun can be completed.
    if not g["opened"][side] and g["laid"] == 0:
        return value + w[PAIR_OPENS] * chance
    return value + (w[PAIR] if held == 2 else w[TRIO]) * chance


@kernel
def card_missed(g, r, seat, kind, chance, w):
    """What the seat's hand is worth less without one of its cards of a kind."""
    side = seat % int(r["sides"])
    held = int(g["hands"][seat, kind])
    return held_value(g, r, side, kind, held, chance, w) - held_value(g, r, side, kind, held - 1, chance, w)


@kernel
def _hand_value(g, r, seat, chance, w):
    """What the hand is worth once its least useful card is discarded."""
    side = seat % int(r["sides"])
    value = 0.0
    least = 1e9
    for kind in range(BLACK3 + 1):
        held = int(g["hands"][seat, kind])
        if held > 0:
            value += held_value(g, r, side, kind, held, chance, w)
            least = min(least, card_missed(g, r, seat, kind, chance, w))
    left = int(g["hand_sizes"][seat]) - 1
    if g["in_foot"][seat]:
        return value - least - w[CARD_IN_FOOT] * left
    if left == 0:
        return value - least + w[FOOT]
    return value - least - (w[CARD_IN_HAND] * chance + w[CARD_IN_HAND_LATE] * (1.0 - chance)) * left


@kernel
def turn_value(g, r, seat, chance, w, picked_up):
    """Value of ending the turn here by a discard.

    Args:
        picked_up: the hand was emptied, so that the cards held are unknown.
    """
    side = seat % int(r["sides"])
    value = table_score(g, r, side) + side_prospects(g, r, side, chance, w)
    if picked_up:
        return value + w[FOOT] + w[FOOT_NOW]
    return value + _hand_value(g, r, seat, chance, w)


@kernel
def out_gain(g, r, seat, chance, w):
    """What a side gains when the deal ends now by the seat whose turn it is; its own prospects are not counted.

    The bonus and what the other sides lose, as a mean, against the cards that partners are caught with. `seat`, on that
    side, knows its own.
    """
    sides = int(r["sides"])
    own = seat % sides
    others = 0.0
    for side in range(sides):
        if side != own:
            others += side_prospects(g, r, side, chance, w)
    others, ours = add_caught(g, r, seat, others, 0.0)
    return int(r["going_out"]) + others / (sides - 1.0) - ours


@kernel
def out_value(g, r, seat, chance, w):
    """Value of having gone out here: the same measure as turn_value."""
    return table_score(g, r, seat % int(r["sides"])) + out_gain(g, r, seat, chance, w)


@kernel
def position_key(g, seat, side):
    """A number that tells apart what different lay-downs of one turn lead to (32 bits)."""
    key = 2166136261
    for kind in range(NUM_KINDS):
        key = ((key ^ int(g["hands"][seat, kind])) * 16777619) & 0xFFFFFFFF
    for rank in range(WILD + 1):
        wilds = int(g["twos"][side, rank]) * 64 + int(g["jokers"][side, rank])
        key = ((key ^ (int(g["naturals"][side, rank]) * 4096 + wilds)) * 16777619) & 0xFFFFFFFF
    for i in range(3):
        key = ((key ^ int(g["book_counts"][side, i])) * 16777619) & 0xFFFFFFFF
    return key

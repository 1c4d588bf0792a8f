"""What `expert` expects of the rest of a deal: turns, cards to come, the worth of melds and of wilds.

Cards to come are counted by rank: those that the seat sees nowhere, times the share of the hidden cards that our side
will hold in time, plus those that a partner is known to hold. A meld's chance is a Poisson tail at that mean, read
from a table.
"""

from typing import NamedTuple

import numpy as np

from agents.scripted.estimates import book_bonus, chance_of_card, stock_turns, unseen, wild_value
from agents.scripted.expert.weights import (
    COUNTING,
    DIRTY_BOOK_SHARE,
    HALF_TURNS,
    NEAR_TURNS,
    RACE_TURNS,
    REACH,
    WILD_BOOK_SHARE,
    WILD_HELD,
    WILD_OWED,
    WILD_REACH,
)
from agents.scripted.greedy.discarding import unseen_cards
from hf_env.engine.cards import CARDS_PER_DECK, JOKER, NUM_MELDS, TWO, WILD
from hf_env.engine.dealing import deal_entry
from hf_env.engine.state import CLEAN_BOOKS, DIRTY_BOOKS, WILD_BOOKS
from hf_env.kernels.compile import kernel

_PER_DECK = np.array(CARDS_PER_DECK, np.int64)
_COUNTED = 52.0  # cards of a deck without red 3s
# The table of chances: steps a unit of the mean, the largest mean, and the most cards that a book can lack.
_STEPS = 16
_LARGEST_MEAN = 12
_MOST = 10


def _poisson_tails():
    """P(a Poisson variable of mean i / _STEPS is j or more): (_STEPS * _LARGEST_MEAN + 2, _MOST + 1) float64."""
    means = np.arange(_STEPS * _LARGEST_MEAN + 2) / _STEPS
    tails = np.ones((len(means), _MOST + 1))
    term = np.exp(-means)
    for count in range(1, _MOST + 1):
        tails[:, count] = np.maximum(tails[:, count - 1] - term, 0.0)
        term = term * means / count
    return tails


_TAILS = _poisson_tails()


class Outlook(NamedTuple):
    """What a seat expects of the rest of the deal, with the weights that it reckons by."""

    seat: int
    hidden: int  # cards that the seat sees nowhere
    share: float  # of them, that its side will hold in time
    chance: float  # that a wanted card comes in time; estimates.chance_of_card
    wild_kept: float  # worth of a wild kept, in points; estimates.wild_value
    weights: np.ndarray  # (NUM_WEIGHTS,) float64, see weights.py


@kernel
def at_least(mean, count):
    """Probability that a Poisson variable of this mean is `count` (at most 10) or more, to about 1 in 1,000."""
    if count <= 0:
        return 1.0
    place = min(mean, _LARGEST_MEAN) * _STEPS
    row = int(place)
    part = place - row
    return _TAILS[row, count] * (1.0 - part) + _TAILS[row + 1, count] * part


@kernel
def books_owed(g, r, side):
    """Books that the side still lacks of its quota. Rule: docs/rules.md 7."""
    quota = r["quota"][deal_entry(int(g["deal"]))]
    counts = g["book_counts"][side]
    owed = max(int(quota[0]) - int(counts[CLEAN_BOOKS]), 0) + max(int(quota[1]) - int(counts[DIRTY_BOOKS]), 0)
    return owed + max(int(quota[2]) - int(counts[WILD_BOOKS]), 0)


@kernel
def _feet_missing(g, r, side):
    """Seats of the side whose foot lies unopened: all where the partner's foot binds, else the nearest alone counts."""
    missing = 0
    in_foot = 0
    for seat in range(side, int(r["players"]), int(r["sides"])):
        if g["in_foot"][seat]:
            in_foot += 1
        else:
            missing += 1
    if r["partner_foot"]:
        return missing
    return 0 if in_foot > 0 else 1


@kernel
def turns_to_come(g, r, side, p):
    """Turns that each seat may still expect: the stock's, or fewer when an opponent is near going out."""
    turns = stock_turns(g, r)
    for other in range(int(r["sides"])):
        if other == side:
            continue
        steps = books_owed(g, r, other) + _feet_missing(g, r, other)
        if steps == 0:
            turns = min(turns, p[RACE_TURNS])
        elif steps == 1:
            turns = min(turns, p[NEAR_TURNS])
    return turns


@kernel
def outlook(g, r, seat, p):
    """The Outlook of a seat.

    Args:
        p: (NUM_WEIGHTS,) float64.
    """
    side = seat % int(r["sides"])
    turns = turns_to_come(g, r, side, p)
    hidden = unseen_cards(g, r, seat)
    share = _share_to_come(g, r, seat, turns, hidden, p)
    chance = chance_of_card(turns, p[HALF_TURNS])
    wild_kept = wild_value(g, r, side, chance, p[DIRTY_BOOK_SHARE], p[WILD_BOOK_SHARE])
    return Outlook(seat, hidden, share, chance, wild_kept, p)


@kernel
def _share_to_come(g, r, seat, turns, hidden, p):
    """The share of the hidden cards that our side will hold in time: the partners' hands, our feet, what we draw."""
    sides = int(r["sides"])
    side = seat % sides
    draw = int(r["draw"][deal_entry(int(g["deal"]))])
    cards = 0.0
    seats = 0
    for other in range(side, int(r["players"]), sides):
        seats += 1
        cards += int(g["foot_sizes"][other])
        if other != seat:
            cards += int(g["hand_sizes"][other])
    drawn = turns * draw * seats
    return min(p[REACH] * (cards + drawn) / max(hidden, 1), 1.0)


@kernel
def cards_to_come(g, r, kind, look):
    """Mean number of cards of a kind that our side gets beyond the seat's own hand.

    Args:
        look: Outlook.
    """
    seat = look.seat
    p = look.weights
    sides = int(r["sides"])
    known = 0
    for other in range(seat % sides, int(r["players"]), sides):
        if other != seat:
            known += int(g["known"][other, kind])
    left = p[COUNTING] * unseen(g, r, seat, kind, _PER_DECK[kind]) + (1.0 - p[COUNTING]) * float(look.hidden) * _PER_DECK[kind] / _COUNTED
    return left * look.share + known


@kernel
def wilds_to_come(g, r, look):
    """Mean number of wilds for the wild meld, those of the seat's own hand left out."""
    return look.weights[WILD_REACH] * (cards_to_come(g, r, TWO, look) + cards_to_come(g, r, JOKER, look))


@kernel
def meld_worth(r, rank, naturals, wilds, come):
    """Expected bonus of a natural meld.

    Args:
        come: mean number of cards of its rank to come.
    """
    size = naturals + wilds
    if size == 0:
        return 0.0
    missing = max(int(r["book_size"]) - size, 0)
    if wilds > 0:
        return int(r["dirty_book"]) * at_least(come, missing)
    return book_bonus(r, rank, 0) * at_least(come, missing)


@kernel
def wild_meld_worth(g, r, side, size, come, p):
    """Expected bonus of a wild meld of so many cards."""
    if size == 0:
        return 0.0
    missing = max(int(r["book_size"]) - size, 0)
    chance = at_least(come, missing)
    bonus = float(r["wild_book"])
    quota = r["quota"][deal_entry(int(g["deal"]))]
    if int(g["book_counts"][side, WILD_BOOKS]) < int(quota[2]):
        bonus += p[WILD_OWED] * bonus
    value = bonus * chance
    if missing > 0:
        value -= int(r["unfinished_wild_penalty"]) * (1.0 - chance)
    return value


@kernel
def rank_worth(g, r, side, rank, naturals, wilds, held, look):
    """Expected bonus of the side's meld of a rank (WILD: the wild one) if it consisted of these cards.

    Args:
        held: wilds left in the seat's hand; for a natural rank, cards of it left there, which will be laid too.
    """
    if rank == WILD:
        come = wilds_to_come(g, r, look) + look.weights[WILD_HELD] * held
        return wild_meld_worth(g, r, side, naturals + wilds, come, look.weights)
    return meld_worth(r, rank, naturals, wilds, cards_to_come(g, r, rank, look) + held)


@kernel
def table_prospects(g, r, side, look):
    """Expected bonuses of all open melds of any side, as the seat of the Outlook sees it."""
    value = 0.0
    for rank in range(NUM_MELDS):
        wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
        naturals = int(g["naturals"][side, rank])
        if naturals + wilds > 0:
            value += rank_worth(g, r, side, rank, naturals, wilds, 0, look)
    return value

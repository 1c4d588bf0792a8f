"""How much `greedy` would miss each card, and what discarding it may give to the next player."""

import numpy as np

from agents.scripted.estimates import cards_of_take, meld_value, unseen
from agents.scripted.greedy.laying import KEEP_WILD
from hf_env.engine.cards import BLACK3, CARDS_PER_DECK, NUM_KINDS, NUM_NATURALS, RED3
from hf_env.engine.melds import can_add, open_size, wild_limit_allows
from hf_env.engine.state import ANY_MELD, NUM_RECENT_DISCARDS
from hf_env.kernels.compile import kernel

# A pair is a key to the pile and a meld's start; a third card (not laid: the rank's book has just closed) is more.
KEEP_PAIR = 25.0
KEEP_TRIO = 60.0
# A black 3 can never be melded: the first to go. It also blocks the pile for the next player.
KEEP_BLACK3 = -30.0
# What one more card is worth to whoever takes it: about the mean side's score over its cards, less what is never laid.
CARD_TAKEN = 25.0
# Opponents who just threw a rank seldom hold two more of it.
PASSED_OVER = 0.4
# A side that has not opened must reach its minimum to take.
UNOPENED = 0.5

_PER_DECK = np.array(CARDS_PER_DECK, np.int64)


@kernel
def keep_value(g, r, seat, kind, chance, wild_kept):
    """What the seat would miss if it threw a card of this kind."""
    if kind == BLACK3:
        return KEEP_BLACK3
    if kind >= NUM_NATURALS:
        # Laid later it counts for us, held to the end against us; thrown it counts nothing: so a 2 goes before a joker.
        return KEEP_WILD + wild_kept + int(r["card_points"][kind]) * (2.0 * chance - 1.0)
    side = seat % int(r["sides"])
    held = int(g["hands"][seat, kind])
    # Near the end a card held costs its points.
    value = -2.0 * int(r["card_points"][kind]) * (1.0 - chance)
    if held == 2:
        value += KEEP_PAIR * chance
    elif held > 2:
        value += KEEP_TRIO * chance
    if open_size(g, side, kind) > 0 and can_add(g, r, side, kind, False):
        naturals = int(g["naturals"][side, kind])
        wilds = int(g["twos"][side, kind]) + int(g["jokers"][side, kind])
        value += meld_value(r, kind, naturals + 1, wilds, chance) - meld_value(r, kind, naturals, wilds, chance)
    return value


@kernel
def _pair_chance(expected):
    """Probability of two or more of a rank where `expected` are expected (close to Poisson, without exp)."""
    return expected * expected / (2.0 + expected * expected)


@kernel
def take_chance(g, r, seat, kind, hidden, passed_over):
    """Probability that the next player takes this card off the pile.

    Args:
        hidden: cards that the seat sees nowhere.
        passed_over: what stays of it for each time that player threw the rank lately.
    """
    taker = (seat + 1) % int(r["players"])
    side = taker % int(r["sides"])
    opened = bool(g["opened"][side])
    if kind >= NUM_NATURALS or int(r["take_count"]) == 0 or (r["take_needs_open"] and not opened):
        return 0.0
    naturals = int(g["naturals"][side, kind])
    wilds = int(g["twos"][side, kind]) + int(g["jokers"][side, kind])
    if int(r["take_key"]) == ANY_MELD and naturals + wilds > 0 and can_add(g, r, side, kind, False):
        return 1.0
    if naturals + wilds + 3 > int(r["book_size"]) or not wild_limit_allows(r, naturals + 3, wilds, False):
        return 0.0
    known = int(g["known"][taker, kind])
    if known >= 2:
        return 1.0 if opened else UNOPENED
    expected = known + unseen(g, r, seat, kind, _PER_DECK[kind]) * int(g["hand_sizes"][taker]) / max(hidden, 1)
    chance = _pair_chance(expected)
    for i in range(NUM_RECENT_DISCARDS):
        if g["recent_discards"][taker, i] == kind + 1:
            chance *= passed_over
    return chance if opened else chance * UNOPENED


@kernel
def unseen_cards(g, r, seat):
    """Number of cards that the seat sees nowhere, red 3s left out."""
    hidden = 0
    for kind in range(NUM_KINDS):
        if kind != RED3:
            hidden += unseen(g, r, seat, kind, _PER_DECK[kind])
    return hidden


@kernel
def discard_value(g, r, seat, kind, chance, wild_kept, hidden):
    """Value of discarding a card of this kind: the less missed and the less useful to the next player, the higher."""
    gift = CARD_TAKEN * (1 + cards_of_take(g, r))
    return -keep_value(g, r, seat, kind, chance, wild_kept) - gift * take_chance(g, r, seat, kind, hidden, PASSED_OVER)

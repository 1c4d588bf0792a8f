"""How much `expert` would miss each card, and what discarding it may give to the next player."""

import numpy as np

from agents.scripted.discarding import pair_chance
from agents.scripted.expert_outlook import at_least, cards_to_come, rank_worth
from agents.scripted.expert_weights import (
    GIFT_CARD,
    GIFT_FIT,
    GIFT_MELD,
    KEEP_BLACK3,
    KEEP_PAIR,
    KEEP_POINTS,
    KEEP_SINGLE,
    KEEP_TRIO,
    KEEP_WILD,
    PASSED_OVER,
    SURE_TAKE,
    UNOPENED,
)
from agents.scripted.prospects import cards_of_take, unseen
from hf_env.engine.cards import BLACK3, CARDS_PER_DECK, NUM_NATURALS
from hf_env.engine.dealing import opening_minimum
from hf_env.engine.jit import kernel
from hf_env.engine.melds import can_add, open_size, wild_limit_allows
from hf_env.engine.state import ANY_MELD, NUM_RECENT_DISCARDS

_PER_DECK = np.array(CARDS_PER_DECK, np.int64)


@kernel
def keep_worth(g, r, seat, kind, chance, look, wild_kept, p):
    """What the seat would miss if it threw a card of this kind."""
    if kind == BLACK3:
        return p[KEEP_BLACK3]
    if kind >= NUM_NATURALS:
        # Laid later it counts for us, held to the end against us; thrown it counts nothing: so a 2 goes before a joker.
        return p[KEEP_WILD] + wild_kept + int(r["card_points"][kind]) * (2.0 * chance - 1.0)
    side = seat % int(r["sides"])
    held = int(g["hands"][seat, kind])
    # Near the end a card held costs its points.
    value = -p[KEEP_POINTS] * int(r["card_points"][kind]) * (1.0 - chance)
    if held == 2:
        value += p[KEEP_PAIR] * chance
    elif held > 2:
        value += p[KEEP_TRIO] * chance
    if open_size(g, side, kind) > 0:
        if can_add(g, r, side, kind, False):
            naturals = int(g["naturals"][side, kind])
            wilds = int(g["twos"][side, kind]) + int(g["jokers"][side, kind])
            value += rank_worth(g, r, seat, side, kind, naturals + 1, wilds, look, held - 1, p)
            value -= rank_worth(g, r, seat, side, kind, naturals, wilds, look, held - 1, p)
    elif held == 1:
        value += p[KEEP_SINGLE] * at_least(cards_to_come(g, r, seat, kind, look, p), 2)
    return value


@kernel
def take_risk(g, r, seat, kind, hidden, p):
    """Probability that the next player takes this card off the pile. hidden: cards that the seat sees nowhere."""
    taker = (seat + 1) % int(r["players"])
    side = taker % int(r["sides"])
    opened = bool(g["opened"][side])
    if kind >= NUM_NATURALS or int(r["take_count"]) == 0 or (r["take_needs_open"] and not opened):
        return 0.0
    naturals = int(g["naturals"][side, kind])
    wilds = int(g["twos"][side, kind]) + int(g["jokers"][side, kind])
    if int(r["take_key"]) == ANY_MELD and naturals + wilds > 0 and can_add(g, r, side, kind, False):
        return p[SURE_TAKE]
    if naturals + wilds + 3 > int(r["book_size"]) or not wild_limit_allows(r, naturals + 3, wilds, False):
        return 0.0
    share = 1.0
    if not opened:
        share = p[UNOPENED] * 50.0 / max(50, opening_minimum(r, int(g["deal"])))
    known = int(g["known"][taker, kind])
    if known >= 2:
        return share
    unknown = max(int(g["hand_sizes"][taker]) - known, 0)
    expected = known + unseen(g, r, seat, kind, _PER_DECK[kind]) * unknown / max(hidden, 1)
    chance = pair_chance(expected)
    for i in range(NUM_RECENT_DISCARDS):
        if g["recent_discards"][taker, i] == kind + 1:
            chance *= p[PASSED_OVER]
    return chance * share


@kernel
def gift_worth(g, r, seat, p):
    """What a take of the pile as it is, with one card more on top, would be worth to the next player."""
    side = (seat + 1) % int(r["players"]) % int(r["sides"])
    size = int(g["discard_size"])
    value = p[GIFT_MELD]
    # One fewer: the card discarded now will be the top one.
    for i in range(1, cards_of_take(g, r) + 1):
        if i > size:
            break
        kind = int(g["discard"][size - i])
        value += p[GIFT_CARD]
        if kind < NUM_NATURALS and open_size(g, side, kind) > 0:
            value += p[GIFT_FIT]
    return value

"""How much `expert` would miss each card, and what discarding it may give to the next player."""

from agents.scripted.estimates import cards_of_take
from agents.scripted.expert.outlook import at_least, cards_to_come, rank_worth
from agents.scripted.expert.weights import GIFT_CARD, KEEP_PAIR, KEEP_SINGLE, KEEP_TRIO
from hf_env.engine.cards import BLACK3, NUM_NATURALS
from hf_env.engine.melds import can_add, open_size
from hf_env.kernels.compile import kernel

# Less than anything else: it can never be laid, and it blocks the pile.
KEEP_BLACK3 = -1e4


@kernel
def keep_worth(g, r, kind, look):
    """What the seat of the Outlook would miss if it threw a card of this kind."""
    seat = look.seat
    p = look.weights
    if kind == BLACK3:
        return KEEP_BLACK3
    if kind >= NUM_NATURALS:
        # Laid later it counts for us, held to the end against us; thrown it counts nothing: so a 2 goes before a joker.
        return look.wild_kept + int(r["card_points"][kind]) * (2.0 * look.chance - 1.0)
    side = seat % int(r["sides"])
    held = int(g["hands"][seat, kind])
    value = 0.0
    if held == 2:
        value += p[KEEP_PAIR] * look.chance
    elif held > 2:
        value += p[KEEP_TRIO] * look.chance
    if open_size(g, side, kind) > 0:
        if can_add(g, r, side, kind, False):
            naturals = int(g["naturals"][side, kind])
            wilds = int(g["twos"][side, kind]) + int(g["jokers"][side, kind])
            value += rank_worth(g, r, side, kind, naturals + 1, wilds, held - 1, look)
            value -= rank_worth(g, r, side, kind, naturals, wilds, held - 1, look)
    elif held == 1:
        value += p[KEEP_SINGLE] * at_least(cards_to_come(g, r, kind, look), 2)
    return value


@kernel
def gift_worth(g, r, p):
    """What a take of the pile, with the card discarded now on top, would be worth to the next player."""
    return p[GIFT_CARD] * (1 + cards_of_take(g, r))

"""How much `greedy` likes to take from the discard pile, against drawing."""

from agents.scripted.estimates import cards_of_take, meld_value, stock_left
from agents.scripted.greedy.laying import PAIR
from hf_env.engine.action_ids import TAKE_MELD
from hf_env.engine.cards import BLACK3, NUM_NATURALS, WILD
from hf_env.engine.dealing import deal_entry
from hf_env.engine.melds import open_size
from hf_env.engine.takes import key_cards
from hf_env.kernels.compile import kernel

# A card drawn unseen: mostly a natural that may fit a meld, one in nine a wild.
DRAWN_CARD = 25.0
# A card that fits no meld of ours yet may still pair up, or be discarded.
LOOSE_CARD = 8.0
# One that fits an open meld or makes three with the hand.
FITTING_CARD = 45.0
# Opening lets the whole side lay, and the pile be taken freely.
OPENING = 200.0
# Drawing from a stock that cannot supply it ends the deal; a take lays three cards first.
LAST_DRAW = -1000.0


@kernel
def draw_value(g, r, drawn_card):
    """Value of drawing.

    Args:
        drawn_card: of each card.
    """
    count = int(r["draw"][deal_entry(int(g["deal"]))])
    if not r["reshuffle"] and stock_left(g) < count:
        return LAST_DRAW
    return drawn_card * count


@kernel
def _card_value(g, r, seat, kind, chance, wild_kept):
    """What a card that comes into the hand is worth; late, one that cannot be laid costs its points."""
    cost = int(r["card_points"][kind]) * (1.0 - chance)
    if kind >= BLACK3:
        return -cost
    if kind >= NUM_NATURALS:
        return wild_kept + cost
    if open_size(g, seat % int(r["sides"]), kind) > 0 or int(g["hands"][seat, kind]) >= 2:
        return FITTING_CARD + cost
    return LOOSE_CARD * chance - cost


@kernel
def take_value(g, r, seat, action, chance, wild_kept):
    """Value of a legal take: its meld, the cards that come, less the key from the hand."""
    side = seat % int(r["sides"])
    size = int(g["discard_size"])
    top = int(g["discard"][size - 1])
    value = 0.0 if g["opened"][side] else OPENING
    if top < NUM_NATURALS:
        naturals, twos, jokers = key_cards(action)
        on_table = int(g["naturals"][side, top])
        wilds = int(g["twos"][side, top]) + int(g["jokers"][side, top])
        after = meld_value(r, top, on_table + naturals + 1, wilds + twos + jokers, chance)
        value += after - meld_value(r, top, on_table, wilds, chance) - (twos + jokers) * wild_kept
        if action != TAKE_MELD:
            value -= PAIR * chance
    else:
        wilds = open_size(g, side, WILD)
        value += meld_value(r, WILD, 0, wilds + 3, chance) - meld_value(r, WILD, 0, wilds, chance)
    for i in range(2, cards_of_take(g, r) + 1):
        value += _card_value(g, r, seat, int(g["discard"][size - i]), chance, wild_kept)
    return value

"""How much `expert` likes to take from the discard pile."""

from agents.scripted.estimates import cards_of_take
from agents.scripted.expert.outlook import rank_worth
from agents.scripted.expert.weights import FITTING_CARD, LOOSE_CARD, PAIRING_CARD
from agents.scripted.greedy.taking import OPENING
from hf_env.engine.cards import BLACK3, JOKER, NUM_NATURALS, TWO, WILD
from hf_env.engine.melds import open_size
from hf_env.engine.takes import key_cards
from hf_env.kernels.compile import kernel


@kernel
def card_worth(g, r, kind, look):
    """What a card that comes into the hand is worth; late, one that cannot be laid costs its points."""
    seat = look.seat
    p = look.weights
    cost = int(r["card_points"][kind]) * (1.0 - look.chance)
    if kind >= BLACK3:
        return -cost
    if kind >= NUM_NATURALS:
        return look.wild_kept + cost
    held = int(g["hands"][seat, kind])
    if open_size(g, seat % int(r["sides"]), kind) > 0 or held >= 2:
        return p[FITTING_CARD] + cost
    if held == 1:
        return p[PAIRING_CARD] * look.chance - cost
    return p[LOOSE_CARD] * look.chance - cost


@kernel
def take_worth(g, r, action, look):
    """Worth of a legal take: its meld, the cards that come, less the key from the hand."""
    seat = look.seat
    side = seat % int(r["sides"])
    size = int(g["discard_size"])
    top = int(g["discard"][size - 1])
    value = 0.0 if g["opened"][side] else OPENING
    if top < NUM_NATURALS:
        naturals, twos, jokers = key_cards(action)
        on_table = int(g["naturals"][side, top])
        wilds = int(g["twos"][side, top]) + int(g["jokers"][side, top])
        held = int(g["hands"][seat, top]) - naturals
        value += rank_worth(g, r, side, top, on_table + naturals + 1, wilds + twos + jokers, held, look)
        value -= rank_worth(g, r, side, top, on_table, wilds, held, look) + (twos + jokers) * look.wild_kept
    else:
        held = int(g["hands"][seat, TWO]) + int(g["hands"][seat, JOKER]) - 2
        wilds = open_size(g, side, WILD)
        value += rank_worth(g, r, side, WILD, 0, wilds + 3, held, look)
        value -= rank_worth(g, r, side, WILD, 0, wilds, held, look)
    for i in range(2, cards_of_take(g, r) + 1):
        value += card_worth(g, r, int(g["discard"][size - i]), look)
    return value

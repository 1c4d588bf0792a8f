"""Whether `greedy` can go out this turn, and whether it should."""

from agents.scripted.estimates import add_caught, open_melds_value
from hf_env.engine.cards import BLACK3, JOKER, NUM_NATURALS, TWO, WILD
from hf_env.engine.melds import may_start_wild_meld, open_size, wild_limit_allows
from hf_env.kernels.compile import kernel


@kernel
def _rest_of_rank(r, held, size):
    """Naturals of a rank that stay in the hand when all that can be laid without wilds is laid."""
    rest = held
    if size > 0:
        rest = held - min(held, int(r["book_size"]) - size)
    return 0 if rest >= 3 else rest


@kernel
def cards_left_over(g, r, seat):
    """Estimate of the cards that stay in the hand when everything that can be laid is laid.

    Ranks take what they can alone; a pair left over takes a wild; the other wilds go wherever one fits.
    """
    side = seat % int(r["sides"])
    hand = g["hands"][seat]
    wilds = int(hand[TWO]) + int(hand[JOKER])
    left = int(hand[BLACK3])
    room = 0
    one_wild = wild_limit_allows(r, 2, 1, False)
    for rank in range(NUM_NATURALS):
        held = int(hand[rank])
        size = open_size(g, side, rank)
        rest = _rest_of_rank(r, held, size)
        if rest == 2 and wilds > 0 and one_wild:
            wilds -= 1
            rest = 0
        left += rest
        on_table = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
        naturals = size - on_table + min(held, int(r["book_size"]) - size)
        if naturals >= 2 and naturals + on_table < int(r["book_size"]) and wild_limit_allows(r, naturals, on_table + 1, False):
            room += 1
    size = open_size(g, side, WILD)
    if size > 0:
        room += int(r["book_size"]) - size
    elif wilds >= 3 and may_start_wild_meld(r, int(g["clean_books"][side, WILD])):
        room += min(wilds, int(r["book_size"]))
    return left + max(wilds - room, 0)


@kernel
def out_pays(g, r, seat, chance):
    """Whether ending the deal now, by the seat whose turn it is, is better for `seat`'s side than playing on.

    What the others would be caught with and lose of their prospects (the mean side, as in the score difference),
    against the same of our side; `seat` knows its own cards. The cards of the one who goes out are laid.
    """
    sides = int(r["sides"])
    own = seat % sides
    others = 0.0
    ours = open_melds_value(g, r, own, chance)
    for side in range(sides):
        if side != own:
            others += open_melds_value(g, r, side, chance)
    others, ours = add_caught(g, r, seat, others, ours)
    return int(r["going_out"]) + others / (sides - 1) > ours

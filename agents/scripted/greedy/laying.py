"""How much `greedy` likes each lay-down: the change in what the side expects, in points."""

from agents.scripted.estimates import book_bonus, meld_value
from hf_env.engine.action_ids import ADD
from hf_env.engine.cards import JOKER, NUM_NATURALS, TWO, WILD
from hf_env.engine.dealing import deal_entry
from hf_env.engine.melds import growing_book, lay_down_cards, open_size
from hf_env.kernels.compile import kernel

# A card less in the hand brings the foot nearer (about 140 points wait in it, over some 13 cards); from the foot it
# only brings going out nearer.
RELEASE_FROM_HAND = 12.0
RELEASE_FROM_FOOT = 3.0
# A pair is a key to the discard pile: some three takes a deal of four cards net each, spread over the pairs held.
PAIR = 20.0
# A dirty meld that going out still needs: more than the clean prospect that a meld of three or a key gives up for it.
DIRTY_OWED = 200.0
# Spoiling a clean meld that going out still needs.
CLEAN_OWED = 300.0
# A wild stays in the hand longer than its estimated worth says: it fits everywhere.
KEEP_WILD = 60.0


@kernel
def melds_and_books(g, side):
    """(clean, dirty): natural melds of a side, books and open ones."""
    clean = 0
    dirty = 0
    for rank in range(NUM_NATURALS):
        clean += int(g["clean_books"][side, rank])
        dirty += int(g["dirty_books"][side, rank])
        if open_size(g, side, rank) > 0:
            if g["twos"][side, rank] + g["jokers"][side, rank] > 0:
                dirty += 1
            else:
                clean += 1
    return clean, dirty


@kernel
def quota_change(g, r, side, was_clean):
    """Worth, to the books owed for going out, of making a meld dirty (`was_clean`: it lay clean before)."""
    quota = r["quota"][deal_entry(int(g["deal"]))]
    clean, dirty = melds_and_books(g, side)
    value = 0.0
    if dirty < int(quota[1]):
        value += DIRTY_OWED
    if was_clean and clean <= int(quota[0]):
        value -= CLEAN_OWED
    return value


@kernel
def _pair_lost(g, seat, rank, naturals):
    held = int(g["hands"][seat, rank])
    return naturals > 0 and held >= 2 and held - naturals < 2


@kernel
def leaves_only_wilds(g, seat, naturals, new_wilds):
    """Whether a wild would have to be thrown, or laid anyhow, because the last natural is laid."""
    wilds = int(g["hands"][seat, TWO]) + int(g["hands"][seat, JOKER])
    return naturals > 0 and wilds > new_wilds and int(g["hand_sizes"][seat]) - naturals == wilds


@kernel
def spoils_book(g, r, side, rank, is_wild):
    """Whether a card that goes onto a book makes a clean one dirty: what alone costs when books grow."""
    if not is_wild or rank == WILD:
        return False
    book = growing_book(g, r, side, rank, True)
    return g["book_twos"][book] + g["book_jokers"][book] == 0


@kernel
def spoiling_value(r, rank):
    """Change of bonus when a clean book of the rank becomes dirty."""
    return book_bonus(r, rank, 1) - float(book_bonus(r, rank, 0))


@kernel
def lay_down_value(g, r, seat, action, chance, wild_kept):
    """Value of a legal lay-down.

    Args:
        wild_kept: what a wild is worth in the hand (prospects.wild_value).
    """
    side = seat % int(r["sides"])
    rank, naturals, twos, jokers = lay_down_cards(action)
    new_wilds = twos + jokers
    points = twos * int(r["card_points"][TWO]) + jokers * int(r["card_points"][JOKER])
    if rank != WILD:
        points += naturals * int(r["card_points"][rank])
    # Points on the table count, in the hand they count against us; early the card would mostly still be laid later.
    value = 2.0 * points * (1.0 - chance)
    release = RELEASE_FROM_FOOT if g["in_foot"][seat] else RELEASE_FROM_HAND
    value += release * (naturals + new_wilds)
    if leaves_only_wilds(g, seat, naturals, new_wilds):
        value -= KEEP_WILD + wild_kept
    if rank != WILD:
        value -= new_wilds * wild_kept
        if _pair_lost(g, seat, rank, naturals):
            value -= PAIR * chance
    if action >= ADD and open_size(g, side, rank) == 0:
        if spoils_book(g, r, side, rank, new_wilds > 0):
            value += spoiling_value(r, rank) + quota_change(g, r, side, True)
        return value
    on_table = int(g["naturals"][side, rank])
    wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
    value += meld_value(r, rank, on_table + naturals, wilds + new_wilds, chance) - meld_value(r, rank, on_table, wilds, chance)
    if rank != WILD and new_wilds > 0 and wilds == 0:
        value += quota_change(g, r, side, on_table > 0)
    return value

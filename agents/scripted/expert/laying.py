"""How much `expert` likes each lay-down: the change in what its side expects, in points."""

from agents.scripted.expert.outlook import books_owed, rank_worth
from agents.scripted.expert.weights import FOOT_NEXT, FOOT_NOW, RELEASE_HAND, RELEASE_OUT
from agents.scripted.greedy.laying import leaves_only_wilds, spoiling_value, spoils_book
from hf_env.engine.action_ids import ADD
from hf_env.engine.cards import JOKER, TWO, WILD
from hf_env.engine.going_out import partners_ready
from hf_env.engine.melds import lay_down_cards, open_size
from hf_env.kernels.compile import kernel


@kernel
def _hand_worth(g, r, rank, naturals, new_wilds, look):
    """What the hand gains or loses by the cards that leave it."""
    seat = look.seat
    p = look.weights
    laid = naturals + new_wilds
    size = int(g["hand_sizes"][seat])
    value = 0.0
    if g["in_foot"][seat]:
        if books_owed(g, r, seat % int(r["sides"])) == 0 and partners_ready(g, r, seat):
            value += p[RELEASE_OUT] * laid
    else:
        value += p[RELEASE_HAND] * laid
        if size == laid:
            value += p[FOOT_NOW]
        elif size == laid + 1:
            value += p[FOOT_NEXT]
    if leaves_only_wilds(g, seat, naturals, new_wilds):
        value -= look.wild_kept  # only wilds are left: one would be thrown
    if rank != WILD:
        value -= new_wilds * look.wild_kept
    return value


@kernel
def lay_down_worth(g, r, action, look):
    """Worth of a legal lay-down.

    Args:
        look: Outlook.
    """
    seat = look.seat
    side = seat % int(r["sides"])
    rank, naturals, twos, jokers = lay_down_cards(action)
    new_wilds = twos + jokers
    points = twos * int(r["card_points"][TWO]) + jokers * int(r["card_points"][JOKER])
    if rank != WILD:
        points += naturals * int(r["card_points"][rank])
    # Points on the table count, in the hand they count against us; early the card would mostly still be laid later.
    value = 2.0 * points * (1.0 - look.chance) + _hand_worth(g, r, rank, naturals, new_wilds, look)
    if action >= ADD and open_size(g, side, rank) == 0:
        return value + spoiling_value(r, rank) if spoils_book(g, r, side, rank, new_wilds > 0) else value
    on_table = int(g["naturals"][side, rank])
    wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
    held_wilds = int(g["hands"][seat, TWO]) + int(g["hands"][seat, JOKER])
    held = held_wilds - new_wilds if rank == WILD else int(g["hands"][seat, rank]) - naturals
    # Before: what lies there, the hand's cards not counted, so that laying them is a gain.
    value += rank_worth(g, r, side, rank, on_table + naturals, wilds + new_wilds, held, look)
    value -= rank_worth(g, r, side, rank, on_table, wilds, held, look)
    return value

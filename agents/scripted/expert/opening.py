"""Whether `expert` opens from the hand: what that is worth against the wilds that it costs and the keys to a take that it spends."""

from agents.scripted.expert.weights import OPENING_KEY, OPENING_LATE, OPENING_ROUND, OPENING_WORTH
from hf_env.engine.cards import JOKER, NUM_NATURALS, TWO
from hf_env.engine.dealing import opening_minimum
from hf_env.kernels.compile import kernel


@kernel
def wilds_needed(g, r, seat):
    """Estimate of the wilds that the cheapest opening from this hand uses: those that trios of naturals leave to reach.

    Pairs with a wild each, the dearest ranks first.
    """
    hand = g["hands"][seat]
    missing = opening_minimum(r, int(g["deal"]))
    for rank in range(NUM_NATURALS):
        if hand[rank] >= 3:
            missing -= min(int(hand[rank]), int(r["book_size"])) * int(r["card_points"][rank])
    wilds = 0
    for rank in range(NUM_NATURALS - 1, -1, -1):
        if missing <= 0:
            return wilds
        if hand[rank] == 2:
            wilds += 1
            worth = int(r["card_points"][TWO]) if wilds <= int(hand[TWO]) else int(r["card_points"][JOKER])
            missing -= 2 * int(r["card_points"][rank]) + worth
    if missing <= 0:
        return wilds
    return int(hand[TWO]) + int(hand[JOKER])


@kernel
def keys_held(g, seat):
    """Ranks of which the hand holds a pair or more: each may take the discard pile, and open so."""
    keys = 0
    for rank in range(NUM_NATURALS):
        if g["hands"][seat, rank] >= 2:
            keys += 1
    return keys


@kernel
def opening_gain(g, r, look):
    """Gain of opening from the hand now over waiting for a take, in points."""
    seat = look.seat
    p = look.weights
    gain = p[OPENING_WORTH] - wilds_needed(g, r, seat) * look.wild_kept
    gain += p[OPENING_ROUND] * (int(g["turns"]) // int(r["players"])) + p[OPENING_LATE] * (1.0 - look.chance)
    if int(r["take_count"]) != 0 and not r["take_needs_open"]:
        gain -= p[OPENING_KEY] * keys_held(g, seat)
    return gain

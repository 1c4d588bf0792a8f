"""The player `greedy`: takes the best single step, by estimates in points.

A plain sensible player without look-ahead. It opens when it can, takes the pile when that is worth more than
drawing, lays what raises the side's prospects (wilds first to wild books and to the dirty ones owed, clean melds
guarded), throws what it misses least and what helps the next player least, and goes out when that pays.
It uses no randomness.
"""

from agents.scripted.estimates import DIRTY_BOOK_SHARE, HALF_TURNS, WILD_BOOK_SHARE, chance_of_card, turns_left, wild_value
from agents.scripted.greedy.discarding import discard_value, unseen_cards
from agents.scripted.greedy.going_out import cards_left_over, out_pays
from agents.scripted.greedy.laying import lay_down_value
from agents.scripted.greedy.taking import DRAWN_CARD, draw_value, take_value
from hf_env.engine.action_ids import ADD, ASK, DISCARD, DRAW, MELD, NO, NUM_DISCARDS, TAKE, YES
from hf_env.engine.going_out import may_go_out
from hf_env.engine.state import PHASE_ANSWER, PHASE_DRAW
from hf_env.kernels.compile import kernel

# Below every estimate.
WORST = -1e9


@kernel
def first_without_discard(mask):
    """The first lay-down or question that is legal, -1 if none is: where the rules leave no discard, as bound by a yes."""
    for action in range(MELD, ASK + 1):
        if mask[action]:
            return action
    return -1


@kernel
def choose_greedy(g, r, seat, mask, key, work):
    """The action of `greedy`; see agents.scripted.dispatch for the arguments."""
    side = seat % int(r["sides"])
    chance = chance_of_card(turns_left(g, r, side), HALF_TURNS)
    phase = int(g["phase"])
    if phase == PHASE_ANSWER:
        return YES if out_pays(g, r, seat, chance) else NO
    wild_kept = wild_value(g, r, side, chance, DIRTY_BOOK_SHARE, WILD_BOOK_SHARE)
    if phase == PHASE_DRAW:
        return _choose_draw(g, r, seat, mask, chance, wild_kept)
    if mask[ASK] and cards_left_over(g, r, seat) <= 1 and out_pays(g, r, seat, chance):
        return ASK
    action = _choose_lay_down(g, r, seat, mask, chance, wild_kept)
    if action >= 0:
        return action
    return _choose_discard(g, r, seat, mask, chance, wild_kept)


@kernel
def _choose_draw(g, r, seat, mask, chance, wild_kept):
    best = draw_value(g, r, DRAWN_CARD)
    chosen = DRAW
    for action in range(TAKE, MELD):
        if mask[action]:
            value = take_value(g, r, seat, action, chance, wild_kept)
            if value > best:
                best = value
                chosen = action
    return chosen


@kernel
def _choose_lay_down(g, r, seat, mask, chance, wild_kept):
    """The best lay-down, -1 if none is worth it. An opening is always begun, and everything laid to go out."""
    least = 0.0
    fewest = 0
    if not g["opened"][seat % int(r["sides"])]:
        least = WORST
    elif g["in_foot"][seat] and may_go_out(g, r, seat):
        if out_pays(g, r, seat, chance):
            if cards_left_over(g, r, seat) <= 1:
                least = WORST
        else:
            fewest = 2  # else the discard would end the deal
    held = int(g["hand_sizes"][seat])
    chosen = -1
    for action in range(MELD, ASK):
        if not mask[action] or held - (3 if action < ADD else 1) < fewest:
            continue
        value = lay_down_value(g, r, seat, action, chance, wild_kept)
        if value > least:
            least = value
            chosen = action
    return chosen


@kernel
def _choose_discard(g, r, seat, mask, chance, wild_kept):
    """The best discard; where the rules leave none, the first legal action (permission that binds both)."""
    hidden = unseen_cards(g, r, seat)
    best = WORST
    chosen = -1
    for kind in range(NUM_DISCARDS):
        if mask[DISCARD + kind]:
            value = discard_value(g, r, seat, kind, chance, wild_kept, hidden)
            if value > best:
                best = value
                chosen = DISCARD + kind
    return chosen if chosen >= 0 else first_without_discard(mask)

"""The player `expert`: the strongest that is written by hand here, each decision by estimates in points.

It counts what it may know: cards of each rank still unseen, those that partners and opponents are known to hold, turns
that are left by the stock and by how near the opponents are to going out. Its rules of play, each of which the
ablation switches off (training/studies/ablate_expert.py): see agents/scripted/expert/weights.py. It uses no randomness.
"""

from agents.scripted.estimates import chance_of_card, wild_value
from agents.scripted.expert.discarding import gift_worth, keep_worth
from agents.scripted.expert.going_out import out_worth
from agents.scripted.expert.laying import lay_down_worth
from agents.scripted.expert.opening import opening_gain
from agents.scripted.expert.outlook import outlook, turns_to_come
from agents.scripted.expert.taking import take_worth
from agents.scripted.expert.weights import DIRTY_BOOK_SHARE, DRAWN_CARD, HALF_TURNS, WILD_BOOK_SHARE
from agents.scripted.greedy.choose import WORST, first_without_discard
from agents.scripted.greedy.discarding import take_chance, unseen_cards
from agents.scripted.greedy.going_out import cards_left_over
from agents.scripted.greedy.taking import draw_value
from hf_env.engine.action_ids import ADD, ASK, DISCARD, DRAW, MELD, NO, NUM_DISCARDS, TAKE, YES
from hf_env.engine.going_out import may_go_out
from hf_env.engine.state import PHASE_ANSWER, PHASE_DRAW
from hf_env.kernels.compile import kernel

# What the next player threw lately says nothing that counts: measured by ablation.
ALWAYS = 1.0


@kernel
def choose_expert(g, r, seat, mask, p):
    """The action of `expert` with weights p (expert_weights); see agents.scripted.dispatch for the other arguments."""
    side = seat % int(r["sides"])
    turns = turns_to_come(g, r, side, p)
    hidden = unseen_cards(g, r, seat)
    look = outlook(g, r, seat, turns, hidden, p)
    phase = int(g["phase"])
    if phase == PHASE_ANSWER:
        return YES if out_worth(g, r, seat, look, p) > 0.0 else NO
    chance = chance_of_card(turns, p[HALF_TURNS])
    wild_kept = wild_value(g, r, side, chance, p[DIRTY_BOOK_SHARE], p[WILD_BOOK_SHARE])
    if phase == PHASE_DRAW:
        return _choose_draw(g, r, seat, mask, chance, look, wild_kept, p)
    if mask[ASK] and cards_left_over(g, r, seat) <= 1 and out_worth(g, r, seat, look, p) > 0.0:
        return ASK
    action = _choose_lay_down(g, r, seat, mask, chance, look, wild_kept, p)
    if action >= 0:
        return action
    return _choose_discard(g, r, seat, mask, chance, look, wild_kept, hidden, p)


@kernel
def _choose_draw(g, r, seat, mask, chance, look, wild_kept, p):
    best = draw_value(g, r, p[DRAWN_CARD])
    chosen = DRAW
    for action in range(TAKE, MELD):
        if mask[action]:
            value = take_worth(g, r, seat, action, chance, look, wild_kept, p)
            if value > best:
                best = value
                chosen = action
    return chosen


@kernel
def _choose_lay_down(g, r, seat, mask, chance, look, wild_kept, p):
    """The best lay-down, -1 if none is worth it. An opening begun is finished, and everything laid to go out."""
    least = 0.0
    fewest = 0
    if not g["opened"][seat % int(r["sides"])]:
        if g["laid"] == 0 and opening_gain(g, r, seat, chance, wild_kept, p) <= 0.0:
            return -1
        least = WORST
    elif g["in_foot"][seat] and may_go_out(g, r, seat):
        if out_worth(g, r, seat, look, p) > 0.0:
            if cards_left_over(g, r, seat) <= 1:
                least = WORST
        else:
            fewest = 2  # else the discard would end the deal
    held = int(g["hand_sizes"][seat])
    chosen = -1
    for action in range(MELD, ASK):
        if not mask[action] or held - (3 if action < ADD else 1) < fewest:
            continue
        value = lay_down_worth(g, r, seat, action, chance, look, wild_kept, p)
        if value > least:
            least = value
            chosen = action
    return chosen


@kernel
def _choose_discard(g, r, seat, mask, chance, look, wild_kept, hidden, p):
    """The best discard; where the rules leave none, the first legal action (an unfinished opening, a binding yes)."""
    gift = gift_worth(g, r, p)
    best = WORST
    chosen = -1
    for kind in range(NUM_DISCARDS):
        if mask[DISCARD + kind]:
            value = -keep_worth(g, r, seat, kind, chance, look, wild_kept, p)
            value -= gift * take_chance(g, r, seat, kind, hidden, ALWAYS)
            if value > best:
                best = value
                chosen = DISCARD + kind
    return chosen if chosen >= 0 else first_without_discard(mask)

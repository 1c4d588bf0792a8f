"""The player `expert`: the strongest that is written by hand here, each decision by estimates in points.

It counts what it may know: cards of each rank still unseen, those that partners and opponents are known to hold, turns
that are left by the stock and by how near the opponents are to going out. Its rules of play, each of which the
ablation switches off (training/studies/ablate_expert.py): see agents/scripted/expert/weights.py. It uses no randomness.
"""

from agents.scripted.expert.discarding import gift_worth, keep_worth
from agents.scripted.expert.going_out import out_worth
from agents.scripted.expert.laying import lay_down_worth
from agents.scripted.expert.opening import opening_gain
from agents.scripted.expert.outlook import outlook
from agents.scripted.expert.taking import take_worth
from agents.scripted.expert.tuned import TUNED, style_of
from agents.scripted.expert.weights import DRAWN_CARD
from agents.scripted.greedy.choose import WORST, first_without_discard
from agents.scripted.greedy.discarding import take_chance
from agents.scripted.greedy.going_out import cards_left_over
from agents.scripted.greedy.taking import draw_value
from hf_env.engine.action_ids import ADD, ASK, DISCARD, DRAW, MELD, NO, NUM_DISCARDS, TAKE, YES
from hf_env.engine.going_out import may_go_out
from hf_env.engine.state import PHASE_ANSWER, PHASE_DRAW
from hf_env.kernels.compile import kernel

# What the next player threw lately says nothing that counts: measured by ablation.
ALWAYS = 1.0


@kernel
def choose_expert(g, r, seat, mask, key, work):
    """The action of `expert` with the weights that fit the rules; see agents.scripted.dispatch for the arguments."""
    return choose_weighted(g, r, seat, mask, TUNED[style_of(r)])


@kernel
def choose_weighted(g, r, seat, mask, p):
    """The action of `expert` with weights p, (NUM_WEIGHTS,) float64."""
    look = outlook(g, r, seat, p)
    phase = int(g["phase"])
    if phase == PHASE_ANSWER:
        return YES if out_worth(g, r, look) > 0.0 else NO
    if phase == PHASE_DRAW:
        return _choose_draw(g, r, mask, look)
    if mask[ASK] and cards_left_over(g, r, seat) <= 1 and out_worth(g, r, look) > 0.0:
        return ASK
    action = _choose_lay_down(g, r, mask, look)
    if action >= 0:
        return action
    return _choose_discard(g, r, mask, look)


@kernel
def _choose_draw(g, r, mask, look):
    best = draw_value(g, r, look.weights[DRAWN_CARD])
    chosen = DRAW
    for action in range(TAKE, MELD):
        if mask[action]:
            value = take_worth(g, r, action, look)
            if value > best:
                best = value
                chosen = action
    return chosen


@kernel
def _choose_lay_down(g, r, mask, look):
    """The best lay-down, -1 if none is worth it. An opening begun is finished, and everything laid to go out."""
    seat = look.seat
    least = 0.0
    fewest = 0
    if not g["opened"][seat % int(r["sides"])]:
        if g["laid"] == 0 and opening_gain(g, r, look) <= 0.0:
            return -1
        least = WORST
    elif g["in_foot"][seat] and may_go_out(g, r, seat):
        if out_worth(g, r, look) > 0.0:
            if cards_left_over(g, r, seat) <= 1:
                least = WORST
        else:
            fewest = 2  # else the discard would end the deal
    held = int(g["hand_sizes"][seat])
    chosen = -1
    for action in range(MELD, ASK):
        if not mask[action] or held - (3 if action < ADD else 1) < fewest:
            continue
        value = lay_down_worth(g, r, action, look)
        if value > least:
            least = value
            chosen = action
    return chosen


@kernel
def _choose_discard(g, r, mask, look):
    """The best discard; where the rules leave none, the first legal action (an unfinished opening, a binding yes)."""
    gift = gift_worth(g, r, look.weights)
    best = WORST
    chosen = -1
    for kind in range(NUM_DISCARDS):
        if mask[DISCARD + kind]:
            value = -keep_worth(g, r, kind, look)
            value -= gift * take_chance(g, r, look.seat, kind, look.hidden, ALWAYS)
            if value > best:
                best = value
                chosen = DISCARD + kind
    return chosen if chosen >= 0 else first_without_discard(mask)

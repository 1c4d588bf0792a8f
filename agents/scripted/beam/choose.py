"""The player `beam`: plans all lay-downs of a turn by a beam search and compares their ends by one linear value.

It works on a redacted copy, so it cannot look at what its seat does not know; a plan that empties the hand ends there,
the foot being worth a constant. It takes the pile when the best plan after the take is worth more than the best plan
now and the cards drawn; it asks when, with a yes, the best plan goes out. It uses no randomness.
"""

from agents.scripted.beam.search import NO_ACTION, ROOT, WORST, best_plan, can_discard
from agents.scripted.beam.value import DRAWN, GIFT, card_missed, out_gain, out_value, side_prospects, turn_value
from agents.scripted.estimates import HALF_TURNS, cards_of_take, chance_of_card, stock_left, turns_left
from agents.scripted.greedy.choose import first_without_discard
from agents.scripted.greedy.discarding import PASSED_OVER, take_chance, unseen_cards
from hf_env.engine.action_ids import ASK, DISCARD, DRAW, MELD, NO, NUM_DISCARDS, TAKE, YES
from hf_env.engine.dealing import deal_entry
from hf_env.engine.redact import redact
from hf_env.engine.state import PHASE_ANSWER, PHASE_DRAW, PHASE_OVER, PHASE_PLAY
from hf_env.engine.transitions import apply_action
from hf_env.kernels.compile import copy_record, kernel


@kernel
def choose_beam(g, r, seat, mask, key, work):
    """The action of `beam`; see agents.scripted.dispatch for the arguments.

    Args:
        work: a BeamWork; None: no action, -1.
    """
    if work is None:
        return NO_ACTION
    return _choose(g, r, seat, mask, work)


@kernel
def _choose(g, r, seat, mask, work):
    side = seat % int(r["sides"])
    chance = chance_of_card(turns_left(g, r, side), HALF_TURNS)
    phase = int(g["phase"])
    if phase == PHASE_ANSWER:
        gain = out_gain(g, r, seat, chance, work.weights) - side_prospects(g, r, side, chance, work.weights)
        return YES if gain > 0.0 else NO
    root = work.nodes[ROOT]
    redact(g, r, seat, root)
    if phase == PHASE_DRAW:
        return _choose_draw(root, r, seat, mask, chance, work)
    if mask[ASK] and _out_with_a_yes(root, r, seat, chance, work):
        return ASK
    copy_record(work.nodes[0], root)
    plan = best_plan(r, seat, chance, work)
    if plan.first != NO_ACTION:
        return plan.first
    if can_discard(mask):
        return _choose_discard(g, r, seat, mask, chance, work.weights)
    # Permission that binds both may leave the question alone, or a lay-down beyond the search.
    return first_without_discard(mask)


@kernel
def _out_with_a_yes(root, r, seat, chance, work):
    """Whether the best plan, were the permission given, goes out."""
    start = work.nodes[0]
    copy_record(start, root)
    start["may_go_out"] = 1
    start["asked"] = 1
    return best_plan(r, seat, chance, work).out


@kernel
def _choose_draw(root, r, seat, mask, chance, work):
    w = work.weights
    start = work.nodes[0]
    best = WORST
    chosen = DRAW
    count = int(r["draw"][deal_entry(int(root["deal"]))])
    # Drawing from a stock that cannot supply it ends the deal; a take lays cards first.
    if r["reshuffle"] or stock_left(root) >= count:
        copy_record(start, root)
        start["phase"] = PHASE_PLAY
        best = best_plan(r, seat, chance, work).value
        best += w[DRAWN] * count
    for action in range(TAKE, MELD):
        if not mask[action]:
            continue
        copy_record(start, root)
        apply_action(start, r, action)
        if start["phase"] == PHASE_OVER:
            value = out_value(start, r, seat, chance, w)
        elif start["in_foot"][seat] != root["in_foot"][seat]:
            value = turn_value(start, r, seat, chance, w, True)
        else:
            value = best_plan(r, seat, chance, work).value
        if value > best:
            best = value
            chosen = action
    return chosen


@kernel
def _choose_discard(g, r, seat, mask, chance, w):
    """The card that is missed least and helps the next player least."""
    hidden = unseen_cards(g, r, seat)
    gift = w[GIFT] * (1 + cards_of_take(g, r))
    least = 0.0
    chosen = -1
    for kind in range(NUM_DISCARDS):
        if mask[DISCARD + kind]:
            cost = card_missed(g, r, seat, kind, chance, w) + gift * take_chance(g, r, seat, kind, hidden, PASSED_OVER)
            if chosen < 0 or cost < least:
                least = cost
                chosen = DISCARD + kind
    return chosen

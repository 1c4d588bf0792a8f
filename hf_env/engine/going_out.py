"""Going out: its conditions, keeping a card until then, and the permission to ask for. Rule: docs/rules.md 7.

Rare questions are answered by laying the cards on a copy of the game and looking at it. `work` is a Workspace.
"""

from hf_env.engine.cards import BLACK3, JOKER, NUM_NATURALS, TWO, WILD
from hf_env.engine.dealing import deal_entry
from hf_env.engine.growth import PlanRows, rank_plans_by_search
from hf_env.engine.melds import can_add, lay_from_hand, open_size
from hf_env.engine.opening import IMPOSSIBLE, wild_plans
from hf_env.engine.seats import side_of
from hf_env.engine.state import (
    BINDING_BOTH,
    CLEAN_BOOKS,
    DIRTY_BOOKS,
    FINAL_FORBIDDEN,
    FINAL_REQUIRED,
    PERMISSION_NONE,
    WILD_BOOKS,
)
from hf_env.kernels.compile import copy_record, kernel


@kernel
def has_quota(g, r, side):
    """Whether the side has the books that going out requires in this deal. Rule: docs/rules.md 7.2."""
    quota = r["quota"][deal_entry(int(g["deal"]))]
    counts = g["book_counts"][side]
    return counts[CLEAN_BOOKS] >= quota[0] and counts[DIRTY_BOOKS] >= quota[1] and counts[WILD_BOOKS] >= quota[2]


@kernel
def partners_ready(g, r, seat):
    """Whether every partner has picked up the foot (in another's turn: and played part of a turn from it). Rule: docs/rules.md 7.3."""
    if not r["partner_foot"]:
        return True
    sides = int(r["sides"])
    for other in range(seat % sides, int(r["players"]), sides):
        if other != seat and not g["in_foot"][other]:
            return False
    return True


@kernel
def may_go_out(g, r, seat):
    """Whether the seat, being in the foot, may empty it in this state. Rule: docs/rules.md 7.1 to 7.5."""
    if int(r["permission"]) != PERMISSION_NONE and not g["may_go_out"]:  # rules.md 7.4, 7.5
        return False
    return has_quota(g, r, side_of(r, seat)) and partners_ready(g, r, seat)


@kernel
def _last_card_goes_out(g, r, seat, work):
    """Whether the one card left in the foot can itself be laid, and going out is allowed then."""
    side = side_of(r, seat)
    kind = 0
    while kind < BLACK3 and g["hands"][seat, kind] == 0:
        kind += 1
    if kind >= BLACK3:
        return False
    first = kind if kind < NUM_NATURALS else 0
    last = kind if kind < NUM_NATURALS else WILD
    is_wild = kind >= NUM_NATURALS
    for rank in range(first, last + 1):
        if can_add(g, r, side, rank, is_wild):
            s = work.spare[1]
            copy_record(s, g)
            lay_from_hand(s, r, seat, rank, 0 if is_wild else 1, 1 if kind == TWO else 0, 1 if kind == JOKER else 0)
            if may_go_out(s, r, seat):
                return True
    return False


@kernel
def leaves_enough(g, r, seat, work):
    """Whether the state after a lay-down or take lets the turn end: the rule of keeping a card. Rule: docs/rules.md 7.6, 7.8."""
    held = int(g["hand_sizes"][seat])
    if not g["in_foot"][seat] or held >= 2:
        return True
    final = int(r["final_discard"])
    if held == 0:
        return final != FINAL_REQUIRED and may_go_out(g, r, seat)
    if final != FINAL_FORBIDDEN and may_go_out(g, r, seat):
        return True
    return final != FINAL_REQUIRED and _last_card_goes_out(g, r, seat, work)


@kernel
def _clean_convolve(plans, a, b, out, wilds):
    """plans[out, w] = max(plans[out, w], max over u + v = w of plans[a, u] + plans[b, v])."""
    for w in range(wilds + 1):
        for u in range(w + 1):
            if plans[a, u] >= 0 and plans[b, w - u] >= 0:
                plans[out, w] = max(plans[out, w], plans[a, u] + plans[b, w - u])


@kernel
def can_lay_out(g, r, seat, work):
    """Whether some sequence of lay-downs from this foot ends in going out, the permission being given.

    All cards are laid, or all but one that is discarded; a rank's plans count the clean books it ends with, since only
    clean books can be lost on the way (a wild onto a clean book). Rule: docs/rules.md 7.5 (binding_both).
    Needs the workspace's `growth`.
    """
    plans = work.plans
    side = side_of(r, seat)
    final = int(r["final_discard"])
    black3 = int(g["hands"][seat, BLACK3])
    if black3 > 1 or not partners_ready(g, r, seat):
        return False
    wilds = int(g["hands"][seat, TWO]) + int(g["hands"][seat, JOKER])
    # Rows of the result so far: with nothing left out, and with one natural left out; then the next ones.
    full, short, next_full, next_short = 0, 1, 2, 3
    plan, plan_all, plan_short = 4, 5, 6
    for w in range(wilds + 1):
        plans[full, w] = 0 if w == 0 else IMPOSSIBLE
        plans[short, w] = IMPOSSIBLE
    for rank in range(NUM_NATURALS):
        rows = PlanRows(plans, plan, plan_all, plan_short)
        rank_plans_by_search(g, r, side, rank, int(g["hands"][seat, rank]), wilds, rows, work.growth)
        for w in range(wilds + 1):
            plans[next_full, w] = IMPOSSIBLE
            plans[next_short, w] = IMPOSSIBLE
        _clean_convolve(plans, full, plan_all, next_full, wilds)
        _clean_convolve(plans, short, plan_all, next_short, wilds)
        _clean_convolve(plans, full, plan_short, next_short, wilds)
        full, short, next_full, next_short = next_full, next_short, full, short
    wild_plans(r, open_size(g, side, WILD), int(g["clean_books"][side, WILD]), wilds, plans, plan)
    for w in range(wilds + 1):
        plans[next_full, w] = IMPOSSIBLE
        plans[next_short, w] = IMPOSSIBLE
    _clean_convolve(plans, full, plan, next_full, wilds)
    _clean_convolve(plans, short, plan, next_short, wilds)
    quota = int(r["quota"][deal_entry(int(g["deal"])), 0])
    may_lay_last = final != FINAL_REQUIRED
    may_discard_last = final != FINAL_FORBIDDEN
    if black3 == 1:
        return may_discard_last and plans[next_full, wilds] >= quota
    if may_lay_last and plans[next_full, wilds] >= quota:
        return True
    if may_discard_last and plans[next_short, wilds] >= quota:
        return True
    return may_discard_last and wilds > 0 and plans[next_full, wilds - 1] >= quota


@kernel
def may_ask(g, r, seat, work):
    """Whether the seat may ask for permission to go out. Rule: docs/rules.md 7.4."""
    if int(r["permission"]) == PERMISSION_NONE or g["asked"] or not g["in_foot"][seat]:
        return False
    if not has_quota(g, r, side_of(r, seat)) or not partners_ready(g, r, seat):
        return False
    if int(r["permission"]) == BINDING_BOTH:  # rules.md 7.5: only if a yes could be followed
        return can_lay_out(g, r, seat, work)
    return True

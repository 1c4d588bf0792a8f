"""Legal actions: one function a phase. Rule: docs/rules.md 4 to 7.

Rare questions (a foot nearly empty, a take into an unfinished opening, permission that binds both) are answered by
laying the cards on a copy of the game and looking at it; `tmp` is an array of two games for that, `plans` the work
buffer of opening.py.
"""

from hf_env.engine.action_ids import (
    ADD,
    ADD_JOKER,
    ADD_JOKER_WILD,
    ADD_TWO,
    ADD_TWO_WILD,
    ASK,
    DISCARD,
    DRAW,
    MELD,
    MELD_WILD,
    NO,
    NUM_ACTIONS,
    NUM_DISCARDS,
    NUM_PATTERNS,
    TAKE,
    TAKE_MELD,
    YES,
)
from hf_env.engine.cards import JOKER, NUM_MELDS, NUM_NATURALS, TWO, WILD
from hf_env.engine.dealing import opening_minimum
from hf_env.engine.going_out import can_lay_out, leaves_enough, may_ask, may_go_out
from hf_env.engine.jit import copy_record, kernel
from hf_env.engine.melds import (
    can_add,
    lay_down_cards,
    lay_from_hand,
    may_start_wild_meld,
    open_size,
    wild_limit_allows,
)
from hf_env.engine.opening import (
    IMPOSSIBLE,
    ROW_CANDIDATE,
    ROW_OTHERS,
    ROW_PLANS,
    ROW_PREFIX,
    ROW_SLOTS,
    ROW_SUFFIX,
    best_total,
    convolve,
    most_points,
    rank_plans,
    slot_plans,
    wild_plans,
    wild_points,
)
from hf_env.engine.state import BINDING_BOTH, FINAL_FORBIDDEN, GROW_NONE, PHASE_ANSWER, PHASE_DRAW, PHASE_OVER
from hf_env.engine.takes import take_cards, take_fits, take_from_pile


def needs_search(rules) -> bool:
    """Whether any rule set of an array (R,) RULES_DTYPE has an option for which write_mask must search."""
    return bool((rules["grow"] != GROW_NONE).any() or (rules["permission"] == BINDING_BOTH).any())


@kernel
def _lay_down_is_legal(g, r, seat, action, tmp, plans, search):
    """Whether what a lay-down begins can be completed, by looking at a copy of the game after it.

    For the cases that the fast paths leave out; the cards are held and the meld itself is within its limits.
    """
    s = tmp[0]
    copy_record(s, g)
    rank, naturals, twos, jokers = lay_down_cards(action)
    points = lay_from_hand(s, r, seat, rank, naturals, twos, jokers)
    side = seat % int(r["sides"])
    if not g["opened"][side]:
        return int(g["laid"]) + points + most_points(s, r, seat, plans, search) >= opening_minimum(r, int(g["deal"]))
    if search is not None:
        if int(r["permission"]) == BINDING_BOTH and g["may_go_out"] and s["hand_sizes"][seat] > 0:
            return can_lay_out(s, r, seat, plans)
    return leaves_enough(s, r, seat, tmp)


@kernel
def _mark_lay_downs(g, r, seat, mask):
    """Mark every lay-down whose cards are held and whose meld is within its limits."""
    side = seat % int(r["sides"])
    hand = g["hands"][seat]
    twos = int(hand[TWO])
    jokers = int(hand[JOKER])
    grow = int(r["grow"]) != GROW_NONE
    one_wild = (twos + jokers > 0) and wild_limit_allows(r, 2, 1, False)
    two_wilds = (twos + jokers > 1) and wild_limit_allows(r, 1, 2, False)
    for rank in range(NUM_NATURALS):
        held = int(hand[rank])
        naturals = int(g["naturals"][side, rank])
        wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
        if naturals + wilds > 0:
            if held > 0:  # one more natural never breaks a wild limit
                mask[ADD + rank] = 1
            if twos + jokers > 0 and wild_limit_allows(r, naturals, wilds + 1, False):
                mask[ADD_TWO + rank] = 1 if twos > 0 else 0
                mask[ADD_JOKER + rank] = 1 if jokers > 0 else 0
            continue
        if held > 0:
            first = MELD + rank * NUM_PATTERNS
            if held >= 3:
                mask[first] = 1
            if one_wild and held >= 2:
                mask[first + 1] = 1 if twos > 0 else 0
                mask[first + 2] = 1 if jokers > 0 else 0
            if two_wilds:
                mask[first + 3] = 1 if twos > 1 else 0
                mask[first + 4] = 1 if twos > 0 and jokers > 0 else 0
                mask[first + 5] = 1 if jokers > 1 else 0
        if not grow:
            continue
        if held > 0 and can_add(g, r, side, rank, False):
            mask[ADD + rank] = 1
        if twos + jokers > 0 and can_add(g, r, side, rank, True):
            mask[ADD_TWO + rank] = 1 if twos > 0 else 0
            mask[ADD_JOKER + rank] = 1 if jokers > 0 else 0
    if twos + jokers == 0:
        return
    size = open_size(g, side, WILD)
    if size == 0 and twos + jokers >= 3 and may_start_wild_meld(r, int(g["clean_books"][side, WILD])):
        for num_jokers in range(4):
            if jokers >= num_jokers and twos >= 3 - num_jokers:
                mask[MELD_WILD + num_jokers] = 1
    if size > 0 or (grow and can_add(g, r, side, WILD, True)):
        mask[ADD_TWO_WILD] = 1 if twos > 0 else 0
        mask[ADD_JOKER_WILD] = 1 if jokers > 0 else 0


@kernel
def _drop_lay_downs(g, r, seat, mask, bound, tmp, plans, search):
    """Unmark the lay-downs after which the turn could not end, or (opening, bound by a yes) not as it must.

    Starts lay three cards, additions one: only a nearly empty foot needs a look unless all must be looked at.
    """
    held = int(g["hand_sizes"][seat])
    for action in range(MELD, ASK):
        left = held - (3 if action < ADD else 1)
        if mask[action] and (bound or left < 2) and not _lay_down_is_legal(g, r, seat, action, tmp, plans, search):
            mask[action] = 0


@kernel
def _opening_piece_fits(g, r, seat, action, needed, plans):
    """Whether an opening can be completed after this piece, ROW_OTHERS holding the plans of all other slots."""
    side = seat % int(r["sides"])
    rank, naturals, twos, jokers = lay_down_cards(action)
    points = twos * int(r["card_points"][TWO]) + jokers * int(r["card_points"][JOKER])
    if rank != WILD:
        points += naturals * int(r["card_points"][rank])
    if points >= needed:
        return True
    left_twos = int(g["hands"][seat, TWO]) - twos
    left_jokers = int(g["hands"][seat, JOKER]) - jokers
    wilds = left_twos + left_jokers
    open_naturals = int(g["naturals"][side, rank]) + naturals
    open_wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank]) + twos + jokers
    books = int(g["clean_books"][side, rank])
    if open_naturals + open_wilds >= int(r["book_size"]):
        open_naturals = 0
        open_wilds = 0
        books += 1
    if rank == WILD:
        wild_plans(r, open_wilds, books, wilds, plans, ROW_CANDIDATE)
    else:
        held = int(g["hands"][seat, rank]) - naturals
        rank_plans(r, int(r["card_points"][rank]), held, open_naturals, open_wilds, wilds, plans, ROW_CANDIDATE)
    for u in range(wilds + 1):
        own = plans[ROW_CANDIDATE, u]
        if own < 0:
            continue
        for v in range(wilds + 1 - u):
            others = plans[ROW_OTHERS, v]
            if others >= 0 and points + own + others + wild_points(r, left_twos, left_jokers, u + v) >= needed:
                return True
    return False


@kernel
def _mark_opening(g, r, seat, mask, tmp, plans, search):
    """Mark the pieces after which the minimum can still be reached from the hand."""
    needed = opening_minimum(r, int(g["deal"])) - int(g["laid"])
    if int(r["grow"]) != GROW_NONE:
        _mark_lay_downs(g, r, seat, mask)
        _drop_lay_downs(g, r, seat, mask, True, tmp, plans, search)
        return
    twos = int(g["hands"][seat, TWO])
    jokers = int(g["hands"][seat, JOKER])
    wilds = twos + jokers
    slots = plans[ROW_SLOTS]
    count = 0
    for slot in range(NUM_MELDS):
        if slot_plans(g, r, seat, slot, wilds, plans, ROW_PLANS + count, search):
            slots[count] = slot
            count += 1
    if count == 0:
        return
    for w in range(wilds + 1):
        plans[ROW_PREFIX, w] = 0 if w == 0 else IMPOSSIBLE
        plans[ROW_SUFFIX + count, w] = 0 if w == 0 else IMPOSSIBLE
    for i in range(count):
        convolve(plans, ROW_PREFIX + i, ROW_PLANS + i, ROW_PREFIX + i + 1, wilds)
    if best_total(r, twos, jokers, plans, ROW_PREFIX + count) < needed:
        return
    for i in range(count - 1, -1, -1):
        convolve(plans, ROW_SUFFIX + i + 1, ROW_PLANS + i, ROW_SUFFIX + i, wilds)
    _mark_lay_downs(g, r, seat, mask)
    for i in range(count):
        slot = slots[i]
        convolve(plans, ROW_PREFIX + i, ROW_SUFFIX + i + 1, ROW_OTHERS, wilds)
        if slot == WILD:
            for action in range(MELD_WILD, ADD):
                if mask[action] and not _opening_piece_fits(g, r, seat, action, needed, plans):
                    mask[action] = 0
            for action in range(ADD_TWO_WILD, ADD_JOKER_WILD + 1):
                if mask[action] and not _opening_piece_fits(g, r, seat, action, needed, plans):
                    mask[action] = 0
            continue
        first = MELD + slot * NUM_PATTERNS
        for action in range(first, first + NUM_PATTERNS):
            if mask[action] and not _opening_piece_fits(g, r, seat, action, needed, plans):
                mask[action] = 0
        for action in (ADD + slot, ADD_TWO + slot, ADD_JOKER + slot):
            if mask[action] and not _opening_piece_fits(g, r, seat, action, needed, plans):
                mask[action] = 0


@kernel
def _mark_play(g, r, seat, mask, tmp, plans, search):
    """Mark the actions after the draw or take."""
    if not g["opened"][seat % int(r["sides"])]:
        _mark_opening(g, r, seat, mask, tmp, plans, search)
        if opening_begun(g, r, seat):
            return
    else:
        bound = int(r["permission"]) == BINDING_BOTH and g["may_go_out"] != 0
        _mark_lay_downs(g, r, seat, mask)
        if bound or (g["in_foot"][seat] and g["hand_sizes"][seat] < 5):
            _drop_lay_downs(g, r, seat, mask, bound, tmp, plans, search)
        if may_ask(g, r, seat, plans, search):
            mask[ASK] = 1
        if (bound or g["hand_sizes"][seat] == 1) and g["in_foot"][seat]:
            last = g["hand_sizes"][seat] == 1
            if not last or int(r["final_discard"]) == FINAL_FORBIDDEN or not may_go_out(g, r, seat):
                return
    for kind in range(NUM_DISCARDS):
        if g["hands"][seat, kind] > 0:
            mask[DISCARD + kind] = 1


@kernel
def opening_begun(g, r, seat):
    """Whether the unopened side has cards on the table (worth no points: the minimum is still open)."""
    side = seat % int(r["sides"])
    for kind in range(NUM_MELDS + 1):
        if g["table"][side, kind] != 0:
            return True
    return False


@kernel
def _mark_draw(g, r, seat, mask, tmp, plans, search):
    """Mark drawing, which is always legal, and the ways to take from the discard pile. Rule: docs/rules.md 5."""
    mask[DRAW] = 1
    if int(r["take_count"]) == 0 or g["discard_size"] == 0:
        return
    side = seat % int(r["sides"])
    if r["take_needs_open"] and not g["opened"][side]:
        return
    for action in range(TAKE, TAKE_MELD + 1):
        if not take_fits(g, r, seat, action):
            continue
        if g["opened"][side] and not g["in_foot"][seat]:
            mask[action] = 1
            continue
        s = tmp[0]
        copy_record(s, g)
        points = take_cards(s, r, seat, action)
        if g["opened"][side]:
            take_from_pile(s, r, seat, int(s["taking"]))
            if leaves_enough(s, r, seat, tmp):
                mask[action] = 1
            continue
        minimum = opening_minimum(r, int(g["deal"]))
        if points >= minimum or points + most_points(s, r, seat, plans, search) >= minimum:
            mask[action] = 1


@kernel
def write_mask(g, r, mask, tmp, plans, search):
    """Write the legal actions of the seat to move into mask, (127,) int8, 1 legal. All zero once the deal is over.

    search: None leaves out, at compile time, what only growing books and permission that binds both need (see
    needs_search), and with it a quarter of the time to compile; any integer includes it.
    """
    for action in range(NUM_ACTIONS):
        mask[action] = 0
    phase = int(g["phase"])
    if phase == PHASE_OVER:
        return
    seat = int(g["to_move"])
    if phase == PHASE_ANSWER:
        mask[YES] = 1
        mask[NO] = 1
    elif phase == PHASE_DRAW:
        _mark_draw(g, r, seat, mask, tmp, plans, search)
    else:
        _mark_play(g, r, seat, mask, tmp, plans, search)

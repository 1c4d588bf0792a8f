"""Legal actions: one function a phase. Rule: docs/rules.md 4 to 7.

Rare questions (a foot nearly empty, a take into an unfinished opening, permission that binds both) are answered by
laying the cards on a copy of the game and looking at it. `work` is a Workspace (workspace.py).
"""

from hf_env.engine.action_ids import (
    ADD,
    ADD_JOKER,
    ADD_JOKER_WILD,
    ADD_TWO_WILD,
    ASK,
    DISCARD,
    DRAW,
    MELD,
    MELD_WILD,
    NO,
    NUM_DISCARDS,
    NUM_PATTERNS,
    TAKE,
    TAKE_MELD,
    YES,
)
from hf_env.engine.cards import JOKER, NUM_MELDS, NUM_NATURALS, TWO, WILD
from hf_env.engine.dealing import opening_minimum
from hf_env.engine.going_out import can_lay_out, leaves_enough, may_ask, may_go_out
from hf_env.engine.lay_downs import layable_ranks, write_actions, write_lay_downs
from hf_env.engine.melds import (
    lay_down_cards,
    lay_from_hand,
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
from hf_env.engine.seats import side_of
from hf_env.engine.state import ANY_MELD, BINDING_BOTH, FINAL_FORBIDDEN, GROW_NONE, NATURAL_PAIR, PHASE_DRAW, PHASE_OVER, PHASE_PLAY
from hf_env.engine.takes import take_cards, take_fits, take_from_pile
from hf_env.kernels.compile import copy_record, kernel
from hf_env.kernels.lanes import at_least, lanes, lowest_bit


@kernel
def _lay_down_is_legal(g, r, seat, action, work):
    """Whether what a lay-down begins can be completed, by looking at a copy of the game after it.

    For the cases that the fast paths leave out; the cards are held and the meld itself is within its limits.
    Rule: docs/rules.md 4.17, 7.5, 7.8.
    """
    s = work.spare[0]
    copy_record(s, g)
    rank, naturals, twos, jokers = lay_down_cards(action)
    points = lay_from_hand(s, r, seat, rank, naturals, twos, jokers)
    side = side_of(r, seat)
    if not g["opened"][side]:
        return int(g["laid"]) + points + most_points(s, r, seat, work) >= opening_minimum(r, int(g["deal"]))
    if int(r["permission"]) == BINDING_BOTH and g["may_go_out"] and s["hand_sizes"][seat] > 0:
        return can_lay_out(s, r, seat, work)
    return leaves_enough(s, r, seat, work)


@kernel
def _drop_lay_downs(g, r, seat, mask, bound, work):
    """Unmark the lay-downs after which the turn could not end, or (opening, bound by a yes) not as it must.

    Starts lay three cards, additions one: only a nearly empty foot needs a look unless all must be looked at.
    """
    held = int(g["hand_sizes"][seat])
    for action in range(MELD, ASK):
        left = held - (3 if action < ADD else 1)
        if mask[action] and (bound or left < 2) and not _lay_down_is_legal(g, r, seat, action, work):
            mask[action] = 0


@kernel
def _opening_piece_fits(g, r, seat, action, needed, plans):
    """Whether an opening can be completed after this piece, ROW_OTHERS holding the plans of all other slots."""
    side = side_of(r, seat)
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
def _can_reach(r, hand, ranks, needed):
    """Whether all cards of these ranks (bits) and all wilds have the points; if not, no opening can. A quick look."""
    points = int(hand[TWO]) * int(r["card_points"][TWO]) + int(hand[JOKER]) * int(r["card_points"][JOKER])
    while ranks != 0:
        rank = lowest_bit(ranks)
        ranks &= ranks - 1
        points += int(hand[rank]) * int(r["card_points"][rank])
    return points >= needed


@kernel
def _take_can_reach(g, r, seat, top, needed):
    """_can_reach with the top card of the pile taken into its meld."""
    if int(r["grow"]) != GROW_NONE:
        return True
    hand = g["hands"][seat]
    ranks = layable_ranks(g, r, side_of(r, seat), hand)
    if top < NUM_NATURALS:
        ranks |= 1 << top
    return _can_reach(r, hand, ranks, needed - int(r["card_points"][top]))


@kernel
def _write_opening(g, r, seat, mask, discards, work):
    """Write the mask: the pieces after which the minimum can still be reached from the hand, and the discards (bits from ADD on).

    Rule: docs/rules.md 4.17.
    """
    needed = opening_minimum(r, int(g["deal"])) - int(g["laid"])
    if int(r["grow"]) != GROW_NONE:
        write_lay_downs(g, r, seat, mask, discards)
        _drop_lay_downs(g, r, seat, mask, True, work)
        return
    hand = g["hands"][seat]
    twos = int(hand[TWO])
    jokers = int(hand[JOKER])
    wilds = twos + jokers
    ranks = layable_ranks(g, r, side_of(r, seat), hand)
    count = 0
    plans = work.plans
    slots = plans[ROW_SLOTS]
    if _can_reach(r, hand, ranks, needed):
        while ranks != 0:
            slots[count] = lowest_bit(ranks)
            ranks &= ranks - 1
            count += 1 if slot_plans(g, r, seat, slots[count], wilds, ROW_PLANS + count, work) else 0
        if slot_plans(g, r, seat, WILD, wilds, ROW_PLANS + count, work):
            slots[count] = WILD
            count += 1
    for w in range(wilds + 1):
        plans[ROW_PREFIX, w] = 0 if w == 0 else IMPOSSIBLE
        plans[ROW_SUFFIX + count, w] = 0 if w == 0 else IMPOSSIBLE
    for i in range(count):
        convolve(plans, ROW_PREFIX + i, ROW_PLANS + i, ROW_PREFIX + i + 1, wilds)
    if count == 0 or best_total(r, twos, jokers, plans, ROW_PREFIX + count) < needed:
        write_actions(mask, 0, 0, discards)
        return
    for i in range(count - 1, -1, -1):
        convolve(plans, ROW_SUFFIX + i + 1, ROW_PLANS + i, ROW_SUFFIX + i, wilds)
    write_lay_downs(g, r, seat, mask, discards)
    for i in range(count):
        slot = slots[i]
        convolve(plans, ROW_PREFIX + i, ROW_SUFFIX + i + 1, ROW_OTHERS, wilds)
        if slot == WILD:
            _drop_pieces(g, r, seat, mask, range(MELD_WILD, ADD), needed, plans)
            _drop_pieces(g, r, seat, mask, range(ADD_TWO_WILD, ADD_JOKER_WILD + 1), needed, plans)
        else:
            first = MELD + slot * NUM_PATTERNS
            _drop_pieces(g, r, seat, mask, range(first, first + NUM_PATTERNS), needed, plans)
            _drop_pieces(g, r, seat, mask, range(ADD + slot, ADD_JOKER + slot + 1, NUM_NATURALS), needed, plans)


@kernel
def _drop_pieces(g, r, seat, mask, actions, needed, plans):
    """Unmark those of `actions`, a range, after which the opening cannot be completed."""
    for action in actions:
        if mask[action] and not _opening_piece_fits(g, r, seat, action, needed, plans):
            mask[action] = 0


@kernel
def _write_play(g, r, seat, mask, work):
    """Write the mask after the draw or take. Rule: docs/rules.md 4.1, 4.3, 7.4 to 7.8."""
    side = side_of(r, seat)
    discards = at_least(lanes(g["hands"][seat]), 1, NUM_DISCARDS) << (DISCARD - ADD)
    if not g["opened"][side]:
        if opening_begun(g, r, seat):  # rules.md 4.16
            discards = 0
        _write_opening(g, r, seat, mask, discards, work)
        return
    bound = int(r["permission"]) == BINDING_BOTH and g["may_go_out"] != 0
    held = int(g["hand_sizes"][seat])
    in_foot = g["in_foot"][seat] != 0
    # rules.md 4.3, 7.7: the last card of the foot is discarded only to go out; 7.5: after a binding yes no other discard is.
    if in_foot and (bound or held == 1):
        if held != 1 or int(r["final_discard"]) == FINAL_FORBIDDEN or not may_go_out(g, r, seat):
            discards = 0
    if may_ask(g, r, seat, work):
        discards |= 1 << (ASK - ADD)
    write_lay_downs(g, r, seat, mask, discards)
    if bound or (in_foot and held < 5):  # rules.md 7.5, 7.8
        _drop_lay_downs(g, r, seat, mask, bound, work)


@kernel
def opening_begun(g, r, seat):
    """Whether the unopened side has cards on the table (worth no points: the minimum is still open)."""
    return at_least(lanes(g["table"][side_of(r, seat)]), 1, NUM_MELDS + 1) != 0


@kernel
def _write_draw(g, r, seat, mask, work):
    """Write the mask: drawing, which is always legal, and the ways to take from the discard pile. Rule: docs/rules.md 5.1 to 5.10."""
    write_actions(mask, 1 << DRAW, 0, 0)
    if int(r["take_count"]) == 0 or g["discard_size"] == 0:  # rules.md 5.1
        return
    side = side_of(r, seat)
    if r["take_needs_open"] and not g["opened"][side]:  # rules.md 5.7
        return
    top = int(g["discard"][int(g["discard_size"]) - 1])
    if top < NUM_NATURALS and g["hands"][seat, top] == 0 and int(r["take_key"]) != ANY_MELD:
        return
    for action in range(TAKE, TAKE_MELD + 1 if int(r["take_key"]) != NATURAL_PAIR else TAKE + 1):
        if not take_fits(g, r, seat, action):
            continue
        if g["opened"][side] and not g["in_foot"][seat]:
            mask[action] = 1
            continue
        minimum = opening_minimum(r, int(g["deal"]))
        if not g["opened"][side] and not _take_can_reach(g, r, seat, top, minimum):
            return
        s = work.spare[0]
        copy_record(s, g)
        points = take_cards(s, r, seat, action)
        if g["opened"][side]:
            take_from_pile(s, r, seat, int(s["taking"]))
            if leaves_enough(s, r, seat, work):  # rules.md 5.10
                mask[action] = 1
            continue
        # rules.md 5.6: with the key and the hand, the cards under the top one left out.
        if points >= minimum or points + most_points(s, r, seat, work) >= minimum:
            mask[action] = 1


@kernel
def write_mask(g, r, mask, work):
    """Write the legal actions of the seat to move. All zero once the deal is over. Rule: docs/rules.md 7.10.

    Args:
        g: The game's record; not changed.
        r: The record of its rule set.
        mask: (127,) int8, overwritten, 1 legal. It may be that of `work`.
        work: A Workspace. Its `growth` may be None where ``needs_growth`` says no of the rule set.
    """
    phase = int(g["phase"])
    seat = int(g["to_move"])
    if phase == PHASE_PLAY:
        _write_play(g, r, seat, mask, work)
    elif phase == PHASE_DRAW:
        _write_draw(g, r, seat, mask, work)
    else:  # rules.md 7.4: a partner who was asked says yes or no
        write_actions(mask, 0, 0, 0 if phase == PHASE_OVER else (1 << (YES - ADD)) | (1 << (NO - ADD)))

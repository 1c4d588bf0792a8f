"""The lay-downs that a hand and the table allow, all at once, and the mask that they are written into.

Ranks are bits of an integer here (bit 0 the 4s). A set of actions is three integers, since one holds 63: the starts of
ranks 4 to 9, the starts of the other ranks and of the wild meld, and all actions from ADD on. Rule: docs/rules.md 4.
"""

import numpy as np

from hf_env.engine.action_ids import (
    ADD,
    ADD_JOKER,
    ADD_JOKER_WILD,
    ADD_TWO,
    ADD_TWO_WILD,
    MELD,
    MELD_WILD,
    NUM_ACTIONS,
    NUM_PATTERNS,
)
from hf_env.engine.cards import JOKER, NUM_NATURALS, TWO, WILD
from hf_env.engine.melds import can_add, may_start_wild_meld, open_size, wild_limit_allows, wild_limit_bits
from hf_env.engine.seats import side_of
from hf_env.engine.state import GROW_NONE
from hf_env.kernels.compile import kernel
from hf_env.kernels.lanes import NUM_BITS, at_least, count_bits, lanes, plus, read_bits, write_bits

# The first integer has the starts of so many ranks.
_FIRST_RANKS = 6
_SECOND = MELD + _FIRST_RANKS * NUM_PATTERNS
# The mask is written in two halves of 64 that overlap in one action.
_HALF = NUM_ACTIONS - NUM_BITS
# By the bits of six ranks: those of their first patterns.
_FIRST_PATTERNS = np.array(
    [sum(1 << (NUM_PATTERNS * rank) for rank in range(_FIRST_RANKS) if ranks >> rank & 1) for ranks in range(1 << _FIRST_RANKS)], np.int64
)


@kernel
def write_actions(mask, first, second, third):
    """Write the whole mask, (127,) int8.

    Args:
        first: bits of actions 0 to 40.
        second: 41 to 74.
        third: 75 (ADD) to 126.
    """
    write_bits(mask, 0, first | (second << _SECOND))
    write_bits(mask, _HALF, (second >> (_HALF - _SECOND)) | (third << (ADD - _HALF)))


@kernel
def legal_bits(mask):
    """The mask as two integers, which nth_legal takes: bits of actions 0 to 63, and of 63 to 126 without the first."""
    return read_bits(mask, 0), read_bits(mask, _HALF) & -2


@kernel
def nth_legal(low, high, n):
    """The n-th legal action in ascending order, from 0, of legal_bits. Expects more than n."""
    # Without a branch, since which half it is in is as good as chance: halves are counted and left behind.
    num_low = count_bits(low)
    is_high = n >= num_low
    bits = high if is_high else low
    left = n - num_low if is_high else n
    at = _HALF if is_high else 0
    for width in (32, 16, 8, 4, 2, 1):
        below_half = count_bits(bits & ((1 << width) - 1))
        behind = width if left >= below_half else 0
        left -= below_half if left >= below_half else 0
        bits >>= behind
        at += behind
    return at


@kernel
def startable_ranks(r, hand, twos, jokers, melded):
    """Ranks of which the hand can start a meld, none being open: with no wild, with one, and with two, as bits.

    Rule: docs/rules.md 4.4, 4.6.
    """
    held = lanes(hand)
    closed = ~melded
    wilds = twos + jokers
    none = at_least(held, 3, NUM_NATURALS) & closed  # rules.md 1.4: naturals only, so no black 3
    one = at_least(held, 2, NUM_NATURALS) & closed if wilds > 0 and wild_limit_allows(r, 2, 1, False) else 0
    two = at_least(held, 1, NUM_NATURALS) & closed if wilds > 1 and wild_limit_allows(r, 1, 2, False) else 0
    return none, one, two


@kernel
def open_ranks(g, side):
    """Ranks of which the side has an open meld, as bits."""
    wilds = plus(lanes(g["twos"][side]), lanes(g["jokers"][side]))
    return at_least(plus(lanes(g["naturals"][side]), wilds), 1, NUM_NATURALS)


@kernel
def layable_ranks(g, r, side, hand):
    """Ranks of which anything can be laid at all, or which have an open meld, as bits (growing books aside)."""
    melded = open_ranks(g, side)
    none, one, two = startable_ranks(r, hand, int(hand[TWO]), int(hand[JOKER]), melded)
    return melded | none | one | two


@kernel
def _book_bits(g, r, side, hand, twos, jokers, melded):
    """Bits from ADD on of cards that go onto a grown book of a rank without an open meld, or a grown wild book."""
    bits = 0
    for rank in range(NUM_NATURALS):
        if melded >> rank & 1:
            continue
        if hand[rank] > 0 and can_add(g, r, side, rank, False):
            bits |= 1 << rank
        if twos + jokers > 0 and can_add(g, r, side, rank, True):
            bits |= (1 << (ADD_TWO - ADD + rank) if twos > 0 else 0) | (1 << (ADD_JOKER - ADD + rank) if jokers > 0 else 0)
    if twos + jokers > 0 and can_add(g, r, side, WILD, True):
        bits |= (1 << (ADD_TWO_WILD - ADD) if twos > 0 else 0) | (1 << (ADD_JOKER_WILD - ADD) if jokers > 0 else 0)
    return bits


@kernel
def _wild_start_bits(g, r, side, twos, jokers):
    """Bits from MELD_WILD on: starts of a wild meld, none being open."""
    bits = 0
    if twos + jokers >= 3 and may_start_wild_meld(r, int(g["clean_books"][side, WILD])):
        for num_jokers in range(4):
            if jokers >= num_jokers and twos >= 3 - num_jokers:
                bits |= 1 << num_jokers
    return bits


@kernel
def write_lay_downs(g, r, seat, mask, others):
    """Write the mask: every lay-down whose cards are held and whose meld is within its limits, and `others`, bits from ADD on."""
    side = side_of(r, seat)
    hand = g["hands"][seat]
    twos = int(hand[TWO])
    jokers = int(hand[JOKER])
    melded = open_ranks(g, side)
    none, one, two = startable_ranks(r, hand, twos, jokers, melded)
    has_two = 1 if twos > 0 else 0
    has_joker = 1 if jokers > 0 else 0
    # The patterns of a start with one wild, and with two, as far as the wilds are held. See PATTERN_NATURALS.
    with_one = has_two << 1 | has_joker << 2
    with_two = (8 if twos > 1 else 0) | (has_two & has_joker) << 4 | (32 if jokers > 1 else 0)
    low = (1 << _FIRST_RANKS) - 1
    first = _FIRST_PATTERNS[none & low] + _FIRST_PATTERNS[one & low] * with_one + _FIRST_PATTERNS[two & low] * with_two
    second = (
        _FIRST_PATTERNS[none >> _FIRST_RANKS]
        + _FIRST_PATTERNS[one >> _FIRST_RANKS] * with_one
        + _FIRST_PATTERNS[two >> _FIRST_RANKS] * with_two
    )
    # One more natural never breaks a wild limit, rules.md 4.9.
    third = others | (at_least(lanes(hand), 1, NUM_NATURALS) & melded)
    if twos + jokers > 0:
        room = melded & wild_limit_bits(g, r, side)
        third |= (room * has_two) << (ADD_TWO - ADD) | (room * has_joker) << (ADD_JOKER - ADD)
        if open_size(g, side, WILD) == 0:
            second |= _wild_start_bits(g, r, side, twos, jokers) << (MELD_WILD - _SECOND)
        else:
            third |= has_two << (ADD_TWO_WILD - ADD) | has_joker << (ADD_JOKER_WILD - ADD)
    if int(r["grow"]) != GROW_NONE:
        third |= _book_bits(g, r, side, hand, twos, jokers, melded)
    write_actions(mask, int(first) << MELD, int(second), third)

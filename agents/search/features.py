"""Numbers that sum up a whole state of a deal, hidden cards too, for the value at a playout's cut.

A playout's world is sampled, so all of it may be looked at. The sides other than the own one count by their mean, as
in the score difference, so one layout serves every table and every rule set.
"""

from agents.scripted.estimates import stock_left
from hf_env.engine.cards import BLACK3, JOKER, NUM_NATURALS, RED3, TWO, WILD
from hf_env.engine.dealing import deal_entry, opening_minimum
from hf_env.engine.melds import open_size
from hf_env.engine.scoring import held_points, table_score
from hf_env.kernels.compile import kernel

# A side's numbers, and how many there are of each name. A fitted value names those that it reads: a new one may stand
# anywhere, but no name may get another meaning.
_SIDE = {
    "table": 1, "held": 1, "books": 3, "books_owed": 3, "opened": 1,
    "clean_melds": 4, "dirty_melds": 4,  # open melds that lack 1, 2, 3, 4 cards to a book
    "wild_meld": 1, "wild_share": 1, "wild_share_squared": 1,
    "in_foot": 1, "hand_cards": 1, "foot_hand_cards": 1, "nearest_out": 1,
    "wilds_held": 1, "wilds_in_feet": 1, "red3s_in_feet": 1, "black3s": 1,
    "fitting": 1, "clean_closed": 1, "dirty_closed": 1, "pairs": 1, "trios": 1, "more_than_trios": 1,
    "fitting_in_feet": 1, "matches_in_feet": 1,
    "wilds_times_stock": 1, "clean_times_stock": 1, "dirty_times_stock": 1, "wild_times_stock": 1, "in_foot_times_stock": 1,
    "all_owed": 1, "has_quota": 1, "all_ready": 1,
}  # fmt: skip
# The numbers of the moment and of the rule set.
_COMMON = {
    "stock": 1, "stock_squared": 1, "stock_inverse": 1, "stock_low": 1, "own_turn": 1, "pile": 1, "own_turn_times_pile": 1,
    "minimum": 1, "quota": 3, "clean_book": 1, "dirty_book": 1, "wild_book": 1, "going_out": 1, "book_size": 1, "draw": 1,
    "seats_per_side": 1, "sides": 1, "permission": 1, "partner_foot": 1, "take_key": 1,
}  # fmt: skip


def _starts(counts: dict[str, int]) -> list[int]:
    """The place of each name's first number."""
    return [sum(list(counts.values())[:place]) for place in range(len(counts))]


def _names(counts: dict[str, int]) -> list[str]:
    """A name for each number."""
    return [name if count == 1 else f"{name} {i}" for name, count in counts.items() for i in range(count)]


# Places, for the kernels: of names with several numbers the first.
(
    TABLE, HELD, BOOKS, BOOKS_OWED, OPENED, CLEAN_MELDS, DIRTY_MELDS, WILD_MELD, WILD_SHARE, WILD_SHARE_SQUARED,
    IN_FOOT, HAND_CARDS, FOOT_HAND_CARDS, NEAREST_OUT, WILDS_HELD, WILDS_IN_FEET, RED3S_IN_FEET, BLACK3S,
    FITTING, CLEAN_CLOSED, DIRTY_CLOSED, PAIRS, TRIOS, MORE_THAN_TRIOS, FITTING_IN_FEET, MATCHES_IN_FEET,
    WILDS_TIMES_STOCK, CLEAN_TIMES_STOCK, DIRTY_TIMES_STOCK, WILD_TIMES_STOCK, IN_FOOT_TIMES_STOCK,
    ALL_OWED, HAS_QUOTA, ALL_READY,
) = _starts(_SIDE)  # fmt: skip
(
    STOCK, STOCK_SQUARED, STOCK_INVERSE, STOCK_LOW, OWN_TURN, PILE, OWN_TURN_TIMES_PILE, MINIMUM, QUOTA, CLEAN_BOOK, DIRTY_BOOK,
    WILD_BOOK, GOING_OUT, BOOK_SIZE, DRAW, SEATS_PER_SIDE, SIDES, PERMISSION, PARTNER_FOOT, TAKE_KEY,
) = _starts(_COMMON)  # fmt: skip
SIDE_FEATURES = sum(_SIDE.values())
COMMON_FEATURES = sum(_COMMON.values())
# All numbers by name: of the own side, of the others' mean, of the moment and the rules.
FEATURES = (*(f"own {name}" for name in _names(_SIDE)), *(f"others {name}" for name in _names(_SIDE)), *_names(_COMMON))
NUM_FEATURES = len(FEATURES)

_CARDS = 10.0
_STOCK = 100.0
_POINTS = 1000.0


@kernel
def _table_features(g, r, side, out):
    quota = r["quota"][deal_entry(int(g["deal"]))]
    counts = g["book_counts"][side]
    out[TABLE] = table_score(g, r, side) / _POINTS
    out[HELD] = held_points(g, r, side) / _POINTS
    for i in range(3):
        out[BOOKS + i] = int(counts[i])
        out[BOOKS_OWED + i] = max(int(quota[i]) - int(counts[i]), 0)
    out[OPENED] = int(g["opened"][side])
    size = int(r["book_size"])
    for rank in range(NUM_NATURALS):
        naturals = int(g["naturals"][side, rank])
        wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
        lacking = size - naturals - wilds
        if lacking < size and lacking <= 4:
            out[(CLEAN_MELDS if wilds == 0 else DIRTY_MELDS) + lacking - 1] += 1.0
    share = open_size(g, side, WILD) / size
    out[WILD_MELD] = 1.0 if share > 0.0 else 0.0
    out[WILD_SHARE] = share
    out[WILD_SHARE_SQUARED] = share * share


@kernel
def _hand_features(g, r, side, seat, out):
    hand = g["hands"][seat]
    size = int(r["book_size"])
    out[WILDS_HELD] += int(hand[TWO]) + int(hand[JOKER])
    out[BLACK3S] += int(hand[BLACK3])
    for rank in range(NUM_NATURALS):
        held = int(hand[rank])
        if held == 0:
            continue
        laid = open_size(g, side, rank)
        if laid > 0:
            fitting = min(held, size - laid)
            out[FITTING] += fitting
            if laid + fitting >= size:
                wilds = int(g["twos"][side, rank]) + int(g["jokers"][side, rank])
                out[CLEAN_CLOSED if wilds == 0 else DIRTY_CLOSED] += 1.0
        elif held == 2:
            out[PAIRS] += 1.0
        elif held >= 3:
            out[TRIOS] += 1.0 if held == 3 else 0.0
            out[MORE_THAN_TRIOS] += held - 3


@kernel
def _foot_features(g, r, side, seat, out):
    foot = g["feet"][seat]
    out[WILDS_IN_FEET] += int(foot[TWO]) + int(foot[JOKER])
    out[RED3S_IN_FEET] += int(foot[RED3])
    for rank in range(NUM_NATURALS):
        held = int(foot[rank])
        laid = open_size(g, side, rank)
        if laid > 0:
            out[FITTING_IN_FEET] += min(held, int(r["book_size"]) - laid)
        elif held >= 2:
            out[MATCHES_IN_FEET] += held - 1


@kernel
def _side_features(g, r, side, out):
    """Write a side's numbers into out, (SIDE_FEATURES,) float64."""
    for i in range(SIDE_FEATURES):
        out[i] = 0.0
    _table_features(g, r, side, out)
    seats = 0
    for seat in range(side, int(r["players"]), int(r["sides"])):
        seats += 1
        held = int(g["hand_sizes"][seat])
        out[HAND_CARDS] += held / _CARDS
        if g["in_foot"][seat]:
            out[IN_FOOT] += 1.0
            out[FOOT_HAND_CARDS] += held / _CARDS
            out[NEAREST_OUT] = max(out[NEAREST_OUT], 1.0 / (1.0 + held))
        else:
            _foot_features(g, r, side, seat, out)
        _hand_features(g, r, side, seat, out)
    stock = stock_left(g) / _STOCK
    out[WILDS_TIMES_STOCK] = out[WILDS_HELD] * stock
    for i in range(4):
        out[CLEAN_TIMES_STOCK] += out[CLEAN_MELDS + i] * stock
        out[DIRTY_TIMES_STOCK] += out[DIRTY_MELDS + i] * stock
    out[WILD_TIMES_STOCK] = out[WILD_SHARE] * stock
    out[IN_FOOT_TIMES_STOCK] = out[IN_FOOT] * stock
    for i in range(3):
        out[ALL_OWED] += out[BOOKS_OWED + i]
    out[HAS_QUOTA] = 1.0 if out[ALL_OWED] == 0.0 else 0.0
    out[ALL_READY] = 1.0 if out[ALL_OWED] == 0.0 and out[IN_FOOT] == seats else 0.0


@kernel
def _common_features(g, r, side, out):
    """Write the numbers of the moment and of the rule set into out, (COMMON_FEATURES,) float64."""
    stock = stock_left(g) / _STOCK
    own_turn = 1.0 if int(g["turn_seat"]) % int(r["sides"]) == side else 0.0
    pile = int(g["discard_size"]) / (2.0 * _CARDS)
    quota = r["quota"][deal_entry(int(g["deal"]))]
    out[STOCK] = stock
    out[STOCK_SQUARED] = stock * stock
    out[STOCK_INVERSE] = 1.0 / (1.0 + _CARDS * stock)
    out[STOCK_LOW] = 1.0 if stock < 0.1 else 0.0
    out[OWN_TURN] = own_turn
    out[PILE] = pile
    out[OWN_TURN_TIMES_PILE] = own_turn * pile
    out[MINIMUM] = opening_minimum(r, int(g["deal"])) / _STOCK
    for i in range(3):
        out[QUOTA + i] = int(quota[i])
    out[CLEAN_BOOK] = int(r["clean_book"]) / _POINTS
    out[DIRTY_BOOK] = int(r["dirty_book"]) / _POINTS
    out[WILD_BOOK] = int(r["wild_book"]) / _POINTS
    out[GOING_OUT] = int(r["going_out"]) / _POINTS
    out[BOOK_SIZE] = int(r["book_size"]) / _CARDS
    out[DRAW] = int(r["draw"][deal_entry(int(g["deal"]))])
    out[SEATS_PER_SIDE] = int(r["players"]) / int(r["sides"])
    out[SIDES] = int(r["sides"])
    out[PERMISSION] = 1.0 if int(r["permission"]) != 0 else 0.0
    out[PARTNER_FOOT] = int(r["partner_foot"])
    out[TAKE_KEY] = int(r["take_key"])


@kernel
def write_features(g, r, side, spare, out):
    """Write the state as seen for a side into out, (NUM_FEATURES,) float64.

    Args:
        spare: (SIDE_FEATURES,) float64 to work in.
    """
    sides = int(r["sides"])
    _side_features(g, r, side, out)
    others = out[SIDE_FEATURES:]
    for i in range(SIDE_FEATURES):
        others[i] = 0.0
    for other in range(sides):
        if other != side:
            _side_features(g, r, other, spare)
            for i in range(SIDE_FEATURES):
                others[i] += spare[i] / (sides - 1.0)
    _common_features(g, r, side, out[2 * SIDE_FEATURES :])

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

# Places of a side's numbers. Those with several entries name their first.
TABLE, HELD, BOOKS, BOOKS_OWED, OPENED = 0, 1, 2, 5, 8
CLEAN_MELDS, DIRTY_MELDS = 9, 13  # open melds that lack 1, 2, 3, 4 cards to a book
WILD_MELD, WILD_SHARE, WILD_SHARE_SQUARED = 17, 18, 19
IN_FOOT, HAND_CARDS, FOOT_HAND_CARDS, NEAREST_OUT = 20, 21, 22, 23
WILDS_HELD, WILDS_IN_FEET, RED3S_IN_FEET, BLACK3S = 24, 25, 26, 27
FITTING, CLEAN_CLOSED, DIRTY_CLOSED, PAIRS, TRIOS, MORE_THAN_TRIOS = 28, 29, 30, 31, 32, 33
FITTING_IN_FEET, MATCHES_IN_FEET = 34, 35
WILDS_TIMES_STOCK, CLEAN_TIMES_STOCK, DIRTY_TIMES_STOCK, WILD_TIMES_STOCK, IN_FOOT_TIMES_STOCK = 36, 37, 38, 39, 40
ALL_OWED, HAS_QUOTA, ALL_READY = 41, 42, 43
SIDE_FEATURES = 44
COMMON_FEATURES = 22
NUM_FEATURES = 2 * SIDE_FEATURES + COMMON_FEATURES

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
    out[0] = stock
    out[1] = stock * stock
    out[2] = 1.0 / (1.0 + _CARDS * stock)
    out[3] = 1.0 if stock < 0.1 else 0.0
    out[4] = own_turn
    out[5] = pile
    out[6] = own_turn * pile
    out[7] = opening_minimum(r, int(g["deal"])) / _STOCK
    for i in range(3):
        out[8 + i] = int(quota[i])
    out[11] = int(r["clean_book"]) / _POINTS
    out[12] = int(r["dirty_book"]) / _POINTS
    out[13] = int(r["wild_book"]) / _POINTS
    out[14] = int(r["going_out"]) / _POINTS
    out[15] = int(r["book_size"]) / _CARDS
    out[16] = int(r["draw"][deal_entry(int(g["deal"]))])
    out[17] = int(r["players"]) / int(r["sides"])
    out[18] = int(r["sides"])
    out[19] = 1.0 if int(r["permission"]) != 0 else 0.0
    out[20] = int(r["partner_foot"])
    out[21] = int(r["take_key"])


@kernel
def write_features(g, r, side, spare, out):
    """Write the state as seen for a side into out, (NUM_FEATURES,) float64. spare: (SIDE_FEATURES,) float64 to work in."""
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

"""Writers of the rule options' part of an observation: numbers, choices, limits, points. They change only with the deal."""

from hf_env.engine.cards import BLACK3, JOKER, NUM_NATURALS, RED3, TWO
from hf_env.engine.dealing import deal_entry, opening_minimum
from hf_env.engine.state import NO_LIMIT
from hf_env.kernels.compile import kernel

POINTS_UNIT = 5
# 24 numbers, 5 choices of 3, 2 limits of 2, 14 amounts of points.
NUM_OPTIONS = 57


@kernel
def _one_hot(out, o, index, count):
    out[o + index] = 1
    return o + count


@kernel
def _limit(out, o, value):
    """A limit that may be absent: whether there is one, and its value."""
    if value != NO_LIMIT:
        out[o] = 1
        out[o + 1] = value
    return o + 2


@kernel
def _write_option_counts(g, r, out, o):
    """Options that are numbers or yes / no."""
    deal = int(g["deal"])
    entry = deal_entry(deal)
    out[o] = r["decks"]
    out[o + 1] = r["hand_size"]
    out[o + 2] = r["foot_size"]
    out[o + 3] = r["bury"][RED3]
    out[o + 4] = r["bury"][TWO]
    out[o + 5] = r["bury"][BLACK3]
    out[o + 6] = r["draw"][entry]
    out[o + 7] = r["max_deals"]
    out[o + 8] = r["has_target"]
    out[o + 9] = int(r["target"]) // POINTS_UNIT
    out[o + 10] = opening_minimum(r, deal + 1) // POINTS_UNIT
    out[o + 11] = r["book_size"]
    out[o + 12] = r["max_wilds"]
    out[o + 13] = r["min_naturals"]
    out[o + 14] = r["wild_melds"]
    out[o + 15] = r["take_wild_top"]
    out[o + 16] = r["take_needs_open"]
    out[o + 17] = r["wild_discard_freezes"]
    for i in range(3):
        out[o + 18 + i] = r["quota"][entry, i]
    out[o + 21] = r["partner_foot"]
    out[o + 22] = r["reshuffle"]
    out[o + 23] = r["max_turns"]
    return o + 24


@kernel
def _write_option_choices(r, out, o):
    """Options that are one of three words, one-hot, and the limits that may be absent."""
    o = _one_hot(out, o, int(r["grow"]), 3)
    o = _one_hot(out, o, int(r["wild_limit"]), 3)
    o = _one_hot(out, o, int(r["take_key"]), 3)
    o = _one_hot(out, o, int(r["permission"]), 3)
    o = _one_hot(out, o, int(r["final_discard"]), 3)
    o = _limit(out, o, int(r["wild_book_cap"]))
    return _limit(out, o, int(r["take_count"]))


@kernel
def _write_option_points(r, out, o):
    """Values of cards and bonuses in units of 5 points."""
    points = r["card_points"]
    out[o] = int(points[JOKER]) // POINTS_UNIT
    out[o + 1] = int(points[TWO]) // POINTS_UNIT
    out[o + 2] = int(points[NUM_NATURALS - 1]) // POINTS_UNIT
    out[o + 3] = int(points[4]) // POINTS_UNIT
    out[o + 4] = int(points[0]) // POINTS_UNIT
    out[o + 5] = int(points[BLACK3]) // POINTS_UNIT
    out[o + 6] = int(r["clean_book"]) // POINTS_UNIT
    out[o + 7] = int(r["dirty_book"]) // POINTS_UNIT
    out[o + 8] = int(r["wild_book"]) // POINTS_UNIT
    out[o + 9] = int(r["going_out"]) // POINTS_UNIT
    out[o + 10] = int(r["red3_laid"]) // POINTS_UNIT
    out[o + 11] = int(r["red3_held"]) // POINTS_UNIT
    out[o + 12] = int(r["sevens_book"]) // POINTS_UNIT
    out[o + 13] = int(r["unfinished_wild_penalty"]) // POINTS_UNIT
    return o + 14


@kernel
def write_options(g, r, out, o):
    """Write all options' values; returns the new offset."""
    o = _write_option_counts(g, r, out, o)
    o = _write_option_choices(r, out, o)
    return _write_option_points(r, out, o)

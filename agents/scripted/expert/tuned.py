"""The weights that `expert` plays with, as the recorded search left them (training/studies/tune_expert.py, docs/players.md).

Three rows, by the style of play that a rule set asks for (`style_of`): where a pair, or a natural and a wild, is the
key to the discard pile, tuned under whitnack and bicycle; where an open meld is a key too, tuned under family; and
small games, whose books have at most 5 cards, tuned under mini.
"""

import numpy as np

from agents.scripted.expert.weights import WEIGHTS
from hf_env.engine.state import ANY_MELD
from hf_env.kernels.compile import entry

PAIR_KEYS = {
    "half_turns": 1.479,
    "race_turns": 2.12,
    "near_turns": 4.279,
    "reach": 0.742,
    "counting": 0.975,
    "wild_reach": 1.468,
    "wild_held": 0.416,
    "wild_book_share": 0.17,
    "dirty_book_share": 0.314,
    "wild_owed": 0.884,
    "release_hand": 67.755,
    "release_out": 90.616,
    "foot_now": 30.284,
    "foot_next": 224.788,
    "opening_worth": -66.493,
    "opening_key": 0.003,
    "opening_round": 36.709,
    "opening_late": 788.456,
    "drawn_card": 85.545,
    "loose_card": 9.72,
    "fitting_card": 88.673,
    "pairing_card": 49.435,
    "keep_pair": 94.166,
    "keep_trio": 68.839,
    "keep_single": 18.067,
    "gift_card": 44.477,
    "out_bias": -84.666,
    "out_theirs": 1.052,
    "out_ours": 0.814,
    "out_held": 1.465,
}
OPEN_MELD_KEYS = {
    "half_turns": 1.246,
    "race_turns": 2.76,
    "near_turns": 6.888,
    "reach": 2.317,
    "counting": 0.777,
    "wild_reach": 0.125,
    "wild_held": 0.432,
    "wild_book_share": 0.111,
    "dirty_book_share": 0.013,
    "wild_owed": 0.431,
    "release_hand": 30.178,
    "release_out": 49.936,
    "foot_now": 53.306,
    "foot_next": 219.923,
    "opening_worth": 311.226,
    "opening_key": 0.149,
    "opening_round": 53.559,
    "opening_late": 329.693,
    "drawn_card": 59.79,
    "loose_card": 42.489,
    "fitting_card": 30.268,
    "pairing_card": 39.035,
    "keep_pair": 29.869,
    "keep_trio": 170.524,
    "keep_single": 2.565,
    "gift_card": 0.0,  # the search left 0.4; by ablation 0 is worth 33 points a deal more
    "out_bias": -24.108,
    "out_theirs": 1.5,
    "out_ours": 1.39,
    "out_held": 0.917,
}
SMALL_BOOKS = {
    "half_turns": 0.233,
    "race_turns": 4.054,
    "near_turns": 11.275,
    "reach": 2.772,
    "counting": 0.569,
    "wild_reach": 0.643,
    "wild_held": 0.523,
    "wild_book_share": 0.278,
    "dirty_book_share": 0.401,
    "wild_owed": 0.462,
    "release_hand": 45.086,
    "release_out": 51.049,
    "foot_now": 75.603,
    "foot_next": 399.944,
    "opening_worth": -576.679,
    "opening_key": 62.757,
    "opening_round": 39.428,
    "opening_late": 389.834,
    "drawn_card": 51.784,
    "loose_card": 59.668,
    "fitting_card": 122.149,
    "pairing_card": 32.4,
    "keep_pair": 18.976,
    "keep_trio": 6.757,
    "keep_single": 0.07,
    "gift_card": 145.339,
    "out_bias": 144.127,
    "out_theirs": 1.543,
    "out_ours": 0.558,
    "out_held": 0.271,
}
# (3, NUM_WEIGHTS) float64
TUNED = np.array([[row[weight.name] for weight in WEIGHTS] for row in (PAIR_KEYS, OPEN_MELD_KEYS, SMALL_BOOKS)])
# The largest book of a small game.
SMALL_BOOK = 5


@entry
def style_of(r):
    """The row of TUNED that fits a rule set's record."""
    if int(r["book_size"]) <= SMALL_BOOK:
        return 2
    return 1 if int(r["take_key"]) == ANY_MELD else 0


def tuned_for(rules) -> np.ndarray:
    """The weights (NUM_WEIGHTS,) float64 that `expert` plays with under a RuleSet; a copy."""
    return TUNED[style_of(rules.to_record()[0])].copy()

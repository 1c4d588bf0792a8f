"""The weights that `expert` plays with, as the recorded search left them (training/tune_expert.py, docs/players.md).

Three rows, by the style of play that a rule set asks for (`style_of`): where a pair, or a natural and a wild, is the
key to the discard pile, tuned under whitnack and bicycle; where an open meld is a key too, tuned under family; and
small games, whose books have at most 5 cards, tuned under mini.
"""

import numpy as np

from agents.scripted.expert_weights import WEIGHTS
from hf_env.engine.jit import kernel
from hf_env.engine.state import ANY_MELD

PAIR_KEYS = {
    "half_turns": 0.286,
    "race_turns": 2.192,
    "near_turns": 2.196,
    "reach": 0.652,
    "counting": 0.911,
    "fallback": 0.549,
    "wild_reach": 1.543,
    "wild_held": 0.483,
    "wild_book_share": 0.142,
    "dirty_book_share": 0.28,
    "wild_owed": 0.384,
    "release_hand": 69.553,
    "release_out": 79.382,
    "foot_now": 17.921,
    "foot_next": 202.616,
    "pair_laid": 24.571,
    "opening_worth": -141.496,
    "opening_key": 7.698,
    "opening_round": 33.331,
    "opening_late": 545.151,
    "drawn_card": 77.429,
    "loose_card": 12.804,
    "fitting_card": 77.407,
    "pairing_card": 43.442,
    "crowded": -6.768,
    "keep_pair": 108.624,
    "keep_trio": 117.173,
    "keep_single": 21.506,
    "keep_points": 0.23,
    "keep_high": 0.0,
    "gift_card": 83.814,
    "passed_over": 0.57,
    "out_bias": -55.792,
    "out_theirs": 1.08,
    "out_ours": 0.994,
    "out_held": 1.278,
}
OPEN_MELD_KEYS = {
    "half_turns": 1.197,
    "race_turns": 3.021,
    "near_turns": 5.203,
    "reach": 2.111,
    "counting": 0.881,
    "fallback": 0.403,
    "wild_reach": 0.296,
    "wild_held": 0.402,
    "wild_book_share": 0.09,
    "dirty_book_share": 0.058,
    "wild_owed": 0.482,
    "release_hand": 32.332,
    "release_out": 55.909,
    "foot_now": 60.422,
    "foot_next": 230.56,
    "pair_laid": 3.874,
    "opening_worth": 341.111,
    "opening_key": 0.003,
    "opening_round": 46.38,
    "opening_late": 282.465,
    "drawn_card": 60.03,
    "loose_card": 36.142,
    "fitting_card": 15.612,
    "pairing_card": 46.331,
    "crowded": -4.451,
    "keep_pair": 54.61,
    "keep_trio": 143.452,
    "keep_single": 0.075,
    "keep_points": 1.205,
    "keep_high": 0.0,
    "gift_card": 0.2,
    "passed_over": 0.569,
    "out_bias": 68.484,
    "out_theirs": 1.573,
    "out_ours": 1.343,
    "out_held": 0.723,
}
SMALL_BOOKS = {
    "half_turns": 1.13,
    "race_turns": 4.049,
    "near_turns": 8.816,
    "reach": 2.391,
    "counting": 0.528,
    "fallback": 0.284,
    "wild_reach": 0.681,
    "wild_held": 0.469,
    "wild_book_share": 0.35,
    "dirty_book_share": 0.47,
    "wild_owed": 0.452,
    "release_hand": 53.448,
    "release_out": 44.112,
    "foot_now": 38.099,
    "foot_next": 394.178,
    "pair_laid": 28.427,
    "opening_worth": -595.765,
    "opening_key": 66.552,
    "opening_round": 33.831,
    "opening_late": 279.799,
    "drawn_card": 51.893,
    "loose_card": 49.751,
    "fitting_card": 94.613,
    "pairing_card": 31.345,
    "crowded": -2.306,
    "keep_pair": 9.772,
    "keep_trio": 23.241,
    "keep_single": 0.048,
    "keep_points": 0.211,
    "keep_high": 0.0,
    "gift_card": 143.226,
    "passed_over": 0.948,
    "out_bias": 213.73,
    "out_theirs": 1.666,
    "out_ours": 0.81,
    "out_held": 0.181,
}
# (3, NUM_WEIGHTS) float64
TUNED = np.array([[row[weight.name] for weight in WEIGHTS] for row in (PAIR_KEYS, OPEN_MELD_KEYS, SMALL_BOOKS)])
# The largest book of a small game.
SMALL_BOOK = 5


@kernel
def style_of(r):
    """The row of TUNED that fits a rule set's record."""
    if int(r["book_size"]) <= SMALL_BOOK:
        return 2
    return 1 if int(r["take_key"]) == ANY_MELD else 0


def tuned_for(rules) -> np.ndarray:
    """The weights (NUM_WEIGHTS,) float64 that `expert` plays with under a RuleSet; a copy."""
    if rules.book_size <= SMALL_BOOK:
        return TUNED[2].copy()
    return TUNED[1 if rules.take_key == "any_meld" else 0].copy()

"""The weights that `expert` plays with, as the recorded search left them (training/tune_expert.py, docs/players.md).

Three rows, by the style of play that a rule set asks for (`style_of`): where a pair, or a natural and a wild, is the
key to the discard pile, tuned under whitnack and bicycle; where an open meld is a key too, tuned under family; and
small games, whose books have at most 5 cards, tuned under mini.
"""

import numpy as np

import importlib.util as u; sp=u.spec_from_file_location('ew','agents/scripted/expert_weights.py'); m=u.module_from_spec(sp); sp.loader.exec_module(m); WEIGHTS=m.WEIGHTS
from hf_env.engine.jit import kernel
from hf_env.engine.state import ANY_MELD

PAIR_KEYS = {
    "half_turns": 0.286,
    "race_turns": 2.192,
    "near_turns": 2.196,
    "reach": 0.652,
    "counting": 0.911,
    "fallback": 0.549,
    "wild_help": 0.004,
    "wild_reach": 1.543,
    "wild_held": 0.483,
    "wild_book_share": 0.142,
    "dirty_book_share": 0.28,
    "keep_wild": 26.167,
    "wild_owed": 0.384,
    "dirty_owed": 32.382,
    "clean_owed": 7.87,
    "release_hand": 69.553,
    "release_foot": 10.098,
    "release_out": 79.382,
    "open_key": -20.203,
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
    "opening_take": 811.024,
    "denial": 7.37,
    "crowded": -6.768,
    "keep_pair": 108.624,
    "keep_trio": 117.173,
    "keep_single": 21.506,
    "keep_points": 0.23,
    "keep_black3": -73.722,
    "gift_card": 83.814,
    "gift_fit": 95.334,
    "gift_meld": 0.071,
    "sure_take": 0.787,
    "passed_over": 0.57,
    "unopened": 0.334,
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
    "wild_help": 0.025,
    "wild_reach": 0.296,
    "wild_held": 0.402,
    "wild_book_share": 0.09,
    "dirty_book_share": 0.058,
    "keep_wild": 15.745,
    "wild_owed": 0.482,
    "dirty_owed": 53.792,
    "clean_owed": 170.122,
    "release_hand": 32.332,
    "release_foot": 13.804,
    "release_out": 55.909,
    "open_key": -54.305,
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
    "opening_take": 395.718,
    "denial": 2.081,
    "crowded": -4.451,
    "keep_pair": 54.61,
    "keep_trio": 143.452,
    "keep_single": 0.075,
    "keep_points": 1.205,
    "keep_black3": -126.695,
    "gift_card": 0.455,
    "gift_fit": 86.295,
    "gift_meld": 0.342,
    "sure_take": 1.0,
    "passed_over": 0.569,
    "unopened": 0.43,
    "out_bias": 68.484,
    "out_theirs": 1.573,
    "out_ours": 1.343,
    "out_held": 0.723,
}
SMALL_BOOKS = {
    "half_turns": 0.222,
    "race_turns": 2.908,
    "near_turns": 6.674,
    "reach": 2.143,
    "counting": 0.831,
    "fallback": 0.49,
    "wild_help": 0.197,
    "wild_reach": 0.201,
    "wild_held": 0.441,
    "wild_book_share": 0.252,
    "dirty_book_share": 0.168,
    "keep_wild": 1.67,
    "wild_owed": 0.152,
    "dirty_owed": 9.708,
    "clean_owed": 227.355,
    "release_hand": 35.068,
    "release_foot": 6.532,
    "release_out": 29.741,
    "open_key": -62.423,
    "foot_now": 51.161,
    "foot_next": 284.525,
    "pair_laid": 0.675,
    "opening_worth": -169.864,
    "opening_key": 1.871,
    "opening_round": 50.268,
    "opening_late": 173.631,
    "drawn_card": 78.777,
    "loose_card": 47.86,
    "fitting_card": 23.022,
    "pairing_card": 51.36,
    "opening_take": 347.779,
    "denial": 18.151,
    "crowded": -13.32,
    "keep_pair": 16.078,
    "keep_trio": 183.902,
    "keep_single": 7.921,
    "keep_points": 0.597,
    "keep_black3": -145.074,
    "gift_card": 79.516,
    "gift_fit": 90.534,
    "gift_meld": 77.259,
    "sure_take": 0.933,
    "passed_over": 0.5,
    "unopened": 0.611,
    "out_bias": 198.345,
    "out_theirs": 1.605,
    "out_ours": 1.219,
    "out_held": 0.415,
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

"""Where each family of actions begins in the one table of 127 ids, and what each lay-down is made of.

The table is the same for every rule set; a rule set only masks some of it. Labels: hf_env/actions.py.
"""

import numpy as np

from hf_env.engine.cards import NUM_NATURALS

DRAW = 0
TAKE = 1  # with the natural pair, or the matching pair of wilds
TAKE_TWO = 2  # with one natural and a 2
TAKE_JOKER = 3  # with one natural and a joker
TAKE_MELD = 4  # the top card alone, onto the side's open meld
MELD = 5  # + 6 * rank + pattern
NUM_PATTERNS = 6
MELD_WILD = MELD + NUM_NATURALS * NUM_PATTERNS  # + number of jokers, 0..3
NUM_WILD_PATTERNS = 4
ADD = MELD_WILD + NUM_WILD_PATTERNS  # + rank
ADD_TWO = ADD + NUM_NATURALS  # + rank: a 2 onto a natural meld
ADD_JOKER = ADD_TWO + NUM_NATURALS  # + rank
ADD_TWO_WILD = ADD_JOKER + NUM_NATURALS
ADD_JOKER_WILD = ADD_TWO_WILD + 1
ASK = ADD_JOKER_WILD + 1
YES = ASK + 1
NO = YES + 1
DISCARD = NO + 1  # + kind, 0..13: a red 3 is never in a hand
NUM_DISCARDS = 14
NUM_ACTIONS = DISCARD + NUM_DISCARDS

# Cards of the six starts of a natural meld: naturals, 2s, jokers.
PATTERN_NATURALS = np.array([3, 2, 2, 1, 1, 1], np.int64)
PATTERN_TWOS = np.array([0, 1, 0, 2, 1, 0], np.int64)
PATTERN_JOKERS = np.array([0, 0, 1, 0, 1, 2], np.int64)

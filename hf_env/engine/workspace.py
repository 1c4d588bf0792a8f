"""The arrays that the kernels work in, in one record, so that each travels as one argument."""

from typing import NamedTuple

import numpy as np

from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.cards import MAX_CARDS
from hf_env.engine.growth import GROWTH_ROWS, GROWTH_WIDTH
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.state import BINDING_BOTH, GAME_DTYPE, GROW_NONE
from hf_env.kernels.compile import entry


class Workspace(NamedTuple):
    """What the kernels of the rules overwrite as they please: nothing in it outlives a call, but for `mask`.

    One thread works in one workspace. Made by ``make_workspace``. Where no rule set needs growth (``needs_growth``),
    ``workspace._replace(growth=None)`` leaves the search over growing books out at compile time, and with it a quarter of
    the time to compile.
    """

    spare: np.ndarray  # (2,) GAME_DTYPE, games that an action is tried on
    plans: np.ndarray  # (NUM_ROWS, PLAN_WIDTH) int64, see opening.py
    mask: np.ndarray  # (127,) int8, the legal actions, for callers that keep them nowhere else
    deck: np.ndarray  # (MAX_CARDS,) uint8, cards in an order
    growth: np.ndarray | None  # (GROWTH_ROWS, GROWTH_WIDTH) int16, see growth.py; None: there is no such search


@entry
def make_workspace():
    """A new Workspace, for Python and for kernels alike."""
    return Workspace(
        np.empty(2, GAME_DTYPE),
        np.empty((NUM_ROWS, PLAN_WIDTH), np.int64),
        np.zeros(NUM_ACTIONS, np.int8),
        np.zeros(MAX_CARDS, np.uint8),
        np.empty((GROWTH_ROWS, GROWTH_WIDTH), np.int16),
    )


def needs_growth(rules: np.ndarray) -> bool:
    """Whether any rule set of an array (R,) RULES_DTYPE has an option whose legal actions need the search of growth.py."""
    return bool((rules["grow"] != GROW_NONE).any() or (rules["permission"] == BINDING_BOTH).any())

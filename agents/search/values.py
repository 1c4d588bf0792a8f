"""What a state is worth at a playout's cut: a small network on its features, fitted by training/studies/fit_search_value.py."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.search.features import NUM_FEATURES, SIDE_FEATURES, write_features
from hf_env.engine.state import RULES_DTYPE
from hf_env.kernels.compile import kernel

FOLDER = Path(__file__).parent / "fitted"
HIDDEN = 48
FORMAT = "hf-search-values/1"
# Fields of a rule set that decide how a game of deals is counted, and nothing within a deal.
_OF_THE_GAME = ("deals", "target", "has_target", "max_deals")


class ValueWeights(NamedTuple):
    """Two hidden layers of rectified units: score difference in points = output of the standardised features.

    w1 (F, H), b1 (H,), w2 (H, H), b2 (H,), w3 (H,), b3 (1,): float64. The standardisation is folded into w1 and b1.
    """

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray
    w3: np.ndarray
    b3: np.ndarray


class FittedValue(NamedTuple):
    """A fitted value of one player: its weights, and the rule sets it was fitted on, (R,) RULES_DTYPE."""

    weights: ValueWeights
    rules: np.ndarray


def no_weights() -> ValueWeights:
    """Weights that stand where playouts are not cut."""
    return ValueWeights(np.zeros((NUM_FEATURES, HIDDEN)), *(np.zeros(shape) for shape in (HIDDEN, (HIDDEN, HIDDEN), HIDDEN, HIDDEN, 1)))


@cache
def fitted_value(player: str) -> FittedValue | None:
    """The value fitted to the play of a scripted player, None where there is none of this version."""
    path = FOLDER / f"{player}.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        if str(stored["format"]) != FORMAT or stored["w1"].shape != (NUM_FEATURES, HIDDEN):
            return None
        weights = ValueWeights(*(stored[name].astype(np.float64) for name in ValueWeights._fields))
        if stored["rules"].shape[1] != RULES_DTYPE.itemsize:
            return None
        rules = stored["rules"].copy().view(RULES_DTYPE).reshape(-1)
    return FittedValue(weights, rules)


def is_fitted_to(value: FittedValue | None, rule: np.void) -> bool:
    """Whether a value was fitted on deals of this rule set; how many deals a game has is no matter."""
    if value is None:
        return False
    names = [name for name in RULES_DTYPE.names or () if name not in _OF_THE_GAME]
    return any(all(np.array_equal(fitted[name], rule[name]) for name in names) for fitted in value.rules)


@kernel
def leaf_value(g, r, side, weights, layers):
    """Expected score difference of the deal for a side, in points.

    Args:
        g: The game's record.
        r: The record of its rule set.
        side: For which side.
        weights: ValueWeights.
        layers: (4, NUM_FEATURES) float64 to work in.
    """
    w1, b1, w2, b2, w3, b3 = weights
    features, spare, first, second = layers[0], layers[1], layers[2], layers[3]
    write_features(g, r, side, spare[:SIDE_FEATURES], features)
    width = b1.shape[0]
    for j in range(width):
        first[j] = b1[j]
        second[j] = b2[j]
    for i in range(features.shape[0]):
        x = features[i]
        if x != 0.0:
            for j in range(width):
                first[j] += x * w1[i, j]
    for i in range(width):
        x = first[i]
        if x > 0.0:
            for j in range(width):
                second[j] += x * w2[i, j]
    value = b3[0]
    for j in range(width):
        value += max(second[j], 0.0) * w3[j]
    return value

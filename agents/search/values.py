"""What a state is worth at a playout's cut: a small network on its features, fitted by training/studies/fit_search_value.py."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.search.features import FEATURES, NUM_FEATURES, SIDE_FEATURES, write_features
from hf_env.kernels.compile import kernel
from hf_env.reading import read_arrays
from hf_env.rules import RuleSet
from hf_env.rules.record import RULES_DTYPE

FOLDER = Path(__file__).parent / "fitted"
HIDDEN = 48
FORMAT = "hf-search-values/2"
# Fields of a rule set that decide how a game of deals is counted, and nothing within a deal.
_OF_THE_GAME = ("deals", "target", "has_target", "max_deals")
# Arrays of a file beside the weights, format and features: each field of the rule sets, (R, ...) int32.
_RULES_PREFIX = "rules/"


class FittedValueError(ValueError):
    """A file of a fitted value is of another format, or reads what is no longer there; the message is one line."""


class ValueWeights(NamedTuple):
    """Two hidden layers of rectified units: score difference in points = output of the standardised features.

    Attributes:
        w1 (F, H), b1 (H,), w2 (H, H), b2 (H,), w3 (H,), b3 (1,): float64. The standardisation is folded into w1 and b1.
    """

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray
    w3: np.ndarray
    b3: np.ndarray


class FittedValue(NamedTuple):
    """A fitted value of one player: its weights, and the rule sets it was fitted on, (R,) records.

    The records have those fields of RULES_DTYPE that there were when it was fitted.
    """

    weights: ValueWeights
    rules: np.ndarray


def no_weights() -> ValueWeights:
    """Weights that stand where playouts are not cut."""
    return ValueWeights(np.zeros((NUM_FEATURES, HIDDEN)), *(np.zeros(shape) for shape in (HIDDEN, (HIDDEN, HIDDEN), HIDDEN, HIDDEN, 1)))


@cache
def fitted_value(player: str) -> FittedValue | None:
    """The value fitted to the play of a scripted player.

    Args:
        player: a key of ``agents.scripted.table.PLAYER_IDS``.

    Returns:
        The value, or None where none was fitted.

    Raises:
        FittedValueError: its file is of another format, or reads a feature or an option that is no longer there.
    """
    path = FOLDER / f"{player}.npz"
    return load_fitted(path) if path.is_file() else None


def save_fitted(path: Path, weights: Mapping[str, np.ndarray], rules: np.ndarray) -> None:
    """Write a fitted value.

    Args:
        path: of the file, whose folder is made if missing.
        weights: those of ``ValueWeights`` by name, on all of FEATURES.
        rules: (R,) RULES_DTYPE, the rule sets it was fitted on.
    """
    path.parent.mkdir(exist_ok=True)
    fields = {_RULES_PREFIX + name: rules[name] for name in rules.dtype.names or ()}
    arrays: dict[str, Any] = {"format": FORMAT, "features": np.array(FEATURES), **weights, **fields}
    np.savez(path, **arrays)


def load_fitted(path: Path) -> FittedValue:
    """Read a fitted value; features that have come since weigh nothing in it.

    Raises:
        FittedValueError: as of ``fitted_value``.
    """
    try:
        stored = read_arrays(path)
        if str(stored["format"]) != FORMAT:
            raise FittedValueError(f"{path} is of the format {stored['format']}, not {FORMAT}: fit it anew")
        features = [str(name) for name in stored["features"]]
        named = {name: stored[name].astype(np.float64) for name in ValueWeights._fields}
        fields = {name.removeprefix(_RULES_PREFIX): stored[name] for name in stored if name.startswith(_RULES_PREFIX)}
    except (KeyError, ValueError) as error:
        if isinstance(error, FittedValueError):
            raise
        raise FittedValueError(f"{path} holds no fitted value: {error}") from None
    gone = [name for name in features if name not in FEATURES]
    gone += [name for name in fields if name not in (RULES_DTYPE.names or ()) or fields[name].shape[1:] != RULES_DTYPE[name].shape]
    if gone:
        raise FittedValueError(f"{path} reads {gone[0]!r}, which is no longer there as it was: fit it anew")
    for name, like in no_weights()._replace(w1=np.zeros((len(features), HIDDEN)))._asdict().items():
        if named[name].shape != like.shape:
            raise FittedValueError(f"{path} is damaged: {name} has shape {named[name].shape}, not {like.shape}")
    w1 = np.zeros((NUM_FEATURES, HIDDEN))
    w1[[FEATURES.index(name) for name in features]] = named["w1"]
    rules = np.zeros(len(fields["players"]), [(name, np.int32, values.shape[1:]) for name, values in fields.items()])
    for name, values in fields.items():
        rules[name] = values
    return FittedValue(ValueWeights(**(named | {"w1": w1})), rules)


def is_fitted_to(value: FittedValue | None, rule: np.void) -> bool:
    """Whether a value was fitted on deals of this rule set, a record of RULES_DTYPE; how many deals a game has is no matter.

    An option that came after the fit must be as the game was without it, at its default.
    """
    if value is None:
        return False
    names = [name for name in value.rules.dtype.names or () if name not in _OF_THE_GAME]
    later = [name for name in rule.dtype.names or () if name not in (value.rules.dtype.names or ())]
    before = RuleSet().to_record()[0]
    if not all(np.array_equal(before[name], rule[name]) for name in later):
        return False
    return any(all(np.array_equal(known[name], rule[name]) for name in names) for known in value.rules)


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

"""What a VectorGame takes up from bytes and arrays is looked at first: compiled code checks no bounds."""

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from hf_env.engine.invariants import MESSAGES, find_broken
from hf_env.engine.state import END_MAX_TURNS, GAME_DTYPE, PHASE_OVER
from hf_env.vector import step as v

# In the order in which they are put back.
STATE_NAMES = (
    "games", "ended", "game_seeds", "game_numbers", "decisions", "rewards", "terminated", "truncated", "deal_ended", "deal_scores",
    "end_reasons", "settings",
)  # fmt: skip
# What a state may have other than the VectorGame that takes it up.
_OWN_SETTINGS = (v.MODE, v.SEED, v.EXPLICIT_SEEDS)
_MOST_NUMBER = 1 << 62
# A NumPy record's field takes as long to read as ten numbers.
_WORD, _COUNTERS = struct.Struct("=i"), struct.Struct("=qq")
_OFFSETS = [dict(GAME_DTYPE.fields or {})[name][1] for name in ("rule", "phase", "game_over")]
_HALF_OVER = "its deal is over and the game is not, or the other way round"


def read_only(array: np.ndarray) -> np.ndarray:
    """The same memory, not to be written to."""
    shown = array.view()
    shown.flags.writeable = False
    return shown


def target(vec: Any, name: str) -> np.ndarray:
    """A view of a VectorGame's buffer; of an array of records its bytes, (N, size)."""
    buffer = vec._settings if name == "settings" else getattr(vec, name)
    return buffer.view(np.uint8).reshape(vec.num_games, -1) if name in ("games", "ended") else buffer


def restore(vec: Any, slot: int, snapshot: bytes) -> None:
    """``VectorGame.restore`` into a slot that exists.

    Raises:
        ValueError: For bytes that are no snapshot of a game that can be, under one of these rule sets. Nothing has changed then.
    """
    size = GAME_DTYPE.itemsize + 16
    if not isinstance(snapshot, bytes | bytearray | memoryview) or len(snapshot) != size:
        what = f"this one {len(snapshot)}" if hasattr(snapshot, "__len__") else f"not {type(snapshot).__name__}"
        raise ValueError(f"a snapshot has {size} bytes, {what}")
    rule, phase, game_over = (_WORD.unpack_from(snapshot, offset)[0] for offset in _OFFSETS)
    if not 0 <= rule < len(vec.rules):
        raise ValueError(f"the snapshot is of rule set {rule}; here are {len(vec.rules)}, counted from 0")
    code = vec._runner.look_at(snapshot)
    if code:
        raise ValueError(f"the snapshot is of no game that can be: {MESSAGES[code]}")
    if (phase == PHASE_OVER) != (game_over != 0):
        raise ValueError(f"the snapshot is of no game that can be: {_HALF_OVER}")
    if not all(0 <= number <= _MOST_NUMBER for number in _COUNTERS.unpack_from(snapshot, GAME_DTYPE.itemsize)):
        raise ValueError("the snapshot's counters are out of their range")
    before = vec.snapshot(slot), vec.terminated[slot], vec.truncated[slot], vec.deal_ended[slot]
    vec.restore_trusted(slot, snapshot)
    if not game_over and not vec.action_masks[slot].any():
        vec.restore_trusted(slot, before[0])
        vec.terminated[slot], vec.truncated[slot], vec.deal_ended[slot] = before[1:]
        raise ValueError("the snapshot is of no game in progress: its seat has no legal action")


def load_state(vec: Any, state: Mapping[str, np.ndarray]) -> None:
    """``VectorGame.load_state_dict``.

    Raises:
        ValueError: Naming the first array that is missing or cannot be. Nothing has changed then.
    """
    before = vec.state_dict()
    _check_arrays(state, before)
    _check_games(_records(state["games"]), _records(state["ended"]), vec.rule_records)
    _put(vec, state)
    stuck = np.flatnonzero(~(vec.action_masks.any(1) | vec.terminated | vec.truncated))
    if len(stuck):
        _put(vec, before)
        raise ValueError(f"'games': game {stuck[0]} has no legal action")


def _put(vec: Any, state: Mapping[str, np.ndarray]) -> None:
    for name in STATE_NAMES:
        target(vec, name)[...] = state[name]
    vec.refresh()


def _check_arrays(state: Mapping[str, np.ndarray], here: Mapping[str, np.ndarray]) -> None:
    """Check shapes, dtypes and ranges of a state by those of the VectorGame that is to take it up.

    Raises:
        ValueError: Naming the first array that is missing or cannot be.
    """
    for name, own in here.items():
        if name not in state:
            raise ValueError(f"the state lacks {name!r}")
        value = np.asarray(state[name])
        if value.shape != own.shape or value.dtype != own.dtype:
            raise ValueError(f"{name!r} has shape {value.shape} of {value.dtype}, not {own.shape} of {own.dtype}")
        if not _is_possible(name, value, own):
            raise ValueError(f"{name!r} holds what these games cannot come to")


def _check_games(games: np.ndarray, ended: np.ndarray, rules: np.ndarray) -> None:
    """Check the games in progress, and the last deals that have ended, (N,) GAME_DTYPE of any bytes.

    Raises:
        ValueError: Naming the first that is none.
    """
    half_over = np.flatnonzero((games["phase"] == PHASE_OVER) != (games["game_over"] != 0))
    # Zeros where no deal has ended yet.
    numbers = np.flatnonzero(ended["deal"] != 0)
    for name, records, places in (("games", games, np.arange(len(games))), ("ended", ended[numbers], numbers)):
        at, code = find_broken(records, rules)
        if code:
            raise ValueError(f"{name!r}: game {places[at]} cannot be: {MESSAGES[code]}")
    if len(half_over):
        raise ValueError(f"'games': game {half_over[0]} cannot be: {_HALF_OVER}")


def _records(data: np.ndarray) -> np.ndarray:
    """(N,) GAME_DTYPE of their bytes (N, size)."""
    return np.ascontiguousarray(data).view(GAME_DTYPE).reshape(-1)


def _is_possible(name: str, value: np.ndarray, own: np.ndarray) -> bool:
    """Whether an array of the state holds only values that it can."""
    if name in ("game_seeds", "game_numbers", "decisions"):
        return _is_within(value, 0, (1 << 63) - 1 if name == "game_seeds" else _MOST_NUMBER)
    if name == "rewards":
        return bool(np.isfinite(value).all())
    if value.dtype == bool:
        return _is_within(value.view(np.uint8), 0, 1)
    if name == "end_reasons":
        return _is_within(value, 0, END_MAX_TURNS)
    if name == "settings":
        others = np.setdiff1d(np.arange(len(own)), _OWN_SETTINGS)
        return bool((value[others] == own[others]).all()) and value[v.SEED] >= 0 and value[v.EXPLICIT_SEEDS] in (0, 1)
    return True


def _is_within(values: np.ndarray, low: int, high: int) -> bool:
    return values.size == 0 or bool(values.min() >= low and values.max() <= high)

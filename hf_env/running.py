"""The engine's pass over the games of a VectorGame: its arguments made once, its games shared among threads."""

from typing import Any

import numpy as np

from hf_env.engine import vector as v
from hf_env.engine.cards import MAX_CARDS, MAX_SEATS
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.state import GAME_DTYPE
from hf_env.threads import run_blocks, split


class GameRunner:
    """``run_games`` on the buffers of one VectorGame, whose arrays must stay the same objects.

    vec: the VectorGame, its buffers allocated.
    """

    def __init__(self, vec: Any) -> None:
        self._all = vec._all
        blocks = split(vec.num_games, vec.threads)
        # The arguments on both sides of `chosen`, for each block with work space of its own.
        self._before = (vec.games, vec.rule_records, vec._settings, vec._search)
        self._after = [
            (
                vec._actions, vec.game_seeds, vec.game_numbers, vec.decisions, *_work_space(),
                vec.observations, vec.action_masks, vec.seats, vec.rewards, vec.terminated, vec.truncated,
                vec.deal_ended, vec.deal_scores, vec.end_reasons, vec.ended, vec.final_observations,
            )
            for _ in blocks
        ]  # fmt: skip
        # Whole arrays and a choice of slots, not a part of each array: a game's seed is made of its slot's number.
        self._blocks = [np.zeros(vec.num_games, np.int8) for _ in blocks]
        for block, games in zip(self._blocks, blocks, strict=True):
            block[games] = 1
        self._checked = (vec.action_masks, vec._actions)
        self._ended = (vec.terminated, vec.truncated, int(vec._settings[v.AUTORESET]))
        self._compiled = self._compiled_check = None

    def first_illegal(self, chosen: np.ndarray) -> int:
        """What ``find_illegal`` returns for the actions, among the games with chosen[slot] != 0."""
        find = self._compiled_check
        if find is None:
            find = self._compiled_check = _bound(v.find_illegal, (*self._checked, chosen, *self._ended))
        return int(find(*self._checked, chosen, *self._ended))

    def run(self, chosen: np.ndarray) -> int:
        """Pass over the games with chosen[slot] != 0, (N,) int8, as the settings say; what ``run_games`` returns."""
        run = self._compiled or self._compile()
        if len(self._blocks) == 1 or chosen is not self._all:
            return run(*self._before, chosen, *self._after[0])
        works = list(zip(self._blocks, self._after, strict=True))
        return max(run_blocks(lambda work: run(*self._before, work[0], *work[1]), works))

    def _compile(self):
        # With no game chosen.
        self._compiled = _bound(v.run_games, (*self._before, np.zeros_like(self._all), *self._after[0]))
        return self._compiled

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_compiled": None, "_compiled_check": None}  # compiled code does not pickle


def _bound(entry, arguments: tuple):
    """The function compiled for arguments of these types, after a call with them; interpreted, the entry itself.

    Called by way of the entry, Numba looks at the types of all arguments each time: half of a single game's step.
    """
    entry(*arguments)  # compiles it, or loads it
    if hasattr(entry, "get_overload"):
        return entry.get_overload(tuple(entry.typeof_pyval(argument) for argument in arguments))
    return entry


def _work_space() -> tuple[np.ndarray, ...]:
    """tmp, plans, deck and change of one thread, as ``run_games`` takes them."""
    return (
        np.zeros(2, GAME_DTYPE),
        np.zeros((NUM_ROWS, PLAN_WIDTH), np.int64),
        np.zeros(MAX_CARDS, np.uint8),
        np.zeros(MAX_SEATS, np.int64),
    )

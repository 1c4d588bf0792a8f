"""The engine's pass over the games of a VectorGame: its arguments made once, its games shared among threads."""

from typing import Any

import numpy as np

from hf_env.crew import Crew, bound
from hf_env.engine import vector as v
from hf_env.engine.cards import MAX_CARDS, MAX_SEATS
from hf_env.engine.jit import INTERPRETED
from hf_env.engine.opening import NUM_ROWS, PLAN_WIDTH
from hf_env.engine.state import GAME_DTYPE
from hf_env.threads import split


class GameRunner:
    """``run_games`` on the buffers of one VectorGame, whose arrays must stay the same objects.

    vec: the VectorGame, its buffers allocated.
    """

    def __init__(self, vec: Any) -> None:
        self._all = vec._all
        # Interpreted there is one thread.
        blocks = split(vec.num_games, 1 if INTERPRETED else vec.threads)
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
        # Whole arrays and bounds, not a part of each array: a game's seed is made of its slot's number.
        self._bounds = np.array([0, *(block.stop for block in blocks)], np.int64)
        self._checked = (vec.action_masks, vec._actions)
        self._ended = (vec.terminated, vec.truncated, vec._settings)
        self._settings = vec._settings
        self._drawing = (vec.action_masks, vec.game_seeds, vec.decisions, vec._actions)
        self._compiled: Any = None
        self._compiled_check: Any = None
        self._crew: Crew | None = None

    def step(self, chosen: np.ndarray) -> int:
        """Play the actions in the games with chosen[slot] != 0, (N,) int8, if all of them are legal.

        Returns 0; -1 - slot of the first illegal one, before any game has moved; or slot + 1 of an overflow.
        """
        if len(self._after) > 1 and chosen is self._all:
            return self._run_in_threads(v.MODE_STEP)
        find = self._compiled_check
        if find is None:
            find = self._compiled_check = bound(v.find_illegal, (*self._checked, chosen, *self._ended))
        slot = find(*self._checked, chosen, *self._ended)
        return -1 - int(slot) if slot >= 0 else self.run(v.MODE_STEP, chosen)

    def run(self, mode: int, chosen: np.ndarray) -> int:
        """Pass over the games with chosen[slot] != 0, (N,) int8, as the mode and the settings say; what ``run_games`` returns.

        Actions of MODE_STEP must be legal.
        """
        if len(self._after) > 1 and chosen is self._all:
            return self._run_in_threads(mode)
        if mode == v.MODE_DRAW:
            v.draw_for_games(chosen, *self._drawing)
            return v.OK
        run = self._compiled or self._compile()
        self._settings[v.MODE] = mode
        return run(*self._before, chosen, *self._after[0])

    def _run_in_threads(self, mode: int) -> int:
        self._settings[v.MODE] = mode
        if self._crew is None or not self._crew.usable:
            self._crew = Crew([(self._bounds, *self._before, self._all, *after) for after in self._after])
        return self._crew.run()

    def _compile(self):
        # With no game chosen.
        self._compiled = bound(v.run_games, (*self._before, np.zeros_like(self._all), *self._after[0]))
        return self._compiled

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code and threads do not pickle.
        return self.__dict__ | {"_compiled": None, "_compiled_check": None, "_crew": None}


def _work_space() -> tuple[np.ndarray, ...]:
    """tmp, plans, deck and change of one thread, as ``run_games`` takes them."""
    return (
        np.zeros(2, GAME_DTYPE),
        np.zeros((NUM_ROWS, PLAN_WIDTH), np.int64),
        np.zeros(MAX_CARDS, np.uint8),
        np.zeros(MAX_SEATS, np.int64),
    )

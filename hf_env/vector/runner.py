"""The engine's pass over the games of a VectorGame: its arguments made once, its games shared among threads."""

from typing import Any

import numpy as np

from hf_env.engine.cards import MAX_SEATS
from hf_env.engine.invariants import find_broken
from hf_env.engine.state import GAME_DTYPE
from hf_env.engine.workspace import make_workspace
from hf_env.kernels.compile import INTERPRETED
from hf_env.vector import step as v
from hf_env.vector.threads import run_blocks, split


def bound(entry: Any, arguments: tuple) -> Any:
    """The function compiled for arguments of these types, after a call with them; interpreted, the entry itself.

    Called by way of the entry, Numba looks at the types of all arguments each time: half of a single game's step.
    """
    entry(*arguments)  # compiles it, or loads it
    if hasattr(entry, "get_overload"):
        return entry.get_overload(tuple(entry.typeof_pyval(argument) for argument in arguments))
    return entry


class GameRunner:
    """``run_games`` on the buffers of one VectorGame, whose arrays must stay the same objects.

    Args:
        vec: the VectorGame, its buffers allocated.
    """

    def __init__(self, vec: Any) -> None:
        self._settings = vec._settings
        self._slots = v.Slots(vec._actions, vec.game_seeds, vec.game_numbers, vec.decisions)
        self._buffers = v.Buffers(
            vec.observations, vec._masks, vec.seats, vec.rewards, vec.terminated, vec.truncated,
            vec.deal_ended, vec.deal_scores, vec.end_reasons, vec.ended, vec.final_observations,
        )  # fmt: skip
        self._checked = (vec._actions, vec._masks, vec.terminated, vec.truncated)
        self._drawn = (vec._actions, vec.game_seeds, vec.decisions, vec._masks)
        self._tables = (self._slots, self._buffers)
        self._before = (vec.games, vec.rule_records, vec._settings)
        # Whole arrays and bounds, not a part of each array: a game's seed is made of its slot's number. Interpreted there is
        # one thread.
        blocks = split(vec.num_games, 1 if INTERPRETED else vec.threads)
        self._blocks = [(np.array([block.start, block.stop], np.int64), _work(vec._with_growth)) for block in blocks]
        # One game to be looked at, before it is taken up.
        self._looked_at = np.zeros(1, GAME_DTYPE)
        self._compiled_look: Any = None
        self._compiled: Any = None
        self._compiled_check: Any = None

    def step(self, chosen: np.ndarray) -> int:
        """Play the actions in the games with chosen[slot] != 0, (N,) int8, if all of them are legal.

        Returns:
            The slot of the first illegal one, and then no game has moved; -1: all were played.
        """
        if self._compiled_check is None:
            self._compiled_check = bound(v.find_illegal, (self._settings, chosen, *self._checked))
        slot = self._compiled_check(self._settings, chosen, *self._checked)
        if slot < 0:
            self.run(v.MODE_STEP, chosen)
        return int(slot)

    def run(self, mode: int, chosen: np.ndarray) -> None:
        """Pass over the games with chosen[slot] != 0, (N,) int8, as the mode and the settings say.

        Actions of MODE_STEP must be legal.
        """
        if mode == v.MODE_DRAW:
            v.draw_actions(chosen, *self._drawn)
            return
        run = self._compiled or self._compile()
        self._settings[v.MODE] = mode
        if len(self._blocks) == 1:  # without a function between: a single game's step is a few microseconds
            bounds, work = self._blocks[0]
            run(bounds, *self._before, chosen, self._tables, work)
        else:
            run_blocks(lambda block: run(block[0], *self._before, chosen, self._tables, block[1]), self._blocks)

    def look_at(self, game: bytes) -> int:
        """Code of the first invariant that a game's record breaks, of any bytes (engine/invariants.py); 0 for none."""
        self._looked_at.view(np.uint8)[:] = np.frombuffer(game, np.uint8, GAME_DTYPE.itemsize)
        arguments = self._looked_at, self._before[1]
        if self._compiled_look is None:
            self._compiled_look = bound(find_broken, arguments)
        return int(self._compiled_look(*arguments)[1])

    def _compile(self):
        # With no game chosen.
        bounds, work = self._blocks[0]
        nothing = np.zeros(len(self._buffers.seats), np.int8)
        self._compiled = bound(v.run_games, (bounds, *self._before, nothing, self._tables, work))
        return self._compiled

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code does not pickle.
        return self.__dict__ | {"_compiled": None, "_compiled_check": None, "_compiled_look": None}


def _work(with_growth: bool) -> v.Work:
    """What one thread works in.

    Args:
        with_growth: whether any rule set needs the search over growing books.
    """
    space = make_workspace()
    return v.Work(space if with_growth else space._replace(growth=None), np.zeros(MAX_SEATS, np.int64))

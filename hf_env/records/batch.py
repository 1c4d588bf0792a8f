"""Records of many games played side by side in a VectorGame, at little cost a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hf_env.records import GameRecorder
from hf_env.vector.game import VectorGame

_FIRST_LENGTH = 1024


class BatchRecorder:
    """Collects the records of the games of a VectorGame with autoreset "DISABLED".

    Call `start` for a slot whose game has begun, `step` after each step; `record` gives a slot's record at any moment.
    """

    def __init__(self, games: VectorGame) -> None:
        self._games = games
        self._recorders = [GameRecorder() for _ in range(games.num_games)]
        # The actions that the recorders have not been told yet, noted in one array write a step.
        self._actions = np.zeros((games.num_games, _FIRST_LENGTH), np.uint8)
        self._counts = np.zeros(games.num_games, np.int64)
        self._reshuffles = np.zeros(games.num_games, np.int64)

    def start(self, slot: int, players: Sequence[str]) -> None:
        """The slot's game has been dealt.

        Args:
            players: a name for each seat.
        """
        game = self._games.games[slot]
        rules = self._games.rules[int(game["rule"])]
        self._counts[slot] = 0
        self._recorders[slot].start(rules, int(game["seed"]), players, single_deal=bool(game["single_deal"]))
        self._deal(slot)

    def step(self, slots: np.ndarray, actions: np.ndarray) -> None:
        """The games of these slots (n,) have played these actions (n,)."""
        counts = self._counts[slots]
        if len(counts) and counts.max() == self._actions.shape[1]:
            self._actions = np.concatenate([self._actions, np.zeros_like(self._actions)], axis=1)
        self._actions[slots, counts] = actions
        self._counts[slots] = counts + 1
        ended = self._games.deal_ended[slots]
        reshuffled = (self._games.games["reshuffles"][slots] != self._reshuffles[slots]) & ~ended
        for slot in slots[reshuffled]:
            self._tell(slot, self._games.games)
            self._reshuffles[slot] = self._games.games[slot]["reshuffles"]
        for slot in slots[ended]:
            self._tell(slot, self._games.ended)
            if not self._games.terminated[slot]:
                self._deal(slot)

    def record(self, slot: int) -> dict[str, Any]:
        """The record of the slot's game so far, as plain Python that ``json`` writes."""
        if self._counts[slot]:
            self._tell(slot, self._games.games)
        return self._recorders[slot].record()

    def _deal(self, slot: int) -> None:
        self._recorders[slot].deal(self._games.games, slot)
        self._reshuffles[slot] = self._games.games[slot]["reshuffles"]

    def _tell(self, slot: int, games: np.ndarray) -> None:
        """Hand the noted actions to the recorder.

        Args:
            games: the array that holds the game as it was after the last one.
        """
        self._recorders[slot].actions(games, slot, self._actions[slot, : self._counts[slot]].tolist())
        self._counts[slot] = 0

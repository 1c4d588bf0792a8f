"""A scripted player inside the search: its own order of the actions, and its playouts as kernels."""

from __future__ import annotations

import numpy as np

from agents.policy import PolicyBatch
from agents.registry import load
from agents.scripted.dispatch import Players, choose_batch, work_for
from agents.scripted.playout import ILLEGAL, UNLIMITED, play_games_on
from agents.scripted.table import PLAYER_IDS
from agents.search.playouts import NO_WORLD, STUCK, play_worlds, standings
from agents.search.values import fitted_value, is_fitted_to, no_weights
from agents.search.worlds import Decision


class NoWorldError(Exception):
    """No consistent world was found for a decision."""


class ScriptedRollouts:
    """Playouts by a scripted player on all seats.

    Args:
        name: a key of ``agents.scripted.table.PLAYER_IDS``; KeyError for another.
        depth: turns after which its fitted value stands for the rest of the deal, where there is one for the rule set; 0:
            never.
    """

    def __init__(self, name: str, depth: int) -> None:
        self.name, self.depth = name, depth
        self._number = np.int64(PLAYER_IDS[name])
        # What it plays where nothing is searched.
        self.base = load(name)
        self._value = fitted_value(name) if depth > 0 else None
        self._weights = self._value.weights if self._value is not None else no_weights()
        self._depths: dict[bytes, np.int64] = {}

    def order(self, batch: PolicyBatch, most: int) -> np.ndarray:
        """Up to `most` actions of each row in the player's own order, (N, most) int64, -1 beyond.

        First its choice, then its choice were that one not legal, and so on.
        """
        views, seats = batch.views, np.ascontiguousarray(batch.seats, np.int32)
        masks = np.array(batch.action_masks, np.int8, order="C")
        keys = np.ascontiguousarray(batch.keys, np.uint64)
        order = np.full((len(masks), most), -1, np.int64)
        actions = np.empty(len(masks), np.int32)
        rows, work = np.arange(len(masks)), work_for([self._number])
        for place in range(min(most, int(masks.sum(1).max(initial=0)))):
            choose_batch(self._number, views.games, views.rules, seats, masks, keys, actions, work)
            # Where the player would do nothing of what is left, the first legal action comes next.
            fits = (actions >= 0) & (masks[rows, np.maximum(actions, 0)] != 0)
            chosen = np.where(fits, actions, masks.argmax(1))
            left = masks.any(1)
            order[left, place] = chosen[left]
            masks[rows, chosen] = 0
        return order

    def play(self, batch: PolicyBatch, row: int, actions: np.ndarray, first: int, num_worlds: int) -> np.ndarray:
        """Score differences in points (W, K) of `actions` (K,) int64 on worlds first, first + 1, ... of one row.

        Raises:
            NoWorldError: Where no world fits what the seat has seen.
        """
        views = batch.views
        depth = self._depth_under(views.rules[int(views.games[row]["rule"])])
        returns = np.empty((num_worlds, len(actions)))
        work = work_for([self._number])
        code = play_worlds(Decision.of(batch, row), actions, np.int64(first), depth, self._number, work, self._weights, returns)
        if code == NO_WORLD:
            raise NoWorldError
        if code == STUCK:
            raise RuntimeError(f"the player {self.name!r} chose an illegal action in a playout")
        return returns

    def play_to_end(self, games: np.ndarray, rules: np.ndarray, seat: int, keys: np.ndarray) -> np.ndarray:
        """Score differences in points (N,) for a seat's side of deals played on by the player.

        Args:
            games: (N,) GAME_DTYPE, changed.
            rules: (R,) RULES_DTYPE.
            keys: (N,) uint64, of the games.
        """
        rule = rules[int(games[0]["rule"])]
        numbers = np.full((len(games), int(rule["players"])), self._number)
        made = np.ones(len(games), np.int64)
        players = Players(numbers, np.zeros(numbers.shape), work_for([self._number]))
        play_games_on(games, rules, players, keys, made, np.int64(UNLIMITED))
        if (made == ILLEGAL).any():
            raise RuntimeError(f"the player {self.name!r} chose an illegal action")
        points = np.empty(len(games))
        standings(games, rules, np.int64(seat % int(rule["sides"])), points)
        return points

    def _depth_under(self, rule: np.void) -> np.int64:
        """Turns of a playout under a rule set, 0 for all."""
        key = rule.tobytes()
        if key not in self._depths:
            self._depths[key] = np.int64(self.depth if is_fitted_to(self._value, rule) else 0)
        return self._depths[key]

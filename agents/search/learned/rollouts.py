"""Playouts by a learned policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.policy import PolicyBatch, decision_keys
from agents.scripted.playout import write_masks
from agents.search.playouts import NO_WORLD, apply_actions, standings
from agents.search.scripted import NoWorldError
from agents.search.worlds import Decision, sample_worlds
from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.rewards import POINTS_PER_REWARD
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.observation.layout import ObservationLayout
from hf_env.vector.step import observe_games


class LearnedRollouts:
    """Playouts by a learned policy on all seats.

    Args:
        policy: with ``act``, ``evaluate`` and ``info`` (agents.neural.NeuralPolicy).
        depth: turns after which, at the searching seat's next decision, the policy's value stands for the rest of the deal;
            0: never, and never where the checkpoint does not say that its value is of the score difference, with shaping
            "full" or none.
        min_probability: below which an action is no candidate.
    """

    def __init__(self, policy: Any, depth: int, min_probability: float = 0.0) -> None:
        self.policy, self.min_probability = policy, min_probability
        self.value_of = getattr(policy, "info", {}).get("value_of", {})
        known = self.value_of.get("reward") == "score_difference" and self.value_of.get("shaping") in (None, "full")
        self.depth = depth if known else 0
        # What it plays where nothing is searched.
        self.base = policy.with_mode("argmax") if hasattr(policy, "with_mode") else policy
        self._compiled: Any = getattr(policy, "compiled", None)

    def start(self, num_games: int, rules: Any, seed: int) -> None:
        """As the policy's own: raises ValueError for a table that it was not made for."""
        if hasattr(self.policy, "start"):
            self.policy.start(num_games, rules, seed)

    def order(self, batch: PolicyBatch, most: int) -> np.ndarray:
        """Up to `most` actions of each row, (N, most) int64, the likeliest first, no less likely than `min_probability`, -1 beyond."""
        order = np.full((len(batch), most), -1, np.int64)
        for row in range(len(batch)):
            # Each row by itself: a matrix product's last bits depend on the number of rows.
            probabilities = self.policy.evaluate(batch.rows(slice(row, row + 1)))[0][0]
            legal = np.flatnonzero(batch.action_masks[row])
            best = legal[np.argsort(-probabilities[legal], kind="stable")][:most]
            best = best[(probabilities[best] >= self.min_probability) | (best == best[0])]
            order[row, : len(best)] = best
        return order

    def play(self, batch: PolicyBatch, row: int, actions: np.ndarray, first: int, num_worlds: int) -> np.ndarray:
        """Score differences in points (W, K) of `actions` (K,) int64 on worlds first, first + 1, ... of one row.

        In compiled code where the policy's network can be, else all playouts side by side.

        Raises:
            NoWorldError: Where no world fits what the seat has seen.
        """
        decision = Decision.of(batch, row)
        if self._compiled is not None:
            from agents.search.learned.kernels import play_worlds

            returns = np.empty((num_worlds, len(actions)))
            player = self._compiled_player(self.policy.mode == "sample")
            if play_worlds(decision, actions, np.int64(first), np.int64(self.depth), player, returns) == NO_WORLD:
                raise NoWorldError
            return returns
        worlds = np.empty(first + num_worlds, GAME_DTYPE)
        if not sample_worlds(decision, worlds):
            raise NoWorldError
        games = np.repeat(worlds[first:], len(actions))
        numbers = np.repeat(np.arange(first, first + num_worlds), len(actions))
        apply_actions(games, decision.rules, np.tile(actions, num_worlds))
        last_turn = int(decision.views[row]["turns"]) + self.depth if self.depth else None
        keys = np.full(len(games), decision.key)
        return self._play_on(self.policy, games, decision.rules, keys, numbers, int(decision.seat), last_turn).reshape(
            num_worlds, len(actions)
        )

    def play_to_end(self, games: np.ndarray, rules: np.ndarray, seat: int, keys: np.ndarray) -> np.ndarray:
        """Score differences in points (N,) for a seat's side of deals played on by the policy at its likeliest.

        Args:
            games: (N,) GAME_DTYPE, changed.
            rules: (R,) RULES_DTYPE.
            keys: (N,) uint64, of the games.
        """
        if self._compiled is None:
            return self._play_on(self.base, games, rules, keys, np.zeros(len(games), np.int64), seat, None)
        from agents.search.learned.kernels import play_to_end

        returns = np.empty(len(games))
        play_to_end(games, rules, np.int64(seat), keys, self._compiled_player(False), returns)
        return returns

    def _compiled_player(self, samples: bool) -> Any:
        """The policy as the kernels' NetworkPlayer."""
        from agents.search.learned.kernels import NetworkPlayer

        mean, deviation = self._compiled.value_scale()
        scale = np.array([mean, deviation]) * POINTS_PER_REWARD
        with_standing = self.value_of.get("shaping") == "full"
        return NetworkPlayer(with_standing, samples, scale, self.policy.compiled_arrays(), self._compiled.work())

    def _play_on(self, player, games, rules, keys, numbers, seat: int, last_turn: int | None) -> np.ndarray:
        """Score differences in points (N,) of games played on by `player`, side by side, to the end or to the cut.

        games (N,) are changed.
        """
        returns = np.full(len(games), np.nan)
        rule = rules[int(games[0]["rule"])]
        layout = table_layout(rule)
        made = 0
        while True:
            left = np.flatnonzero(np.isnan(returns) & (games["phase"] != PHASE_OVER))
            if not len(left):
                break
            made += 1
            playing = games[left]
            step = self._batch(playing, rules, keys[left], numbers[left], made, layout)
            if last_turn is not None:
                cut = (playing["turns"] >= last_turn) & (step.seats == seat)
                if cut.any():
                    returns[left[cut]] = self._values(playing[cut], rules, seat, step, cut)
                    left, step = left[~cut], step.rows(~cut)
            if len(left):
                playing = games[left]
                apply_actions(playing, rules, np.asarray(player.act(step), np.int64))
                games[left] = playing
        over = games["phase"] == PHASE_OVER
        final = np.empty(len(games))
        standings(games, rules, np.int64(seat % int(rule["sides"])), final)
        returns[over] = final[over]
        return returns

    def _batch(self, games, rules, keys, numbers, made: int, layout: ObservationLayout) -> PolicyBatch:
        """The decisions that stand in these games. Candidates on one world have the same keys."""
        masks = np.empty((len(games), NUM_ACTIONS), np.int8)
        seats = np.empty(len(games), np.int32)
        write_masks(games, rules, masks, seats)
        of_decisions = decision_keys(keys, numbers, 0, seats, made)
        return PolicyBatch(observed(games, rules, seats, layout), masks, numbers, seats, np.zeros(len(games), bool), of_decisions)

    def _values(self, games, rules, seat: int, step: PolicyBatch, cut: np.ndarray) -> np.ndarray:
        """What the policy expects of the deal's end, in points.

        A value learned with full shaping leaves out what the side has already; that is added. What its hands and feet
        counted at the deal's start is not known, and no matter: it is the same for all candidates that are cut.
        """
        values = self.policy.evaluate(step.rows(cut))[1].astype(np.float64) * POINTS_PER_REWARD
        if self.value_of.get("shaping") == "full":
            standing = np.empty(len(games))
            standings(games, rules, np.int64(seat % int(rules[int(games[0]["rule"])]["sides"])), standing)
            values += standing
        return values


def observed(games: np.ndarray, rules: np.ndarray, seats: np.ndarray, layout: ObservationLayout) -> np.ndarray:
    """What seats (N,) int32 see of true games (N,) GAME_DTYPE of one table: (N, F) int16."""
    observations = np.empty((len(games), layout.width), np.int16)
    observe_games(games, rules, seats, observations, np.int64(0))
    return observations


def table_layout(rule: np.void) -> ObservationLayout:
    """The layout of observations under a rule set, a record of RULES_DTYPE."""
    return ObservationLayout((int(rule["players"]), int(rule["sides"])))

"""Policies at tables: plays whole games of given seeds with any policy in any seat, many games side by side.

Each game is played on its own terms: its cards come from its seed, and its players' randomness from the keys of their
decisions. So no result depends on how many games share a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.policy import DecisionCounter, PolicyBatch, SeatViews, as_policy
from hf_env.actions import ACTIONS
from hf_env.engine.redact import redact_rows
from hf_env.engine.state import GAME_DTYPE
from hf_env.vector_game import VectorGame

DEFAULT_NUM_SLOTS = 512


class PolicyError(RuntimeError):
    """A policy that failed or answered rubbish; one line that names it, the seat, the game and what was wrong."""


class UnfitPolicyError(ValueError):
    """A policy that refuses this table, such as one made for another number of seats; one line that names it."""


@dataclass(frozen=True)
class GameResults:
    """What happened in G games of D deals together, the deals in the order of games and then of deals.

    deal_games: (D,) int64, index of the deal's game. deal_numbers: (D,) int64, from 1. deal_scores: (D, sides) int64,
    points. end_reasons: (D,) int64, index into ``hf_env.vector_game.END_REASONS``. out_seats: (D,) int64, the seat that
    went out, -1 where nobody did. totals: (G, sides) int64, points of each whole game. num_decisions: of all seats.
    """

    deal_games: np.ndarray
    deal_numbers: np.ndarray
    deal_scores: np.ndarray
    end_reasons: np.ndarray
    out_seats: np.ndarray
    totals: np.ndarray
    num_decisions: int


def policy_name(policy: Any) -> str:
    """How messages and results call a policy: its name, a function's name, or its repr."""
    if isinstance(policy, str):
        return policy
    function = getattr(policy, "function", policy)
    return str(getattr(policy, "name", None) or getattr(function, "__name__", None) or repr(policy))


def play_games(
    policies: Sequence[Any],
    lineups: np.ndarray,
    game_seeds: np.ndarray,
    *,
    rules: Any = "whitnack",
    seed: int = 0,
    key_games: np.ndarray | None = None,
    seatings: np.ndarray | None = None,
    names: Sequence[str] | None = None,
    num_slots: int = DEFAULT_NUM_SLOTS,
    on_progress: Callable[[int], None] | None = None,
) -> GameResults:
    """Play G whole games to their ends.

    policies: objects with ``act``, or functions of (observations, action_masks). lineups: (G, seats) integers, index of
    the policy in each seat. game_seeds: (G,) whole numbers from 0, the cards and the first dealer. rules: as for
    VectorGame. seed: of the policies' keys. key_games, seatings: (G,) integers from which with `seed`, seat and decision
    number the keys are made; by default the game's index, and 0. names: of the policies, for messages. num_slots: games
    side by side at most; no effect on results. on_progress: called with the number of deals finished so far.

    Raises PolicyError for a policy that fails or returns anything but legal actions, UnfitPolicyError for one that
    refuses the rules in its ``start``, ValueError for arrays that do not fit.
    """
    return _Match(policies, lineups, game_seeds, rules, seed, key_games, seatings, names, num_slots).play(on_progress)


class _Match:
    """The state of one play_games call."""

    def __init__(self, policies, lineups, game_seeds, rules, seed, key_games, seatings, names, num_slots) -> None:
        self.names = list(names) if names is not None else [policy_name(policy) for policy in policies]
        self.policies = [as_policy(policy) for policy in policies]
        self.game_seeds = np.asarray(game_seeds, np.int64)
        num_games = len(self.game_seeds)
        if num_games == 0:
            raise ValueError("game_seeds is empty; a match needs at least one game")
        self.key_games = np.arange(num_games) if key_games is None else np.asarray(key_games, np.int64)
        self.seatings = np.zeros(num_games, np.int64) if seatings is None else np.asarray(seatings, np.int64)
        self.games = VectorGame(min(num_slots, num_games), rules, autoreset="DISABLED")
        self.rule_records = np.concatenate([one.to_record() for one in self.games.rules])
        # The same object in several places of the list is one policy: its decisions share a batch.
        first = [next(i for i, other in enumerate(self.policies) if other is policy) for policy in self.policies]
        lineups = np.asarray(lineups)
        if lineups.shape != (num_games, self.games.num_seats):
            raise ValueError(f"lineups have shape {lineups.shape}, not ({num_games}, {self.games.num_seats})")
        if lineups.dtype.kind not in "iu" or (lineups < 0).any() or (lineups >= len(first)).any():
            raise ValueError(f"lineups must hold indices of the {len(first)} policies")
        self.lineups = np.asarray(first, np.int64)[lineups]
        self.counter = DecisionCounter(self.games.num_games, self.games.num_seats, seed)
        self.seed = seed
        # Which game each slot plays; games are taken in their order.
        self.slot_games = np.arange(self.games.num_games)
        self.next_game = self.games.num_games
        self.finished: list[tuple[np.ndarray, ...]] = []
        self.num_deals = self.num_decisions = 0

    def play(self, on_progress: Callable[[int], None] | None) -> GameResults:
        games = self.games
        self._start_policies()
        games.reset(game_seeds=self.game_seeds[self.slot_games])
        active = np.arange(games.num_games)
        actions = np.zeros(games.num_games, np.int64)
        while len(active):
            seated = self.lineups[self.slot_games[active], games.seats[active]]
            for number in np.unique(seated):
                slots = active[seated == number]
                actions[slots] = self._decide(int(number), slots)
            games.step(actions)
            self.num_decisions += len(active)
            if games.deal_ended.any():
                self._note_deals(np.flatnonzero(games.deal_ended))
                if on_progress is not None:
                    on_progress(self.num_deals)
            over = games.terminated[active] | games.truncated[active]
            if over.any():
                self._check_not_truncated()
                active = self._next_games(active, active[over])
        return self._results()

    def _start_policies(self) -> None:
        rules = self.games.rules[0]
        for number in np.unique(self.lineups):
            start = getattr(self.policies[number], "start", None)
            if start is None:
                continue
            try:
                start(len(self.game_seeds), rules, self.seed)
            except ValueError as error:
                raise UnfitPolicyError(f"policy {self.names[number]!r} cannot play here: {error}") from error

    def _decide(self, number: int, slots: np.ndarray) -> np.ndarray:
        """Actions (n,) of one policy for the decisions of these slots."""
        games = self.games
        indices, seats = self.slot_games[slots], games.seats[slots]
        keys, starts = self.counter.next(slots, self.key_games[indices], self.seatings[indices], seats)
        batch = PolicyBatch(
            observations=games.observations[slots], action_masks=games.action_masks[slots], games=indices, seats=seats,
            game_starts=starts, keys=keys, make_views=lambda: self._views(slots, seats),
        )  # fmt: skip
        try:
            answer = self.policies[number].act(batch)
        except Exception as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise PolicyError(f"policy {self.names[number]!r} failed in act: {what}") from error
        return self._checked(number, slots, answer)

    def _views(self, slots: np.ndarray, seats: np.ndarray) -> SeatViews:
        views = np.empty(len(slots), GAME_DTYPE)
        redact_rows(self.games.games, self.rule_records, slots, seats, views)
        return SeatViews(views, self.rule_records)

    def _checked(self, number: int, slots: np.ndarray, answer: Any) -> np.ndarray:
        """The answer as (n,) int64. Raises PolicyError for anything but a legal action a row."""
        name, games = self.names[number], self.games
        try:
            actions = np.asarray(answer)
        except Exception as error:
            raise PolicyError(f"policy {name!r} returned a {type(answer).__name__}, which is no array: {error}") from error
        if actions.shape != slots.shape or actions.dtype.kind not in "iu":
            raise PolicyError(
                f"policy {name!r} returned {actions.dtype} of shape {actions.shape}; "
                f"it must return {len(slots)} integers, an action for each row"
            )
        in_range = (actions >= 0) & (actions < games.num_actions)
        known = np.where(in_range, actions, 0).astype(np.int64)
        wrong = np.flatnonzero(~in_range | (games.action_masks[slots, known] == 0))
        if len(wrong):
            self._raise_illegal(name, int(slots[wrong[0]]), int(actions[wrong[0]]), bool(in_range[wrong[0]]))
        return known

    def _raise_illegal(self, name: str, slot: int, action: int, in_range: bool) -> None:
        from hf_env.reasons import why_illegal

        seat, seed = self.games.seats[slot], self.game_seeds[self.slot_games[slot]]
        where = f"seat {seat}, game seed {seed}, deal {self.games.games[slot]['deal']}"
        if not in_range:
            raise PolicyError(f"policy {name!r} ({where}) returned {action}; actions are 0 to {len(ACTIONS) - 1}")
        reason = why_illegal(self.games.games, slot, self.rule_records, action)
        raise PolicyError(f"policy {name!r} ({where}) chose {ACTIONS.label(action)!r}, which is illegal: {reason}")

    def _note_deals(self, slots: np.ndarray) -> None:
        games = self.games
        ended = games.ended[slots]
        columns = (self.slot_games[slots], ended["deal"], games.deal_scores[slots], games.end_reasons[slots], ended["out_seat"])
        self.finished.append(tuple(column.astype(np.int64) for column in columns))
        self.num_deals += len(slots)

    def _check_not_truncated(self) -> None:
        cut = np.flatnonzero(self.games.truncated & ~self.games.terminated)
        if len(cut):
            seed = self.game_seeds[self.slot_games[cut[0]]]
            raise RuntimeError(f"the game of seed {seed} did not end within {self.games.decisions[cut[0]]} decisions")

    def _next_games(self, active: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Start waiting games in the free slots; returns the slots that are still active."""
        refilled = free[: len(self.game_seeds) - self.next_game]
        if len(refilled):
            self.slot_games[refilled] = np.arange(self.next_game, self.next_game + len(refilled))
            self.next_game += len(refilled)
            self.counter.restart(refilled)
            self.games.reset(game_seeds=self.game_seeds[self.slot_games], slots=refilled)
        return np.setdiff1d(active, free[len(refilled) :], assume_unique=True)

    def _results(self) -> GameResults:
        columns = [np.concatenate(column) for column in zip(*self.finished, strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        deal_games, numbers, scores, reasons, out_seats = (column[order] for column in columns)
        totals = np.zeros((len(self.game_seeds), self.games.num_sides), np.int64)
        np.add.at(totals, deal_games, scores)
        return GameResults(deal_games, numbers, scores, reasons, out_seats, totals, self.num_decisions)

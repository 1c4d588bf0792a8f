"""Policies at tables: plays whole games of given seeds with any policy in any seat, many games side by side.

Each game is played on its own terms: its cards come from its seed, and its players' randomness from the keys of their
decisions. So no result depends on how many games share a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.play.judging import (
    DecisionRequest,
    Fault,
    Forfeit,
    Judge,
    PolicyError,
    UnfitPolicyError,
    ask,
    describe_fault,
    start_policy,
)
from agents.play.schedule import Players, Schedule
from agents.policy import DecisionCounter, PolicyBatch
from hf_env.records.batch import BatchRecorder
from hf_env.vector.game import VectorGame

DEFAULT_NUM_SLOTS = 512
# What is kept of how a deal was played: fields of the engine's game record (engine/state.py), by side or by seat.
BEHAVIOUR_FIELDS = (
    "turns", "opening_turn", "foot_turn", "num_takes", "num_asks", "num_yes", "num_no", "stranded", "book_counts",
)  # fmt: skip

__all__ = [
    "BEHAVIOUR_FIELDS",
    "DecisionRequest",
    "Forfeit",
    "GameResults",
    "Judge",
    "PolicyError",
    "UnfitPolicyError",
    "play_games",
]


@dataclass(frozen=True, kw_only=True)
class GameResults:
    """What happened in G games of D deals together, the deals in the order of games and then of deals.

    Attributes:
        deal_games: (D,) int64, index of the deal's game.
        deal_numbers: (D,) int64, from 1.
        deal_scores: (D, sides) int64, points.
        end_reasons: (D,) int64, index into ``hf_env.vector.game.END_REASONS``.
        out_seats: (D,) int64, the seat that went out, -1 where nobody did.
        totals: (G, sides) int64, points of each whole game.
        num_decisions: of all seats.
        behaviour: by field of BEHAVIOUR_FIELDS (D, ...) integers.
        forfeits: at most one a game. The deals of a forfeited game have the judge's points, reason 0, out seat -1 and
            behaviour 0; they are `Forfeit.deals`.
    """

    deal_games: np.ndarray
    deal_numbers: np.ndarray
    deal_scores: np.ndarray
    end_reasons: np.ndarray
    out_seats: np.ndarray
    totals: np.ndarray
    num_decisions: int
    behaviour: dict[str, np.ndarray] = field(default_factory=dict)
    forfeits: tuple[Forfeit, ...] = ()


def play_games(
    policies: Sequence[Any],
    lineups: np.ndarray,
    game_seeds: np.ndarray,
    *,
    rules: Any = "whitnack",
    seed: int = 0,
    key_games: np.ndarray | None = None,
    rotations: np.ndarray | None = None,
    names: Sequence[str] | None = None,
    num_slots: int = DEFAULT_NUM_SLOTS,
    on_progress: Callable[[int], None] | None = None,
    judge: Judge | None = None,
    on_record: Callable[[int, dict[str, Any]], None] | None = None,
) -> GameResults:
    """Play G whole games to their ends.

    Args:
        policies: as for ``agents.load``: specs, objects with ``act``, or functions of (observations, action_masks).
        lineups: (G, seats) integers, index of the policy in each seat.
        game_seeds: (G,) whole numbers from 0, the cards and the first dealer.
        rules: as for VectorGame.
        seed: of the policies' keys.
        key_games, rotations: (G,) non-negative integers from which with `seed`, the policy's place in the list, seat and
            decision number the keys are made; by default the game's index, and 0.
        names: of the policies, for messages.
        num_slots: games side by side at most; no effect on results.
        on_progress: called with the number of deals finished so far.
        judge: what happens to policies that fail; None: the match ends.
        on_record: called with a game's index and its record (hf_env/records) as soon as it is over.

    Raises:
        PolicyError: For a policy that fails or returns anything but legal actions.
        UnfitPolicyError: For one that refuses the rules in its ``start``.
        ValueError: For arrays that do not fit.
    """
    games = VectorGame(min(num_slots, max(1, len(game_seeds))), rules, autoreset="DISABLED")
    players = Players.of(policies, names, seed)
    schedule = Schedule.of(players, lineups, game_seeds, key_games, rotations, games.num_seats)
    return _Match(games, players, schedule, judge, on_record).play(on_progress)


class _Match:
    """The state of one play_games call."""

    def __init__(self, games: VectorGame, players: Players, schedule: Schedule, judge: Judge | None, on_record) -> None:
        self.games, self.players, self.schedule = games, players, schedule
        self.counter = DecisionCounter(games.num_games, games.num_seats)
        self.judge, self.on_record = judge, on_record
        self.forfeit_points = judge.points if judge is not None else None
        self.has_forfeits = self.forfeit_points is not None
        self.known = {forfeit.game: forfeit for forfeit in judge.known} if judge else {}
        self.forfeits: dict[int, Forfeit] = {}
        self.recorder = BatchRecorder(games) if on_record is not None else None
        # Which game each slot plays; games are taken in their order.
        self.slot_games = np.arange(games.num_games)
        self.next_game = games.num_games
        self.finished: list[tuple[np.ndarray, ...]] = []
        self.num_deals = self.num_decisions = 0

    def play(self, on_progress: Callable[[int], None] | None) -> GameResults:
        games = self.games
        self._start_policies()
        games.reset(game_seeds=self.schedule.game_seeds[self.slot_games])
        active = np.arange(games.num_games)
        self._begin_games(active)
        actions = np.zeros(games.num_games, np.int64)
        while len(active):
            seated = self.schedule.lineups[self.slot_games[active], games.seats[active]]
            for number in np.unique(seated):
                slots = active[seated == number]
                actions[slots] = self._decide(int(number), slots)
            games.step(actions)
            played = active[~games.truncated[active]] if self.forfeits else active
            self.num_decisions += len(played)
            if self.recorder is not None:
                self.recorder.step(played, actions[played])
            if games.deal_ended.any():
                self._note_deals(np.flatnonzero(games.deal_ended))
                if on_progress is not None:
                    on_progress(self.num_deals)
            over = games.terminated[active] | games.truncated[active]
            if over.any():
                self._finish(active[over])
                active = self._next_games(active, active[over])
        return self._results()

    def _start_policies(self) -> None:
        rules, num_games, lineups = self.games.rules, len(self.schedule.game_seeds), self.schedule.lineups
        for number in np.unique(lineups).tolist():
            policy, name = self.players.policies[number], self.players.names[number]
            seated = np.flatnonzero((lineups == number).any(1))
            forfeits_all = all(game in self.known and self.known[game].decision == -1 for game in seated.tolist())
            if forfeits_all or not hasattr(policy, "start"):
                continue
            self._note_request(DecisionRequest(number, seated[:1], np.full(1, -1)))
            failure = start_policy(policy, name, num_games, rules, self.players.seeds[number])
            self._note_request(None)
            if failure is None:
                continue
            if not self.has_forfeits:
                raise failure
            for game in seated.tolist():
                self.known.setdefault(game, Forfeit(game, number, -1, 0, -1, "exception", str(failure)))

    def _decide(self, number: int, slots: np.ndarray) -> np.ndarray:
        """Actions (n,) of one policy for the decisions of these slots; 0 for a game that it forfeits with it."""
        actions = np.zeros(len(slots), np.int64)
        asked = np.ones(len(slots), bool)
        for place, slot in enumerate(slots if self.known else ()):
            known = self.known.get(int(self.slot_games[slot]))
            if known is not None and known.policy == number and known.decision in (-1, self.games.decisions[slot]):
                asked[place] = False
                self._forfeit(number, slot, known.kind, known.reason)
        if asked.any():
            actions[asked], faults = self._ask(number, slots[asked])
            for place, fault in faults.items():
                slot = slots[asked][place]
                self._forfeit(number, slot, fault.kind, self._sentence(number, slot, fault))
        return actions

    def _ask(self, number: int, slots: np.ndarray) -> tuple[np.ndarray, dict[int, Fault]]:
        """Actions (n,) of a policy for these slots, and faults by place; without a judge, the first fault is raised."""
        keys, starts = self.counter.next(slots, self.games.seats[slots])
        if self.judge is None or number not in self.judge.singly:
            actions, faults = self._ask_once(number, slots, keys, starts)
            if not self.has_forfeits or not len(faults) == len(slots) > 1:
                return actions, self._counted(number, slots, faults)
        # Each decision alone, so that a fault of the whole answer is one row's.
        actions, faults = np.zeros(len(slots), np.int64), {}
        for row in range(len(slots)):
            own = slice(row, row + 1)
            actions[own], fault = self._ask_once(number, slots[own], keys[own], starts[own])
            if fault:
                faults[row] = fault[0]
        return actions, self._counted(number, slots, faults)

    def _counted(self, number: int, slots: np.ndarray, faults: dict[int, Fault]) -> dict[int, Fault]:
        """The faults, where forfeits count; else the first of them is raised."""
        if faults and not self.has_forfeits:
            place = min(faults)
            raise PolicyError(self._sentence(number, slots[place], faults[place])) from faults[place].error
        return faults

    def _ask_once(self, number: int, slots: np.ndarray, keys: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, dict[int, Fault]]:
        """As `_ask`, in one batch. The policy gets a new one each time, whatever it did to the last; the engine's masks judge."""
        games = self.games
        self._note_request(DecisionRequest(number, self.slot_games[slots], games.decisions[slots]))
        batch = PolicyBatch.of(games, slots, keys, starts, self.slot_games[slots])
        answer = ask(self.players.policies[number], batch, games.action_masks[slots])
        self._note_request(None)
        return answer

    def _note_request(self, request: DecisionRequest | None) -> None:
        """A policy is asked now, or (None) has answered."""
        if self.judge is not None and self.judge.on_ask is not None:
            self.judge.on_ask(request)

    def _sentence(self, number: int, slot: int, fault: Fault) -> str:
        """The fault as a line that names the policy and, where it is one row's own, the place."""
        games, who = self.games, f"policy {self.players.names[number]!r}"
        if fault.kind == "illegal":
            seed = self.schedule.game_seeds[self.slot_games[slot]]
            who += f" (seat {games.seats[slot]}, game seed {seed}, deal {games.games[slot]['deal']})"
        return describe_fault(fault, who, games.games, int(slot), games.rule_records)

    def _forfeit(self, number: int, slot: int, kind: str, reason: str) -> None:
        """End the slot's game for the fault of a policy."""
        game, games = int(self.slot_games[slot]), self.games
        deal, rules = int(games.games[slot]["deal"]), games.rules[int(games.games[slot]["rule"])]
        self.forfeits[game] = Forfeit(
            game, number, int(games.seats[slot]), deal, int(games.decisions[slot]), kind, reason,
            deals=rules.deals if rules.target is None else deal,
        )  # fmt: skip
        games.stop([slot])

    def _note_deals(self, slots: np.ndarray) -> None:
        games = self.games
        ended = games.ended[slots]
        columns = (self.slot_games[slots], ended["deal"], games.deal_scores[slots], games.end_reasons[slots], ended["out_seat"])
        behaviour = tuple(ended[name].astype(np.int32) for name in BEHAVIOUR_FIELDS)
        self.finished.append(tuple(column.astype(np.int64) for column in columns) + behaviour)
        self.num_deals += len(slots)

    def _finish(self, slots: np.ndarray) -> None:
        """The games of these slots are over."""
        for slot in slots if self.recorder is not None or self.games.truncated[slots].any() else ():
            game = int(self.slot_games[slot])
            if self.games.truncated[slot] and game not in self.forfeits:
                decisions = self.games.decisions[slot]
                raise RuntimeError(f"the game of seed {self.schedule.game_seeds[game]} did not end within {decisions} decisions")
            if self.recorder is not None:
                self.on_record(game, self.recorder.record(slot) | self._forfeit_entry(game))

    def _forfeit_entry(self, game: int) -> dict[str, Any]:
        """What a forfeited game's record says of it."""
        if game not in self.forfeits:
            return {}
        forfeit = self.forfeits[game]
        return {
            "forfeit": {
                "player": self.players.names[forfeit.policy],
                "seat": forfeit.seat,
                "kind": forfeit.kind,
                "reason": forfeit.reason,
                "deals": forfeit.deals,
                "scores": self._forfeit_scores(forfeit).tolist(),
            }
        }

    def _forfeit_scores(self, forfeit: Forfeit) -> np.ndarray:
        """Points of each side (sides,) in each deal of a forfeited game."""
        assert self.forfeit_points is not None  # or nothing could have been forfeited
        scores = np.zeros(self.games.num_sides, np.int64)
        scores[np.flatnonzero(self.schedule.lineups[forfeit.game] == forfeit.policy) % self.games.num_sides] = self.forfeit_points
        return scores

    def _begin_games(self, slots: np.ndarray) -> None:
        """The games of these slots begin: their players' keys, and their records."""
        for slot in slots:
            game = self.slot_games[slot]
            players = [self.players.seeds[number] for number in self.schedule.lineups[game]]
            self.counter.start(slot, players, self.schedule.key_games[game], self.schedule.rotations[game])
            if self.recorder is not None:
                self.recorder.start(int(slot), [self.players.names[number] for number in self.schedule.given_lineups[game]])

    def _next_games(self, active: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Start waiting games in the free slots; returns the slots that are still active."""
        refilled = free[: len(self.schedule.game_seeds) - self.next_game]
        if len(refilled):
            self.slot_games[refilled] = np.arange(self.next_game, self.next_game + len(refilled))
            self.next_game += len(refilled)
            self.games.reset(game_seeds=self.schedule.game_seeds[self.slot_games], slots=refilled)
            self._begin_games(refilled)
        return np.setdiff1d(active, free[len(refilled) :], assume_unique=True)

    def _results(self) -> GameResults:
        finished = [self._forfeited_deals(forfeit) for forfeit in self.forfeits.values()]
        for columns in self.finished:
            kept = ~np.isin(columns[0], list(self.forfeits))
            finished.append(tuple(column[kept] for column in columns))
        joined = [np.concatenate(column) for column in zip(*finished, strict=True)]
        order = np.lexsort((joined[1], joined[0]))
        deal_games, numbers, scores, reasons, out_seats, *behaviour = (column[order] for column in joined)
        totals = np.zeros((len(self.schedule.game_seeds), self.games.num_sides), np.int64)
        np.add.at(totals, deal_games, scores)
        return GameResults(
            deal_games=deal_games, deal_numbers=numbers, deal_scores=scores, end_reasons=reasons, out_seats=out_seats, totals=totals,
            num_decisions=self.num_decisions, behaviour=dict(zip(BEHAVIOUR_FIELDS, behaviour, strict=True)),
            forfeits=tuple(self.forfeits[game] for game in sorted(self.forfeits)),
        )  # fmt: skip

    def _forfeited_deals(self, forfeit: Forfeit) -> tuple[np.ndarray, ...]:
        """The columns of `finished` for the deals of a forfeited game."""
        n = forfeit.deals
        behaviour = (np.zeros((n, *self.games.games[name].shape[1:]), np.int32) for name in BEHAVIOUR_FIELDS)
        return (
            np.full(n, forfeit.game), np.arange(1, n + 1), np.tile(self._forfeit_scores(forfeit), (n, 1)),
            np.zeros(n, np.int64), np.full(n, -1), *behaviour,
        )  # fmt: skip

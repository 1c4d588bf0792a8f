"""Decisions to be made by policies: batches of them, what the deciding seats may know, and their random keys.

A policy owns no generator: its only randomness is the key that comes with each decision, so the same decision gets
the same action whatever other decisions share its batch. Whoever seats policies (a match, the trainer, the Gymnasium
table) makes the batches; the protocol that policies follow is in ``agents``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_2_TO_64 = 1 << 64


class SeatViews(NamedTuple):
    """All that the deciding seats of N rows may know, as the engine's records.

    games: (N,) GAME_DTYPE, redacted for each row's seat (``hf_env.engine.redact``). rules: (R,) RULES_DTYPE, of which a
    game's field ``rule`` is the index.
    """

    games: np.ndarray
    rules: np.ndarray

    @classmethod
    def of(cls, games: np.ndarray, rules: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> SeatViews:
        """What seats[i] may know of games[rows[i]]: rows (N,) integers, seats (N,) int32."""
        from hf_env.engine.redact import redact_rows
        from hf_env.engine.state import GAME_DTYPE

        views = np.empty(len(rows), GAME_DTYPE)
        redact_rows(games, rules, rows.astype(np.int64), seats, views)
        return cls(views, rules)


@dataclass(frozen=True)
class PolicyBatch:
    """N decisions to be made now, each by one seat of one game.

    observations: (N, F) int16, what the deciding seat may know, as ``ObservationLayout`` describes it.
    action_masks: (N, A) int8, 1 where the action is legal; at least one in each row.
    games: (N,) int64, stable numbers: a policy with a memory keeps it by (game, seat).
    seats: (N,) int32, the deciding seat.
    game_starts: (N,) bool, whether this is the seat's first decision in this game.
    keys: (N,) uint64, the only randomness that a policy uses (see ``decision_keys``).
    make_views: makes the SeatViews of the rows, for ``views``; None where the maker of the batch has none.
    """

    observations: np.ndarray
    action_masks: np.ndarray
    games: np.ndarray
    seats: np.ndarray
    game_starts: np.ndarray
    keys: np.ndarray
    make_views: Callable[[], SeatViews] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.observations)

    def rows(self, rows: slice | np.ndarray) -> PolicyBatch:
        """The batch of some of the rows: a slice, indices, or a mask (N,) bool."""

        def make_views() -> SeatViews:
            return SeatViews(self.views.games[rows], self.views.rules)

        return PolicyBatch(
            self.observations[rows], self.action_masks[rows], self.games[rows], self.seats[rows],
            self.game_starts[rows], self.keys[rows], make_views if self.make_views is not None else None,
        )  # fmt: skip

    @cached_property
    def views(self) -> SeatViews:
        """Of each row all that the seat may know; made when first asked for, since few policies do.

        Raises RuntimeError where the maker of the batch offers none.
        """
        if self.make_views is None:
            raise RuntimeError("this batch was made without views")
        return self.make_views()


def mix64(values: np.ndarray) -> np.ndarray:
    """Finaliser of splitmix64 (Steele et al. 2014): (N,) uint64 to (N,) uint64, each bit depending on all."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        return z ^ (z >> np.uint64(31))


def decision_keys(seed: int | np.ndarray, games, seatings, seats, decisions) -> np.ndarray:
    """Keys (N,) uint64 made of nothing but the five numbers that name a decision.

    seed: any integer, taken modulo 2**64, or (N,) non-negative integers. games, seatings, seats, decisions: integers or
    (N,) integer arrays; ``seatings`` tells apart the seatings that a match gives the same game, ``decisions`` counts the seat's
    decisions in this game from 0.
    """
    keys = np.full(1, int(seed) % _2_TO_64, np.uint64) if np.ndim(seed) == 0 else np.asarray(seed).astype(np.uint64)
    for part in (games, seatings, seats, decisions):
        keys = mix64(keys ^ np.atleast_1d(np.asarray(part)).astype(np.uint64))
    return keys


def uniforms(keys: np.ndarray, draw: int = 0) -> np.ndarray:
    """Uniform numbers in [0, 1) (N,) float64 from keys (N,) uint64; ``draw`` numbers further draws of a decision."""
    mixed = mix64(np.asarray(keys, np.uint64) ^ mix64(np.full(1, draw, np.uint64)))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


class DecisionCounter:
    """Counts the decisions of each seat in the game that each slot plays, and makes their keys.

    num_slots: games side by side. num_seats: seats of a game. seed: of the policies' keys; one, or (num_slots,) of each
    slot's.
    """

    def __init__(self, num_slots: int, num_seats: int, seed: int | np.ndarray) -> None:
        self.seed = seed
        self.counts = np.zeros((num_slots, num_seats), np.int64)

    def next(self, slots: np.ndarray, games, seatings, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Keys (N,) uint64 and game starts (N,) bool of decisions about to be made, which are counted.

        slots: (N,) places in the vector of games, each at most once. games, seatings: as in ``decision_keys``.
        seats: (N,) the deciding seats.
        """
        counts = self.counts[slots, seats]
        seed = self.seed[slots] if isinstance(self.seed, np.ndarray) and self.seed.ndim else self.seed
        keys = decision_keys(seed, games, seatings, seats, counts)
        self.counts[slots, seats] = counts + 1
        return keys, counts == 0

    def restart(self, slots: np.ndarray) -> None:
        """Begin again at 0 in these slots, whose games have ended."""
        self.counts[slots] = 0

"""Decisions to be made by policies: batches of them, what the deciding seats may know, and their random keys.

A policy owns no generator: its only randomness is the key that comes with each decision, so the same decision gets
the same action whatever other decisions share its batch. Whoever seats policies (a match, the trainer, the Gymnasium
table) makes the batches; the protocol that policies follow is in ``agents``.

What a policy gets is a copy: whatever it writes into a batch, the engine's own games, masks and rules judge. Its keys
grow from a root of its own (``hf_env.seeds``), from which neither cards nor another player's keys follow. Views are
of the decision at hand, and no longer to be had once its game has moved. That is what is handed over; Python
code can read all of the process that it runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hf_env.seeds import FOR_PLAYER, FOR_SEAT, grow, grow_seed

if TYPE_CHECKING:
    from hf_env.vector.game import VectorGame

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_2_TO_64 = 1 << 64


class SeatViews(NamedTuple):
    """All that the deciding seats of N rows may know, as the engine's records; copies.

    Attributes:
        games: (N,) GAME_DTYPE, redacted for each row's seat (``hf_env.engine.redact``).
        rules: (R,) RULES_DTYPE, of which a game's field ``rule`` is the index.
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
        return cls(views, rules.copy())


class NoLegalActionError(ValueError):
    """A row has no legal action, as of a game that is over: there is nothing to choose.

    Args:
        row: its number.
    """

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} has no legal action: its game is over, or its mask was not written")


@dataclass(frozen=True)
class PolicyBatch:
    """N decisions to be made now, each by one seat of one game.

    Attributes:
        observations: (N, F) int16, what the deciding seat may know, as ``ObservationLayout`` describes it.
        action_masks: (N, A) int8, 1 where the action is legal; at least one in each row.
        games: (N,) int64, stable numbers: a policy with a memory keeps it by (game, seat).
        seats: (N,) int32, the deciding seat.
        game_starts: (N,) bool, whether this is the seat's first decision in this game.
        keys: (N,) uint64, the only randomness that a policy uses (see ``DecisionCounter``).
        make_views: makes the SeatViews of the rows, for ``views``; None where the maker of the batch has none.

    Raises:
        NoLegalActionError: Naming the first row without a legal action.
    """

    observations: np.ndarray
    action_masks: np.ndarray
    games: np.ndarray
    seats: np.ndarray
    game_starts: np.ndarray
    keys: np.ndarray
    make_views: Callable[[], SeatViews] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_legal(self.action_masks)

    @classmethod
    def of(
        cls, vec: VectorGame, slots: np.ndarray, keys: np.ndarray, game_starts: np.ndarray, games: np.ndarray | None = None
    ) -> PolicyBatch:
        """The decisions that are to be made now in some slots of a VectorGame; nothing in it is a view of a buffer.

        Args:
            slots: (N,) integers.
            keys: (N,) uint64 and game_starts: (N,) bool, of ``DecisionCounter.next``.
            games: (N,) integers, the numbers by which policies tell the games apart; by default the slots.
        """
        slots = np.array(slots, np.int64)
        seats, moves = vec.seats[slots], vec.num_moves

        def make_views() -> SeatViews:
            # Later the slot may hold another game, in which the seat is another player's.
            if vec.num_moves != moves:
                raise RuntimeError("the games have moved on: a batch's views can be had only while its decisions are being made")
            return SeatViews.of(vec.games, vec.rule_records, slots, seats)

        return cls(
            vec.observations[slots], vec.action_masks[slots], np.array(slots if games is None else games, np.int64), seats.copy(),
            np.array(game_starts, bool), np.array(keys, np.uint64), make_views,
        )  # fmt: skip

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

        Raises:
            RuntimeError: Where the maker of the batch offers none.
        """
        if self.make_views is None:
            raise RuntimeError("this batch was made without views")
        return self.make_views()


def check_legal(action_masks: np.ndarray) -> None:
    """Check that each row has something to choose from.

    Args:
        action_masks: (N, A), not 0 where the action is legal.

    Raises:
        NoLegalActionError: Naming the first row without a legal action.
    """
    if not action_masks.any(1).all():
        raise NoLegalActionError(int(np.argmin(action_masks.any(1))))


def mix64(values: np.ndarray) -> np.ndarray:
    """Finaliser of splitmix64 (Steele et al. 2014): (N,) uint64 to (N,) uint64, each bit depending on all."""
    with np.errstate(over="ignore"):
        z = values + _GOLDEN
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        return z ^ (z >> np.uint64(31))


def decision_keys(root: int | np.ndarray, games, rotations, seats, decisions) -> np.ndarray:
    """Keys (N,) uint64 made of nothing but the five numbers that name a decision.

    Args:
        root: 64 random bits, such as ``hf_env.seeds.grow`` gives, or (N,) non-negative integers.
        games, rotations, seats, decisions: integers or (N,) integer arrays. Whoever knows a key and the four numbers knows
            the root: keys for a policy of others come from a ``DecisionCounter``.
    """
    keys = np.full(1, int(root) % _2_TO_64, np.uint64) if np.ndim(root) == 0 else np.asarray(root).astype(np.uint64)
    for part in (games, rotations, seats, decisions):
        keys = mix64(keys ^ np.atleast_1d(np.asarray(part)).astype(np.uint64))
    return keys


def uniforms(keys: np.ndarray, draw: int = 0) -> np.ndarray:
    """Uniform numbers in [0, 1) (N,) float64 from keys (N,) uint64; ``draw`` numbers further draws of a decision."""
    mixed = mix64(np.asarray(keys, np.uint64) ^ mix64(np.full(1, draw, np.uint64)))
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53


def player_seed(seed: int, player: int) -> int:
    """The seed (0..2**63 - 1) that a player's ``start`` gets, of which all its keys are made.

    Args:
        seed: of the match.
        player: its number there; at a table whose seats are players of their own, the seat.
    """
    return grow_seed(seed, FOR_PLAYER, player)


def seat_root(player: int, game: int, rotation: int, seat: int) -> int:
    """Root (0..2**64 - 1) of the keys of one seat's decisions in one game.

    Args:
        player: the seed that its player's ``start`` got.
        game: its number or seed; ``rotation`` tells apart the rotations in which a match plays the same game.
    """
    return grow(player, FOR_SEAT, game, rotation, seat)


def seat_keys(roots: int | np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """Keys (N,) uint64 of decisions.

    Args:
        roots: of the deciding seats, one or (N,) uint64.
        decisions: (N,) counted from 0.
    """
    return mix64(np.asarray(roots, np.uint64) ^ mix64(decisions.astype(np.uint64)))


class DecisionCounter:
    """Counts the decisions of each seat in the game that each slot plays, and makes their keys.

    The keys of a seat in a game are made of a root of their own (``seat_root``): who knows them knows those of no other
    seat and of no other game.

    Args:
        num_slots: games side by side.
        num_seats: seats of a game.
    """

    def __init__(self, num_slots: int, num_seats: int) -> None:
        self._roots = np.zeros((num_slots, num_seats), np.uint64)
        self._counts = np.zeros((num_slots, num_seats), np.int64)

    def start(self, slot: int | np.integer, players: Sequence[int], game: int | np.integer, rotation: int | np.integer = 0) -> None:
        """A game begins in a slot.

        Args:
            players: for each seat the seed that its player's ``start`` got; others as for ``seat_root``.
        """
        for seat, player in enumerate(players):
            self._roots[slot, seat] = seat_root(player, int(game), int(rotation), seat)
        self._counts[slot] = 0

    def next(self, slots: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Keys (N,) uint64 and game starts (N,) bool of decisions about to be made, which are counted.

        Args:
            slots: (N,) places in the vector of games, each at most once.
            seats: (N,) the deciding seats.
        """
        counts = self._counts[slots, seats]
        self._counts[slots, seats] = counts + 1
        return seat_keys(self._roots[slots, seats], counts), counts == 0

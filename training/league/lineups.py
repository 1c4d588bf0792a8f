"""How the seats of training games are filled: the settings ``seats`` and ``pools``, checked and read.

An entry of ``seats`` is ``learner``; ``past``, a frozen past self; a scripted player with or without noise, as
``expert`` or ``greedy:noise=0.1``; or a draw from a pool: ``pool:NAME`` draws for each seat by itself, ``team:NAME``
once for all seats of a side that name it. A pool gives such players (but no pools) with their weights.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents.registry import SCRIPTED, UnknownPolicyError, load, parse_spec
from hf_env.rules.errors import shown
from hf_env.suggest import did_you_mean

LEARNER_NAME, PAST = "learner", "past"
POOL, TEAM = "pool:", "team:"
# Weights are added up.
_MOST_WEIGHT = 1_000_000_000


class LineupError(ValueError):
    """Seats or pools that make no sense; the message is one line for a user."""


@dataclass(frozen=True)
class Lineup:
    """Checked seats, one entry each, and pools: name -> {player: weight}."""

    seats: tuple[str, ...]
    pools: Mapping[str, Mapping[str, float]]
    scripted: tuple[str, ...]

    def choices(self, entry: str) -> tuple[list[str], np.ndarray]:
        """Players that may sit where ``entry`` stands, and their chances."""
        if not entry.startswith((POOL, TEAM)):
            return [entry], np.ones(1)
        pool = self.pools[entry.split(":", 1)[1]]
        weights = np.array(list(pool.values()), np.float64)
        return list(pool), weights / weights.sum()


def default_seats(num_seats: int, num_sides: int) -> tuple[str, ...]:
    """The learner everywhere, but one side drawn as a team from the pool ``opponents``."""
    last = num_sides - 1
    return tuple(TEAM + "opponents" if seat % num_sides == last else LEARNER_NAME for seat in range(num_seats))


def check_lineup(seats: Sequence[str], pools: Mapping[str, Mapping[str, float]]) -> None:
    """Check a line-up.

    Raises:
        LineupError: Naming the first entry that makes no sense and what is allowed.
    """
    for name, pool in pools.items():
        where = f"pools.{name}"
        if not isinstance(pool, Mapping) or not pool:
            raise LineupError(f"{where} must be a table of players and weights, as {{past = 3, expert = 1}}, got {shown(pool)}")
        for player, weight in pool.items():
            if isinstance(player, str) and player.startswith((POOL, TEAM)):
                raise LineupError(f"{where} holds {reprlib.repr(player)}: a pool holds players, no pools")
            _check_player(player, where)
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= _MOST_WEIGHT:
                raise LineupError(f"{where}.{player} must be a weight above 0, at most {_MOST_WEIGHT:,}, got {shown(weight)}")
    for place, entry in enumerate(seats):
        _check_entry(entry, f"seats[{place}]", pools)
    if seats and LEARNER_NAME not in seats:
        raise LineupError(f"seats must hold {LEARNER_NAME!r} at least once: nobody else learns; got {shown(list(seats))}")


def _check_entry(entry: str, where: str, pools: Mapping[str, Mapping[str, float]]) -> None:
    if isinstance(entry, str) and entry.startswith((POOL, TEAM)):
        name = entry.split(":", 1)[1]
        if name not in pools:
            there = ", ".join(map(reprlib.repr, pools)) or "none"
            raise LineupError(f"{where} names the pool {reprlib.repr(name)}; there is {there}{did_you_mean(name, pools)}")
        return
    _check_player(entry, where)


def _check_player(player: str, where: str) -> None:
    if player in (LEARNER_NAME, PAST):
        return
    allowed = f"{LEARNER_NAME}, {PAST}, {', '.join(SCRIPTED)} (each with :noise=SHARE)"
    try:
        name = parse_spec(player).name if isinstance(player, str) else None
    except UnknownPolicyError as error:
        raise LineupError(f"{where}: {error}") from None
    # By name before anything is loaded: a config must not be able to run a module that it names.
    if name not in SCRIPTED:
        hint = did_you_mean(name, (LEARNER_NAME, PAST, *SCRIPTED))
        raise LineupError(f"{where} holds {reprlib.repr(player)}; allowed: {allowed}{hint}")
    try:
        load(player)
    except UnknownPolicyError as error:
        raise LineupError(f"{where}: {error}") from None


def make_lineup(seats: Sequence[str], pools: Mapping[str, Mapping[str, float]], num_seats: int, num_sides: int) -> Lineup:
    """The line-up for a table.

    Args:
        seats: empty stands for ``default_seats``.

    Raises:
        LineupError: For another number of seats than the table has, and as ``check_lineup``.
    """
    seats = tuple(seats) or default_seats(num_seats, num_sides)
    if len(seats) != num_seats:
        raise LineupError(f"seats has {len(seats)} entries, the rules have {num_seats} seats: {shown(list(seats))}")
    check_lineup(seats, pools)
    used = [name for entry in seats for name in Lineup(seats, pools, ()).choices(entry)[0]]
    scripted = tuple(dict.fromkeys(name for name in used if name not in (LEARNER_NAME, PAST)))
    return Lineup(seats, pools, scripted)

"""Who plays which games of a match, checked and in their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.registry import PolicySpec, load
from hf_env.policy_batch import player_seed


def policy_name(policy: Any) -> str:
    """How messages and results call a policy: its name, a function's name, or its repr."""
    if isinstance(policy, str | PolicySpec):
        return str(policy)
    function = getattr(policy, "function", policy)
    return str(getattr(policy, "name", None) or getattr(function, "__name__", None) or repr(policy))


@dataclass(frozen=True)
class Players:
    """The policies of a match, by their places in its list.

    Attributes:
        first: the place at which each object comes first: the same object in several places is one policy, whose decisions
            share a batch.
        seeds: what the ``start`` of each gets, and all its keys are made of.
    """

    policies: list[Any]
    names: list[str]
    first: np.ndarray
    seeds: list[int]

    @classmethod
    def of(cls, policies: Sequence[Any], names: Sequence[str] | None, seed: int) -> Players:
        """Load the policies.

        Args:
            seed: of the match.
        """
        names = [policy_name(policy) for policy in policies] if names is None else list(names)
        loaded = [load(policy) for policy in policies]
        first = [next(place for place, other in enumerate(loaded) if other is policy) for policy in loaded]
        return cls(loaded, names, np.asarray(first, np.int64), [player_seed(seed, place) for place in range(len(loaded))])


@dataclass(frozen=True)
class Schedule:
    """The G games of a match, in the order in which they begin.

    Attributes:
        lineups: (G, seats) int64, the policy in each seat, by its first place in the list.
        given_lineups: as they were given.
        game_seeds, key_games, rotations: (G,) int64, as for ``play_games``.
    """

    game_seeds: np.ndarray
    given_lineups: np.ndarray
    lineups: np.ndarray
    key_games: np.ndarray
    rotations: np.ndarray

    @classmethod
    def of(cls, players: Players, lineups, game_seeds, key_games, rotations, num_seats: int) -> Schedule:
        """Check the arrays that ``play_games`` was given.

        Raises:
            ValueError: Where they do not fit.
        """
        game_seeds, lineups = np.asarray(game_seeds, np.int64), np.asarray(lineups)
        num_games, num_policies = len(game_seeds), len(players.first)
        if num_games == 0:
            raise ValueError("game_seeds is empty; a match needs at least one game")
        key_games = np.arange(num_games) if key_games is None else np.asarray(key_games, np.int64)
        rotations = np.zeros(num_games, np.int64) if rotations is None else np.asarray(rotations, np.int64)
        if lineups.shape != (num_games, num_seats):
            raise ValueError(f"lineups have shape {lineups.shape}, not ({num_games}, {num_seats})")
        if lineups.dtype.kind not in "iu" or (lineups < 0).any() or (lineups >= num_policies).any():
            raise ValueError(f"lineups must hold indices of the {num_policies} policies")
        return cls(game_seeds, lineups, players.first[lineups], key_games, rotations)

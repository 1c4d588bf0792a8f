"""The shipped players: which of them knows a rule set best, and the policy that plays as that one."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.policy import Policy, PolicyBatch, rule_sets
from agents.specs import PolicySpec
from hf_env.rules import RuleSet, diff_rules, load_rules

NAME = "pretrained"
# A folder for each, with its card.
FOLDER = Path(__file__).parent / NAME
PLAYERS = ("whitnack", "several")


@dataclass(frozen=True)
class ShippedPlayer:
    """What a shipped player says of its training.

    Attributes:
        name: of its folder, as in ``pretrained:rules=NAME``.
        table: numbers of seats and sides.
        rules: that it was trained under.
    """

    name: str
    table: tuple[int, int]
    rules: tuple[RuleSet, ...]

    def differences(self, rules: RuleSet) -> tuple[RuleSet, tuple[str, ...]]:
        """The nearest rule set of its training, and the options in which that differs from `rules`."""
        found = [(own, tuple(key for key, *_ in diff_rules(own, rules))) for own in self.rules]
        return min(found, key=lambda each: len(each[1]))


@functools.cache
def shipped_players() -> tuple[ShippedPlayer, ...]:
    """All of them, in the order of PLAYERS."""
    infos = [json.loads((FOLDER / name / "policy.json").read_text(encoding="utf-8")) for name in PLAYERS]
    return tuple(
        ShippedPlayer(
            name, (info["num_seats"], info["num_sides"]), tuple(load_rules(tomllib.loads(text)) for text in info["rules"])
        )
        for name, info in zip(PLAYERS, infos, strict=True)
    )  # fmt: skip


def _table_words(table: tuple[int, int]) -> str:
    return f"{table[0]} seats in {table[1]} sides"


def choose(*rules: RuleSet) -> ShippedPlayer:
    """The shipped player that knows these rule sets best.

    That is the one from whose nearest rule sets they differ in the fewest options, 0 where it was trained under them. A tie
    goes to the one that knows fewer rule sets: it had more practice in each, and is the stronger or as strong as the other
    under rules one option away (docs/players.md has the figures).

    Args:
        rules: of one table; for several, the differences are summed.

    Raises:
        ValueError: None was made for this table.
    """
    table = rules[0].players, rules[0].num_sides
    seated = [player for player in shipped_players() if player.table == table]
    if not seated:
        tables = " and ".join(dict.fromkeys(_table_words(player.table) for player in shipped_players()))
        raise ValueError(f"no shipped player was made for {_table_words(table)}; they play at tables of {tables}")
    return min(seated, key=lambda player: (sum(len(player.differences(each)[1]) for each in rules), len(player.rules)))


def chooses(spec: PolicySpec) -> bool:
    """Whether a policy is chosen by the rules: ``pretrained`` that names no ``rules``, alone or inside a search."""
    return (spec.name == NAME and "rules" not in spec.options) or (spec.inner is not None and chooses(spec.inner))


def chosen_spec(spec: PolicySpec, *rules: RuleSet) -> PolicySpec:
    """The policy that plays for one that ``chooses`` under these rule sets; any other spec as it is.

    Raises:
        ValueError: As ``choose``.
    """
    if not chooses(spec):
        return spec
    if spec.name == NAME:
        return PolicySpec(NAME, {"rules": choose(*rules).name, **spec.options}, spec.inner)
    assert spec.inner is not None  # or nothing would be left to choose
    return PolicySpec(spec.name, spec.options, chosen_spec(spec.inner, *rules))


class ChoosingPolicy:
    """Plays each game as the shipped player that knows its rules best; they become known in ``start``.

    Args:
        spec: that ``chooses``.
        load: makes a policy of a spec.
    """

    def __init__(self, spec: PolicySpec, load: Callable[[PolicySpec], Policy]) -> None:
        self.spec, self._load = spec, load
        self._loaded: dict[str, Policy] = {}
        # The player of each rule set of the match, by the field `rule` of its games.
        self._players: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """As a spec of ``agents.load``."""
        return str(self.spec)

    def __repr__(self) -> str:
        return f"ChoosingPolicy({self.name!r})"

    def player_for(self, *rules: RuleSet) -> Any:
        """The player that knows these rule sets best, the same object for the same choice.

        Raises:
            ValueError: As ``choose``.
        """
        spec = chosen_spec(self.spec, *rules)
        if str(spec) not in self._loaded:
            self._loaded[str(spec)] = self._load(spec)
        return self._loaded[str(spec)]

    def start(self, num_games: int, rules: RuleSet | Sequence[RuleSet], seed: int) -> None:
        """Choose a player for each rule set and start it.

        Raises:
            ValueError: No shipped player was made for this table.
        """
        sets = rule_sets(rules)
        players = tuple(self.player_for(each) for each in sets)
        for player in dict.fromkeys(players):
            if hasattr(player, "start"):
                own = tuple(each for each, other in zip(sets, players, strict=True) if other is player)
                player.start(num_games, own[0] if len(own) == 1 else own, seed)
        self._players = players

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) int32.

        Raises:
            RuntimeError: Without start().
        """
        actions = np.empty(len(batch), np.int32)
        for player, rows in self._parts(batch):
            actions[rows] = player.act(batch.rows(rows))
        return actions

    def evaluate(self, batch: PolicyBatch) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities (N, A) float32 and values (N,) float32, as of the chosen players.

        Raises:
            RuntimeError: Without start().
        """
        probabilities, values = np.empty(batch.action_masks.shape, np.float32), np.empty(len(batch), np.float32)
        for player, rows in self._parts(batch):
            probabilities[rows], values[rows] = player.evaluate(batch.rows(rows))
        return probabilities, values

    def _parts(self, batch: PolicyBatch) -> list[tuple[Any, slice | np.ndarray]]:
        """The players with the rows that each decides."""
        if not self._players:
            raise RuntimeError(f"{self.name} chooses its player by the rules: start(num_games, rules, seed) comes before act")
        if all(player is self._players[0] for player in self._players):
            return [(self._players[0], slice(None))]
        numbers = batch.views.games["rule"].astype(np.int64)
        by_rule = np.array([self._players.index(player) for player in self._players])[numbers]
        return [(self._players[first], np.flatnonzero(by_rule == first)) for first in np.unique(by_rule).tolist()]

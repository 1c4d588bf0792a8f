"""Recorded games played again and verified."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import KIND_CHARS, format_cards
from hf_env.explanations import why_illegal
from hf_env.positions.schema import END_REASONS
from hf_env.records.recorder import deck_for
from hf_env.records.schema import RecordError, check_entry, check_head, has_own_cards, kinds_of
from hf_env.rules import RuleSet


@dataclass
class ReplayStep:
    """A moment of a replay: the game before `action` is played, or (action None) at the end of a deal.

    `games` is the live array of one game, changed by the next step; `deal` counts from 1.
    """

    games: np.ndarray
    rules: RuleSet
    deal: int
    seat: int
    action: int | None

    @property
    def label(self) -> str | None:
        """The action's label."""
        return None if self.action is None else ACTIONS.label(self.action)


def replay(record: Mapping[str, Any]) -> np.ndarray:
    """Play a record again and verify every deck, action, reshuffle and score; returns the final game, an array of one.

    Where the record has cards of its own (`has_own_cards`), decks and reshuffles are verified to be such as may come,
    the first dealer to be a seat.

    Raises:
        RecordError: One line that names the first thing that differs.
    """
    for step in steps(record):  # one at least: the first deal's beginning
        games = step.games
    return games


def steps(record: Mapping[str, Any]) -> Iterator[ReplayStep]:
    """As `replay`, a step before every action and one at the end of each deal; what follows a step is verified next."""
    rules = check_head(record)
    access = GameAccess(rules.to_record())
    deals = record["deals"]
    for index, entry in enumerate(deals):
        where = f"deals[{index}]"
        check_entry(entry, where, rules, own_cards=has_own_cards(record))
        _begin_deal(access, record, index)
        yield from _replay_deal(access, rules, record, index)


def _begin_deal(access: GameAccess, record: Mapping[str, Any], index: int) -> None:
    """Deal the record's deal `index`: by the seed, or the record's own cards."""
    entry, where = record["deals"][index], f"deals[{index}]"
    single_deal = bool(record.get("single_deal", False))
    own = has_own_cards(record)
    number = entry.get("deal", index + 1)
    if index == 0 and number != 1 and not single_deal:
        raise RecordError(f"{where}.deal: the game begins with deal 1, not {number}")
    if index and access.game["game_over"]:
        raise RecordError(f"{where}: the game was over after deal {index}")
    deck = kinds_of(entry["deck"], f"{where}.deck") if own else None
    try:
        if index == 0:
            dealer = entry["dealer"] if own else None
            access.start(record["seed"], number, single_deal=single_deal, deck=deck, dealer=dealer)
        else:
            access.next_deal(deck)
    except ValueError as error:
        raise RecordError(f"{where}.deck: {error}") from None


def _check_beginning(g: np.void, rules: RuleSet, entry: dict[str, Any], where: str, own: bool) -> None:
    """Number, dealer and deck of a deal that has been dealt."""
    expected: dict[str, Any] = {"deal": int(g["deal"]), "dealer": int(g["dealer"])}
    if not own:
        expected["deck"] = deck_for(rules, int(g["seed"]), int(g["deal"]))
    for name, value in expected.items():
        if entry.get(name, value) != value:
            raise RecordError(f"{where}.{name}: {entry[name]!r} in the record, {value!r} by the rules{'' if own else ' and the seed'}")


def _replay_deal(access: GameAccess, rules: RuleSet, record: Mapping[str, Any], index: int) -> Iterator[ReplayStep]:
    g, entry, where, own = access.game, record["deals"][index], f"deals[{index}]", has_own_cards(record)
    _check_beginning(g, rules, entry, where, own)
    deal = int(g["deal"])
    orders = _Orders(entry, where, own)
    orders.look(g)
    for at, label in enumerate(entry["actions"]):
        place = f"{where}.actions[{at}]"
        if access.is_over:
            raise RecordError(f"{place}: {label!r}, but the deal is over")
        action = _legal_action(access, label, place)
        yield ReplayStep(access.games, rules, deal, int(g["to_move"]), action)
        access.play(action, orders.following)
        orders.look(g)
    if access.is_over:
        _check_end(access, entry, where, rules)
        orders.finish()
    elif entry["scores"] is not None or index < len(record["deals"]) - 1:
        raise RecordError(f"{where}.actions: end after {len(entry['actions'])}, but the deal is not over")
    yield ReplayStep(access.games, rules, deal, int(g["to_move"]), None)


def _legal_action(access: GameAccess, label: Any, place: str) -> int:
    try:
        action = ACTIONS.parse(label)
    except ValueError as error:
        raise RecordError(f"{place}: {error}") from None
    if action not in access.legal():
        seat = int(access.game["to_move"])
        reason = why_illegal(access.games, 0, access.rules, action)
        raise RecordError(f"{place}: {label!r} by seat {seat} is illegal: {reason}")
    return action


class _Orders:
    """The reshuffles of a deal, compared as they happen; the record's own ones are given to the game before."""

    def __init__(self, entry: dict[str, Any], where: str, own: bool) -> None:
        self._given = entry.get("reshuffles", [])
        self._where = f"{where}.reshuffles"
        self._seen = 0
        self._own = [kinds_of(order, f"{self._where}[{at}]") for at, order in enumerate(self._given)] if own else None

    @property
    def following(self) -> Sequence[int]:
        """The order of the next reshuffle as kinds, where the record's own cards count and it has one more."""
        return self._own[self._seen] if self._own is not None and self._seen < len(self._own) else ()

    def look(self, g: np.void) -> None:
        """Compare a reshuffle, if there has been one more."""
        if int(g["reshuffles"]) == self._seen:
            return
        order = format_cards(g["stock"][: int(g["stock_end"])])
        own = self._own is not None
        if self._seen >= len(self._given):
            cards = f"of {_sorted(order)}" if own else repr(order)
            raise RecordError(f"{self._where}: {len(self._given)} in the record, and there is one more: {cards}")
        given = self._given[self._seen]
        if given != order:
            # An order of just these cards would have been taken.
            what = f"but the discard pile held {_sorted(order)!r}" if own else f"{order!r} by the rules and the seed"
            raise RecordError(f"{self._where}[{self._seen}]: {given!r} in the record, {what}")
        self._seen += 1

    def finish(self) -> None:
        if self._seen != len(self._given):
            raise RecordError(f"{self._where}: {len(self._given)} in the record, {self._seen} in the game")


def _sorted(cards: str) -> str:
    return "".join(sorted(cards, key=KIND_CHARS.index))


def _check_end(access: GameAccess, entry: dict[str, Any], where: str, rules: RuleSet) -> None:
    g = access.game
    scores = [int(score) for score in g["deal_scores"][: rules.num_sides]]
    if entry["scores"] != scores:
        raise RecordError(f"{where}.scores: {entry['scores']} in the record, {scores} by the rules")
    end = END_REASONS[int(g["end_reason"])]
    if entry.get("end", end) != end:
        raise RecordError(f"{where}.end: {entry['end']!r} in the record, {end!r} by the rules")

"""Records of games (``hf-record/1``): written, read, replayed and verified. JSON Lines, a game a line.

A deal's entry holds ``dealer``, ``deck`` (the shuffled order, docs/rules.md 3.3), ``actions`` (labels), ``reshuffles``
(each order that became the stock) and ``scores`` (each side's, of this deal). Helper fields, which may be left out:
``deal`` (its number from 1; the place in the list where it is left out), ``end`` (``out``, ``stock_draw``, ``stock_red3``,
``max_turns``), and in the record ``single_deal`` (the game is this one deal). A game that was broken off ends with a deal
whose ``scores`` are null.

The record's ``seeds`` is the version of the seeds (hf_env.seeds) under which its ``seed`` gave its cards. A record of
another version than today's, or of before the field was written, is replayed by its own ``dealer``, ``deck`` and
``reshuffles``, which must then be there. Other fields of a record are kept and not looked at; matches add ``match`` and ``forfeit``
(docs/evaluation.md).
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine.access import Buffers, GameAccess, deck_order
from hf_env.engine.cards import KIND_CHARS, format_cards
from hf_env.engine.state import PHASE_OVER
from hf_env.position_shape import END_REASONS
from hf_env.positions import rules_value
from hf_env.reasons import why_illegal
from hf_env.record_shape import FORMAT, RecordError, check_entry, check_head, check_seed, has_own_cards, kinds_of
from hf_env.rules import RuleSet, RulesLike, load_rules
from hf_env.seeds import SEEDS_VERSION

# No game that a rule set allows is as long as this; a longer line is no record.
MAX_LINE = 1 << 26

__all__ = [
    "FORMAT", "GameRecorder", "RecordError", "ReplayStep", "deck_for", "has_own_cards", "line", "open_file", "read", "replay", "steps",
    "write",
]  # fmt: skip


def deck_for(rules: RulesLike, seed: int, deal: int) -> str:
    """The shuffled order of a deal (from 1), after any burial, without playing.

    Hands, feet, upcard and stock lie in it in the order of docs/rules.md 3.3.
    Raises RulesError for the rules, ValueError for a deal below 1 or a seed out of 0 to 2**63 - 1.
    """
    if deal < 1:
        raise ValueError(f"deals count from 1, not {deal}")
    check_seed(seed)
    buffers = Buffers()
    number, _ = deck_order(load_rules(rules).to_record(), 0, int(seed), int(deal), buffers.deck)
    return format_cards(buffers.deck[:number])


# ------------------------------------------------------------------------------------------------ recording


class GameRecorder:
    """Collects a game while it is played through the kernels.

    Call `start` once, `deal` when a deal has been dealt, `action` after each action has been applied and before the
    next deal is dealt; `record` gives the record at any moment.
    """

    def __init__(self) -> None:
        self._rules: RuleSet | None = None
        self._record: dict[str, Any] = {}
        self._reshuffles = 0

    def start(self, rules: RulesLike, seed: int, players: Sequence[str], *, single_deal: bool = False) -> None:
        """Begin a record. `players`: a name for each seat. Raises RulesError, or ValueError for a wrong number of names."""
        self._rules = load_rules(rules)
        if len(players) != self._rules.players:
            raise ValueError(f"{len(players)} names for {self._rules.players} seats")
        check_seed(seed)
        self._record = {
            "format": FORMAT,
            "rules": rules_value(self._rules),
            "rules_fingerprint": self._rules.fingerprint,
            "seed": int(seed),
            "seeds": SEEDS_VERSION,
            "players": [str(name) for name in players],
        }
        if single_deal:
            self._record["single_deal"] = True
        self._record["deals"] = []

    def deal(self, games: np.ndarray, i: int) -> None:
        """A deal of games[i] has been dealt (it may be over already, for want of a red 3's replacement)."""
        g, rules = games[i], self._started()
        entry = {
            "deal": int(g["deal"]),
            "dealer": int(g["dealer"]),
            "deck": deck_for(rules, int(g["seed"]), int(g["deal"])),
            "actions": [],
            "reshuffles": [],
            "scores": None,
        }
        self._record["deals"].append(entry)
        self._reshuffles = 0
        self._look(g)

    def action(self, games: np.ndarray, i: int, action: int) -> None:
        """An action has been applied to games[i]."""
        self.actions(games, i, [action])

    def actions(self, games: np.ndarray, i: int, actions: Iterable[int]) -> None:
        """Actions have been applied to games[i], of which only the last may have brought a reshuffle or the deal's end."""
        self._started()
        self._record["deals"][-1]["actions"].extend(ACTIONS.label(action) for action in actions)
        self._look(games[i])

    def record(self) -> dict[str, Any]:
        """The record so far, as plain Python that ``json`` writes."""
        self._started()
        return json.loads(json.dumps(self._record))

    def _started(self) -> RuleSet:
        if self._rules is None:
            raise RuntimeError("start() comes first")
        return self._rules

    def _look(self, g: np.void) -> None:
        """Note a reshuffle and the deal's end. One action brings one reshuffle at most: it leaves one discard."""
        entry = self._record["deals"][-1]
        if int(g["reshuffles"]) > self._reshuffles:
            self._reshuffles = int(g["reshuffles"])
            entry["reshuffles"].append(format_cards(g["stock"][: int(g["stock_end"])]))
        if int(g["phase"]) == PHASE_OVER:
            entry["scores"] = [int(score) for score in g["deal_scores"][: self._started().num_sides]]
            entry["end"] = END_REASONS[int(g["end_reason"])]


# ------------------------------------------------------------------------------------------------- files


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, Any]], *, append: bool = False) -> int:
    """Write records as JSON Lines, by gzip where the name ends with .gz; returns their number. `append` adds them."""
    number = 0
    with open_file(path, "a" if append else "w") as file:
        for record in records:
            file.write(line(record))
            number += 1
    return number


def line(record: Mapping[str, Any]) -> bytes:
    """A record as its line of a file."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def open_file(path: str | os.PathLike[str], mode: str) -> IO[bytes]:
    """A file of records, open for "r", "w" or "a"; compressed by gzip where its name ends with .gz.

    Equal records give equal bytes. Raises OSError.
    """
    if not os.fspath(path).endswith(".gz"):
        return open(path, mode + "b")
    # Level 6 packs hardly less than 9, at a third of the time. No time of day in the file.
    return cast(IO[bytes], gzip.GzipFile(path, mode + "b", compresslevel=6, mtime=0))


def read(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The records of a file, one by one; empty lines are passed over, .gz is unpacked. `replay` sees their content.

    Raises RecordError naming the line that is no JSON object, OSError for a file that cannot be read.
    """
    with open_file(path, "r") as file:
        number = 0
        while text := _next_line(file, number + 1):
            number += 1
            if len(text) > MAX_LINE:
                raise RecordError(f"line {number}: longer than any game")
            if not text.strip():
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError):
                raise RecordError(f"line {number}: no JSON") from None
            if not isinstance(record, dict):
                raise RecordError(f"line {number}: no JSON object")
            yield record


def _next_line(file: IO[bytes], number: int) -> bytes:
    try:
        return file.readline(MAX_LINE + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordError(f"line {number}: the compressed file is damaged: {error}") from None


# ------------------------------------------------------------------------------------------------- replay


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
    the first dealer to be a seat. Raises RecordError, one line that names the first thing that differs.
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

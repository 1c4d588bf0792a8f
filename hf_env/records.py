"""Records of games (``hf-record/1``): written, read, replayed and verified. JSON Lines, a game a line.

A deal's entry holds ``dealer``, ``deck`` (the shuffled order, docs/rules.md 3.3), ``actions`` (labels), ``reshuffles``
(each order that became the stock) and ``scores`` (each side's, of this deal). Helper fields, which may be left out:
``deal`` (its number from 1; the place in the list where it is left out), ``end`` (``out``, ``stock_draw``, ``stock_red3``,
``max_turns``), and in the record ``single_deal`` (the game is this one deal). A game that was broken off ends with a deal
whose ``scores`` are null. Other fields of a record are kept and not looked at; matches add ``match`` and ``forfeit``
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
from hf_env.engine.cards import format_cards
from hf_env.engine.state import PHASE_OVER
from hf_env.position_shape import END_REASONS
from hf_env.positions import rules_value
from hf_env.reasons import why_illegal
from hf_env.rules import RulesError, RuleSet, RulesLike, load_rules

FORMAT = "hf-record/1"
# No game that a rule set allows is as long as this; a longer line is no record.
MAX_LINE = 1 << 26

__all__ = [
    "FORMAT", "GameRecorder", "RecordError", "ReplayStep", "deck_for", "line", "open_file", "read", "replay", "steps", "write",
]  # fmt: skip


class RecordError(ValueError):
    """A record was refused or does not replay; the message is one line that names the first thing that differs."""


def deck_for(rules: RulesLike, seed: int, deal: int) -> str:
    """The shuffled order of a deal (from 1), after any burial, without playing.

    Hands, feet, upcard and stock lie in it in the order of docs/rules.md 3.3.
    Raises RulesError for the rules, ValueError for a deal below 1 or a seed out of 0 to 2**63 - 1.
    """
    if deal < 1:
        raise ValueError(f"deals count from 1, not {deal}")
    _check_seed(seed)
    buffers = Buffers()
    number, _ = deck_order(load_rules(rules).to_record(), 0, int(seed), int(deal), buffers.deck)
    return format_cards(buffers.deck[:number])


def _check_seed(seed: int) -> None:
    if not 0 <= seed < 1 << 63:
        raise ValueError(f"seed {seed} is not from 0 to 2**63 - 1")


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
        _check_seed(seed)
        self._record = {
            "format": FORMAT,
            "rules": rules_value(self._rules),
            "rules_fingerprint": self._rules.fingerprint,
            "seed": int(seed),
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

    Raises RecordError, one line that names the first thing that differs.
    """
    for step in steps(record):  # one at least: the first deal's beginning
        games = step.games
    return games


def steps(record: Mapping[str, Any]) -> Iterator[ReplayStep]:
    """As `replay`, a step before every action and one at the end of each deal; what follows a step is verified next."""
    rules = _check_head(record)
    access = GameAccess(rules.to_record())
    deals = record["deals"]
    single_deal = bool(record.get("single_deal", False))
    for index, entry in enumerate(deals):
        where = f"deals[{index}]"
        _check_entry(entry, where, rules)
        number = entry.get("deal", index + 1)
        if index == 0:
            if number != 1 and not single_deal:
                raise RecordError(f"{where}.deal: the game begins with deal 1, not {number}")
            access.start(record["seed"], number, single_deal=single_deal)
        elif access.game["game_over"]:
            raise RecordError(f"{where}: the game was over after deal {index}")
        else:
            access.next_deal()
        yield from _replay_deal(access, rules, entry, where, is_last=index == len(deals) - 1)


def _replay_deal(access: GameAccess, rules: RuleSet, entry: dict[str, Any], where: str, is_last: bool) -> Iterator[ReplayStep]:
    g = access.game
    deal = int(g["deal"])
    for name, value in (("deal", deal), ("dealer", int(g["dealer"])), ("deck", deck_for(rules, int(g["seed"]), deal))):
        if entry.get(name, value) != value:
            raise RecordError(f"{where}.{name}: {entry[name]!r} in the record, {value!r} by the rules and the seed")
    orders = _Orders(entry, where)
    orders.look(g)
    for at, label in enumerate(entry["actions"]):
        place = f"{where}.actions[{at}]"
        if access.is_over:
            raise RecordError(f"{place}: {label!r}, but the deal is over")
        action = _legal_action(access, label, place)
        yield ReplayStep(access.games, rules, deal, int(g["to_move"]), action)
        access.play(action)
        orders.look(g)
    if access.is_over:
        _check_end(access, entry, where, rules)
        orders.finish()
    elif entry["scores"] is not None or not is_last:
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
    """The reshuffles of a deal, compared as they happen."""

    def __init__(self, entry: dict[str, Any], where: str) -> None:
        self._given = entry.get("reshuffles", [])
        self._where = f"{where}.reshuffles"
        self._seen = 0

    def look(self, g: np.void) -> None:
        if int(g["reshuffles"]) == self._seen:
            return
        order = format_cards(g["stock"][: int(g["stock_end"])])
        if self._seen >= len(self._given):
            raise RecordError(f"{self._where}: {len(self._given)} in the record, and there is one more: {order!r}")
        if self._given[self._seen] != order:
            given = self._given[self._seen]
            raise RecordError(f"{self._where}[{self._seen}]: {given!r} in the record, {order!r} by the rules and the seed")
        self._seen += 1

    def finish(self) -> None:
        if self._seen != len(self._given):
            raise RecordError(f"{self._where}: {len(self._given)} in the record, {self._seen} in the game")


def _check_end(access: GameAccess, entry: dict[str, Any], where: str, rules: RuleSet) -> None:
    g = access.game
    scores = [int(score) for score in g["deal_scores"][: rules.num_sides]]
    if entry["scores"] != scores:
        raise RecordError(f"{where}.scores: {entry['scores']} in the record, {scores} by the rules")
    end = END_REASONS[int(g["end_reason"])]
    if entry.get("end", end) != end:
        raise RecordError(f"{where}.end: {entry['end']!r} in the record, {end!r} by the rules")


def _check_head(record: Mapping[str, Any]) -> RuleSet:
    """The rule set of a record whose own fields are as they must be."""
    if not isinstance(record, Mapping):
        raise RecordError(f"a record is a table of fields, not {type(record).__name__}")
    if record.get("format") != FORMAT:
        raise RecordError(f"format: must be {FORMAT!r}, not {record.get('format')!r}")
    for name, kind in (("rules", (str, Mapping)), ("seed", int), ("deals", list)):
        if not isinstance(record.get(name), kind) or isinstance(record.get(name), bool):
            raise RecordError(f"{name}: missing or of a wrong type")
    try:
        rules = load_rules(record["rules"])
        _check_seed(record["seed"])
    except RulesError as error:
        raise RecordError(f"rules: {error}") from None
    except ValueError as error:
        raise RecordError(f"seed: {error}") from None
    if record.get("rules_fingerprint", rules.fingerprint) != rules.fingerprint:
        given = record["rules_fingerprint"]
        raise RecordError(f"rules_fingerprint: {given!r} in the record, these rules have {rules.fingerprint!r} now")
    if not record["deals"]:
        raise RecordError("deals: none")
    players = record.get("players")
    if players is not None and (not isinstance(players, list) or len(players) != rules.players):
        raise RecordError(f"players: must be a list of {rules.players} names")
    return rules


def _check_entry(entry: Any, where: str, rules: RuleSet) -> None:
    if not isinstance(entry, Mapping):
        raise RecordError(f"{where}: must be a table of fields")
    for name, kind in (("dealer", int), ("deck", str), ("actions", list), ("reshuffles", list), ("deal", int)):
        if name in entry and (not isinstance(entry[name], kind) or isinstance(entry[name], bool)):
            raise RecordError(f"{where}.{name}: of a wrong type")
    for name in ("dealer", "deck", "actions", "scores"):
        if name not in entry:
            raise RecordError(f"{where}.{name}: missing")
    if not 1 <= entry.get("deal", 1) <= 1000:
        raise RecordError(f"{where}.deal: must be from 1 to 1000, not {entry['deal']}")
    scores = entry["scores"]
    if scores is not None and (not isinstance(scores, list) or len(scores) != rules.num_sides):
        raise RecordError(f"{where}.scores: must be null or a list of {rules.num_sides}")

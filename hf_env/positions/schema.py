"""The shape of a position: every field of its type, gaps filled or refused. See positions, position_checks."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hf_env.actions import ACTIONS
from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS, MAX_CARDS, MAX_DECKS, NUM_NATURALS
from hf_env.engine.state import NUM_EVENTS, NUM_RECENT_DISCARDS
from hf_env.rules import RuleSet
from hf_env.rules.errors import shown
from hf_env.suggest import did_you_mean

# In the order of the engine's numbers.
PHASES = ("draw", "play", "answer", "over")
END_REASONS = ("none", "out", "stock_draw", "stock_red3", "max_turns")

WILDS = "2*"
NATURALS = KIND_CHARS[:NUM_NATURALS]
MAX_TOTAL = 5 * 32_767  # totals are seen in 16 bits, in units of 5 points

REQUIRED = (
    "rules", "seed", "deal", "dealer", "scores", "turns", "turn", "hands", "feet", "known", "stock", "discard", "sides",
)  # fmt: skip
OPTIONAL = ("format", "reshuffles", "single_deal", "end", "recent_discards", "events", "num_events", "stats")
TURN_FIELDS = ("seat", "phase", "asked", "answers", "may_go_out", "laid", "taking")
SIDE_FIELDS = ("melds", "books", "red3", "opened")
# Counters of behaviour by seat and by side that a position carries; the record's fields have the same names.
SEAT_STATS = ("foot_turn", "foot_by_discard", "num_takes", "num_asks", "num_yes", "num_no")
SIDE_STATS = ("opening_turn", "opened_by_take")


class PositionError(ValueError):
    """A position was refused; the message is one line that begins with the field."""


def parse_meld(cards: str) -> tuple[str, int, int, int]:
    """(rank or "wild", naturals, 2s, jokers) of a meld's or book's cards.

    Raises:
        PositionError: Without a field.
    """
    ranks = sorted(set(cards) - set(WILDS))
    if len(ranks) > 1 or (ranks and ranks[0] not in NATURALS):
        raise PositionError(f"{shown(cards)} is no meld: one rank of 4 to A, with wilds, or wilds only")
    twos, jokers = cards.count("2"), cards.count("*")
    return (ranks[0] if ranks else "wild"), len(cards) - twos - jokers, twos, jokers


def check_shape(position: Mapping[str, Any], rules: RuleSet, check: bool) -> dict[str, Any]:
    """The position with every field present and of its type; gaps are refused with `check`, else filled."""
    _known_keys(position, (*REQUIRED, *OPTIONAL), "")
    if position.get("format", "hf-position/1") != "hf-position/1" or (check and "format" not in position):
        raise PositionError(f'format: must be "hf-position/1", not {shown(position.get("format"))}')
    missing = [name for name in REQUIRED if name not in position and name != "rules"]
    if check and missing:
        raise PositionError(f"{missing[0]}: missing")
    players, sides = rules.players, rules.num_sides
    dealer = _whole(position.get("dealer", players - 1), "dealer", 0, players - 1)
    whole = {
        "seed": _whole(position.get("seed", 0), "seed", 0, (1 << 63) - 1),
        "deal": _whole(position.get("deal", 1), "deal", 1, 1000),
        "dealer": dealer,
        "scores": _scores(position.get("scores", []), sides, check),
        "turns": _whole(position.get("turns", 0), "turns", 0, 10_000),
        "reshuffles": _whole(position.get("reshuffles", 0), "reshuffles", 0, 1 << 30),
        "turn": _turn_shape(position.get("turn", {}), (dealer + 1) % players, players, check),
        "hands": _packets(position.get("hands", []), "hands", players, check),
        "feet": _packets(position.get("feet", []), "feet", players, check, may_be_null=True),
        "known": _packets(position.get("known", []), "known", players, check),
        "stock": _cards(position.get("stock", ""), "stock"),
        "discard": _cards(position.get("discard", ""), "discard"),
        "sides": _sides_shape(position.get("sides", []), sides, check),
        "single_deal": _flag(position.get("single_deal", False), "single_deal"),
        "end": _end_shape(position.get("end"), players),
    }
    whole |= _history_shape(position, players, sides, whole)
    cards = all_cards(whole)
    for kind, number in zip(KIND_CHARS, CARDS_PER_DECK, strict=True):
        # The engine counts in 8 bits and searches in buffers that have room for so many.
        if cards[kind] > number * MAX_DECKS:
            most = f"{MAX_DECKS} decks, the most that a rule set has, hold {number * MAX_DECKS}"
            raise PositionError(f"cards: {cards[kind]} of {kind}, and {most}")
    return whole


def _known_keys(table: Mapping[str, Any], known: tuple[str, ...], path: str) -> None:
    for key in table:
        if key not in known:
            raise PositionError(f"{path}{key}: unknown field{did_you_mean(str(key), known)}")


def _table(value: Any, path: str, known: tuple[str, ...], check: bool) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PositionError(f"{path}: must be a table of fields, not {shown(value)}")
    _known_keys(value, known, f"{path}.")
    if check:
        for key in known:
            if key not in value:
                raise PositionError(f"{path}.{key}: missing")
    return value


def _whole(value: Any, path: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise PositionError(f"{path}: must be a whole number from {low} to {high}, not {shown(value)}")
    return value


def _flag(value: Any, path: str) -> bool:
    if type(value) is not bool:
        raise PositionError(f"{path}: must be true or false, not {shown(value)}")
    return value


def _list(value: Any, path: str, length: int, check: bool, default: Any) -> list[Any]:
    """A list of `length` entries; without `check` a shorter one is filled up."""
    if not isinstance(value, list | tuple):
        raise PositionError(f"{path}: must be a list, not {shown(value)}")
    if len(value) > length or (check and len(value) != length):
        raise PositionError(f"{path}: has {len(value)} entries, and the rule set needs {length}")
    return [*value, *[default] * (length - len(value))]


def _cards(value: Any, path: str, most: int = MAX_CARDS) -> str:
    if not isinstance(value, str):
        raise PositionError(f"{path}: must be a text of cards, not {shown(value)}")
    for card in value:
        if card not in KIND_CHARS:
            raise PositionError(f"{path}: {shown(card)} is no card; cards are {' '.join(KIND_CHARS)}")
    if len(value) > most:
        raise PositionError(f"{path}: {len(value)} cards are too many; at most {most}")
    return value


def _packets(value: Any, path: str, players: int, check: bool, may_be_null: bool = False) -> list[Any]:
    packets = _list(value, path, players, check, None if may_be_null else "")
    return [None if may_be_null and cards is None else _cards(cards, f"{path}[{seat}]") for seat, cards in enumerate(packets)]


def _scores(value: Any, sides: int, check: bool) -> list[int]:
    scores = _list(value, "scores", sides, check, 0)
    for side, score in enumerate(scores):
        if _whole(score, f"scores[{side}]", -MAX_TOTAL, MAX_TOTAL) % 5:
            raise PositionError(f"scores[{side}]: {score} is no multiple of 5")
    return scores


def _turn_shape(value: Any, first: int, players: int, check: bool) -> dict[str, Any]:
    turn = _table(value, "turn", TURN_FIELDS, check)
    phase = turn.get("phase", "draw")
    if phase not in PHASES:
        raise PositionError(f"turn.phase: must be one of draw, play, answer (over only unchecked), not {shown(phase)}")
    answers = _table(turn.get("answers", {}), "turn.answers", tuple(str(seat) for seat in range(players)), False)
    for seat, answer in answers.items():
        if answer not in ("yes", "no"):
            raise PositionError(f'turn.answers.{seat}: must be "yes" or "no", not {shown(answer)}')
    return {
        "seat": _whole(turn.get("seat", first), "turn.seat", 0, players - 1),
        "phase": phase,
        "asked": _flag(turn.get("asked", False), "turn.asked"),
        "answers": dict(answers),
        "may_go_out": _flag(turn.get("may_go_out", False), "turn.may_go_out"),
        "laid": _whole(turn.get("laid", 0), "turn.laid", 0, 1 << 20),
        "taking": _whole(turn.get("taking", 0), "turn.taking", 0, MAX_CARDS),
    }


def _sides_shape(value: Any, sides: int, check: bool) -> list[dict[str, Any]]:
    shaped = []
    for number, given in enumerate(_list(value, "sides", sides, check, {})):
        path = f"sides[{number}]"
        full = check and number < len(value)
        side = _table(given, path, SIDE_FIELDS, full)
        melds = _table(side.get("melds", {}), f"{path}.melds", (*NATURALS, "wild"), False)
        books = side.get("books", [])
        books = _list(books, f"{path}.books", len(books) if isinstance(books, list | tuple) else 0, False, "")
        for key, cards in melds.items():
            _meld_shape(cards, f"{path}.melds.{key}", key)
        for book, cards in enumerate(books):
            _meld_shape(cards, f"{path}.books[{book}]", None)
        shaped.append(
            {
                "melds": dict(melds),
                "books": books,
                "red3": _whole(side.get("red3", 0), f"{path}.red3", 0, MAX_CARDS),
                "opened": _flag(side.get("opened", bool(melds or books)), f"{path}.opened"),
            }
        )
    return shaped


def _meld_shape(cards: Any, path: str, key: str | None) -> None:
    if len(_cards(cards, path)) < 3:
        raise PositionError(f"{path}: {shown(cards)} has fewer than 3 cards")
    try:
        target = parse_meld(cards)[0]
    except PositionError as error:
        raise PositionError(f"{path}: {error}") from None
    if key is not None and target != key:
        raise PositionError(f"{path}: {shown(cards)} is a meld of {target}")


def _end_shape(value: Any, players: int) -> dict[str, Any] | None:
    if value is None:
        return None
    end = _table(value, "end", ("reason", "out_seat"), True)
    if end["reason"] not in END_REASONS:
        raise PositionError(f"end.reason: must be one of {', '.join(END_REASONS)}, not {shown(end['reason'])}")
    if end["out_seat"] is not None:
        _whole(end["out_seat"], "end.out_seat", 0, players - 1)
    return dict(end)


def _history_shape(p: Mapping[str, Any], players: int, sides: int, whole: dict[str, Any]) -> dict[str, Any]:
    """The helper fields about the past, empty where they are left out."""
    recent = _packets(p.get("recent_discards", []), "recent_discards", players, False)
    for seat, cards in enumerate(recent):
        _cards(cards, f"recent_discards[{seat}]", NUM_RECENT_DISCARDS)
    given = _table(p.get("stats", {}), "stats", (*SEAT_STATS, *SIDE_STATS), False)
    # Whoever opened or picked up the foot did so at some turn: turn 0 where nothing is said.
    stats: dict[str, list[int]] = {
        "opening_turn": [0 if side["opened"] else -1 for side in whole["sides"]],
        "foot_turn": [0 if foot is None else -1 for foot in whole["feet"]],
    }
    for name, values in given.items():
        entries = _list(values, f"stats.{name}", players if name in SEAT_STATS else sides, True, 0)
        high = 1 if name in ("foot_by_discard", "opened_by_take") else 10_000
        stats[name] = [_whole(value, f"stats.{name}[{at}]", -1, high) for at, value in enumerate(entries)]
    events = _events(p.get("events", []), players)
    num_events = _whole(p.get("num_events", len(events)), "num_events", 0, 1 << 30)
    if len(events) != min(num_events, NUM_EVENTS):
        needed = min(num_events, NUM_EVENTS)
        raise PositionError(f"events: has {len(events)} entries, and num_events = {num_events} needs {needed}")
    return {"recent_discards": recent, "stats": stats, "events": events, "num_events": num_events}


def _events(value: Any, players: int) -> list[tuple[int, str, int]]:
    entries = _list(value, "events", NUM_EVENTS, False, None)
    events = []
    for at, entry in enumerate(entries[: len(value)]):
        path = f"events[{at}]"
        if not isinstance(entry, list | tuple) or len(entry) != 3 or entry[1] not in tuple(ACTIONS):
            raise PositionError(f"{path}: must be [seat, action, red 3s laid], not {shown(entry)}")
        events.append((_whole(entry[0], path, 0, players - 1), entry[1], _whole(entry[2], path, 0, 16)))
    return events


def all_cards(p: dict[str, Any]) -> Counter[str]:
    """How often each card lies anywhere in a position."""
    cards = Counter(p["stock"] + p["discard"] + "".join(p["hands"]) + "".join(foot or "" for foot in p["feet"]))
    for side in p["sides"]:
        cards.update("".join(side["melds"].values()) + "".join(side["books"]) + "r" * side["red3"])
    return cards

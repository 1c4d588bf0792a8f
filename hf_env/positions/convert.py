"""The engine's record of a game to a position and back."""

import copy
import functools
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import (
    JOKER,
    KIND_CHARS,
    NUM_KINDS,
    NUM_MELDS,
    NUM_NATURALS,
    TWO,
    WILD,
    format_cards,
    format_counts,
)
from hf_env.engine.state import ANSWER_YES, GAME_DTYPE, NOT_YET, NUM_EVENTS, PHASE_ANSWER, PHASE_OVER
from hf_env.engine.transitions import EVENT_SEAT_STRIDE
from hf_env.positions.checks import check_legal, check_state
from hf_env.positions.schema import END_REASONS, PHASES, SEAT_STATS, SIDE_STATS, PositionError, check_shape, parse_meld
from hf_env.rules import RulesError, RuleSet, RulesLike, load_rules

FORMAT = "hf-position/1"
MELD_KEYS = (*KIND_CHARS[:NUM_NATURALS], "wild")


def rules_value(rules: RuleSet) -> Any:
    """What stands for a rule set in JSON: its preset's name, or a table of the preset and what differs from it.

    ``load_rules`` reads either.
    """
    settings = _settings(rules.preset, rules)
    return settings["preset"] if len(settings) == 1 else copy.deepcopy(settings)


@functools.lru_cache(maxsize=64)
def _settings(preset: str, rules: RuleSet) -> dict[str, Any]:
    # Rule sets that play the same are equal, whatever their preset's name: both are the key.
    return tomllib.loads(rules.to_toml())


def to_position(games: np.ndarray, i: int, rules: RuleSet, *, history: bool = True) -> dict[str, Any]:
    """The position of games[i], an array of GAME_DTYPE, as plain Python that ``json`` writes.

    `rules` is the game's rule set. With `history` False the helper fields about the past are left out.
    """
    g = games[i]
    players, sides = rules.players, rules.num_sides
    position: dict[str, Any] = {
        "format": FORMAT,
        "rules": rules_value(rules),
        "seed": int(g["seed"]),
        "deal": int(g["deal"]),
        "dealer": int(g["dealer"]),
        "scores": [int(g["scores"][side]) for side in range(sides)],
        "turns": int(g["turns"]),
        "reshuffles": int(g["reshuffles"]),
        "turn": _turn(g, players, sides),
        "hands": [format_counts(g["hands"][seat]) for seat in range(players)],
        "feet": [None if g["in_foot"][seat] else format_counts(g["feet"][seat]) for seat in range(players)],
        "known": [format_counts(g["known"][seat]) for seat in range(players)],
        "stock": format_cards(g["stock"][int(g["stock_next"]) : int(g["stock_end"])]),
        "discard": format_cards(g["discard"][: int(g["discard_size"])][::-1]),
        "sides": [_side(g, side) for side in range(sides)],
    }
    if g["single_deal"]:
        position["single_deal"] = True
    if int(g["phase"]) == PHASE_OVER:
        out_seat = int(g["out_seat"])
        reason = END_REASONS[int(g["end_reason"])]
        position["end"] = {"reason": reason, "out_seat": None if out_seat == NOT_YET else out_seat}
    if history:
        position |= _history(g, players, sides)
    return position


def _turn(g: np.void, players: int, sides: int) -> dict[str, Any]:
    answered = [(int(g["turn_seat"]) + step) % players for step in range(sides, players, sides)]
    return {
        "seat": int(g["turn_seat"]),
        "phase": PHASES[int(g["phase"])],
        "asked": bool(g["asked"]),
        "answers": {str(s): "yes" if g["answers"][s] == ANSWER_YES else "no" for s in answered if g["answers"][s]},
        "may_go_out": bool(g["may_go_out"]),
        "laid": int(g["laid"]),
        "taking": int(g["taking"]),
    }


def _meld_text(rank: int, naturals: int, twos: int, jokers: int) -> str:
    own = KIND_CHARS[rank] * int(naturals) if rank != WILD else ""
    return own + KIND_CHARS[TWO] * int(twos) + KIND_CHARS[JOKER] * int(jokers)


def _side(g: np.void, side: int) -> dict[str, Any]:
    melds = {}
    for rank in range(NUM_MELDS):
        text = _meld_text(rank, g["naturals"][side, rank], g["twos"][side, rank], g["jokers"][side, rank])
        if text:
            melds[MELD_KEYS[rank]] = text
    books = [
        _meld_text(int(g["book_rank"][book]), g["book_naturals"][book], g["book_twos"][book], g["book_jokers"][book])
        for book in range(int(g["num_books"]))
        if g["book_side"][book] == side
    ]
    return {"melds": melds, "books": books, "red3": int(g["red3"][side]), "opened": bool(g["opened"][side])}


def _history(g: np.void, players: int, sides: int) -> dict[str, Any]:
    num_events = int(g["num_events"])
    events = []
    for number in range(max(0, num_events - NUM_EVENTS), num_events):
        code, red3s = (int(value) for value in g["events"][number % NUM_EVENTS])
        events.append([code // EVENT_SEAT_STRIDE, ACTIONS.label(code % EVENT_SEAT_STRIDE), red3s])
    stats = {name: [int(g[name][seat]) for seat in range(players)] for name in SEAT_STATS}
    stats |= {name: [int(g[name][side]) for side in range(sides)] for name in SIDE_STATS}
    recent = [format_cards(kind - 1 for kind in g["recent_discards"][seat] if kind > 0) for seat in range(players)]
    return {"recent_discards": recent, "events": events, "num_events": num_events, "stats": stats}


def from_position(position: Mapping[str, Any], rules: RulesLike | None = None, check: bool = True) -> tuple[np.ndarray, RuleSet]:
    """The game at a position: an array of one game (GAME_DTYPE, rule 0), and its rule set.

    Args:
        position: what `to_position` writes, or a person. With `check` False anything may be missing; hands are empty
            then, feet picked up, sides unopened where they have no melds.
        rules: in place of the position's own ``rules``.
        check: refuse what no play leads to. Without it only what could not be represented is refused.

    Raises:
        PositionError: one line that names the field and says what is wrong.
    """
    if not isinstance(position, Mapping):
        raise PositionError(f"a position is a table of fields, not {type(position).__name__}")
    rule_set = _rules_of(position, rules, check)
    whole = check_shape(position, rule_set, check)
    games = _build(whole, rule_set)
    if check:
        check_state(whole, rule_set)
        check_legal(GameAccess(rule_set.to_record(), games))
    return games, rule_set


def _rules_of(position: Mapping[str, Any], rules: RulesLike | None, check: bool) -> RuleSet:
    source = rules if rules is not None else position.get("rules", None if check else "whitnack")
    if source is None:
        raise PositionError("rules: missing")
    if rules is None and not isinstance(source, str | Mapping):
        raise PositionError(f"rules: must be a name or a table of options, not {source!r}")
    try:
        return load_rules(source)
    except RulesError as error:
        raise PositionError(f"rules: {error}") from None


def _build(p: dict[str, Any], rules: RuleSet) -> np.ndarray:
    """The record of a position whose shape has been checked and whose gaps are filled."""
    games = np.zeros(1, GAME_DTYPE)
    g = games[0]
    for name in ("seed", "deal", "dealer", "turns", "reshuffles"):
        g[name] = p[name]
    g["single_deal"] = p["single_deal"]
    g["scores"][: rules.num_sides] = p["scores"]
    _build_turn(g, p, rules)
    for seat in range(rules.players):
        foot = p["feet"][seat]
        _count(g["hands"][seat], p["hands"][seat])
        _count(g["feet"][seat], foot or "")
        _count(g["known"][seat], p["known"][seat])
        g["hand_sizes"][seat] = len(p["hands"][seat])
        g["foot_sizes"][seat] = len(foot or "")
        g["in_foot"][seat] = foot is None
    _build_pile(g, "stock", p["stock"])
    g["stock_end"] = len(p["stock"])
    _build_pile(g, "discard", p["discard"][::-1])
    g["discard_size"] = len(p["discard"])
    _count(g["discard_kinds"], p["discard"])
    for side in range(rules.num_sides):
        _build_side(g, side, p["sides"][side])
    points = rules.to_record()[0]["card_points"]
    for side in range(rules.num_sides):
        g["book_counts"][side] = g["clean_books"][side, :WILD].sum(), g["dirty_books"][side].sum(), g["clean_books"][side, WILD]
        g["table_points"][side] = int((g["table"][side].astype(np.int64) * points).sum())
    _build_history(g, p, rules)
    return games


def _count(counts: np.ndarray, cards: str) -> None:
    for kind in range(NUM_KINDS):
        counts[kind] = cards.count(KIND_CHARS[kind])


def _build_pile(g: np.void, name: str, cards: str) -> None:
    g[name][: len(cards)] = [KIND_CHARS.index(card) for card in cards]


def _build_turn(g: np.void, p: dict[str, Any], rules: RuleSet) -> None:
    turn = p["turn"]
    seat = turn["seat"]
    g["turn_seat"] = g["to_move"] = seat
    g["phase"] = PHASES.index(turn["phase"])
    for name in ("asked", "may_go_out", "laid", "taking"):
        g[name] = turn[name]
    for other, answer in turn["answers"].items():
        g["answers"][int(other)] = 1 if answer == "yes" else 2
    if int(g["phase"]) == PHASE_ANSWER:
        steps = range(rules.num_sides, rules.players, rules.num_sides)
        partners = [(seat + step) % rules.players for step in steps]
        g["to_move"] = next((other for other in partners if str(other) not in turn["answers"]), seat)
    end = p["end"]
    g["end_reason"] = END_REASONS.index(end["reason"]) if end else 0
    g["out_seat"] = NOT_YET if not end or end["out_seat"] is None else end["out_seat"]


def _build_side(g: np.void, side: int, given: dict[str, Any]) -> None:
    g["red3"][side] = given["red3"]
    g["opened"][side] = given["opened"]
    for key, cards in given["melds"].items():
        rank = MELD_KEYS.index(key)
        counts = parse_meld(cards)[1:]
        g["naturals"][side, rank], g["twos"][side, rank], g["jokers"][side, rank] = counts
        _lay(g, side, rank, counts)
    for cards in given["books"]:
        key, naturals, twos, jokers = parse_meld(cards)
        rank = MELD_KEYS.index(key)
        book = int(g["num_books"])
        g["book_side"][book], g["book_rank"][book] = side, rank
        g["book_naturals"][book], g["book_twos"][book], g["book_jokers"][book] = naturals, twos, jokers
        g["num_books"] = book + 1
        g["dirty_books" if rank != WILD and twos + jokers else "clean_books"][side, rank] += 1
        _lay(g, side, rank, (naturals, twos, jokers))


def _lay(g: np.void, side: int, rank: int, counts: tuple[int, int, int]) -> None:
    naturals, twos, jokers = counts
    if rank != WILD:
        g["table"][side, rank] += naturals
    g["table"][side, TWO] += twos
    g["table"][side, JOKER] += jokers


def _build_history(g: np.void, p: dict[str, Any], rules: RuleSet) -> None:
    for name in ("opening_turn", "foot_turn"):
        g[name] = NOT_YET
    for name, values in p["stats"].items():
        g[name][: len(values)] = values
    for seat, cards in enumerate(p["recent_discards"]):
        for at, card in enumerate(cards):
            g["recent_discards"][seat, at] = KIND_CHARS.index(card) + 1
    events = p["events"]
    g["num_events"] = max(p["num_events"], len(events))
    for back, (seat, label, red3s) in enumerate(reversed(events)):
        at = (int(g["num_events"]) - 1 - back) % NUM_EVENTS
        g["events"][at] = seat * EVENT_SEAT_STRIDE + ACTIONS.parse(label), red3s

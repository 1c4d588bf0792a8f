"""What has happened at a table, as sentences: the others' turns, and how a deal ended and counted.

Everything is read from a record redacted for a seat; nothing here could tell more than that seat may know.
"""

from collections.abc import Callable, Iterator

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine.cards import KIND_CHARS, NUM_NATURALS, SEVEN, WILD
from hf_env.engine.state import END_STOCK_DRAW, NUM_EVENTS, PHASE_OVER
from hf_env.engine.transitions import EVENT_SEAT_STRIDE
from hf_env.rendering.ansi import END_WORDS
from hf_env.rules import RuleSet

# Six sides fit into 111 columns, the usual two or three into 80.
_NAME_WIDTH, _SIDE_WIDTH = 15, 16

Namer = Callable[[int], str]


class SeatNames:
    """What a seat is called when somebody at `me` is told of it."""

    def __init__(self, rules: RuleSet, names=None) -> None:
        self._rules = rules
        self._names = names

    def of(self, seat: int, me: int | None) -> str:
        """As the beginning of a sentence: "You", "Seat 1 (greedy)", "Seat 2 (greedy, your partner)"."""
        if seat == me:
            return "You"
        words = [str(self._names[seat])] if self._names is not None else []
        if me is not None and self._rules.side_of(seat) == self._rules.side_of(me):
            words.append("your partner")
        return f"Seat {seat} ({', '.join(words)})" if words else f"Seat {seat}"

    def side(self, side: int, me: int | None) -> str:
        """Of a side, as the head of a column: "side 0 (you)"."""
        return f"side {side}{' (you)' if me is not None and self._rules.side_of(me) == side else ''}"


def joined(words: list[str]) -> str:
    """Words with commas and an "and"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


# ------------------------------------------------------------------------------------------------ what happened


def first_event_kept(g: np.void) -> int:
    """Number of the oldest public event that the record still holds."""
    return max(0, int(g["num_events"]) - NUM_EVENTS)


def _events(g: np.void) -> list[tuple[int, int, int, int, int]]:
    """(number, seat, action, red 3s laid, turn) of the events that the record holds, oldest first."""
    numbers = range(first_event_kept(g), int(g["num_events"]))
    found = []
    for number in numbers:
        code, red3s = (int(value) for value in g["events"][number % NUM_EVENTS])
        found.append((number, code // EVENT_SEAT_STRIDE, code % EVENT_SEAT_STRIDE, red3s))
    later_discards = 0
    turns = []
    for *_, action, _ in reversed(found):
        later_discards += ACTIONS.label(action).startswith("discard")
        turns.append(int(g["turns"]) - later_discards)
    return [(*event, turn) for event, turn in zip(found, reversed(turns), strict=True)]


def sentences(g: np.void, rules: RuleSet, since: int, me: int | None, name: Namer) -> Iterator[str]:
    """A sentence for each turn, or part of one, that seats other than `me` have played since event number `since`."""
    if since < first_event_kept(g):
        yield "(What came before is longer ago than the table remembers.)"
    top: str | None = None
    group: list[tuple[str, int, str | None]] = []
    key: tuple[int, int] | None = None
    for number, seat, action, red3s, turn in _events(g):
        label = ACTIONS.label(action)
        if number >= since and seat != me:
            if key is not None and key != (seat, turn):
                yield _turn_sentence(g, rules, key, group, name)
                group = []
            key = (seat, turn)
            group.append((label, red3s, top))
        if label.startswith("discard"):
            top = label[-1]
    if key is not None and group:
        yield _turn_sentence(g, rules, key, group, name)


def _turn_sentence(g: np.void, rules: RuleSet, key: tuple[int, int], group: list, name: Namer) -> str:
    seat, turn = key
    clauses: list[str] = []
    verb = None
    for label, red3s, top in group:
        word, _, cards = label.partition(" ")
        if word == verb and word in ("meld", "add"):
            clauses[-1] += f" {cards}"
        else:
            clauses.append(_clause(g, rules, label, top))
        verb = word
        if red3s:
            clauses[-1] += f" (and laid {red3s} red 3{'s' * (red3s > 1)})"
            verb = None
    if int(g["foot_turn"][seat]) == turn and g["in_foot"][seat]:
        ends = group[-1][0].startswith("discard") or turn < int(g["turns"])
        clauses.insert(0 if g["foot_by_discard"][seat] else len(clauses) - ends, "picked up the foot")
    side = rules.side_of(seat)
    if int(g["opening_turn"][side]) == turn:
        at = next((i for i, clause in enumerate(clauses) if clause.startswith(("melded", "took"))), None)
        if at is not None:
            clauses[at] = clauses[at].replace("melded", "opened with", 1).replace("took", "opened by taking", 1)
    return f"{name(seat)} {joined(clauses)}."


def _clause(g: np.void, rules: RuleSet, label: str, top: str | None) -> str:
    word, _, cards = label.partition(" ")
    if word == "draw":
        if int(g["phase"]) == PHASE_OVER and int(g["end_reason"]) == END_STOCK_DRAW:
            return "went to draw from a stock that was too short"
        count = rules.draw_count(int(g["deal"]))
        return f"drew {count} card{'s' * (count > 1)}"
    if word.startswith("take"):
        card = top or "the top card"
        how = {
            "take": f"a pair of {card}" if top else "a pair",
            "take+2": f"{card} and a 2" if top else "a natural and a 2",
            "take+*": f"{card} and a joker" if top else "a natural and a joker",
            "take>meld": f"{card} straight onto the meld",
        }
        return f"took the discard pile with {how[word]}"
    past = {"meld": "melded", "add": "added", "discard": "discarded", "ask": "asked to go out"}
    return f"{past[word]} {cards}".strip() if word in past else f"said {word}"


def new_books(g: np.void, since: int, me: int | None, names: SeatNames) -> Iterator[str]:
    """A line for each book completed after the first `since` of the deal."""
    for book in range(since, int(g["num_books"])):
        rank = int(g["book_rank"][book])
        wilds = int(g["book_twos"][book]) + int(g["book_jokers"][book])
        what = "wild book" if rank == WILD else f"{'dirty' if wilds else 'clean'} book of {KIND_CHARS[rank]}"
        yield f"New book of {names.side(int(g['book_side'][book]), me)}: a {what}."


# -------------------------------------------------------------------------------------------------- how it ended


def deal_parts(g: np.void, r: np.void, side: int) -> list[tuple[str, int, int]]:
    """(name, number, points) of the parts of a side's score in a deal that is over; the points sum to the score.

    The number is of books or red 3s, else 0. "cards left" counts the red 3s held too.

    Rule: docs/rules.md 9.

    Args:
        r: the game's rule record.
    """
    clean = [int(count) for count in g["clean_books"][side][:NUM_NATURALS]]
    sevens = clean[SEVEN]
    clean_points = (sum(clean) - sevens) * int(r["clean_book"]) + sevens * int(r["sevens_book"])
    dirty, wild, red3 = int(g["dirty_books"][side][:NUM_NATURALS].sum()), int(g["clean_books"][side, WILD]), int(g["red3"][side])
    is_out = int(g["out_seat"]) >= 0 and int(g["out_seat"]) % int(r["sides"]) == side
    has_wild_meld = int(g["twos"][side, WILD]) + int(g["jokers"][side, WILD]) > 0
    return [
        ("cards laid", 0, int((g["table"][side].astype(np.int64) * r["card_points"]).sum())),
        ("clean books", sum(clean), clean_points),
        ("dirty books", dirty, dirty * int(r["dirty_book"])),
        ("wild books", wild, wild * int(r["wild_book"])),
        ("red 3s laid", red3, red3 * int(r["red3_laid"])),
        ("going out", 0, int(r["going_out"]) if is_out else 0),
        ("wild meld", 0, -int(r["unfinished_wild_penalty"]) if has_wild_meld else 0),
        ("cards left", 0, -int(g["stranded"][side])),
    ]


def deal_result(g: np.void, r: np.void, rules: RuleSet, me: int | None, names: SeatNames) -> list[str]:
    """How a deal ended and what it counted, as lines: a column a side."""
    sides = range(rules.num_sides)
    out_seat = int(g["out_seat"])
    who = "" if out_seat < 0 else "you " if out_seat == me else f"{names.of(out_seat, me)} "
    lines = [f"Deal {int(g['deal'])} is over: {who}{END_WORDS[int(g['end_reason'])]}.", ""]
    lines.append(_row("", [names.side(side, me) for side in sides]))
    by_side = [deal_parts(g, r, side) for side in sides]
    for parts in zip(*by_side, strict=True):
        if any(points or number for _, number, points in parts):
            lines.append(_row(parts[0][0], [f"{f'{number}: ' if number else ''}{points:+,}" for _, number, points in parts]))
    lines.append(_row("this deal", [f"{int(g['deal_scores'][side]):+,}" for side in sides]))
    lines.append(_row("total", [f"{int(g['scores'][side]):,}" for side in sides]))
    return lines


def _row(name: str, cells: list[str]) -> str:
    return f"  {name:{_NAME_WIDTH}}" + "".join(f"{cell:>{_SIDE_WIDTH}}" for cell in cells)


def game_result(g: np.void, rules: RuleSet, me: int | None, names: SeatNames) -> str:
    """Who won the game, one sentence."""
    totals = [int(g["scores"][side]) for side in range(rules.num_sides)]
    best = [side for side, total in enumerate(totals) if total == max(totals)]
    if len(best) > 1:
        sharing = joined([names.side(side, me) for side in best])
        return f"The game is over: {sharing} share the win with {max(totals):,} points."
    others = joined([f"{total:,}" for side, total in enumerate(totals) if side != best[0]])
    mine = me is not None and rules.side_of(me) == best[0]
    seats = [seat for seat in range(rules.players) if rules.side_of(seat) == best[0] and seat != me]
    who = [names.of(seat, me) for seat in seats]
    who = ["You", *who] if mine else who
    verb = "wins" if len(who) == 1 and not mine else "win"
    return f"The game is over: {joined(who)} {verb} with {max(totals):,} points to {others}."

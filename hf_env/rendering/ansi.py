"""A game as a readable text table, from one seat's view or with all cards open."""

import numpy as np

from hf_env.actions import ACTIONS
from hf_env.engine.cards import BLACK3, JOKER, KIND_CHARS, NUM_NATURALS, TWO, WILD, format_cards, format_counts
from hf_env.engine.state import NUM_EVENTS, PHASE_ANSWER, PHASE_DRAW, PHASE_OVER
from hf_env.engine.transitions import EVENT_SEAT_STRIDE
from hf_env.rules import RuleSet

END_WORDS = ("", "went out", "the stock was too short for the draw", "the stock could not replace a red 3", "turn limit reached")
SHOWN_PILE = 7


def render_table(games: np.ndarray, slot: int, rules: RuleSet, view: int | None) -> str:
    """The table of games[slot] as text of several lines.

    Args:
        view: the seat whose hand is shown and who is marked as "you"; None shows all hands and feet.
    """
    g = games[slot]
    lines = [headline(g, rules), _scores(g, rules)]
    for side in range(rules.num_sides):
        lines.append("")
        lines.extend(_side(g, rules, side))
    lines += ["", _pile(g), ""]
    lines += [_seat(g, seat, view) for seat in range(rules.players)]
    lines.append("")
    lines.append(_turn_line(g, rules))
    return "\n".join(lines)


def headline(g, rules: RuleSet) -> str:
    """The deal, the turn, the minimum of the opening and the books that going out asks for."""
    deal = int(g["deal"])
    of = f" of {rules.deals}" if rules.target is None and not g["single_deal"] else ""
    quota = "{} clean, {} dirty, {} wild".format(*rules.quota(deal))
    return f"Deal {deal}{of}, turn {int(g['turns']) + 1}. Minimum {rules.opening_minimum(deal)}. To go out: {quota}."


def _scores(g, rules: RuleSet) -> str:
    totals = ", ".join(f"side {side}: {int(g['scores'][side])}" for side in range(rules.num_sides))
    return f"Total scores: {totals}"


def _meld(g, side: int, rank: int) -> str:
    naturals, twos, jokers = (int(g[name][side, rank]) for name in ("naturals", "twos", "jokers"))
    card = "" if rank == WILD else KIND_CHARS[rank]
    return card * naturals + KIND_CHARS[TWO] * twos + KIND_CHARS[JOKER] * jokers


def _books(g, side: int) -> str:
    words = []
    for rank in range(NUM_NATURALS):
        for name, word in (("clean_books", "clean"), ("dirty_books", "dirty")):
            count = int(g[name][side, rank])
            if count:
                words.append(f"{KIND_CHARS[rank]} {word}" + (f" x{count}" if count > 1 else ""))
    wild = int(g["clean_books"][side, WILD])
    if wild:
        words.append("wild" + (f" x{wild}" if wild > 1 else ""))
    return ", ".join(words) or "none"


def _side(g, rules: RuleSet, side: int) -> list[str]:
    seats = [str(seat) for seat in range(side, rules.players, rules.num_sides)]
    opened = "opened" if g["opened"][side] else "not opened"
    melds = "  ".join(m for m in (_meld(g, side, rank) for rank in range(NUM_NATURALS + 1)) if m) or "none"
    who = f"seat{'s' if len(seats) > 1 else ''} {' and '.join(seats)}"
    return [
        f"Side {side} ({who}): {opened}, red 3s laid: {int(g['red3'][side])}",
        f"  melds: {melds}",
        f"  books: {_books(g, side)}",
    ]


def _cards(number: int) -> str:
    return f"{number} card{'s' * (number != 1)}"


def _pile(g) -> str:
    size = int(g["discard_size"])
    top = format_cards(g["discard"][max(size - SHOWN_PILE, 0) : size][::-1])
    more = f" and {size - SHOWN_PILE} below" if size > SHOWN_PILE else ""
    stock = int(g["stock_end"]) - int(g["stock_next"])
    return f"Stock: {_cards(stock)}. Discard pile: {_cards(size)}, top first: {top or 'empty'}{more}"


def _seat(g, seat: int, view: int | None) -> str:
    arrow = ">" if int(g["to_move"]) == seat and g["phase"] != PHASE_OVER else " "
    foot = "in the foot" if g["in_foot"][seat] else f"foot of {int(g['foot_sizes'][seat])} waiting"
    text = f"{arrow} Seat {seat}: {_cards(int(g['hand_sizes'][seat]))}, {foot}"
    if view is None or view == seat:
        text += f"; hand {format_counts(g['hands'][seat]) or 'empty'}"
        if view is None and not g["in_foot"][seat]:
            text += f"; foot {format_counts(g['feet'][seat])}"
    else:
        known = format_counts(g["known"][seat][: BLACK3 + 1])
        if known:
            text += f"; known to hold {known}"
    return text + (" (you)" if view == seat else "")


def _turn_line(g, rules: RuleSet) -> str:
    last = last_action(g)
    text = whose_turn(g, rules)
    return text + (f" Last action: {last}." if last and g["phase"] != PHASE_OVER else "")


def whose_turn(g, rules: RuleSet) -> str:
    """Who is to do what; after a deal how it ended and its scores. One line."""
    if g["phase"] == PHASE_OVER:
        who = f"seat {int(g['out_seat'])} " if g["out_seat"] >= 0 else ""
        scores = ", ".join(f"side {side}: {int(g['deal_scores'][side]):+d}" for side in range(rules.num_sides))
        return f"The deal is over: {who}{END_WORDS[int(g['end_reason'])]}. Scores of the deal: {scores}"
    seat = int(g["to_move"])
    if g["phase"] == PHASE_ANSWER:
        return f"Seat {seat} answers: may seat {int(g['turn_seat'])} go out?"
    if g["phase"] == PHASE_DRAW:
        return f"Seat {seat} is to draw or to take from the discard pile."
    text = f"Seat {seat} is to lay down or to discard."
    if g["laid"] or g["taking"]:
        text += f" Opening: {int(g['laid'])} of {rules.opening_minimum(int(g['deal']))} points laid."
    return text


def last_action(g) -> str:
    """The deal's last action and its seat, "seat 1: draw"; empty before the first."""
    events = int(g["num_events"])
    if not events:
        return ""
    code = int(g["events"][(events - 1) % NUM_EVENTS, 0])
    return f"seat {code // EVENT_SEAT_STRIDE}: {ACTIONS.label(code % EVENT_SEAT_STRIDE)}"

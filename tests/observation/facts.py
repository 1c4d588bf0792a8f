"""What each section of an observation and of the state vector must hold, worked out again from the record and the
RuleSet, plainly and slowly; nothing of the encoder is used."""

import numpy as np

from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS, NUM_KINDS, WILD
from hf_env.observation.layout import ObservationLayout
from hf_env.rules import RuleSet

KINDS = {character: kind for kind, character in enumerate(KIND_CHARS)}
TWO, JOKER, BLACK3, RED3 = (KINDS[c] for c in "2*br")


def units(points: int) -> int:
    """Points in units of 5."""
    return int(points / 5)


def one_hot(index: int, count: int) -> list[int]:
    """A list of zeros with a 1; all 0 for an index out of range."""
    return [1 if i == index else 0 for i in range(count)]


def pile_top_first(g: np.void) -> list[int]:
    """Kinds in the discard pile."""
    return [int(kind) for kind in g["discard"][: int(g["discard_size"])][::-1]]


def stock_first_first(g: np.void) -> list[int]:
    """Kinds in the stock."""
    return [int(kind) for kind in g["stock"][int(g["stock_next"]) : int(g["stock_end"])]]


def counts(kinds) -> list[int]:
    """How many of each kind."""
    kinds = list(kinds)
    return [kinds.count(kind) for kind in range(NUM_KINDS)]


def card_value(rules: RuleSet, kind: int) -> int:
    """Points of a card on the table."""
    p = rules.points
    by_char = {"*": p.joker, "2": p.two, "A": p.ace, "b": p.black3, "r": 0} | dict.fromkeys("4567", p.low)
    return by_char.get(KIND_CHARS[kind], p.high)


def open_points(g: np.void, rules: RuleSet, side: int) -> int:
    """Points that lie open for a side."""
    points = int(g["red3"][side]) * rules.red3_laid
    points += sum(int(g["table"][side, kind]) * card_value(rules, kind) for kind in range(NUM_KINDS))
    for rank in range(11):
        sevens = KIND_CHARS[rank] == "7" and rules.sevens_book is not None
        points += int(g["clean_books"][side, rank]) * (rules.sevens_book if sevens else rules.clean_book)
        points += int(g["dirty_books"][side, rank]) * rules.dirty_book
    return points + int(g["clean_books"][side, WILD]) * rules.wild_book


def unseen(g: np.void, rules: RuleSet, seat: int) -> list[int]:
    """Cards of each kind that lie where the seat cannot look, those known in other hands apart."""
    left = [rules.decks * n for n in CARDS_PER_DECK]
    for kind in range(NUM_KINDS):
        left[kind] -= int(g["hands"][seat, kind]) + pile_top_first(g).count(kind)
        left[kind] -= sum(int(g["table"][side, kind]) for side in range(rules.num_sides))
        left[kind] -= sum(int(g["known"][other, kind]) for other in range(rules.players) if other != seat)
    left[RED3] -= sum(int(g["red3"][side]) for side in range(rules.num_sides))
    return left


def public_facts(g: np.void, rules: RuleSet, seat: int) -> dict[str, object]:
    """Sections that everybody may know, from a seat's point of view."""
    seats = [(seat + i) % rules.players for i in range(rules.players)]
    sides = [(seat + i) % rules.num_sides for i in range(rules.num_sides)]
    deal, phase, turn_seat = int(g["deal"]), int(g["phase"]), int(g["turn_seat"])
    pile = pile_top_first(g)
    reach = len(pile) if rules.take_count == "all" else rules.take_count
    quota, minimum = rules.quota(deal), rules.opening_minimum(deal)
    missing = []
    for side in sides:
        have = (g["clean_books"][side, :11].sum(), g["dirty_books"][side, :11].sum(), g["clean_books"][side, WILD])
        missing.append([max(want - int(has), 0) for want, has in zip(quota, have, strict=True)])
    laid = int(g["laid"])
    own = sides[0]
    needed = 0 if g["opened"][own] else max(minimum - (laid if turn_seat % rules.num_sides == own else 0), 0)
    last = rules.deals if rules.target is None else rules.max_deals
    return {
        "hand_sizes": [g["hand_sizes"][s] for s in seats],
        "foot_sizes": [g["foot_sizes"][s] for s in seats],
        "in_foot": [g["in_foot"][s] for s in seats],
        "known": [g["known"][s][:14] for s in seats],
        "recent_discards": [[one_hot(int(kind) - 1, 14) for kind in g["recent_discards"][s]] for s in seats],
        "meld_naturals": [g["naturals"][s][:11] for s in sides],
        "meld_twos": [g["twos"][s] for s in sides],
        "meld_jokers": [g["jokers"][s] for s in sides],
        "clean_books": [g["clean_books"][s][:11] for s in sides],
        "dirty_books": [g["dirty_books"][s][:11] for s in sides],
        "wild_books": [g["clean_books"][s][WILD] for s in sides],
        "red3s": [g["red3"][s] for s in sides],
        "opened": [g["opened"][s] for s in sides],
        "table_scores": [units(open_points(g, rules, s)) for s in sides],
        "scores": [units(int(g["scores"][s])) for s in sides],
        "quota_missing": missing,
        "discard_size": [len(pile)],
        "discard_kinds": counts(pile),
        "discard_top": [one_hot(pile[i] if i < len(pile) else -1, NUM_KINDS) for i in range(7)],
        "take_cards": counts(pile[1:reach]),
        "owed": counts(pile[: int(g["taking"])]),
        "stock_size": [len(stock_first_first(g))],
        "reshuffles": [g["reshuffles"]],
        "phase": one_hot(phase, 3),
        "turn_seat": one_hot(seats.index(turn_seat), rules.players),
        "asked": one_hot(seats.index(turn_seat) if g["asked"] else -1, rules.players),
        "answers": [[int(g["answers"][s] == answer) for s in seats] for answer in (1, 2)],
        "may_go_out": [g["may_go_out"]],
        "laid": [units(laid)],
        "minimum": [units(minimum)],
        "needed": [units(needed)],
        "dealer": one_hot(seats.index(int(g["dealer"])), rules.players),
        "deal": [deal],
        "deals_left": [0 if g["single_deal"] else max(last - deal, 0)],
        "turns": [g["turns"]],
    } | option_facts(rules, deal)


def option_facts(rules: RuleSet, deal: int) -> dict[str, object]:
    """Sections of the rule set's options in a deal."""
    quota = rules.quota(deal)
    values: dict[str, object] = {
        "decks": [rules.decks], "hand_size": [rules.hand_size], "foot_size": [rules.foot_size],
        "bury_red3": ["red3" in rules.bury_upcard], "bury_wild": ["wild" in rules.bury_upcard],
        "bury_black3": ["black3" in rules.bury_upcard], "draw": [rules.draw_count(deal)],
        "max_deals": [rules.deals if rules.target is None else rules.max_deals],
        "has_target": [rules.target is not None], "target": [units(rules.target or 0)],
        "next_minimum": [units(rules.opening_minimum(deal + 1))], "book_size": [rules.book_size],
        "max_wilds": [rules.max_wilds], "min_naturals": [rules.min_naturals], "wild_melds": [rules.wild_melds],
        "take_wild_top": [rules.take_wild_top == "matching_pair"], "take_needs_open": [rules.take_needs_open],
        "wild_discard_freezes": [rules.wild_discard_freezes], "quota_clean": [quota[0]], "quota_dirty": [quota[1]],
        "quota_wild": [quota[2]], "partner_foot": [rules.partner_foot],
        "stock_out_reshuffle": [rules.stock_out == "reshuffle"], "max_turns": [rules.max_turns],
        "wild_book_cap": [0, 0] if rules.wild_book_cap is None else [1, rules.wild_book_cap],
        "take_count": [0, 0] if rules.take_count == "all" else [1, rules.take_count],
        "sevens_book": [units(rules.clean_book if rules.sevens_book is None else rules.sevens_book)],
    }  # fmt: skip
    for key, words in (
        ("add_to_complete", ("none", "naturals", "any")),
        ("wild_limit", ("two_to_one", "more_naturals", "at_most")),
        ("take_key", ("natural_pair", "natural_and_wild", "any_meld")),
        ("permission", ("none", "binding_no", "binding_both")),
        ("final_discard", ("optional", "required", "forbidden")),
    ):
        values[key] = one_hot(words.index(getattr(rules, key)), 3)
    for kind in ("joker", "two", "ace", "high", "low", "black3"):
        values[f"points_{kind}"] = [units(getattr(rules.points, kind))]
    for key in ("clean_book", "dirty_book", "wild_book", "going_out", "red3_laid", "red3_held", "unfinished_wild_penalty"):
        values[key] = [units(getattr(rules, key))]
    return {f"option_{name}": value for name, value in values.items()}


def event_facts(g: np.void, rules: RuleSet, seat: int) -> np.ndarray:
    """The section of public events."""
    rows = np.zeros((64, 3), np.int64)
    total = int(g["num_events"])
    for back in range(min(total, 64)):
        code, red3s = (int(x) for x in g["events"][(total - 1 - back) % 64])
        rows[back] = (code // 256 - seat) % rules.players, code % 256 + 1, red3s
    return rows


def seat_facts(g: np.void, rules: RuleSet, seat: int, events: bool = False) -> dict[str, object]:
    """All sections of a seat's observation."""
    facts = {"hand": g["hands"][seat][:14], "unseen": unseen(g, rules, seat)} | public_facts(g, rules, seat)
    return facts | ({"events": event_facts(g, rules, seat)} if events else {})


def true_facts(g: np.void, rules: RuleSet) -> dict[str, object]:
    """All sections of the state vector."""
    stock, pile = stock_first_first(g), pile_top_first(g)
    size = len(g["stock"])
    truth = {
        "hands": [g["hands"][seat][:14] for seat in range(rules.players)],
        "feet": [g["feet"][seat] for seat in range(rules.players)],
        "to_move": one_hot(int(g["to_move"]), rules.players),
        "stock_kinds": counts(stock),
        "stock_order": [kind + 1 for kind in stock] + [0] * (size - len(stock)),
        "discard_order": [kind + 1 for kind in pile] + [0] * (size - len(pile)),
    }
    return truth | public_facts(g, rules, 0) | {"events": event_facts(g, rules, 0)}


def differing(layout: ObservationLayout, vector: np.ndarray, facts: dict[str, object]) -> list[str]:
    """Names of the sections of a vector that are not the facts; the facts must name every section."""
    decoded = layout.decode(vector)
    assert list(decoded) == list(facts) or set(decoded) == set(facts), set(decoded) ^ set(facts)
    return [name for name, value in decoded.items() if not np.array_equal(value, np.asarray(facts[name]))]


def changed_sections(layout: ObservationLayout, before: np.ndarray, after: np.ndarray) -> list[set[str]]:
    """For each of N vectors, the names of the sections in which before and after, (N, F), differ."""
    starts = [section.slice.start for section in layout.sections]
    different = np.logical_or.reduceat(before != after, starts, axis=1)
    names = [section.name for section in layout.sections]
    return [{names[i] for i in np.flatnonzero(row)} for row in different]

"""Rules, decks and games at positions for the self-tests of the reference."""

import random

from .cards import ALL_LAYDOWNS, NATURALS, RANK_NAMES, canonical
from .game import ReferenceGame
from .laying import Options

WHITNACK = {
    "preset": "whitnack",
    "players": 4,
    "seating": "pairs",
    "decks": 5,
    "hand_size": 13,
    "foot_size": 13,
    "bury_upcard": ["red3", "wild"],
    "draw": 2,
    "deals": 4,
    "target": None,
    "max_deals": 50,
    "opening": [50, 90, 120, 150],
    "opening_tail": "cycle",
    "book_size": 7,
    "add_to_complete": "none",
    "wild_limit": "two_to_one",
    "max_wilds": 2,
    "min_naturals": 2,
    "wild_melds": True,
    "wild_book_cap": None,
    "take_count": 7,
    "take_key": "natural_pair",
    "take_wild_top": "blocked",
    "take_needs_open": False,
    "wild_discard_freezes": False,
    "books_to_go_out": [2, 2, 1],
    "partner_foot": True,
    "permission": "binding_no",
    "final_discard": "optional",
    "stock_out": "end_deal",
    "max_turns": 800,
    "points": {"joker": 50, "two": 20, "ace": 20, "high": 10, "low": 5, "black3": 5},
    "clean_book": 500,
    "dirty_book": 300,
    "wild_book": 1500,
    "going_out": 100,
    "red3_laid": 100,
    "red3_held": 100,
    "sevens_book": None,
    "unfinished_wild_penalty": 0,
}
MINI = WHITNACK | {
    "preset": "mini",
    "players": 2,
    "seating": "alone",
    "decks": 1,
    "hand_size": 6,
    "foot_size": 4,
    "draw": 1,
    "deals": 1,
    "book_size": 4,
    "take_key": "any_meld",
    "opening": [15],
    "books_to_go_out": [0, 1, 0],
    "partner_foot": False,
    "permission": "none",
    "max_turns": 400,
}


A_DECK = {"naturals": 4, "twos": 4, "jokers": 2, "red3": 2, "black3": 2}


def decks_of(rules):
    """All cards of the game; 12 `ranks` and `deck` make the decks smaller."""
    ranks = "".join(RANK_NAMES[name] for name in rules["ranks"]) if "ranks" in rules else NATURALS
    n = A_DECK | rules.get("deck", {})
    return (ranks * n["naturals"] + "2" * n["twos"] + "*" * n["jokers"] + "r" * n["red3"] + "b" * n["black3"]) * rules["decks"]


def shuffled(rules, rng):
    """A deck whose upcard, if there is one, is none of the kinds that are buried."""
    cards = list(decks_of(rules))
    rng.shuffle(cards)
    if not rules.get("upcard", True):
        return "".join(cards)
    buried = {"red3": "r", "wild": "2*", "black3": "b"}
    bad = "".join(buried[name] for name in rules["bury_upcard"])
    at = rules["players"] * sum(Options(rules).packet_sizes())
    while cards[at] in bad:
        cards.insert(rng.randrange(at, len(cards)), cards.pop(at))
    return "".join(cards)


def reshuffle(number, cards):
    cards = sorted(cards)
    random.Random(f"reshuffle {number}").shuffle(cards)
    return "".join(cards)


def table(rules=WHITNACK, hands=None, feet=None, sides=None, stock="4567" * 10, discard="b", **turn):
    """A game at a position. Hands not given hold two cards, feet not given are not picked up.

    Other fields of the position are given by their names, and so are those of its turn.
    """
    players = rules["players"]
    number_of_sides = Options(rules).num_sides()
    empty = {"melds": {}, "books": [], "red3": 0, "opened": False}
    position = {
        "format": "hf-position/1",
        "rules": "test",
        "seed": 1,
        "deal": 1,
        "dealer": players - 1,
        "scores": [0] * number_of_sides,
        "turns": 8,
        "reshuffles": 0,
        "hands": (hands or []) + ["45"] * (players - len(hands or [])),
        "feet": (feet or []) + ["4567"] * (players - len(feet or [])),
        "known": [""] * players,
        "stock": stock,
        "discard": discard,
        "sides": [empty | side for side in sides or []] + [empty] * (number_of_sides - len(sides or [])),
    }
    for field in [*position, "must_use", "turns_left", "out", "last_turn", "knees"]:
        if field in turn:
            position[field] = turn.pop(field)
    position["turn"] = {
        "seat": 0, "phase": "play", "asked": False, "answers": {}, "may_go_out": False, "laid": 0, "taking": 0,
    } | turn  # fmt: skip
    return ReferenceGame.from_position(rules, position, reshuffle)


def laydowns(game):
    return {label for label in game.legal() if label in ALL_LAYDOWNS}


def opening_max(rules, deal, hand, melds=None, books=()):
    """The most card points that lay-downs from the hand can bring (the deal does not matter, only the options do)."""
    return Options(rules).most_points(canonical(hand), tuple((melds or {}).items()), tuple(books))


def can_reach_opening(rules, deal, hand, melds, books, laid):
    """Rule 4: can the deal's minimum still be reached by lay-downs from this hand, `laid` points being laid already?"""
    return Options(rules).can_reach(deal, hand, melds, books, laid)

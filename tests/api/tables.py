"""Whole positions from the few cards that a test is about; the rest of the decks goes where it does no harm."""

import copy
from collections import Counter
from typing import Any

from hf_env.engine.access import GameAccess
from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS
from hf_env.positions import from_position, rules_value
from hf_env.rules import RulesLike, load_rules

# Two cards of no use to anybody, for the hands that a test does not name.
IDLE_HAND = "bb"


def table(
    rules: RulesLike = "whitnack",
    *,
    hands: dict[int, str] | None = None,
    feet: dict[int, str | None] | None = None,
    sides: dict[int, dict[str, Any]] | None = None,
    discard: str = "b",
    stock: str | None = None,
    deal: int = 1,
    turns: int = 20,
    **turn: Any,
) -> dict[str, Any]:
    """A position that keeps every card: seat 0 to play, where the test says nothing else.

    `feet`: None for one picked up; feet not named are filled. `stock`: its exact order; None: all that is left.
    What is left over lies at the bottom of the discard pile, red 3s among it before the last side.
    """
    rule_set = load_rules(rules)
    left = Counter({kind: number * rule_set.decks for kind, number in zip(KIND_CHARS, CARDS_PER_DECK, strict=True)})
    empty = {"melds": {}, "books": [], "red3": 0, "opened": False}
    all_sides = []
    for side in range(rule_set.num_sides):
        given = copy.deepcopy((sides or {}).get(side, {}))
        all_sides.append(empty | {"opened": bool(given.get("melds") or given.get("books"))} | given)
    for side in all_sides:
        left.subtract("".join(side["melds"].values()) + "".join(side["books"]) + "r" * side["red3"])
    seats = range(rule_set.players)
    all_hands = {seat: (hands or {}).get(seat, IDLE_HAND) for seat in seats}
    left.subtract("".join(all_hands.values()) + discard + (stock or ""))
    all_feet = dict(feet or {})
    left.subtract("".join(foot or "" for foot in all_feet.values()))
    assert min(left.values()) >= 0, {kind: count for kind, count in left.items() if count < 0}
    rest = sorted(kind for kind in left.elements() if kind != "r")
    for seat in seats:
        if seat not in all_feet:
            all_feet[seat] = "".join(rest.pop(0) for _ in range(rule_set.foot_size))
    if stock is None:
        stock = "".join(rest) + "r" * left["r"]
    else:
        discard += "".join(rest)
        all_sides[-1]["red3"] += left["r"]
    return {
        "format": "hf-position/1",
        "rules": rules_value(rule_set),
        "seed": 7,
        "deal": deal,
        "dealer": rule_set.players - 1,
        "scores": [0] * rule_set.num_sides,
        "turns": turns,
        "turn": {"seat": 0, "phase": "play", "asked": False, "answers": {}, "may_go_out": False, "laid": 0, "taking": 0} | turn,
        "hands": [all_hands[seat] for seat in seats],
        "feet": [all_feet[seat] for seat in seats],
        "known": [""] * rule_set.players,
        "stock": stock,
        "discard": discard,
        "sides": all_sides,
    }


def game_at(position: dict[str, Any], *, check: bool = True) -> GameAccess:
    """The engine's game at a position."""
    games, rules = from_position(position, check=check)
    return GameAccess(rules.to_record(), games)

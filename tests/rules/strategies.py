"""Random valid rule sets that reach every option, biased towards small games whose deals end soon.

One generator serves both: :func:`rule_sets` for Hypothesis, which shrinks, and :func:`random_rule_set` for long runs
with kept seeds. A change of the generator changes what a kept seed means.
"""

import random
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

from hf_env.rules import RulesError, RuleSet
from hf_env.rules.reach import most_opening_points

T = TypeVar("T")
SEATING = {2: ["alone"], 3: ["alone"], 4: ["pairs", "alone"], 5: ["alone"], 6: ["pairs", "threes", "alone"]}


class Chooser(Protocol):
    """Where the choices come from."""

    def pick(self, values: Sequence[T]) -> T:
        """One of the values; the first is the simplest."""

    def whole(self, low: int, high: int) -> int:
        """A number from `low` to `high`."""


class _Random:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def pick(self, values: Sequence[T]) -> T:
        return values[self._random.randrange(len(values))]

    def whole(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class _Drawn:
    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def pick(self, values: Sequence[T]) -> T:
        return self._draw(st.sampled_from(list(values)))

    def whole(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


def random_rule_set(seed: int) -> RuleSet:
    """The valid rule set that belongs to a seed; the same on every machine."""
    return _choose(_Random(seed))


@st.composite
def rule_sets(draw: Any) -> RuleSet:
    """Hypothesis strategy of valid rule sets."""
    return _choose(_Drawn(draw))


def _choose(c: Chooser) -> RuleSet:
    settings = _seats_and_cards(c) | _melds(c) | _taking_and_ending(c) | _points(c)
    base = RuleSet(**settings, opening=[0], books_to_go_out=[0, 0, 0])
    most = min(most_opening_points(base, deal) for deal in range(1, 21))
    opening = [min(5 * c.whole(0, 12) * c.pick([1, 1, 1, 8]), 1000, most // 5 * 5) for _ in range(c.whole(1, 5))]
    quotas = [[c.pick([0, 0, 1, 1, 2]), c.pick([0, 1, 1, 2]), c.pick([0, 0, 0, 1])] for _ in range(c.pick([1, 1, 1, 3]))]
    while True:
        try:
            return base.with_overrides(opening=opening, books_to_go_out=quotas)
        except RulesError:  # a quota out of reach: ask for less
            if not any(map(any, quotas)):
                raise
            quotas = [_less(quota) for quota in quotas]


def _less(quota: list[int]) -> list[int]:
    """One book fewer, of the last kind that is asked for: the rarest goes first."""
    for kind in (2, 1, 0):
        if quota[kind]:
            return [*quota[:kind], quota[kind] - 1, *quota[kind + 1 :]]
    return quota


def _seats_and_cards(c: Chooser) -> dict[str, Any]:
    players = c.pick([2, 2, 3, 4, 4, 5, 6])
    seating = c.pick(SEATING[players])
    decks = c.pick([1, 1, 1, 2, 2, 3, c.whole(1, 8)])
    # Each deck's 10 special cards and one more stay undealt.
    packets = (44 * decks - 1) // players
    foot = min(c.pick([2, 3, 4, 6, c.whole(2, 26)]), packets - 1)
    hand = min(c.pick([2, 3, 4, 6, c.whole(1, 26)]), packets - foot)
    least = 2 if hand == 1 else 1  # else no hand ever holds a meld
    draw = [c.pick([least, 2, 3, c.whole(least, 5)]) for _ in range(c.pick([1, 1, 1, 2, 4]))]
    lone = seating == "alone"
    return {
        "players": players,
        "seating": seating,
        "decks": decks,
        "hand_size": hand,
        "foot_size": foot,
        "bury_upcard": [kind for kind in ("red3", "wild", "black3") if c.pick([True, True, False])],
        "draw": draw,
        "deals": c.pick([1, 1, 2, 3, c.whole(1, 20)]),
        "target": c.pick([None, None, 5, 200, 5 * c.whole(1, 400)]),
        "max_deals": c.pick([1, 2, 3, 5]),
        "opening_tail": c.pick(["cycle", "hold_last"]),
        "max_turns": c.pick(["auto", players, players * 5 + 1, c.whole(players, 200)]),
        "partner_foot": not lone and c.pick([False, True]),
        "permission": "none" if lone else c.pick(["none", "binding_no", "binding_both"]),
    }


def _melds(c: Chooser) -> dict[str, Any]:
    wild_melds = c.pick([True, True, True, False])
    return {
        "book_size": c.pick([3, 4, 4, 5, c.whole(3, 10)]),
        "add_to_complete": c.pick(["none", "none", "naturals", "any"]),
        "wild_limit": c.pick(["two_to_one", "more_naturals", "at_most"]),
        "max_wilds": c.pick([2, 1, 3, c.whole(0, 9)]),
        "min_naturals": c.pick([2, 1, 1, c.whole(1, 7)]),
        "wild_melds": wild_melds,
        "wild_book_cap": c.pick([None, None, 0, 1, c.whole(0, 20)]) if wild_melds else None,
    }


def _taking_and_ending(c: Chooser) -> dict[str, Any]:
    return {
        "take_count": c.pick([7, 3, "all", 0, 1, c.whole(1, 30)]),
        "take_key": c.pick(["natural_pair", "natural_and_wild", "any_meld", "any_meld"]),
        "take_wild_top": c.pick(["blocked", "matching_pair"]),
        "take_needs_open": c.pick([False, False, True]),
        "wild_discard_freezes": c.pick([False, True]),
        "final_discard": c.pick(["optional", "required", "forbidden"]),
        "stock_out": c.pick(["end_deal", "end_deal", "reshuffle"]),
    }


def _points(c: Chooser) -> dict[str, Any]:
    kinds = ("joker", "two", "ace", "high", "low", "black3")
    usual = c.pick([True, True, False])
    bonuses = ("clean_book", "dirty_book", "going_out", "red3_laid", "red3_held")
    # The largest are so small that even 8 decks of books of 3 keep within the limit of a deal's score.
    values: dict[str, Any] = {} if usual else {key: 5 * c.whole(0, 100) for key in bonuses}
    if not usual:
        values["points"] = {kind: 5 * c.whole(0, 20) for kind in kinds}
        values["wild_book"] = 5 * c.whole(0, 400)
    values["sevens_book"] = c.pick([None, None, 0, 1000])
    values["unfinished_wild_penalty"] = c.pick([0, 0, 300])
    return values

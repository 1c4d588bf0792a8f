"""What the numbers of an observation mean: named sections, in the encoder's order.

The layout depends on the numbers of seats and sides only; every rule option is a value in it.
"""

from dataclasses import dataclass

import numpy as np

from hf_env.engine.cards import MAX_CARDS, NUM_KINDS, NUM_NATURALS
from hf_env.engine.state import NUM_EVENTS, NUM_RECENT_DISCARDS

LAYOUT_VERSION = 1

_HELD = 14
_TOP = 7
_WITH_WILD = NUM_NATURALS + 1
_POINTS = "units of 5 points"


@dataclass(frozen=True)
class Section:
    """One named part of an observation or state vector.

    name: by which ``decode`` gives it. slice: where it lies in the vector. shape: that ``decode`` gives it. meaning: with
    its axes. low, high: the range of the int16 values. scale: by which float32 observations are multiplied. known_to: who
    may know it, "own seat", "all" or, in the state, "nobody".
    """

    name: str
    slice: slice
    shape: tuple[int, ...]
    meaning: str
    low: int
    high: int
    scale: float
    known_to: str

    @property
    def length(self) -> int:
        """Number of values."""
        return self.slice.stop - self.slice.start


def _private() -> list[tuple]:
    return [
        ("hand", (_HELD,), "own hand: cards of each kind (4..A, 2, joker, black 3)", 0, 64, 0.25, "own seat"),
        ("unseen", (NUM_KINDS,), "cards of each kind not seen yet: not in the own hand, on the table, in the discard pile, laid as red 3 or known in another hand", 0, 64, 0.05, "own seat"),
    ]  # fmt: skip


def _public(p: int, s: int) -> list[tuple]:
    seats, sides = "relative seats", "relative sides, own first"
    return [
        ("hand_sizes", (p,), f"cards in each hand; {seats}", 0, MAX_CARDS, 0.07, "all"),
        ("foot_sizes", (p,), f"cards in each foot not picked up, 0 once it is; {seats}", 0, 26, 0.07, "all"),
        ("in_foot", (p,), f"1 if the foot is picked up; {seats}", 0, 1, 1, "all"),
        ("known", (p, _HELD), f"cards publicly known to be in each hand since a take; {seats} x kinds", 0, 64, 0.5, "all"),
        ("recent_discards", (p, NUM_RECENT_DISCARDS, _HELD), f"the last {NUM_RECENT_DISCARDS} discards of each seat, latest first, one-hot; {seats} x discards x kinds", 0, 1, 1, "all"),
        ("meld_naturals", (s, NUM_NATURALS), f"naturals in the open meld of each rank; {sides} x ranks", 0, 9, 0.25, "all"),
        ("meld_twos", (s, _WITH_WILD), f"2s in the open meld of each rank, the wild meld last; {sides} x ranks and wild", 0, 9, 0.5, "all"),
        ("meld_jokers", (s, _WITH_WILD), f"jokers likewise; {sides} x ranks and wild", 0, 9, 0.5, "all"),
        ("clean_books", (s, NUM_NATURALS), f"clean books; {sides} x ranks", 0, 11, 1, "all"),
        ("dirty_books", (s, NUM_NATURALS), f"dirty books; {sides} x ranks", 0, 32, 1, "all"),
        ("wild_books", (s,), f"wild books; {sides}", 0, 16, 1, "all"),
        ("red3s", (s,), f"red 3s laid; {sides}", 0, 16, 0.25, "all"),
        ("opened", (s,), f"1 if the side has opened; {sides}", 0, 1, 1, "all"),
        ("table_scores", (s,), f"points that lie open (cards, book bonuses, red 3s), {_POINTS}; {sides}", -32767, 32767, 0.001, "all"),
        ("scores", (s,), f"totals of the finished deals, {_POINTS}; {sides}", -32767, 32767, 0.0005, "all"),
        ("quota_missing", (s, 3), f"books still missing to go out; {sides} x clean, dirty, wild", 0, 20, 0.5, "all"),
        ("discard_size", (1,), "cards in the discard pile", 0, MAX_CARDS, 0.03, "all"),
        ("discard_kinds", (NUM_KINDS,), "cards of each kind in the discard pile", 0, 64, 0.25, "all"),
        ("discard_top", (_TOP, NUM_KINDS), "the top cards of the discard pile, top first, one-hot; cards x kinds", 0, 1, 1, "all"),
        ("take_cards", (NUM_KINDS,), "cards of each kind that a take would bring into the hand now (the top card is melded)", 0, 64, 0.5, "all"),
        ("owed", (NUM_KINDS,), "cards of each kind still owed by a take in an unfinished opening", 0, 64, 0.5, "all"),
        ("stock_size", (1,), "cards in the stock", 0, MAX_CARDS, 0.01, "all"),
        ("reshuffles", (1,), "reshuffles in this deal", 0, 32767, 0.5, "all"),
        ("phase", (3,), "one-hot: draw, play, answer (all 0 once the deal is over)", 0, 1, 1, "all"),
        ("turn_seat", (p,), f"whose turn it is, one-hot; {seats}", 0, 1, 1, "all"),
        ("asked", (p,), f"who asked to go out this turn, one-hot or all 0; {seats}", 0, 1, 1, "all"),
        ("answers", (2, p), f"who answered yes, and who no, this turn; answer x {seats}", 0, 1, 1, "all"),
        ("may_go_out", (1,), "1 once every partner of the asker said yes this turn", 0, 1, 1, "all"),
        ("laid", (1,), f"points laid in an unfinished opening, {_POINTS}", 0, 200, 0.05, "all"),
        ("minimum", (1,), f"the opening's minimum in this deal, {_POINTS}", 0, 200, 0.05, "all"),
        ("needed", (1,), f"points that the own side still needs to open, {_POINTS}; 0 once opened", 0, 200, 0.05, "all"),
        ("dealer", (p,), f"the dealer, one-hot; {seats}", 0, 1, 1, "all"),
        ("deal", (1,), "number of the deal, from 1", 1, 1000, 0.25, "all"),
        ("deals_left", (1,), "deals to come after this one, at most", 0, 1000, 0.25, "all"),
        ("turns", (1,), "turns completed in this deal", 0, 10000, 0.02, "all"),
        *_options(),
    ]  # fmt: skip


_OPTION_COUNTS = (
    ("decks", 0.2), ("hand_size", 0.07), ("foot_size", 0.07), ("bury_red3", 1), ("bury_wild", 1), ("bury_black3", 1),
    ("draw", 0.5), ("max_deals", 0.1), ("has_target", 1), ("target", 0.0005), ("next_minimum", 0.05), ("book_size", 0.15),
    ("max_wilds", 0.25), ("min_naturals", 0.25), ("wild_melds", 1), ("take_wild_top", 1), ("take_needs_open", 1),
    ("wild_discard_freezes", 1), ("quota_clean", 0.5), ("quota_dirty", 0.5), ("quota_wild", 0.5), ("partner_foot", 1),
    ("stock_out_reshuffle", 1), ("max_turns", 0.001),
)  # fmt: skip
_OPTION_CHOICES = (
    ("add_to_complete", ("none", "naturals", "any")),
    ("wild_limit", ("two_to_one", "more_naturals", "at_most")),
    ("take_key", ("natural_pair", "natural_and_wild", "any_meld")),
    ("permission", ("none", "binding_no", "binding_both")),
    ("final_discard", ("optional", "required", "forbidden")),
)
_OPTION_LIMITS = (("wild_book_cap", 0.2), ("take_count", 0.1))
_OPTION_POINTS = (
    ("points_joker", 0.1), ("points_two", 0.1), ("points_ace", 0.1), ("points_high", 0.1), ("points_low", 0.1),
    ("points_black3", 0.1), ("clean_book", 0.01), ("dirty_book", 0.01), ("wild_book", 0.01), ("going_out", 0.01),
    ("red3_laid", 0.01), ("red3_held", 0.01), ("sevens_book", 0.01), ("unfinished_wild_penalty", 0.01),
)  # fmt: skip


def _options() -> list[tuple]:
    rows = [
        (f"option_{name}", (1,), f"rule option or its entry for this deal: {name}", 0, 32767, scale, "all")
        for name, scale in _OPTION_COUNTS
    ]
    rows += [
        (f"option_{name}", (3,), f"rule option {name}, one-hot: {', '.join(words)}", 0, 1, 1, "all") for name, words in _OPTION_CHOICES
    ]
    rows += [
        (f"option_{name}", (2,), f"rule option {name}: whether there is a limit, and it", 0, 32767, scale, "all")
        for name, scale in _OPTION_LIMITS
    ]
    return rows + [(f"option_{name}", (1,), f"rule option {name}, {_POINTS}", 0, 32767, scale, "all") for name, scale in _OPTION_POINTS]


def _events() -> list[tuple]:
    return [
        ("events", (NUM_EVENTS, 3), "the last public events of the deal, latest first: relative seat, action id + 1 (0: none), red 3s laid by it", 0, 432, 0.01, "all"),
    ]  # fmt: skip


def _truth(p: int) -> list[tuple]:
    return [
        ("hands", (p, _HELD), "cards of each kind in each hand; seats x kinds", 0, 64, 0.25, "nobody"),
        ("feet", (p, NUM_KINDS), "cards of each kind in each foot not picked up; seats x kinds", 0, 64, 0.25, "nobody"),
        ("to_move", (p,), "who decides now, one-hot; seats", 0, 1, 1, "nobody"),
        ("stock_kinds", (NUM_KINDS,), "cards of each kind in the stock", 0, 64, 0.05, "nobody"),
        ("stock_order", (MAX_CARDS,), "the stock, first card drawn first: kind + 1, 0 beyond its end", 0, NUM_KINDS, 0.07, "nobody"),
        ("discard_order", (MAX_CARDS,), "the discard pile, top first: kind + 1, 0 beyond its end", 0, NUM_KINDS, 0.07, "nobody"),
    ]  # fmt: skip


class _Layout:
    """Named sections that tile a vector of int16."""

    def __init__(self, rows: list[tuple], num_seats: int, num_sides: int) -> None:
        self.num_seats, self.num_sides = num_seats, num_sides
        sections = []
        at = 0
        for name, shape, meaning, low, high, scale, known_to in rows:
            end = at + int(np.prod(shape))
            sections.append(Section(name, slice(at, end), shape, meaning, low, high, float(scale), known_to))
            at = end
        self.sections: tuple[Section, ...] = tuple(sections)
        self.width = at
        self._by_name = {section.name: section for section in sections}

    def __getitem__(self, name: str) -> Section:
        """The section of that name.

        Raises KeyError naming it.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"no section {name!r}; sections are {', '.join(self._by_name)}") from None

    def scales(self) -> np.ndarray:
        """(width,) float32: what an int16 vector is multiplied by to become float32 in about -1..1."""
        scales = np.empty(self.width, np.float32)
        for section in self.sections:
            scales[section.slice] = section.scale
        return scales

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each (width,) int16."""
        low, high = np.empty(self.width, np.int16), np.empty(self.width, np.int16)
        for section in self.sections:
            low[section.slice], high[section.slice] = section.low, section.high
        return low, high

    def decode(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """The sections of one int16 vector (width,) by name, each in its shape. float32 ones are scaled back first.

        Raises ValueError for a vector of another length.
        """
        vector = np.asarray(vector)
        if vector.shape != (self.width,):
            raise ValueError(f"a vector of shape {vector.shape} is not of this layout; it has shape ({self.width},)")
        if np.issubdtype(vector.dtype, np.floating):
            vector = np.rint(vector / self.scales()).astype(np.int16)
        return {section.name: vector[section.slice].reshape(section.shape) for section in self.sections}

    def table(self) -> str:
        """The sections as a Markdown table; kinds in the order of the table's note."""
        lines = ["| section | from | shape | range | scale | known to | meaning |", "|---|--:|---|---|--:|---|---|"]
        for x in self.sections:
            shape = " x ".join(str(n) for n in x.shape)
            lines.append(f"| `{x.name}` | {x.slice.start} | {shape} | {x.low}..{x.high} | {x.scale:g} | {x.known_to} | {x.meaning} |")
        return "\n".join(lines)


def _seats_and_sides(rules) -> tuple[int, int]:
    if isinstance(rules, tuple):
        return rules
    from hf_env.rules import load_rules

    rules = load_rules(rules)
    return rules.players, rules.num_sides


class ObservationLayout(_Layout):
    """Layout of an observation. It has ``sections`` (a tuple of Section, in order) and ``width``, the vector's length F.

    rules: a name, path, RuleSet, overrides, or (seats, sides). events: with the section of the last 64 public events,
    which is off by default.
    """

    version = LAYOUT_VERSION

    def __init__(self, rules="whitnack", events: bool = False) -> None:
        seats, sides = _seats_and_sides(rules)
        super().__init__(_private() + _public(seats, sides) + (_events() if events else []), seats, sides)
        self.events = events


class StateLayout(_Layout):
    """Layout of the state vector, the whole truth, for a central critic; seats as they are, sides from side 0.

    rules: as for ObservationLayout.
    """

    version = LAYOUT_VERSION

    def __init__(self, rules="whitnack") -> None:
        seats, sides = _seats_and_sides(rules)
        super().__init__(_truth(seats) + _public(seats, sides) + _events(), seats, sides)

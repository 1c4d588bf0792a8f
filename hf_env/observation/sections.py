"""The one table of the observation: each section's name, shape, meaning, range, scale, and who may know it.

Offsets (places.py), widths and documents (layout.py) follow from it. To add a section, add a row before the options and write
it in encoder.py. The rows of rule options follow from the options' own declarations (hf_env/rules/ruleset.py).

A table depends on the numbers of seats and sides only; every rule option is a value in it.
"""

from typing import NamedTuple

from hf_env.engine.cards import MAX_CARDS, NUM_KINDS, NUM_NATURALS
from hf_env.engine.state import NUM_EVENTS, NUM_RECENT_DISCARDS, PHASE_OVER
from hf_env.rules import options as o
from hf_env.rules.record import ShownOption, shown_options

HELD_KINDS = 14  # kinds that can be in a hand: all but the red 3
TOP_CARDS = 7
WITH_WILD = NUM_NATURALS + 1
EVENT_WIDTH = 3
POINTS_UNIT = 5
# Numbers are int16. Scores beyond are cut off there: a rule set of many deals and dear books may pass it.
LIMIT = 32767
OPTION_PREFIX = "option_"

_POINTS = f"units of {POINTS_UNIT} points"
_CUT = f"{_POINTS}, cut off at {LIMIT * POINTS_UNIT:,} points either way"
_SEATS, _SIDES = "relative seats", "relative sides, own first"


class Row(NamedTuple):
    """A section of the observation or the state.

    Attributes:
        shape: that ``decode`` gives it.
        meaning: with its axes.
        range: of its int16 values, both ends included.
        scale: by what float32 observations are multiplied.
        known_to: "own seat", "all" or, in the state, "nobody".
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    range: tuple[int, int]
    scale: float
    known_to: str


def _private() -> list[Row]:
    return [
        Row("hand", (HELD_KINDS,), "own hand: cards of each kind (4..A, 2, joker, black 3)", (0, 64), 0.25, "own seat"),
        Row("unseen", (NUM_KINDS,), "cards of each kind not seen yet: not in the own hand, on the table, in the discard pile, laid as red 3 or known in another hand", (0, 64), 0.05, "own seat"),
    ]  # fmt: skip


def _public(p: int, s: int) -> list[Row]:
    """Of p seats and s sides."""
    return [
        Row("hand_sizes", (p,), f"cards in each hand; {_SEATS}", (0, MAX_CARDS), 0.07, "all"),
        Row("foot_sizes", (p,), f"cards in each foot not picked up, 0 once it is; {_SEATS}", (0, 26), 0.07, "all"),
        Row("in_foot", (p,), f"1 if the foot is picked up; {_SEATS}", (0, 1), 1, "all"),
        Row("known", (p, HELD_KINDS), f"cards publicly known to be in each hand since a take; {_SEATS} x kinds", (0, 64), 0.5, "all"),
        Row("recent_discards", (p, NUM_RECENT_DISCARDS, HELD_KINDS), f"the last {NUM_RECENT_DISCARDS} discards of each seat, latest first, one-hot; {_SEATS} x discards x kinds", (0, 1), 1, "all"),
        Row("meld_naturals", (s, NUM_NATURALS), f"naturals in the open meld of each rank; {_SIDES} x ranks", (0, 9), 0.25, "all"),
        Row("meld_twos", (s, WITH_WILD), f"2s in the open meld of each rank, the wild meld last; {_SIDES} x ranks and wild", (0, 9), 0.5, "all"),
        Row("meld_jokers", (s, WITH_WILD), f"jokers likewise; {_SIDES} x ranks and wild", (0, 9), 0.5, "all"),
        Row("clean_books", (s, NUM_NATURALS), f"clean books; {_SIDES} x ranks", (0, 11), 1, "all"),
        Row("dirty_books", (s, NUM_NATURALS), f"dirty books; {_SIDES} x ranks", (0, 32), 1, "all"),
        Row("wild_books", (s,), f"wild books; {_SIDES}", (0, 16), 1, "all"),
        Row("red3s", (s,), f"red 3s laid; {_SIDES}", (0, 16), 0.25, "all"),
        Row("opened", (s,), f"1 if the side has opened; {_SIDES}", (0, 1), 1, "all"),
        Row("table_scores", (s,), f"points that lie open (cards, book bonuses, red 3s), {_CUT}; {_SIDES}", (-LIMIT, LIMIT), 0.001, "all"),
        Row("scores", (s,), f"totals of the finished deals, {_CUT}; {_SIDES}", (-LIMIT, LIMIT), 0.0005, "all"),
        Row("quota_missing", (s, 3), f"books still missing to go out; {_SIDES} x clean, dirty, wild", (0, 20), 0.5, "all"),
        Row("discard_size", (1,), "cards in the discard pile", (0, MAX_CARDS), 0.03, "all"),
        Row("discard_kinds", (NUM_KINDS,), "cards of each kind in the discard pile", (0, 64), 0.25, "all"),
        Row("discard_top", (TOP_CARDS, NUM_KINDS), "the top cards of the discard pile, top first, one-hot; cards x kinds", (0, 1), 1, "all"),
        Row("take_cards", (NUM_KINDS,), "cards of each kind that a take would bring into the hand now (the top card is melded)", (0, 64), 0.5, "all"),
        Row("owed", (NUM_KINDS,), "cards of each kind still owed by a take in an unfinished opening", (0, 64), 0.5, "all"),
        Row("stock_size", (1,), "cards in the stock", (0, MAX_CARDS), 0.01, "all"),
        Row("reshuffles", (1,), "reshuffles in this deal", (0, 32767), 0.5, "all"),
        Row("phase", (PHASE_OVER,), "one-hot: draw, play, answer (all 0 once the deal is over)", (0, 1), 1, "all"),
        Row("turn_seat", (p,), f"whose turn it is, one-hot; {_SEATS}", (0, 1), 1, "all"),
        Row("asked", (p,), f"who asked to go out this turn, one-hot or all 0; {_SEATS}", (0, 1), 1, "all"),
        Row("answers", (2, p), f"who answered yes, and who no, this turn; answer x {_SEATS}", (0, 1), 1, "all"),
        Row("may_go_out", (1,), "1 once every partner of the asker said yes this turn", (0, 1), 1, "all"),
        Row("laid", (1,), f"points laid in an unfinished opening, {_POINTS}", (0, 200), 0.05, "all"),
        Row("minimum", (1,), f"the opening's minimum in this deal, {_POINTS}", (0, 200), 0.05, "all"),
        Row("needed", (1,), f"points that the own side still needs to open, {_POINTS}; 0 once opened", (0, 200), 0.05, "all"),
        Row("dealer", (p,), f"the dealer, one-hot; {_SEATS}", (0, 1), 1, "all"),
        Row("deal", (1,), "number of the deal, from 1", (1, 1000), 0.25, "all"),
        Row("deals_left", (1,), "deals to come after this one, at most", (0, 1000), 0.25, "all"),
        Row("turns", (1,), "turns completed in this deal", (0, 10000), 0.02, "all"),
    ]  # fmt: skip


def option_row(option: ShownOption) -> Row:
    """The section of a rule option."""
    name, shown = option.name, option.shown
    shape, meaning, top = {
        o.COUNTS: ((1,), f"rule option or its entry for this deal: {name}", 32767),
        o.CHOICES: ((len(option.words),), f"rule option {name}, one-hot: {', '.join(option.words)}", 1),
        o.LIMITS: ((2,), f"rule option {name}: whether there is a limit, and it", 32767),
        o.POINTS: ((1,), f"rule option {name}, {_POINTS}", 32767),
    }[shown.group]
    return Row(f"{OPTION_PREFIX}{name}", shape, meaning, (0, top), shown.scale, "all")


def _events() -> list[Row]:
    return [
        Row("events", (NUM_EVENTS, EVENT_WIDTH), "the last public events of the deal, latest first: relative seat, action id + 1 (0: none), red 3s laid by it", (0, 432), 0.01, "all"),
    ]  # fmt: skip


def _truth(p: int) -> list[Row]:
    return [
        Row("hands", (p, HELD_KINDS), "cards of each kind in each hand; seats x kinds", (0, 64), 0.25, "nobody"),
        Row("feet", (p, NUM_KINDS), "cards of each kind in each foot not picked up; seats x kinds", (0, 64), 0.25, "nobody"),
        Row("to_move", (p,), "who decides now, one-hot; seats", (0, 1), 1, "nobody"),
        Row("stock_kinds", (NUM_KINDS,), "cards of each kind in the stock", (0, 64), 0.05, "nobody"),
        Row("stock_order", (MAX_CARDS,), "the stock, first card drawn first: kind + 1, 0 beyond its end", (0, NUM_KINDS), 0.07, "nobody"),
        Row("discard_order", (MAX_CARDS,), "the discard pile, top first: kind + 1, 0 beyond its end", (0, NUM_KINDS), 0.07, "nobody"),
    ]  # fmt: skip


def observation_rows(seats: int, sides: int, events: bool) -> list[Row]:
    """What a seat sees. The options stay as they are for a deal; what changes within it comes before them, events after."""
    options = [option_row(option) for option in shown_options()]
    return _private() + _public(seats, sides) + options + (_events() if events else [])


def state_rows(seats: int, sides: int) -> list[Row]:
    """The whole truth."""
    return _truth(seats) + observation_rows(seats, sides, True)[len(_private()) :]

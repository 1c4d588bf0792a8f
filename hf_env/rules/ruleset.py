"""A rule set: every option of the game, validated.

Rule: docs/rules.md 11 (options) and 10 (what makes a rule set impossible).
"""

import functools
import hashlib
import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from hf_env.engine.cards import ACE, BLACK3, JOKER, KIND_CHARS, NUM_KINDS, RED3, TWO
from hf_env.engine.state import MAX_DEAL_ENTRIES
from hf_env.rules import options as o
from hf_env.rules.conditions import check_conditions
from hf_env.rules.errors import RulesError, from_validation_error, unknown_option
from hf_env.rules.preset_files import DEFAULT_PRESET, merge_settings, preset_names, preset_settings

if TYPE_CHECKING:
    import numpy as np

# Raised when the meaning of an option changes, so that fingerprints of records and checkpoints change with it.
RULES_VERSION = 1
FOUR, EIGHT = KIND_CHARS.index("4"), KIND_CHARS.index("8")


def _known_preset(name: str) -> str:
    if name not in preset_names():
        raise ValueError
    return name


class CardPoints(BaseModel):
    """Points of a card on the table, the same subtracted for one held at the end. Red 3s: see ``red3_laid``."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    joker: o.CardPoints = o.card_points(50, "a joker", "joker", JOKER)
    two: o.CardPoints = o.card_points(20, "a 2", "two", TWO)
    ace: o.CardPoints = o.card_points(20, "an ace", "ace", ACE)
    high: o.CardPoints = o.card_points(10, "8, 9, 10, J, Q, K", "high", EIGHT)
    low: o.CardPoints = o.card_points(5, "4, 5, 6, 7", "low", FOUR)
    black3: o.CardPoints = o.card_points(5, "a black 3, which is never melded", "black3", BLACK3)


class RuleSet(BaseModel):
    """One immutable, valid set of rules; fields are the option keys of docs/rules.md 11, defaults are whitnack's.

    Two rule sets are equal, with one hash, when they play the same: `preset` is only a name for display.
    ``draw`` and ``books_to_go_out`` hold one entry a deal, the last for all later deals.
    ``RuleSet(...)`` starts from whitnack; :func:`hf_env.rules.load_rules` starts from any preset.

    Raises:
        RulesError: (one line) for an unknown key, a value out of range, or a combination that cannot be played.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    preset: Annotated[str, AfterValidator(_known_preset)] = o.option(
        DEFAULT_PRESET, "the name of a rule set of section 10", "the named rule set that the other keys override", record=()
    )
    players: Annotated[int, o.Plain] = o.number(4, 2, 6, "number of players")
    seating: Literal["pairs", "threes", "alone"] = o.option(
        "pairs",
        o.words("pairs", "threes", "alone"),
        "who plays together: pairs (4 or 6 players), threes (6), alone (any)",
        record=[o.RecordField("sides", packing="sides")],
    )
    decks: Annotated[int, o.Plain] = o.number(5, 1, 8, "decks of 54 cards", auto="players + 1", shown=[o.Shown(scale=0.2)])
    hand_size: Annotated[int, o.Plain] = o.number(13, 1, 26, "cards dealt to each hand", shown=[o.Shown(scale=0.07)])
    foot_size: Annotated[int, o.Plain] = o.number(13, 2, 26, "cards dealt to each foot", shown=[o.Shown(scale=0.07)])
    bury_upcard: o.BuryKinds = o.option(
        ("red3", "wild"),
        'a list without repetitions of "red3", "wild", "black3"',
        "kinds that, turned as the first upcard, are buried in the stock",
        record=[o.RecordField("bury", (NUM_KINDS,), "buried")],
        shown=[o.Shown("bury_red3", place=RED3), o.Shown("bury_wild", place=TWO), o.Shown("bury_black3", place=BLACK3)],
    )
    draw: o.DrawByDeal = o.option(
        (2,),
        "a whole number from 1 to 5, or a list of 1 to 20 of them, one a deal",
        "cards drawn from the stock in a turn",
        record=[o.RecordField(shape=(MAX_DEAL_ENTRIES,), packing="draw")],
        shown=[o.Shown(scale=0.5, read=o.BY_DEAL)],
    )
    deals: Annotated[int, o.Plain] = o.number(
        4, 1, 20, "deals of a game that has no target", shown=[o.Shown("max_deals", scale=0.1, field="max_deals")]
    )
    target: o.OptionalTarget = o.option(
        None,
        f'a multiple of {o.POINT_STEP} from {o.POINT_STEP} to {o.MAX_TARGET:,}, or "none"',
        "total that ends the game at the end of a deal, in place of a number of deals",
        record=[o.RecordField(packing="or_zero"), o.RecordField("has_target", packing="has_target")],
        shown=[o.Shown("has_target", field="has_target"), o.Shown(scale=0.0005, read=o.IN_POINTS)],
    )
    max_deals: Annotated[int, o.Plain] = o.number(
        50, 1, 1000, "most deals of a game with a target", record=[o.RecordField(packing="max_deals")]
    )
    opening: o.Opening = o.option(
        (50, 90, 120, 150),
        f"a list of 1 to 20 minimums, one a deal, each a multiple of {o.POINT_STEP} from 0 to {o.MAX_OPENING:,}",
        "points that a side's first lay-down of a deal must reach",
        record=[o.RecordField(shape=(MAX_DEAL_ENTRIES,), packing="opening"), o.RecordField("num_openings", packing="num_openings")],
        shown=[o.Shown("next_minimum", scale=0.05, read=o.NEXT_MINIMUM)],
    )
    opening_tail: Literal["cycle", "hold_last"] = o.option(
        "cycle",
        o.words("cycle", "hold_last"),
        "the minimum in deals beyond the list: from its beginning again, or its last",
        record=[o.RecordField("opening_cycles", packing="opening_cycles")],
    )
    book_size: Annotated[int, o.Plain] = o.number(7, 3, 10, "cards that make a meld a book", shown=[o.Shown(scale=0.15)])
    add_to_complete: Literal["none", "naturals", "any"] = o.choice(
        "none", o.words("none", "naturals", "any"), "cards that may be added to books", field="grow"
    )
    wild_limit: Literal["two_to_one", "more_naturals", "at_most"] = o.choice(
        "two_to_one",
        o.words("two_to_one", "more_naturals", "at_most"),
        "how many wilds a meld of a natural rank may hold",
    )
    max_wilds: Annotated[int, o.Plain] = o.number(2, 0, 9, 'most wilds in a meld with wild_limit = "at_most"', shown=[o.Shown(scale=0.25)])
    min_naturals: Annotated[int, o.Plain] = o.number(2, 1, 7, "fewest naturals in a meld that holds a wild", shown=[o.Shown(scale=0.25)])
    wild_melds: o.YesNo = o.yes_no(True, "melds of wilds only are allowed")
    wild_book_cap: o.OptionalCap = o.option(
        None,
        f'a whole number from 0 to {o.MAX_QUOTA}, or "none"',
        "wild books after which a side starts no further wild meld",
        record=[o.RecordField(packing="limit")],
        shown=[o.Shown(group=o.LIMITS, scale=0.2)],
    )
    take_count: o.TakeCount = o.option(
        7,
        f'a whole number from 0 (no taking) to {o.MAX_TAKE}, or "all"',
        "cards taken from the top of the discard pile",
        record=[o.RecordField(packing="limit")],
        shown=[o.Shown(group=o.LIMITS, scale=0.1)],
    )
    take_key: Literal["natural_pair", "natural_and_wild", "any_meld"] = o.choice(
        "natural_pair",
        o.words("natural_pair", "natural_and_wild", "any_meld"),
        "what takes the discard pile; each includes the ones before",
    )
    take_wild_top: Literal["blocked", "matching_pair"] = o.choice(
        "blocked",
        o.words("blocked", "matching_pair"),
        "whether a wild on top can be taken, by a pair of the same wild",
        shown=[o.Shown()],
    )
    take_needs_open: o.YesNo = o.yes_no(False, "only a side that has opened on an earlier turn may take")
    wild_discard_freezes: o.YesNo = o.yes_no(False, "a wild anywhere in the discard pile leaves only the natural pair as key")
    books_to_go_out: o.QuotaByDeal = o.option(
        ((2, 2, 1),),
        f"[clean, dirty, wild], each a whole number from 0 to {o.MAX_QUOTA}, or a list of 1 to 20 of these, one a deal",
        "books that a side must have before it goes out",
        record=[o.RecordField("quota", (MAX_DEAL_ENTRIES, 3), "quota")],
        shown=[o.Shown(f"quota_{kind}", scale=0.5, place=i, read=o.BY_DEAL) for i, kind in enumerate(("clean", "dirty", "wild"))],
    )
    partner_foot: o.YesNo = o.yes_no(True, "every partner must have played from the foot before a side goes out")
    permission: Literal["none", "binding_no", "binding_both"] = o.choice(
        "binding_no", o.words("none", "binding_no", "binding_both"), "whether a player must ask the partners to go out"
    )
    final_discard: Literal["optional", "required", "forbidden"] = o.choice(
        "optional", o.words("optional", "required", "forbidden"), "whether the last card is discarded on going out"
    )
    stock_out: Literal["end_deal", "reshuffle"] = o.choice(
        "end_deal", o.words("end_deal", "reshuffle"), "what happens when the stock runs out",
        field="reshuffle", shown=[o.Shown("stock_out_reshuffle")],
    )  # fmt: skip
    max_turns: Annotated[int, o.Plain] = o.number(
        800, 1, o.MAX_TURNS, "turns after which a deal ends as by stock out",
        auto=f"{o.TURNS_A_PLAYER} x players", shown=[o.Shown(scale=0.001)],
    )  # fmt: skip
    points: CardPoints = o.option(
        CardPoints(), "a table with any of joker, two, ace, high, low, black3", "points of the cards, by kind",
        record=[o.RecordField("card_points", (NUM_KINDS,), "card_points")],
    )  # fmt: skip
    clean_book: Annotated[o.Bonus, o.Plain] = o.bonus(500, "bonus of a clean book")
    dirty_book: Annotated[o.Bonus, o.Plain] = o.bonus(300, "bonus of a dirty book")
    wild_book: Annotated[o.Bonus, o.Plain] = o.bonus(1500, "bonus of a wild book")
    going_out: Annotated[o.Bonus, o.Plain] = o.bonus(100, "bonus of the side that goes out")
    red3_laid: Annotated[o.Bonus, o.Plain] = o.bonus(100, "points of a red 3 on the table")
    red3_held: Annotated[o.Bonus, o.Plain] = o.bonus(100, "points subtracted for a red 3 in a hand or a foot at the end")
    sevens_book: o.OptionalBonus = o.option(
        None, f'{o.BONUS_WORDS}, or "none"', "bonus of a clean book of 7s, in place of clean_book",
        record=[o.RecordField(packing="sevens_book"), o.RecordField("has_sevens_book", packing="has_sevens_book")],
        shown=[o.points_shown(0.01)],
    )  # fmt: skip
    unfinished_wild_penalty: Annotated[o.Bonus, o.Plain] = o.bonus(
        0, "points subtracted once from a side whose wild meld is no book at the end"
    )

    def __init__(self, **settings: Any) -> None:
        """Validate; ``decks`` and ``max_turns`` left out, or "auto", are computed from `players`."""
        settings = _resolve_auto(settings)
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise from_validation_error(error, type(self), settings) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_conditions(self)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSet) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def name(self) -> str:
        """The preset this set stands on, for display; it may differ from it."""
        return self.preset

    @property
    def num_sides(self) -> int:
        """2 or 3 with partners, else the number of players."""
        return {"pairs": self.players // 2, "threes": 2, "alone": self.players}[self.seating]

    @property
    def seats_per_side(self) -> int:
        """1 to 3."""
        return self.players // self.num_sides

    def side_of(self, seat: int) -> int:
        """Side of a seat, both from 0.

        Raises:
            IndexError: For a seat that the table lacks. Rule: docs/rules.md 2.1.
        """
        if not 0 <= seat < self.players:
            raise IndexError(f"seat {seat} is not one of 0 to {self.players - 1}")
        return seat % self.num_sides

    def opening_minimum(self, deal: int) -> int:
        """Points that the opening must reach in a deal (from 1). Rule: docs/rules.md 4.14."""
        index = _deal_index(deal)
        if index < len(self.opening):
            return self.opening[index]
        return self.opening[index % len(self.opening) if self.opening_tail == "cycle" else -1]

    def quota(self, deal: int) -> tuple[int, int, int]:
        """Clean, dirty and wild books that going out requires in a deal (from 1). Rule: docs/rules.md 7.2."""
        return self.books_to_go_out[min(_deal_index(deal), len(self.books_to_go_out) - 1)]

    def draw_count(self, deal: int) -> int:
        """Cards drawn from the stock in a turn of a deal (from 1). Rule: docs/rules.md 4.2."""
        return self.draw[min(_deal_index(deal), len(self.draw) - 1)]

    def resolved(self) -> dict[str, Any]:
        """Every key of docs/rules.md 11 with its value as plain Python: int, bool, str, list, None; points a dict.

        ``load_rules(rules.resolved())`` gives an equal rule set.
        """
        values: dict[str, Any] = {}
        for key in type(self).model_fields:
            value = getattr(self, key)
            if isinstance(value, BaseModel):
                value = value.model_dump()
            elif key in ("draw", "books_to_go_out"):
                value = _listed(value[0] if len(value) == 1 else value)
            else:
                value = _listed(value)
            values[key] = value
        return values

    @functools.cached_property
    def fingerprint(self) -> str:
        """16 hex digits that change with any option (but `preset`, only a name); the same on every machine.

        An option that was added later does not change it as long as it has its default.
        """
        values = {key: value for key, value in self.resolved().items() if key != "preset" and not self._is_as_before(key)}
        text = json.dumps([RULES_VERSION, values], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _is_as_before(self, key: str) -> bool:
        """Whether an option was added later and is left as the game was before."""
        field = type(self).model_fields[key]
        return bool(o.declaration(field, "added_later")) and getattr(self, key) == field.default

    def with_overrides(self, **overrides: Any) -> "RuleSet":
        """This rule set with some options changed; ``**{"points.ace": 15}`` changes one entry of ``points``.

        ``decks`` and ``max_turns`` that are the default of `players` follow a change of `players`.

        Raises:
            RulesError: As the constructor does.
        """
        if "preset" in overrides:
            raise RulesError("preset cannot be overridden: load that rule set by its name instead")
        settings = self.resolved()
        for key, value in _auto_values(self.players).items():
            if settings[key] == value:
                settings[key] = "auto"
        return RuleSet(**string_keys(merge_settings(settings, overrides)))

    def to_toml(self, *, complete: bool = False) -> str:
        """A rule file that loads to an equal rule set: preset and what differs, or (`complete`) every key."""
        values = self.resolved()
        lines = [f"preset = {json.dumps(values.pop('preset'))}"]
        base = RuleSet(**preset_settings(self.preset)).resolved()
        auto = _auto_values(self.players)
        for key in auto:
            if preset_settings(self.preset).get(key, "auto") == "auto":
                base[key] = auto[key]
        for key, value in flat(values).items():
            if complete or flat(base)[key] != value:
                lines.append(f"{key} = {json.dumps('none' if value is None else value)}")
        return "\n".join(lines) + "\n"

    def to_record(self) -> "np.ndarray":
        """The record that the engine plays by: an array of shape (1,) of ``hf_env.rules.record.RULES_DTYPE``."""
        from hf_env.rules.record import pack_rules

        return pack_rules(self)


def _auto_values(players: int) -> dict[str, int]:
    return {"decks": players + 1, "max_turns": o.TURNS_A_PLAYER * players}


def _resolve_auto(settings: dict[str, Any]) -> dict[str, Any]:
    players = o.plain(settings.get("players", 4))
    usable = type(players) is int and 2 <= players <= 6  # else that error is the one to report
    filled = dict(settings)
    for key, value in _auto_values(players if usable else 4).items():
        given = filled.get(key)
        if given is None or (isinstance(given, str) and given == "auto"):
            filled[key] = value
    return filled


def string_keys(settings: dict[Any, Any]) -> dict[str, Any]:
    """The settings, with the keys checked.

    Raises:
        RulesError: For a key that is no text or no option.
    """
    known = RuleSet.model_fields
    for key in settings:
        if not isinstance(key, str) or key not in known:
            raise RulesError(unknown_option(key, known))
    return settings


def flat(values: dict[str, Any]) -> dict[str, Any]:
    """`resolved()` values with ``points`` spread over keys such as ``points.ace``."""
    spread: dict[str, Any] = {}
    for key, value in values.items():
        if key == "points":
            spread.update({f"points.{kind}": worth for kind, worth in value.items()})
        else:
            spread[key] = value
    return spread


def _listed(value: Any) -> Any:
    return [_listed(entry) for entry in value] if isinstance(value, tuple) else value


def _deal_index(deal: int) -> int:
    if deal < 1:
        raise ValueError(f"deals count from 1, not {deal}")
    return deal - 1

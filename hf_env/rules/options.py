"""The kinds of value that options take: their types, ranges, and the words that say what is allowed.

Rule: docs/rules.md 11.1.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from hf_env.engine.state import MAX_DEAL_ENTRIES

# Points are multiples of 5 everywhere (as in both sources), so that a deal's score fits 16 bits in units of 5.
POINT_STEP = 5
MAX_BONUS = 10_000
MAX_CARD_POINTS = 500
MAX_OPENING = 1_000
MAX_TARGET = 100_000
MAX_QUOTA = 20  # as many as wild_book_cap may allow
MAX_TAKE = 30
# Turns are kept in 16 bits; six players at the default have 1,200.
MAX_TURNS = 10_000
# No side can score more in a deal, nor lose more: 32,767 units of 5 points, rounded down.
MAX_DEAL_SCORE = 160_000

TURNS_A_PLAYER = 200

BURY_KINDS = ("red3", "wild", "black3")
_POINTS_WORDS = f"a multiple of {POINT_STEP} from 0 to"


def plain(value: Any) -> Any:
    """NumPy scalars and arrays as Python values; all else unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def _yes_no(value: Any) -> Any:
    value = plain(value)
    return {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value


def _or_none(value: Any) -> Any:
    value = plain(value)
    return None if isinstance(value, str) and value == "none" else value


def _sequence(value: Any) -> tuple[Any, ...]:
    """A list as a tuple, a single value as a tuple of one."""
    value = plain(value)
    return tuple(plain(entry) for entry in value) if isinstance(value, list | tuple) else (value,)


def _by_deal(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without the repetitions at the end, which say nothing: the last entry holds for later deals anyway."""
    if len(entries) > MAX_DEAL_ENTRIES:
        return entries  # refused for its length as written
    while len(entries) > 1 and entries[-1] == entries[-2]:
        entries = entries[:-1]
    return entries


def _numbers_by_deal(value: Any) -> tuple[Any, ...]:
    entries = _sequence(value)
    # True == 1: types are left for the validation that follows.
    return _by_deal(entries) if all(type(entry) is int for entry in entries) else entries


def _quota_by_deal(value: Any) -> tuple[Any, ...]:
    entries = _sequence(value)
    if not any(isinstance(entry, list | tuple) for entry in entries):
        return (entries,)
    quotas = tuple(_sequence(entry) for entry in entries)
    return _by_deal(quotas) if all(type(count) is int for quota in quotas for count in quota) else quotas


def _bury_kinds(value: Any) -> Any:
    kinds = [] if isinstance(value, str) and value == "none" else list(_sequence(value))
    if any(not isinstance(kind, str) or kind not in BURY_KINDS for kind in kinds) or len(set(kinds)) < len(kinds):
        return value  # refused as written
    return tuple(kind for kind in BURY_KINDS if kind in kinds)


YesNo = Annotated[bool, BeforeValidator(_yes_no)]
Plain = BeforeValidator(plain)
Bonus = Annotated[int, Field(ge=0, le=MAX_BONUS, multiple_of=POINT_STEP)]
OptionalBonus = Annotated[Bonus | None, BeforeValidator(_or_none)]
CardPoints = Annotated[int, Field(ge=0, le=MAX_CARD_POINTS, multiple_of=POINT_STEP), Plain]
OptionalTarget = Annotated[Annotated[int, Field(ge=POINT_STEP, le=MAX_TARGET, multiple_of=POINT_STEP)] | None, BeforeValidator(_or_none)]
OptionalCap = Annotated[Annotated[int, Field(ge=0, le=MAX_QUOTA)] | None, BeforeValidator(_or_none)]
TakeCount = Annotated[Annotated[int, Field(ge=0, le=MAX_TAKE)] | Literal["all"], Plain]
Opening = Annotated[
    tuple[Annotated[int, Field(ge=0, le=MAX_OPENING, multiple_of=POINT_STEP)], ...],
    Field(min_length=1, max_length=MAX_DEAL_ENTRIES),
    BeforeValidator(_sequence),
]
DrawByDeal = Annotated[
    tuple[Annotated[int, Field(ge=1, le=5)], ...],
    Field(min_length=1, max_length=MAX_DEAL_ENTRIES),
    BeforeValidator(_numbers_by_deal),
]
BookCount = Annotated[int, Field(ge=0, le=MAX_QUOTA)]
QuotaByDeal = Annotated[
    tuple[tuple[BookCount, BookCount, BookCount], ...],
    Field(min_length=1, max_length=MAX_DEAL_ENTRIES),
    BeforeValidator(_quota_by_deal),
]
BuryKinds = Annotated[tuple[Literal["red3", "wild", "black3"], ...], BeforeValidator(_bury_kinds)]

BONUS_WORDS = f"{_POINTS_WORDS} {MAX_BONUS:,}"
CARD_POINTS_WORDS = f"{_POINTS_WORDS} {MAX_CARD_POINTS}"


class RecordField(NamedTuple):
    """A field of the engine's record of a rule set that an option fills: whole numbers of 32 bits.

    Attributes:
        name: "" for the option's own key.
        shape: () for a single number.
        packing: which of ``hf_env.rules.record.PACKINGS`` makes its value of the rule set.
    """

    name: str = ""
    shape: tuple[int, ...] = ()
    packing: str = "value"


# The groups in which the observation shows options, in its order. A number or yes / no; a word of three, one-hot; a limit
# that may be absent, as whether there is one and it; points.
COUNTS, CHOICES, LIMITS, POINTS = "counts", "choices", "limits", "points"
GROUPS = (COUNTS, CHOICES, LIMITS, POINTS)
# Ways to read a count: as it is; the deal's entry; in units of 5 points; the minimum of the deal to come.
AS_IT_IS, BY_DEAL, IN_POINTS, NEXT_MINIMUM = "as it is", "by deal", "in points", "next minimum"


class Shown(NamedTuple):
    """How the observation shows an option: the section ``option_<name>``.

    Attributes:
        name: "" for the option's own key.
        group: one of GROUPS.
        scale: of float32 observations.
        field: of the record, "" for the option's first.
        place: of the number in that field, counted flat.
        read: how a count is read.
    """

    name: str = ""
    group: str = COUNTS
    scale: float = 1
    field: str = ""
    place: int = 0
    read: str = AS_IT_IS


def points_shown(scale: float, name: str = "", field: str = "", place: int = 0) -> Shown:
    """An amount of points as the observation shows it."""
    return Shown(name, POINTS, scale, field, place, IN_POINTS)


ONE_HOT = Shown(group=CHOICES)
_OWN = (RecordField(),)


def option(
    default: Any,
    allowed: str,
    meaning: str,
    *,
    record: Iterable[RecordField] = _OWN,
    shown: Iterable[Shown] = (),
    added_later: bool = False,
    **limits: Any,
) -> Any:
    """A field of the model, which is all that there is to declare of an option beside its annotation.

    Args:
        default: its value in whitnack.
        allowed: what it allows, in words, for errors and docs.
        meaning: what it means, in words.
        record: the fields of the engine's record that it fills.
        shown: its sections of the observation.
        added_later: for an option that the game did not always have, and whose default is the game without it. The
            fingerprints of rule sets that leave it at its default stay what they were, so policies and records of before live.
        limits: further arguments of pydantic's Field, and ``auto``: what stands for it where it is left out.
    """
    extra: Any = {
        "allowed": allowed, "auto": limits.pop("auto", ""), "record": tuple(record), "shown": tuple(shown), "added_later": added_later,
    }  # fmt: skip
    return Field(default, description=meaning, json_schema_extra=extra, **limits)


def number(default: int, low: int, high: int, meaning: str, *, auto: str = "", **declared: Any) -> Any:
    """A whole-number option from `low` to `high`; `auto` says what stands for it where it is left out; else as ``option``."""
    allowed = f"a whole number from {low} to {high:,}" + (f', or "auto" ({auto})' if auto else "")
    return option(default, allowed, meaning, ge=low, le=high, auto=auto, **declared)


def words(*names: str) -> str:
    """The words for a choice among names."""
    quoted = [f'"{name}"' for name in names]
    return f"one of {', '.join(quoted)}"


def yes_no(default: bool, meaning: str, **declared: Any) -> Any:
    """A yes-or-no option, shown as 0 or 1 unless ``shown`` says otherwise; else as ``option``."""
    return option(default, 'true or false ("yes" or "no")', meaning, **({"shown": (Shown(),)} | declared))


def choice(default: str, allowed: str, meaning: str, *, field: str = "", **declared: Any) -> Any:
    """An option that is one of some words, shown one-hot unless ``shown`` says otherwise; else as ``option``.

    The record's `field` ("": of its own name) holds the word's number, which the engine's constants follow.
    """
    usual = {"record": (RecordField(field, packing="choice"),), "shown": (ONE_HOT,)}
    return option(default, allowed, meaning, **(usual | declared))


def card_points(default: int, meaning: str, kind: str, place: int) -> Any:
    """Points of a kind of card, shown in units of 5 from the record's field ``card_points``.

    Args:
        place: of such a card there.
    """
    return option(default, CARD_POINTS_WORDS, meaning, record=(), shown=(points_shown(0.1, f"points_{kind}", "card_points", place),))


def bonus(default: int, meaning: str, scale: float = 0.01) -> Any:
    """An option that is an amount of points, shown in units of 5."""
    return option(default, BONUS_WORDS, meaning, shown=(points_shown(scale),))


def declaration(field: Any, what: str) -> Any:
    """What a field of the model declares: its ``record``, ``shown``, ``added_later``, ``allowed`` or ``auto``."""
    return field.json_schema_extra[what]

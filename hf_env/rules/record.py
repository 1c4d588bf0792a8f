"""A rule set as the flat record that the engine's kernels read: its type and its values, from the options' declarations."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, get_args

import numpy as np
from pydantic import BaseModel

from hf_env.engine.cards import ACE, BLACK3, JOKER, NUM_KINDS, RED3, TWO
from hf_env.engine.state import MAX_DEAL_ENTRIES, NO_LIMIT
from hf_env.rules import options as o
from hf_env.rules.ruleset import RuleSet

_BURIED = {"red3": (RED3,), "wild": (TWO, JOKER), "black3": (BLACK3,)}
_LOW_RANKS = 4  # 4, 5, 6, 7 are the first kinds; 8 to K lie between them and the ace


def _choice(rules: RuleSet, key: str) -> int:
    """Number of a choice: the engine's constants follow the order in which the option's names are declared."""
    names: tuple[Any, ...] = get_args(type(rules).model_fields[key].annotation)
    return names.index(getattr(rules, key))


def _limit(rules: RuleSet, key: str) -> int:
    value = getattr(rules, key)
    return NO_LIMIT if value in (None, "all") else value


def _card_points(rules: RuleSet, key: str) -> list[int]:
    points = [rules.points.high] * NUM_KINDS
    points[:_LOW_RANKS] = [rules.points.low] * _LOW_RANKS
    points[ACE], points[TWO], points[JOKER] = rules.points.ace, rules.points.two, rules.points.joker
    points[BLACK3], points[RED3] = rules.points.black3, 0  # a red 3 is no card value
    return points


def _buried(rules: RuleSet, key: str) -> list[int]:
    """1 for a kind that is not left as the upcard."""
    kinds = {kind for name in rules.bury_upcard for kind in _BURIED[name]}
    return [int(kind in kinds) for kind in range(NUM_KINDS)]


def _by_deal(value: Callable[[int], Any]) -> list[Any]:
    """Entries by deal - 1, padded with the last."""
    return [value(deal) for deal in range(1, MAX_DEAL_ENTRIES + 1)]


# What makes a field's value of a rule set and the key of the option that declares it. A new option takes one of the first
# four as a rule: a number or yes / no as it is, a word's number, a limit or NO_LIMIT, a number or 0.
PACKINGS: dict[str, Callable[[RuleSet, str], Any]] = {
    "value": getattr,
    "choice": _choice,
    "limit": _limit,
    "or_zero": lambda rules, key: getattr(rules, key) or 0,
    "sides": lambda rules, key: rules.num_sides,  # side of a seat = seat mod sides, in every seating
    "buried": _buried,
    "draw": lambda rules, key: _by_deal(rules.draw_count),
    "quota": lambda rules, key: _by_deal(rules.quota),
    "has_target": lambda rules, key: rules.target is not None,
    # Deals at most: `deals`, or `max_deals` with a target.
    "max_deals": lambda rules, key: rules.deals if rules.target is None else rules.max_deals,
    # The list as it is given.
    "opening": lambda rules, key: [*rules.opening, *[0] * (MAX_DEAL_ENTRIES - len(rules.opening))],
    "num_openings": lambda rules, key: len(rules.opening),
    "opening_cycles": lambda rules, key: rules.opening_tail == "cycle",
    "card_points": _card_points,
    # Equals clean_book where the option is none.
    "sevens_book": lambda rules, key: rules.clean_book if rules.sevens_book is None else rules.sevens_book,
    "has_sevens_book": lambda rules, key: rules.sevens_book is not None,
}


class ShownOption(NamedTuple):
    """A section of the observation that shows an option.

    Attributes:
        name: of the section, without ``option_``.
        shown: as declared.
        words: of a choice, else ().
        first, stride: the number of the record's word that it is read from, and how many words further each later deal's
            lies.
    """

    name: str
    shown: o.Shown
    words: tuple[str, ...]
    first: int
    stride: int


def record_fields(model: type[RuleSet] = RuleSet) -> list[tuple[str, o.RecordField]]:
    """Each field of the record with the key of the option that fills it, in the order of the declarations."""
    return [
        (key, field._replace(name=field.name or key))
        for key, option in model.model_fields.items()
        for field in o.declaration(option, "record")
    ]


def rules_dtype(model: type[RuleSet] = RuleSet) -> np.dtype:
    """The record's type: int32 throughout."""
    return np.dtype([(field.name, np.int32, field.shape) for _, field in record_fields(model)], align=True)


# What a rule set is to the engine: the kernels' argument `r`.
RULES_DTYPE = rules_dtype()
_WORD = np.dtype(np.int32).itemsize


def _declared(model: type[BaseModel]) -> Iterator[tuple[str, o.Shown, tuple[str, ...], str]]:
    """Key, entry, words and first record field of all that the options of a model show, in the order of the declarations."""
    for key, option in model.model_fields.items():
        inner = option.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _declared(inner)
        fields = [field.name or key for field in o.declaration(option, "record")]
        for shown in o.declaration(option, "shown"):
            words = get_args(inner) if shown.group == o.CHOICES else ()
            yield key, shown, words, shown.field or fields[0]


@functools.cache
def shown_options(model: type[RuleSet] = RuleSet) -> tuple[ShownOption, ...]:
    """All that the observation shows of a rule set, in its order."""
    dtype = rules_dtype(model)
    offsets: Any = dtype.fields
    found = []
    for key, shown, words, field in _declared(model):
        shape = dtype[field].shape
        stride = int(np.prod(shape[1:])) if shown.read == o.BY_DEAL else 0
        found.append(ShownOption(shown.name or key, shown, words, offsets[field][1] // _WORD + shown.place, stride))
    return tuple(entry for group in o.GROUPS for entry in found if entry.shown.group == group)


def pack_rules(rules: RuleSet) -> np.ndarray:
    """An array of shape (1,) of the type of the rule set's record, RULES_DTYPE, with every option, resolved."""
    model = type(rules)
    array = np.zeros(1, RULES_DTYPE if model is RuleSet else rules_dtype(model))
    for key, field in record_fields(model):
        array[0][field.name] = PACKINGS[field.packing](rules, key)
    return array

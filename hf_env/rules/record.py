"""A rule set as the flat record that the engine's kernels read."""

from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from hf_env.engine.cards import ACE, BLACK3, JOKER, NUM_KINDS, RED3, TWO
from hf_env.engine.state import MAX_DEAL_ENTRIES, NO_LIMIT, RULES_DTYPE

if TYPE_CHECKING:
    from hf_env.rules.ruleset import RuleSet

_SAME_NAME = [
    "players",
    "decks",
    "hand_size",
    "foot_size",
    "deals",
    "book_size",
    "max_wilds",
    "min_naturals",
    "max_turns",
    "clean_book",
    "dirty_book",
    "wild_book",
    "going_out",
    "red3_laid",
    "red3_held",
    "unfinished_wild_penalty",
    "wild_melds",
    "take_needs_open",
    "wild_discard_freezes",
    "partner_foot",
]
_BURIED = {"red3": (RED3,), "wild": (TWO, JOKER), "black3": (BLACK3,)}
_LOW_RANKS = 4  # 4, 5, 6, 7 are the first kinds; 8 to K lie between them and the ace


def pack_rules(rules: "RuleSet") -> np.ndarray:
    """An array of shape (1,) of RULES_DTYPE with every option, resolved."""
    array = np.zeros(1, RULES_DTYPE)
    record = array[0]
    for name in _SAME_NAME:
        record[name] = getattr(rules, name)
    record["sides"] = rules.num_sides
    for name in rules.bury_upcard:
        for kind in _BURIED[name]:
            record["bury"][kind] = 1
    for index in range(MAX_DEAL_ENTRIES):
        record["draw"][index] = rules.draw_count(index + 1)
        record["quota"][index] = rules.quota(index + 1)
    record["opening"][: len(rules.opening)] = rules.opening
    record["num_openings"] = len(rules.opening)
    record["opening_cycles"] = rules.opening_tail == "cycle"
    record["target"] = rules.target or 0
    record["has_target"] = rules.target is not None
    record["max_deals"] = rules.deals if rules.target is None else rules.max_deals
    for field, key in (("grow", "add_to_complete"), ("wild_limit",) * 2, ("take_key",) * 2, ("permission",) * 2,
                       ("final_discard",) * 2):  # fmt: skip
        record[field] = _position(rules, key)
    record["wild_book_cap"] = NO_LIMIT if rules.wild_book_cap is None else rules.wild_book_cap
    record["take_count"] = NO_LIMIT if rules.take_count == "all" else rules.take_count
    record["take_wild_top"] = rules.take_wild_top == "matching_pair"
    record["reshuffle"] = rules.stock_out == "reshuffle"
    record["sevens_book"] = rules.clean_book if rules.sevens_book is None else rules.sevens_book
    record["has_sevens_book"] = rules.sevens_book is not None
    record["card_points"] = _card_points(rules)
    return array


def _position(rules: "RuleSet", key: str) -> int:
    """Number of a choice: the engine's constants follow the order in which the option's names are declared."""
    names: tuple[Any, ...] = get_args(type(rules).model_fields[key].annotation)
    return names.index(getattr(rules, key))


def _card_points(rules: "RuleSet") -> list[int]:
    points = [rules.points.high] * NUM_KINDS
    points[:_LOW_RANKS] = [rules.points.low] * _LOW_RANKS
    points[ACE], points[TWO], points[JOKER] = rules.points.ace, rules.points.two, rules.points.joker
    points[BLACK3], points[RED3] = rules.points.black3, 0
    return points

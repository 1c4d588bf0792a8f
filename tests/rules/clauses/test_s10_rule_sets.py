"""Rule sets: what can be played, and what is refused. Rule: docs/rules.md 10, 11."""

import pytest

from hf_env.rules import list_rules, load_rules, preset_text
from tests.rules.clauses.pairs import clause, rule_sets

LONE = {"seating": "alone", "partner_foot": False, "permission": "none", "books_to_go_out": [1, 1, 0]}
SMALL = {"players": 2, **LONE}

test_10_1_presets = rule_sets(
    "10.1",
    ("a preset's name", {"preset": "family"}, {"preset": "Family"}, 'there is no rule set "Family"'),
)


@clause("10.1")
def test_10_1_equal_options_are_the_same_game():
    """Only what an option says tells rule sets apart, not the name under which it came."""
    changes = {"books_to_go_out": [1, 1, 1]}
    assert load_rules(changes) == load_rules("saskatchewan") != load_rules("whitnack")
    assert load_rules(changes).fingerprint == load_rules("saskatchewan").fingerprint != load_rules("brouillette").fingerprint


test_10_2_presets_that_need_partners = rule_sets(
    "10.2",
    ("five-player alone", {"preset": "five-player"}, {"permission": "binding_no"}, "permission = "),
)

CERTAIN = {
    "whitnack": ["S1"], "bicycle": ["S1", "paraphrases"], "family": ["S2"], "brouillette": ["S1", "our choice"],
    "saskatchewan": ["S1", "our choice"], "mini": ["of our own"],
}  # fmt: skip


@clause("10.3")
@pytest.mark.parametrize("name", CERTAIN)
def test_10_3_each_preset_names_its_source(name):
    """A preset's file says where it comes from and what in it is our own choice."""
    assert name in list_rules()
    comments = " ".join(line.partition("#")[2].strip() for line in preset_text(name).splitlines() if "#" in line)
    for words in CERTAIN[name]:
        assert words in comments


test_10_4_ranges = rule_sets(
    "10.4",
    ("players", {"players": 6}, {"players": 7}, "players = 7"),
    ("decks", {"decks": 8}, {"decks": 9}, "decks = 9"),
    ("hand_size", {"hand_size": 26, "decks": 8}, {"hand_size": 27}, "hand_size = 27"),
    ("foot_size", {"foot_size": 2}, {"foot_size": 1}, "foot_size = 1"),
    ("draw", {"draw": [2, 5]}, {"draw": [2, 6]}, "draw = "),
    ("deals", {"deals": 20}, {"deals": 21}, "deals = 21"),
    ("target", {"target": 5}, {"target": 7}, "target = 7"),
    ("max_deals", {"max_deals": 1000}, {"max_deals": 1001}, "max_deals = 1001"),
    ("opening", {"opening": [1000]}, {"opening": [1005]}, "opening = "),
    ("book_size", {"book_size": 3}, {"book_size": 2}, "book_size = 2"),
    ("max_wilds", {"max_wilds": 9}, {"max_wilds": 10}, "max_wilds = 10"),
    ("take_count", {"take_count": 30}, {"take_count": 31}, "take_count = 31"),
    ("points are multiples of 5", {"points": {"ace": 15}}, {"points": {"ace": 12}}, "points.ace = 12"),
    ("no option", {}, {"jokers": 2}, 'unknown option "jokers"'),
)
test_10_4_combinations = rule_sets(
    "10.4",
    ("pairs for 4 and 6", {"players": 6}, {"players": 5}, "seating = "),
    ("threes for 6", {"players": 6, "seating": "threes"}, {"players": 4}, "seating = "),
    ("partner_foot without partners", LONE, {"partner_foot": True}, "partner_foot = "),
    ("permission without partners", LONE, {"permission": "binding_no"}, "permission = "),
    (
        "22 cards left, 21 needed",
        {**SMALL, "decks": 2, "hand_size": 18, "foot_size": 25, "take_count": "all"},
        {"hand_size": 19},
        "decks = 2 leaves 20",
    ),
    ("as many turns as players", {"max_turns": 4}, {"max_turns": 3}, "max_turns = 3"),
    ("a hand that holds a meld", {"hand_size": 1, "draw": 2}, {"draw": 1}, "hand_size = 1"),
    (
        "an opening above the best hand",
        {"hand_size": 13, "opening": [500]},
        {"hand_size": 3, "max_turns": 4, "opening": [500]},
        "opening = 500",
    ),
    ("a cap where wild melds are banned", {"wild_melds": False, "books_to_go_out": [1, 1, 0]}, {"wild_book_cap": 1}, "wild_book_cap = 1"),
    ("a quota above the cap", {"wild_book_cap": 1}, {"wild_book_cap": 0}, "books_to_go_out = "),
    (
        "a quota where wild melds are banned",
        {"wild_melds": False, "books_to_go_out": [1, 1, 0]},
        {"books_to_go_out": [1, 1, 1]},
        "books_to_go_out = ",
    ),
    ("four wild books of 30 wilds", {"books_to_go_out": [1, 0, 4]}, {"books_to_go_out": [1, 0, 5]}, "books_to_go_out = "),
    ("dirty books within the wild limit", {"wild_limit": "at_most", "max_wilds": 1}, {"max_wilds": 0}, "books_to_go_out = "),
    ("at most 160,000 points a deal", {"wild_book": 10_000}, {"clean_book": 10_000}, "clean_book = "),
)


@clause("10.4")
def test_10_4_without_effect():
    """A value that merely has no effect is not refused."""
    assert load_rules(max_wilds=5).wild_limit == "two_to_one" and load_rules(take_count=0, take_key="any_meld").take_count == 0


test_11_1_words = rule_sets(
    "11.1",
    ("a word of the list", {"seating": "pairs"}, {"seating": "circle"}, "seating = "),
    ("all", {"take_count": "all"}, {"take_count": "everything"}, "take_count = "),
    ("none where it is allowed", {"wild_book_cap": "none"}, {"max_deals": "none"}, "max_deals = "),
)

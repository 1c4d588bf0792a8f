"""Rule sets: the presets, the ranges, the combinations, the forms they are written in. Rule: docs/rules.md 10, 11."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from pydantic import ValidationError

from hf_env.engine import state
from hf_env.engine.cards import parse_cards
from hf_env.rules import CardPoints, RulesError, RuleSet, diff_rules, list_rules, load_rules, parse_setting, preset_text
from hf_env.rules.document import DOCUMENT, with_tables
from hf_env.rules.options import declaration
from hf_env.rules.record import RULES_DTYPE
from hf_env.rules.toml_files import parse_toml

from .strategies import random_rule_set, rule_sets

LONE = {"seating": "alone", "partner_foot": False, "permission": "none", "books_to_go_out": [1, 1, 0]}
FAMILY = {
    "hand_size": 11, "foot_size": 11, "take_key": "any_meld", "wild_limit": "at_most", "books_to_go_out": [1, 1, 0],
    "partner_foot": False, "permission": "none",
}  # fmt: skip

# Each preset's differences from whitnack: the table of docs/rules.md 10.
PRESETS = {
    "whitnack": {},
    "bicycle": {
        "hand_size": 11, "foot_size": 11, "wild_limit": "more_naturals", "wild_melds": False,
        "books_to_go_out": [1, 1, 0], "partner_foot": False, "permission": "none", "final_discard": "required",
    },
    "family": FAMILY,
    "saskatchewan": {"books_to_go_out": [1, 1, 1]},
    "brouillette": {"books_to_go_out": [2, 2, 0]},
    "family-10000": FAMILY | {"target": 10000},
    "family-no-wild": FAMILY | {"wild_melds": False},
    "family-one-wild": FAMILY | {"wild_book_cap": 1},
    "family-ask": {key: value for key, value in FAMILY.items() if key != "permission"},
    "two-player": LONE | {"players": 2, "decks": 3, "max_turns": 400},
    "three-player": LONE | {"players": 3, "decks": 4, "max_turns": 600},
    "five-player": LONE | {"players": 5, "decks": 6, "max_turns": 1000},
    "six-pairs": {"players": 6, "decks": 7, "max_turns": 1200},
    "six-threes": {"players": 6, "seating": "threes", "decks": 7, "max_turns": 1200},
    "mini": LONE | {
        "players": 2, "decks": 1, "max_turns": 400, "hand_size": 6, "foot_size": 4, "draw": 1, "deals": 1, "opening": [15],
        "book_size": 4, "take_key": "any_meld", "books_to_go_out": [0, 1, 0],
    },
}  # fmt: skip


def refusal(*args, **overrides) -> str:
    """The line with which a rule set is refused."""
    with pytest.raises(RulesError) as caught:
        load_rules(*args, **overrides)
    line = str(caught.value)
    assert line and "\n" not in line and len(line) < 400
    return line


def test_list_rules_names_every_preset():
    assert list_rules()[0] == "whitnack"
    assert set(list_rules()) == set(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_preset_differs_from_whitnack_as_the_table_says(name):
    rules = load_rules(name)
    assert {key: value for key, _, value in diff_rules(load_rules("whitnack"), rules)} == PRESETS[name]
    assert rules.name == rules.preset == name
    assert parse_toml(preset_text(name).encode(), name).get("preset", "whitnack") in PRESETS


def test_whitnack_is_the_default_and_complete():
    written = parse_toml(preset_text("whitnack").encode(), "whitnack")
    later = {key for key, field in RuleSet.model_fields.items() if declaration(field, "added_later")}
    assert set(written) | later == set(RuleSet.model_fields) - {"preset"}
    assert set(written["points"]) == set(CardPoints.model_fields)
    assert RuleSet() == load_rules() == load_rules("whitnack") == load_rules({})


@pytest.mark.parametrize("name", PRESETS)
def test_round_trips(name, tmp_path):
    rules = load_rules(name)
    assert load_rules(rules.resolved()) == rules and RuleSet(**rules.resolved()) == rules
    assert pickle.loads(pickle.dumps(rules)) == rules
    for complete in (False, True):
        path = tmp_path / f"{complete}.toml"
        path.write_text(rules.to_toml(complete=complete))
        assert load_rules(path).resolved() == rules.resolved()
    assert rules.to_toml() == f'preset = "{name}"\n'


def check_round_trip(rules):
    again = load_rules(parse_toml(rules.to_toml().encode(), "text"))
    assert again == rules and hash(again) == hash(rules) and again.resolved() == rules.resolved()
    record = rules.to_record()
    assert record.dtype == RULES_DTYPE and record.shape == (1,)


@given(rule_sets())
@settings(max_examples=60, deadline=None)
def test_drawn_rule_sets_round_trip(rules):
    check_round_trip(rules)


def test_seeded_rule_sets_round_trip_and_cover_every_choice():
    seen = {}
    for seed in range(400):
        rules = random_rule_set(seed)
        assert random_rule_set(seed) == rules
        check_round_trip(rules)
        for key, value in rules.resolved().items():
            seen.setdefault(key, set()).add(repr(value))
    assert all(len(seen[key]) > 1 for key in RuleSet.model_fields if key != "preset")
    assert {len(seen[key]) for key in ("seating", "add_to_complete", "wild_limit", "take_key", "permission")} == {3}
    assert len(seen["final_discard"]) == 3 and len(seen["players"]) == 5


# One other value for each option, valid on its own.
OTHER = {
    "players": 6, "seating": "alone", "decks": 6, "hand_size": 12, "foot_size": 12, "bury_upcard": [], "draw": [2, 3],
    "deals": 3, "target": 5000, "max_deals": 10, "opening": [50], "opening_tail": "hold_last", "book_size": 6,
    "add_to_complete": "any", "wild_limit": "at_most", "max_wilds": 3, "min_naturals": 3, "wild_melds": False,
    "wild_book_cap": 2, "take_count": "all", "take_key": "any_meld", "take_wild_top": "matching_pair",
    "take_needs_open": True, "wild_discard_freezes": True, "books_to_go_out": [2, 1, 0], "partner_foot": True,
    "permission": "binding_both", "final_discard": "required", "stock_out": "reshuffle", "max_turns": 500,
    "points": {"ace": 15}, "clean_book": 400, "dirty_book": 250, "wild_book": 2000, "going_out": 200, "red3_laid": 50,
    "red3_held": 200, "sevens_book": 1000, "unfinished_wild_penalty": 500,
}  # fmt: skip
NO_PARTNER = {"partner_foot": False, "permission": "none", "books_to_go_out": [1, 1, 0]}


def test_fingerprint_changes_with_every_option():
    assert set(OTHER) == set(RuleSet.model_fields) - {"preset"}
    # Without partner conditions and with explicit decks and turns, so that each option can change alone.
    base = load_rules(decks=7, max_turns=1200, **NO_PARTNER)
    changes = [{key: value} for key, value in OTHER.items()]
    changes += [{f"points.{kind}": 35} for kind in CardPoints.model_fields]
    prints = {base.fingerprint}
    for change in changes:
        changed = base.with_overrides(**change)
        (row,) = diff_rules(base, changed)
        assert row[0].split(".")[0] == next(iter(change)).split(".")[0]
        prints.add(changed.fingerprint)
    assert len(prints) == len(changes) + 1


def test_fingerprint_ignores_the_name_and_how_values_are_written():
    family = load_rules("family")
    same = load_rules("whitnack", **FAMILY)
    assert same == family and hash(same) == hash(family) and same.name != family.name
    assert load_rules(draw=[2, 2, 2]) == load_rules(draw=[2]) == load_rules(draw=2)
    assert load_rules(books_to_go_out=[[2, 2, 1], [2, 2, 1]]) == load_rules()
    assert load_rules(bury_upcard=["wild", "red3"], wild_melds="yes", target="none", decks="auto") == load_rules()
    assert load_rules(deals=np.int64(4), draw=np.array([2]), wild_melds=np.bool_(True)) == load_rules()
    # With a cycle the end of the list matters.
    assert load_rules(opening=[50, 50]) != load_rules(opening=[50])


def test_fingerprint_is_stable():
    # Kept records and checkpoints name it: it changes only with RULES_VERSION or the options.
    assert load_rules("whitnack").fingerprint == "5ceb94b35df5d2da"
    assert load_rules("mini").fingerprint == "553c4168d740359f"


SMALL = load_rules("mini")
RANGES = {
    "players": (2, 6), "decks": (1, 8), "hand_size": (1, 26), "foot_size": (2, 26), "draw": (1, 5), "deals": (1, 20),
    "max_deals": (1, 1000), "book_size": (3, 10), "max_wilds": (0, 9), "min_naturals": (1, 7), "wild_book_cap": (0, 20),
    "take_count": (0, 30), "max_turns": (2, 10_000),
}  # fmt: skip
POINTS = ["clean_book", "dirty_book", "wild_book", "going_out", "red3_laid", "red3_held", "sevens_book",
          "unfinished_wild_penalty"]  # fmt: skip
POINT_RANGES = dict.fromkeys(POINTS, 10000) | {f"points.{kind}": 500 for kind in CardPoints.model_fields}
# What an edge needs from the other options to be possible.
WITH = {"players": {"decks": 3}, "hand_size": {"decks": 2, "draw": 2}, "foot_size": {"decks": 2},
        "book_size": {"decks": 3}, "min_naturals": {"decks": 2, "book_size": 8}}  # fmt: skip


@pytest.mark.parametrize("key", RANGES)
def test_edges_of_ranges(key):
    low, high = RANGES[key]
    for value in (low, high):
        assert SMALL.with_overrides(**{key: value}, **WITH.get(key, {})).resolved()[key] == value
    for value in (low - 1, high + 1, float(low), str(low), True, [low, [high]]):
        assert f"{key} = " in refusal(SMALL, **{key: value})


@pytest.mark.parametrize("key", POINT_RANGES)
def test_edges_of_points(key):
    high = POINT_RANGES[key]
    for value in (0, high):
        resolved = SMALL.with_overrides(**{key: value, "opening": [0]}).resolved()
        assert (resolved | {f"points.{kind}": worth for kind, worth in resolved["points"].items()})[key] == value
    for value in (-5, high + 5, 7, 12.5, True, "x"):
        assert refusal(SMALL, **{key: value}).startswith(f"{key} = ")


def test_edges_of_lists_and_target():
    for key, entry in (("draw", 1), ("opening", 15), ("books_to_go_out", [0, 1, 0])):
        assert SMALL.with_overrides(**{key: [entry] * 20})
        assert refusal(SMALL, **{key: [entry] * 21}).startswith(f"{key} = ")
        assert refusal(SMALL, **{key: []}).startswith(f"{key} = ")
    big = load_rules("whitnack", opening=[1000, 0])
    assert (big.opening_minimum(1), big.opening_minimum(2)) == (1000, 0)
    for opening in ([1005], [-5], [52], "50", [[50]]):
        assert refusal(opening=opening).startswith("opening = ")
    assert load_rules(target=5).target == 5 and load_rules(target=100_000).target == 100_000
    for target in (0, -5, 100_005, 7, "all"):
        assert refusal(target=target).startswith("target = ")


@pytest.mark.parametrize("key", ["seating", "opening_tail", "add_to_complete", "wild_limit", "take_key", "take_wild_top",
                                 "permission", "final_discard", "stock_out"])  # fmt: skip
def test_choices_refuse_other_words(key):
    for value in ("", "None", "NONE", 0, None, True, ["none"]):
        assert refusal(**{key: value}).startswith(f"{key} = ")


# Overrides of whitnack, and what the refusal must name.
IMPOSSIBLE = [
    ({"players": 2}, ["seating", "players = 2", "two-player", 'permission = "none"', "partner_foot"]),
    ({"players": 3}, ["seating", "three-player"]),
    ({"players": 5}, ["seating", "five-player"]),
    ({"seating": "threes"}, ["seating", "players = 4"]),
    ({"seating": "alone"}, ["partner_foot", 'permission = "none"']),
    ({"seating": "alone", "partner_foot": False}, ["permission", '"binding_no"', "alone"]),
    ({"decks": 2}, ["decks = 2", "21 must be left"]),
    ({"decks": 4, "hand_size": 26, "foot_size": 26}, ["decks = 4", "hand_size = 26", "foot_size = 26", "leaves 8 of 216"]),
    (NO_PARTNER | {"players": 3, "seating": "alone", "decks": 2, "hand_size": 17}, ["leaves 18 of 108", "21 must be left"]),
    ({"max_turns": 3}, ["max_turns = 3", "players = 4"]),
    ({"hand_size": 1, "draw": 1}, ["hand_size = 1", "draw = 1"]),
    ({"hand_size": 1, "draw": [2, 1]}, ["hand_size = 1", "draw = 1 (deal 2)"]),
    ({"hand_size": 2, "draw": 1, "opening": [155]}, ["opening = 155", "150"]),
    ({"points": dict.fromkeys(CardPoints.model_fields, 0)}, ["opening = 50"]),
    ({"opening": [50, 1000], "draw": 1}, ["opening = 1000 in deal 2"]),
    ({"wild_melds": False}, ["books_to_go_out", "wild_melds = false", "third number"]),
    ({"wild_melds": False, "books_to_go_out": [2, 2, 0], "wild_book_cap": 3}, ["wild_book_cap = 3", "wild_melds"]),
    ({"wild_book_cap": 0}, ["books_to_go_out", "wild_book_cap = 0"]),
    ({"books_to_go_out": [[2, 2, 1], [2, 2, 2]], "wild_book_cap": 1}, ["in deal 2", "2 wild books", "wild_book_cap = 1"]),
    ({"books_to_go_out": [0, 0, 5]}, ["5 wild books", "35 wilds", "30 in play"]),
    ({"books_to_go_out": [0, 3, 4]}, ["books_to_go_out", "31 wilds", "30"]),
    ({"books_to_go_out": [20, 20, 0]}, ["books_to_go_out", "naturals"]),
    ({"wild_limit": "at_most", "max_wilds": 0}, ["books_to_go_out", "max_wilds = 0", "dirty"]),
    ({"min_naturals": 7}, ["books_to_go_out", "min_naturals = 7"]),
    ({"decks": 1, "hand_size": 2, "foot_size": 2, "opening": [0]}, ["books_to_go_out", "book_size = 7", "decks = 1"]),
    ({"take_count": 0, "draw": 1, "hand_size": 3, "foot_size": 3}, ["books_to_go_out", "35 cards"]),
    ({"clean_book": 10_000}, ["clean_book = 10000", "160,000"]),
    ({"points": {"low": 500, "high": 500}, "red3_held": 10_000, "decks": 8}, ["points", "160,000"]),
    ({"preset": "family"}, ["preset"]),
]  # fmt: skip


@pytest.mark.parametrize(("overrides", "named"), IMPOSSIBLE, ids=[str(number) for number in range(len(IMPOSSIBLE))])
def test_impossible_combinations_are_refused_with_the_reason(overrides, named):
    line = refusal("whitnack", **overrides)
    for word in named:
        assert word in line


JUST_POSSIBLE = [
    {"hand_size": 1, "draw": 2},
    {"hand_size": 2, "draw": 1, "opening": [150]},
    {"max_turns": 4},
    {"books_to_go_out": [0, 2, 4]},
    {"books_to_go_out": [20, 0, 4]},
    {"wild_book_cap": 1},
    {"min_naturals": 6},
    # A clean book grown by a wild is the only dirty one.
    {"wild_limit": "at_most", "max_wilds": 0, "add_to_complete": "any"},
    {"min_naturals": 7, "add_to_complete": "any"},
    NO_PARTNER | {"players": 3, "seating": "alone", "decks": 2, "hand_size": 15, "foot_size": 14},
]


@pytest.mark.parametrize("overrides", JUST_POSSIBLE, ids=str)
def test_what_is_just_possible_is_accepted(overrides):
    assert load_rules("whitnack", **overrides)


def test_values_by_deal():
    rules = load_rules("brouillette", draw=[1, 3], opening_tail="hold_last", books_to_go_out=[[1, 1, 0], [2, 2, 1]])
    assert [rules.draw_count(deal) for deal in (1, 2, 3, 20, 500)] == [1, 3, 3, 3, 3]
    assert [rules.quota(deal) for deal in (1, 2, 3)] == [(1, 1, 0), (2, 2, 1), (2, 2, 1)]
    assert [rules.opening_minimum(deal) for deal in (1, 4, 5, 9)] == [50, 150, 150, 150]
    assert [load_rules().opening_minimum(deal) for deal in (1, 4, 5, 8, 9)] == [50, 150, 50, 150, 50]
    for method in (rules.draw_count, rules.quota, rules.opening_minimum):
        with pytest.raises(ValueError, match="count from 1"):
            method(0)


def test_sides():
    for name, sides in (("whitnack", 2), ("six-pairs", 3), ("six-threes", 2), ("five-player", 5)):
        rules = load_rules(name)
        assert rules.num_sides == sides and rules.seats_per_side == rules.players // sides
        assert [rules.side_of(seat) for seat in range(rules.players)] == [seat % sides for seat in range(rules.players)]
        with pytest.raises(IndexError):
            rules.side_of(rules.players)


def test_overrides_follow_players_and_merge_points():
    six = load_rules().with_overrides(players=6)
    assert (six.decks, six.max_turns) == (7, 1200) and six == load_rules("six-pairs")
    assert load_rules(decks=6).with_overrides(players=6).decks == 6
    assert load_rules("mini", players=3).decks == 1
    changed = load_rules(**{"points.ace": 15}).with_overrides(points={"two": 25})
    assert (changed.points.ace, changed.points.two, changed.points.joker) == (15, 25, 50)
    assert load_rules({"preset": "mini", "points": {"ace": 15}}, deals=2).deals == 2
    assert load_rules(six) is six
    assert "family" in refusal("famly") and "mini" in refusal("famly")
    for wrong in (3, None, ["whitnack"], b"whitnack"):
        assert "not " + type(wrong).__name__ in refusal(wrong)


def test_a_rule_set_is_immutable():
    rules = load_rules()
    with pytest.raises(ValidationError):
        rules.players = 6
    with pytest.raises(ValidationError):
        rules.points.ace = 5
    assert all(isinstance(getattr(rules, key), tuple) for key in ("draw", "opening", "books_to_go_out", "bury_upcard"))


def test_record():
    rules = load_rules(
        "whitnack", target=500, max_deals=7, bury_upcard=["wild"], draw=[1, 2], opening=[5, 10], opening_tail="hold_last",
        books_to_go_out=[[1, 0, 0], [2, 1, 1]], add_to_complete="any", wild_limit="at_most", take_count="all",
        take_key="any_meld", take_wild_top="matching_pair", permission="binding_both", final_discard="forbidden",
        stock_out="reshuffle", wild_book_cap=3, points={"low": 15, "high": 25},
    )  # fmt: skip
    record = rules.to_record()[0]
    assert [record[key] for key in ("players", "sides", "decks", "hand_size", "max_turns")] == [4, 2, 5, 13, 800]
    assert [record[key] for key in ("has_target", "target", "max_deals", "deals")] == [1, 500, 7, 4]
    assert list(record["bury"]) == [kind in parse_cards("2*") for kind in range(15)]
    assert list(record["draw"]) == [1] + [2] * 19
    assert list(record["opening"][:3]) == [5, 10, 0] and record["num_openings"] == 2 and record["opening_cycles"] == 0
    assert record["quota"][0].tolist() == [1, 0, 0] and record["quota"][19].tolist() == [2, 1, 1]
    assert (record["grow"], record["wild_limit"], record["take_key"]) == (state.GROW_ANY, state.AT_MOST, state.ANY_MELD)
    assert (record["permission"], record["final_discard"]) == (state.BINDING_BOTH, state.FINAL_FORBIDDEN)
    assert (record["take_count"], record["take_wild_top"], record["reshuffle"]) == (state.NO_LIMIT, 1, 1)
    assert record["card_points"].tolist() == [15] * 4 + [25] * 6 + [20, 20, 50, 5, 0]
    assert (record["has_sevens_book"], record["sevens_book"], record["wild_book_cap"]) == (0, 500, 3)
    plain = load_rules("bicycle", sevens_book=0).to_record()[0]
    assert (plain["max_deals"], plain["has_target"], plain["wild_limit"]) == (4, 0, state.MORE_NATURALS)
    assert (plain["final_discard"], plain["permission"]) == (state.FINAL_REQUIRED, state.PERMISSION_NONE)
    assert (plain["has_sevens_book"], plain["sevens_book"], plain["take_count"]) == (1, 0, 7)
    assert plain["wild_book_cap"] == state.NO_LIMIT and list(plain["bury"]).count(1) == 3


SETTINGS = [
    ("deals=3", ("deals", 3)),
    ("permission=none", ("permission", "none")),
    ("seating='alone'", ("seating", "alone")),
    ("points.ace=15", ("points.ace", 15)),
    ("points={ace = 15}", ("points", {"ace": 15})),
    ("bury_upcard=[red3, \"wild\"]", ("bury_upcard", ["red3", "wild"])),
    ("wild_melds=false", ("wild_melds", False)),
    ("wild_melds=no", ("wild_melds", "no")),
    ("books_to_go_out=[[2,2,1],[1,1,0]]", ("books_to_go_out", [[2, 2, 1], [1, 1, 0]])),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SETTINGS)
def test_parse_setting(text, expected):
    assert parse_setting(text) == expected


@pytest.mark.parametrize("text", ["", "deals", "=3", "deals=", "deals=3\ntarget=5", "deals=[1", "deals=1 2", "a b=1",
                                  "deals=" + "[" * 5000, "x.y.z=1", "deals='", "deals=\x00"])  # fmt: skip
def test_parse_setting_refuses(text):
    with pytest.raises(RulesError) as caught:
        parse_setting(text)
    assert "\n" not in str(caught.value)


def test_importing_the_rules_loads_no_engine():
    package = Path(sys.modules["hf_env.rules"].__file__).parents[1]
    code = (
        "import sys, types; package = types.ModuleType('hf_env'); "
        f"package.__path__ = [{str(package)!r}]; sys.modules['hf_env'] = package; import hf_env.rules; "
        "print([name for name in ('numba', 'pettingzoo', 'gymnasium', 'torch') if name in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


def test_the_tables_of_the_document_are_current():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run: python -m hf_env.rules.document"


def test_every_option_is_named_by_a_clause():
    named = set()
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("<!-- clause"):
            named |= set(line.split("options:")[1].split(";")[0].replace(",", " ").split())
    assert named == set(RuleSet.model_fields)

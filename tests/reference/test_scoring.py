"""Self-tests of the reference: the worked examples of scoring (Rule 9)."""

from .laying import canonical
from .tables import WHITNACK, table
from .test_reference import NO_ASKING


def no_points(rules):
    return rules | {"points": dict.fromkeys(rules["points"], 0)}


def test_example_a():
    books = ["KKKKKKK", "4444444", "QQQQQ22", "99999**", "2222222"]
    game = table(no_points(NO_ASKING), hands=["4"], feet=[None, None, None, None], sides=[{"books": books, "red3": 2, "opened": True}])
    game.apply("discard 4")
    assert game.end_reason == "out" and game.deal_scores() == [3400, 0]


def test_example_b():
    foot = canonical("r" + "*22" + "5")  # 95 points and a red 3
    game = table(
        hands=["Q7*", "", "", ""],
        feet=[None, None, foot, None],
        sides=[{"books": ["KKKKKKK", "9999922"], "melds": {"A": "AAA"}, "red3": 1, "opened": True}],
    )
    assert game.deal_scores() == [860, 0]


def test_example_stock_out():
    books = ["KKKKKKK", "4444444", "QQQQQ22", "2222222"]
    game = table(no_points(WHITNACK), stock="", phase="draw", sides=[{"books": books, "red3": 1, "opened": True}])
    game.apply("draw")
    assert game.end_reason == "stock_draw" and game.deal_scores() == [2900, 0]


def test_example_unopened_foot():
    game = table(hands=["", "", "", ""], feet=["rr4K", None, None, None])
    assert game.deal_scores() == [-215, 0]


def test_house_rules():
    rules = WHITNACK | {"sevens_book": 1000, "unfinished_wild_penalty": 300}
    side = {"books": ["7777777", "7777722"], "melds": {"wild": "222"}, "opened": True}
    game = table(rules, hands=[""] * 4, feet=[None] * 4, sides=[side])
    assert game.deal_scores() == [1000 + 35 + 300 + 65 + 60 - 300, 0]

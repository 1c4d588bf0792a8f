"""Rule 12: points of cards, bonuses and penalties."""

from .laying import Options
from .tables import WHITNACK, table

POINTS = WHITNACK["points"]


def score(side, **options):
    """What a side scores with this table and empty hands and feet."""
    game = table(WHITNACK | options, hands=[""] * 4, feet=[None] * 4, sides=[{"opened": True} | side])
    return game.deal_scores()[0]


def test_points_by_rank():
    options = Options(WHITNACK | {"points": POINTS | {"eight": 5, "nine": 5, "four": 20, "ace": 15}})
    assert options.value("89") == 10 and options.value("TJQK") == 40 and options.value("45A") == 40  # 12.22
    spread = {"joker": 50, "two": 20, "ace": 20, "black3": 5}
    spread |= dict.fromkeys(["king", "queen", "jack", "ten", "nine", "eight", "seven", "six", "five", "four"], 0)
    assert Options(WHITNACK | {"points": spread}).value("456789TJQK") == 0


def test_red3_laid_may_be_negative():
    assert score({"red3": 2}, red3_laid=-200) == -400


def test_rank_books():
    options = {"rank_books": {"seven": {"clean": 1500, "dirty": 700}, "king": {"dirty": 0}}}
    assert score({"books": ["7777777"]}, **options) == 1500 + 35
    assert score({"books": ["7777777"]}, **options, sevens_book=1000) == 1500 + 35  # 12.31: it wins
    assert score({"books": ["7777772"]}, **options) == 700 + 50
    assert score({"books": ["KKKKKK2"]}, **options) == 80
    assert score({"books": ["KKKKKKK"]}, **options) == 500 + 70  # 12.31: a missing entry is the ordinary bonus
    assert score({"books": ["77777777"]}, **options) == 1500 + 40  # grown books too


def test_wild_books_of_one_kind():
    options = {"twos_book": 2000, "jokers_book": 3000}
    assert score({"books": ["2222222"]}, **options) == 2000 + 140
    assert score({"books": ["*" * 8]}, **options) == 3000 + 400  # 12.21: grown ones too
    assert score({"books": ["222222*"]}, **options) == 1500 + 170
    assert score({"books": ["2222222"]}) == 1500 + 140


def test_sevens():
    options = {"sevens_unfinished": 500, "sevens_held": 100}
    assert score({"melds": {"7": "777"}}, **options) == 15 - 500
    assert score({"books": ["7777777"]}, **options) == 535
    game = table(WHITNACK | options, hands=["77", "", "7", ""], feet=["7K", None, None, None])
    assert game.deal_scores() == [-400 - 20 - 10, 0]  # 12.21: in hands and in packets not picked up


def test_red3_bonus():
    options = {"red3_bonus": [[4, 400], [7, 1000]]}
    assert [score({"red3": number}, **options) for number in (3, 4, 6, 7, 8)] == [300, 800, 1000, 1700, 1800]


def test_red3_unopened():
    side = {"red3": 4, "opened": False}
    bonus = {"red3_bonus": [[4, 400]]}
    assert score(side, **bonus) == 800
    assert score(side, **bonus, red3_unopened="zero") == 0  # 12.13: neither the points nor the bonus
    assert score(side, **bonus, red3_unopened="minus") == -800
    assert score(side, red3_laid=-100, red3_unopened="minus") == -400  # 12.13: the absolute value
    assert score({"red3": 4}, **bonus, red3_unopened="minus") == 800

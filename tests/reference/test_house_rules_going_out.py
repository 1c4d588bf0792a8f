"""Rule 12: the books to go out with, the last round, floating, and discards kept back."""

import random

import pytest

from .cards import LAYDOWNS_ON
from .laying import Options, canonical
from .tables import WHITNACK, laydowns, table
from .test_searches import random_options

OPEN = {"opened": True}
FREE = WHITNACK | {"books_to_go_out": [0, 0, 0], "permission": "none", "partner_foot": False}
ONE_BOOK = FREE | {"books_to_go_out": [1, 0, 0]}
BOOK = OPEN | {"books": ["KKKKKKK"]}
CLEAN, DIRTY, WILD = "KKKKKKK", "KKKKKK2", "2222222"


def in_foot(rules, hand, side=OPEN, **fields):
    """Seat 0 is in its foot, and so is its partner."""
    return table(rules, hands=[hand], sides=[side], **{"feet": [None, "4567", None, "4567"]} | fields)


# --------------------------------------------------------------------------------------------- the quota


@pytest.mark.parametrize(
    "options, books, met",
    [
        ({"books_any": 1}, [CLEAN, DIRTY], False),
        ({"books_any": 1}, [CLEAN, DIRTY, WILD], True),
        ({"books_any": 1}, [CLEAN, DIRTY, DIRTY], True),
        ({"books_any": 1}, [DIRTY, DIRTY, DIRTY], False),
        ({}, [CLEAN, CLEAN], False),
        ({"clean_as_dirty": True}, [CLEAN, CLEAN], True),
        ({"clean_as_dirty": True}, [DIRTY, DIRTY], False),
        ({"clean_as_dirty": True, "books_any": 1}, [CLEAN, CLEAN], False),  # 12.30: all books together
        ({"clean_as_dirty": True, "books_any": 1}, [CLEAN, CLEAN, CLEAN], True),
    ],
)
def test_number_of_books(options, books, met):
    assert Options(FREE | {"books_to_go_out": [1, 1, 0]} | options).quota_met(1, books) == met


def test_required_ranks():
    options = Options(FREE | {"books_to_go_out": [1, 0, 0], "required_ranks": ["seven", "ace"]})
    assert not options.quota_met(1, [CLEAN, "7777777"])
    assert options.quota_met(1, ["AAAAAA2", "7777777"])  # 12.30: of any kind, and one of those required
    assert not options.quota_met(1, ["AAAAAA2", "7777772"])


def test_the_search_for_a_finish_knows_the_quota():
    def can_finish(hand, **options):
        rules = FREE | {"books_to_go_out": [1, 0, 0]} | options
        return Options(rules).can_finish(1, hand, {"K": "KKKKKK"}, ["4444444"])

    assert can_finish("Q") and can_finish("KQ")
    assert not can_finish("Q", required_ranks=["king"]) and can_finish("KQ", required_ranks=["king"])
    assert not can_finish("Q", books_any=1) and can_finish("KQ", books_any=1)
    dirty = {"books_to_go_out": [1, 1, 0]}
    assert not can_finish("KQ", **dirty) and can_finish("KQ", **dirty, clean_as_dirty=True)


# ------------------------------------------------- the search for a finish, against play by all sequences


def random_finish(rng):
    """Rules under which nobody needs to ask, a hand in the foot, and a side's table."""
    rules = FREE | random_options(rng) | {
        "books_to_go_out": [rng.choice([0, 0, 1]) for _ in range(3)],
        "books_any": rng.choice([0, 0, 1]),
        "clean_as_dirty": rng.random() < 0.5,
        "required_ranks": rng.choice([[], [], ["king"]]),
        "black3_melds": rng.choice(["never", "going_out"]),
        "floating": rng.random() < 0.4,
        "red3": rng.choice(["lay", "penalty"]),
        "melds_a_rank": rng.choice(["reopen", "once"]),
    }  # fmt: skip
    hand = rng.choices("4QK" * 3 + "2*bbb" + "r" * (rules["red3"] == "penalty"), k=rng.randrange(2, 8))
    options, melds, books = Options(rules), {}, []
    for label in rng.choices(list(LAYDOWNS_ON["K"] + LAYDOWNS_ON["Q"] + LAYDOWNS_ON["wild"]), k=25):
        melds, books = options.lay(label, melds, books) or (melds, books)
    return rules, canonical(hand), {"melds": melds, "books": books, "opened": True}


def finishes(game, seen):
    """Is there a sequence of legal actions in this turn that ends in going out?"""
    position = game.position()
    key = (game.hands[0], str(position["sides"][0]))
    if key in seen:
        return False
    seen.add(key)
    last = f"discard {game.hands[0]}"
    for label in sorted(laydowns(game)) + [last] * (last in game.legal()):
        after = game.copy()
        after.apply(label)
        if after.end_reason == "out" or (not after.over and after.seat == 0 and finishes(after, seen)):
            return True
    return False


def compare_finishes(seeds):
    found = {True: 0, False: 0}
    for seed in seeds:
        rules, hand, side = random_finish(random.Random(seed))
        answer = Options(rules).can_finish(1, hand, side["melds"], side["books"])
        assert answer == finishes(in_foot(rules, hand, side), set()), (seed, rules, hand, side)
        found[answer] += 1
    return found


def test_finishes_equal_play():
    found = compare_finishes(range(200))
    assert min(found.values()) > 15, found


@pytest.mark.long
def test_finishes_equal_play_long():
    compare_finishes(range(1000, 8000))


# ------------------------------------------------------------------------------------------ `last_round`

ALL = FREE | {"last_round": "all"}


def test_every_other_seat_has_one_more_turn():
    game = in_foot(ALL, "KKK", stock="8" * 20)
    game.apply("meld KKK")
    assert not game.over and game.seat == 1 and game.turns == 9  # 12.24: it counts as a turn
    assert game.position()["turns_left"] == 3 and game.position()["out"] == 0
    assert game.deal_scores()[0] == 30 + 100 - 10  # the bonus; seat 2 holds 45
    for seat in (1, 2, 3):  # 12.9: partners too
        assert game.seat == seat
        game.apply("draw")
        game.apply("discard 8")
    assert game.end_reason == "out" and game.out_seat == 0
    assert "turns_left" not in table().position() and "out" not in table().position()


def test_last_round_after_a_discard():
    for option, over in (("none", True), ("without_discard", True), ("all", False)):
        game = in_foot(FREE | {"last_round": option}, "4")
        game.apply("discard 4")
        assert game.over == over and game.out_seat == 0
    game = in_foot(FREE | {"last_round": "without_discard"}, "KKK")
    game.apply("meld KKK")
    assert not game.over and game.turns_left == 3


def last_round(rules, hand, feet=None, turns_left=2, side=OPEN, **fields):
    """Seat 1 went out, seat 0 has its last turn."""
    return table(rules, hands=[hand, ""], feet=feet or [None] * 4, sides=[side], turns_left=turns_left, out=1, **fields)


def test_conditions_do_not_hold_in_the_last_round():
    rules = WHITNACK | {"last_round": "all", "final_discard": "required"}
    game = last_round(rules, "KKK")
    assert game.legal() == {"meld KKK", "discard K"}  # 12.9: no "keep a card", no `final_discard`, no question
    game.apply("meld KKK")
    assert game.seat == 1 and not game.over  # the last card laid ends the turn without a discard
    assert game.turns_left == 1 and game.out_seat == 1  # a seat that goes empty starts no further round
    game = last_round(rules | {"final_discard": "forbidden"}, "4")
    game.apply("discard 4")
    assert not game.over and game.hands[0] == "" and game.out_seat == 1


def test_no_question_in_the_last_round():
    rules = WHITNACK | {"last_round": "all", "books_to_go_out": [0, 0, 0]}
    assert "ask" in in_foot(rules, "45").legal()
    assert "ask" not in last_round(rules, "45").legal()


def test_the_minimum_holds_in_the_last_round():
    rules = WHITNACK | {"last_round": "all"}
    assert laydowns(last_round(rules, "4445", side={}, feet=["44"])) == set()


def test_the_foot_in_the_last_round():
    rules = WHITNACK | {"last_round": "all"}
    game = last_round(rules, "KKK", feet=["4567"])
    game.apply("meld KKK")
    assert game.seat == 0 and game.hands[0] == "4567"  # a hand emptied by laying gets its foot
    for option, foot in (("next_turn", "4567"), ("instead_of_draw", "4567"), ("at_once", None)):
        game = last_round(rules | {"foot_after_discard": option}, "4", feet=["4567"])
        game.apply("discard 4")
        assert game.feet[0] == foot


def test_a_foot_waiting_is_picked_up_in_the_last_round():
    rules = WHITNACK | {"last_round": "all"}
    game = last_round(rules, "45", feet=[None, "4567"])
    game.apply("discard 4")
    assert game.seat == 1 and game.hands[1] == "4567"


def test_whatever_ends_the_last_round_the_reason_is_out():
    game = last_round(ALL, "45", phase="draw", stock="")
    game.apply("draw")
    assert game.end_reason == "out" and game.out_seat == 1 and game.deal_scores()[1] >= 100 - 30
    game = last_round(ALL | {"max_turns": 9}, "45")
    game.apply("discard 4")
    assert game.end_reason == "out" and game.out_seat == 1
    game = in_foot(ALL | {"max_turns": 9}, "KKK")
    game.apply("meld KKK")
    assert game.over and game.end_reason == "out" and game.out_seat == 0


def test_the_last_turn_of_the_last_round():
    game = last_round(ALL, "45", turns_left=1)
    game.apply("discard 4")
    assert game.end_reason == "out"


def test_last_round_read_from_a_position():
    game = in_foot(ALL, "KKK")
    game.apply("meld KKK")
    again = type(game).from_position(ALL, game.position())
    assert again.position() == game.position() and again.in_last_round() and again.out_seat == 0


# -------------------------------------------------------------------------------------------- `floating`

FLOATING = ONE_BOOK | {"floating": True}


def test_who_may_not_go_out_floats():
    game = in_foot(FLOATING, "KKK")
    assert game.legal() == {"meld KKK", "discard K"}
    game.apply("meld KKK")
    assert not game.over and game.seat == 1 and game.hands[0] == "" and game.turns == 9  # 12.8: without a discard
    game = in_foot(FLOATING, "4")
    game.apply("discard 4")
    assert not game.over and game.seat == 1
    assert in_foot(ONE_BOOK, "KKK").legal() == {"discard K"}


def test_a_floating_player_draws_and_goes_on():
    game = table(FLOATING | {"draw": 1}, hands=[""], feet=[None], sides=[OPEN], phase="draw", stock="8", discard="K4")
    assert game.legal() == {"draw"}
    game.apply("draw")
    assert game.legal() == {"discard 8"}
    game.apply("discard 8")
    assert not game.over and game.hands[0] == ""


def test_a_floating_player_takes():
    side = OPEN | {"melds": {"K": "KKK"}}
    game = table(FLOATING | {"take_key": "any_meld"}, hands=[""], feet=[None], sides=[side], phase="draw", discard="K")
    assert game.legal() == {"draw", "take>meld"}
    game.apply("take>meld")
    assert game.hands[0] == "" and game.seat == 1  # the last card was laid: the turn ends at once


def test_if_out_emptying_is_always_going_out():
    game = in_foot(FLOATING, "QQQ4", BOOK)
    game.apply("meld QQQ")
    game.apply("discard 4")
    assert game.end_reason == "out"


@pytest.mark.parametrize("final_discard, by_laying, by_discard", [("optional", 1, 1), ("required", 0, 1), ("forbidden", 1, 0)])
def test_emptied_in_the_way_that_is_ruled_out(final_discard, by_laying, by_discard):
    rules = FLOATING | {"final_discard": final_discard}
    game = in_foot(rules, "QQQ", BOOK)
    game.apply("meld QQQ")
    assert game.over == bool(by_laying) and game.seat == (0 if by_laying else 1)
    game = in_foot(rules, "4", BOOK)
    game.apply("discard 4")
    assert game.over == bool(by_discard)


def test_without_the_yes_the_player_floats():
    rules = FLOATING | {"permission": "binding_no"}
    game = in_foot(rules, "4", BOOK)
    assert game.legal() == {"ask", "discard 4"}
    game.apply("ask")
    game.apply("no")
    game.apply("discard 4")
    assert not game.over and game.seat == 1
    bound = FLOATING | {"permission": "binding_both"}
    game = in_foot(bound, "QQQ4", BOOK)
    game.apply("ask")
    game.apply("yes")
    assert game.legal() == {"meld QQQ"}  # after the yes no discard but the last


def test_floating_needs_no_card_kept_at_a_take():
    rules = FLOATING
    game = table(rules, hands=["KK"], feet=[None], sides=[OPEN], discard="K", phase="draw")
    game.apply("take")
    assert not game.over and game.seat == 1 and game.hands[0] == ""
    assert "take" not in table(ONE_BOOK, hands=["KK"], feet=[None], sides=[OPEN], discard="K", phase="draw").legal()


# ------------------------------------------------------------------------------------------ `no_discard`


def test_cards_that_may_not_be_discarded():
    rules = WHITNACK | {"no_discard": ["wild", "seven", "ace"]}
    assert table(rules, hands=["27A*4b"]).legal() == {"discard 4", "discard b"}
    assert table(rules, hands=["27A*"]).legal() == {"discard 2", "discard 7", "discard A", "discard *"}  # 12.18
    assert table(WHITNACK | {"no_discard": ["seven"]}, hands=["727"]).legal() == {"discard 2"}
    penalty = rules | {"red3": "penalty"}
    assert table(penalty, hands=["2r"]).legal() == {"discard r"}


def test_it_never_bars_going_out():
    game = in_foot(FREE | {"no_discard": ["wild"]}, "2")
    game.apply("discard 2")
    assert game.end_reason == "out"

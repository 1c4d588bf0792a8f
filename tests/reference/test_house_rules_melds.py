"""Rule 12: melds and books, and black 3s laid on going out."""

import pytest

from .laying import Options
from .tables import WHITNACK, laydowns, table

OPEN = {"opened": True}

# ------------------------------------------------------------------------------- `melds_a_rank`, `wild_limit`


def test_one_meld_of_a_rank():
    rules = WHITNACK | {"melds_a_rank": "once"}
    side = OPEN | {"books": ["KKKKKKK", "2222222"]}
    hand = "KKK222QQQ4"
    assert "meld KKK" in table(hands=[hand], sides=[side]).legal()
    labels = laydowns(table(rules, hands=[hand], sides=[side]))
    assert "meld QQQ" in labels and not labels & {"meld KKK", "meld 222"}  # 12.16: wild melds too
    growing = rules | {"add_to_complete": "any"}
    assert {"add K", "add 2"} <= laydowns(table(growing, hands=[hand], sides=[side]))
    assert table(rules, hands=["KK4"], sides=[side], discard="K7", phase="draw").legal() == {"draw"}  # 12.16
    assert "take" in table(hands=["KK4"], sides=[side], discard="K7", phase="draw").legal()


def test_one_meld_of_a_rank_within_an_opening():
    rules = WHITNACK | {"melds_a_rank": "once"}
    assert laydowns(table(hands=["6666666666"])) == {"meld 666"}
    assert laydowns(table(rules, hands=["6666666666"])) == set()


@pytest.mark.parametrize(
    "options, allowed",
    [
        ({"wild_limit": "equal"}, {3: 1, 4: 2, 5: 2, 6: 3, 7: 3, 8: 4}),
        ({"wild_limit": "by_size"}, {3: 1, 4: 1, 5: 1, 6: 2, 7: 2, 8: 2}),
        ({"wild_limit": "by_size", "wilds_by_size": [0, 1, 2]}, {3: 0, 4: 1, 5: 2, 6: 2, 7: 2, 9: 2}),
        ({"wild_limit": "by_size", "wilds_by_size": [2], "min_naturals": 1}, {3: 2, 4: 2, 7: 2}),
    ],
)
def test_wild_limits(options, allowed):
    options = Options(WHITNACK | options)
    for size, most in allowed.items():  # 12.12: grown books too
        fitting = [wilds for wilds in range(size) if options.wilds_fit("K" * (size - wilds) + "2" * wilds)]
        assert fitting == list(range(most + 1))


# ------------------------------------------------------------------------------------- `add_to_complete`


def test_keep_clean():
    rules = WHITNACK | {"add_to_complete": "keep_clean"}
    side = OPEN | {"books": ["KKKKKKK", "QQQQQQ2", "2222222"]}
    assert laydowns(table(rules, hands=["2KQ4"], sides=[side])) == {"add K", "add Q", "add 2>Q", "add 2"}  # 12.29
    side = OPEN | {"books": ["KKKKKKK", "KKKKKK2"]}
    game = table(rules, hands=["KKK224"], sides=[side])
    game.apply("add K")
    game.apply("add 2>K")
    assert game.sides[0].books == ["KKKKKKK", "KKKKKKK22"]  # a natural goes to the dirty one first
    side = OPEN | {"books": ["KKKKKKK", "KKKKK22"]}  # a third wild does not fit
    assert laydowns(table(rules, hands=["24"], sides=[side])) == set()
    assert laydowns(table(rules | {"add_to_complete": "any"}, hands=["24"], sides=[side])) == {"add 2>K"}


# --------------------------------------------------------------------------------------- `black3_melds`

BLACK = WHITNACK | {
    "black3_melds": "going_out",
    "books_to_go_out": [1, 0, 0],
    "permission": "none",
    "partner_foot": False,
}
READY = OPEN | {"books": ["KKKKKKK"]}


def in_foot(hand, rules=BLACK, side=READY, **fields):
    return table(rules, hands=[hand], sides=[side], **{"feet": [None, "4567", None, "4567"]} | fields)


def test_black3s_are_laid_on_going_out():
    game = in_foot("bbb4")
    assert game.legal() == {"meld bbb", "discard b", "discard 4"}
    game.apply("meld bbb")
    assert game.sides[0].melds == {"b": "bbb"} and game.legal() == {"discard 4"}
    game.apply("discard 4")
    assert game.end_reason == "out"
    assert game.deal_scores()[0] == 500 + 70 + 15 + 100 - 10  # they count their points; seat 2 holds 45
    assert "meld bbb" not in in_foot("bbb4", WHITNACK).legal()


def test_black3s_need_a_player_who_is_out():
    assert "meld bbb" not in in_foot("bbb4", side=OPEN).legal()  # the quota
    assert "meld bbb" not in in_foot("bbb4", BLACK | {"partner_foot": True}, feet=[None, "4567", "44"]).legal()
    assert "meld bbb" not in table(BLACK, hands=["bbb4"], sides=[READY]).legal()  # not in the foot
    asking = BLACK | {"permission": "binding_no"}
    game = in_foot("bbb4", asking)
    assert game.legal() == {"ask", "discard b", "discard 4"}
    game.apply("ask")
    game.apply("yes")
    assert "meld bbb" in game.legal()


def test_all_else_is_laid_first():
    assert "meld bbb" not in in_foot("bbb45").legal()
    game = in_foot("bbbbQQQ4")
    assert "meld bbb" not in game.legal()
    game.apply("meld QQQ")
    game.apply("meld bbb")
    assert game.legal() == {"add b"}  # a discard must be the last card
    game.apply("add b")
    assert game.sides[0].melds["b"] == "bbbb" and game.legal() == {"discard 4"}


@pytest.mark.parametrize(
    "final_discard, legal",
    [("optional", {"bbb", "bbbb", "bbb4", "bbbb4"}), ("required", {"bbbb", "bbb4", "bbbb4"}), ("forbidden", {"bbb", "bbbb"})],
)
def test_final_discard_can_be_kept(final_discard, legal):
    rules = BLACK | {"final_discard": final_discard}
    for hand in ("bbb", "bbbb", "bbb4", "bbbb4"):
        assert ("meld bbb" in in_foot(hand, rules).legal()) == (hand in legal)


def test_the_last_black3_is_discarded_where_it_must_be():
    game = in_foot("bbbb", BLACK | {"final_discard": "required"})
    game.apply("meld bbb")
    assert game.legal() == {"discard b"}
    game = in_foot("bbbb", BLACK | {"final_discard": "optional"})
    game.apply("meld bbb")
    assert game.legal() == {"discard b", "add b"}


def test_no_lay_down_that_ends_being_out():
    rules = BLACK | {"add_to_complete": "any", "final_discard": "optional"}
    game = in_foot("bbb2", rules)
    game.apply("meld bbb")
    assert game.legal() == {"discard 2"}  # 12.10: with the 2 the clean book would be dirty


def test_black3s_never_float():
    game = in_foot("bbb", BLACK | {"floating": True, "final_discard": "required"})
    assert "meld bbb" not in game.legal()


def test_finishing_sequences_include_black3s():
    asking = BLACK | {"permission": "binding_both"}
    assert "ask" not in in_foot("bb45", asking).legal()
    assert "ask" not in in_foot("bbb45", asking).legal()
    assert "ask" not in in_foot("bbb4", asking | {"black3_melds": "never"}).legal()
    game = in_foot("bbbbQQQ4", asking)
    game.apply("ask")
    game.apply("yes")
    assert game.legal() == {"meld QQQ"}
    game.apply("meld QQQ")
    assert game.legal() == {"meld bbb"}
    game.apply("meld bbb")
    assert game.legal() == {"add b"}
    forbidden = in_foot("bbb4", asking | {"final_discard": "forbidden"})
    assert "ask" not in forbidden.legal()


def test_black3s_do_not_count_for_an_opening():
    rules = BLACK | {"opening": [10], "books_to_go_out": [0, 0, 0]}
    assert "meld bbb" not in in_foot("bbb4", rules, {"opened": False}).legal()


def test_black3s_bind_nobody_in_the_last_round():
    rules = BLACK | {"last_round": "all"}
    side = READY | {"melds": {"b": "bbb"}}
    game = table(rules, hands=["", "44", "bQQQ4"], feet=[None] * 4, sides=[side], seat=2, turns_left=2, out=0)
    assert game.legal() == {"meld QQQ", "discard Q", "discard b", "discard 4"}  # 12.9: nor are they melded in it

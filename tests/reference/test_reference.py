"""Self-tests of the reference: the worked examples of the rules."""

import pytest

from .game import ReferenceGame
from .laying import KINDS, LAYDOWNS, Options, canonical
from .tables import MINI, WHITNACK, can_reach_opening, decks_of, laydowns, opening_max, table

# ----------------------------------------------------------------------------------------------- Rule 1, 3


def test_labels_and_cards():
    assert len(LAYDOWNS) == 11 * 6 + 4 + 11 + 11 * 2 + 2
    assert len(decks_of(WHITNACK)) == 270
    assert len(KINDS) == 15


def test_dealing_order_and_red_threes_replaced():
    rules = MINI
    deck = "4r5566" + "77r88r" + "9999" + "TTTr" + "J" + "QrK" + "A" * 5
    game = ReferenceGame(rules, seed=0, deal=1, dealer=0, deck=deck)
    assert game.to_move() == 1  # the seat left of the dealer begins, and is dealt first
    assert game.hands == ["7788KA", "45566Q"]
    assert [side.red3 for side in game.sides] == [3, 1]
    assert game.feet == ["TTTr", "9999"]
    assert (game.discard, game.stock) == ("J", "AAAA")
    assert game.deal_scores() == [300 - (10 + 20 + 10 + 20) - 30 - 100, 100 - 35 - 40]


# --------------------------------------------------------------------------------------- Rule 4, melds


@pytest.mark.parametrize(
    "limit, allowed",
    [
        ("two_to_one", {3: 1, 4: 1, 5: 1, 6: 2, 7: 2}),
        ("more_naturals", {3: 1, 4: 1, 5: 2, 6: 2, 7: 3}),
        ("at_most", {3: 1, 4: 2, 5: 2, 6: 2, 7: 2}),
    ],
)
def test_wild_limit(limit, allowed):
    options = Options(WHITNACK | {"wild_limit": limit})
    for size, most in allowed.items():
        fitting = [wilds for wilds in range(size) if options.wilds_fit("K" * (size - wilds) + "2" * wilds)]
        assert fitting == list(range(most + 1))


def test_meld_becomes_book_and_a_new_one_may_be_started():
    game = table(hands=["KKKK4"], sides=[{"melds": {"K": "KKKKK2"}, "opened": True}])
    assert laydowns(game) == {"add K"}
    game.apply("add K")
    assert game.sides[0].books == ["KKKKKK2"] and game.sides[0].melds == {}
    assert laydowns(game) == {"meld KKK"}


def test_wild_book_cap():
    side = {"books": ["2222222"], "opened": True}
    assert "meld 222" in table(hands=["2224"], sides=[side]).legal()
    assert "meld 222" not in table(WHITNACK | {"wild_book_cap": 1}, hands=["2224"], sides=[side]).legal()
    assert "meld 222" not in table(WHITNACK | {"wild_melds": False}, hands=["2224"], sides=[{"opened": True}]).legal()


def test_add_to_complete():
    side = {"books": ["KKKKKKK", "KKKKK22", "KKKKKK2", "2222222"], "opened": True}
    hand = "2K456"
    assert laydowns(table(hands=[hand], sides=[side])) == set()
    game = table(WHITNACK | {"add_to_complete": "naturals"}, hands=[hand], sides=[side])
    assert laydowns(game) == {"add K"}
    game.apply("add K")
    assert game.sides[0].books == ["KKKKKKK", "KKKKKK22", "KKKKKK2", "2222222"]
    grow = WHITNACK | {"add_to_complete": "any"}
    game = table(grow, hands=["2" + hand], sides=[side])
    assert laydowns(game) == {"add K", "add 2>K", "add 2"}
    game.apply("add 2>K")  # the first dirty book may hold no third wild, the second a second one
    assert game.sides[0].books == ["KKKKKKK", "KKKKK22", "KKKKKK22", "2222222"]
    game.apply("add 2")
    assert game.sides[0].books[3] == "22222222"
    game = table(grow, hands=[hand], sides=[{"books": ["KKKKKKK", "KKKKK22"], "opened": True}])
    game.apply("add 2>K")  # no dirty book takes it: the clean one becomes dirty
    assert game.sides[0].books == ["KKKKKKK2", "KKKKK22"]
    open_too = {"melds": {"K": "KKK2"}, "books": ["KKKKKKK"], "opened": True}
    assert "add 2>K" not in table(grow, hands=[hand], sides=[open_too]).legal()
    most = grow | {"wild_limit": "at_most"}
    assert "add 2>K" in table(most, hands=[hand], sides=[{"books": ["KKKKK22"], "opened": True}]).legal()


# ------------------------------------------------------------------------------------- Rule 4, opening


def test_opening_minimum_counts_cards_only():
    assert not can_reach_opening(WHITNACK, 1, "6" * 7, {}, [], 0)
    assert not can_reach_opening(WHITNACK, 1, "6" * 9, {}, [], 0)
    assert can_reach_opening(WHITNACK, 1, "6" * 10, {}, [], 0)  # a book and a second meld of the rank
    assert can_reach_opening(WHITNACK, 1, "22*", {}, [], 0)
    assert not can_reach_opening(WHITNACK, 2, "222", {}, [], 0)
    assert can_reach_opening(WHITNACK, 5, "222", {}, [], 0)
    assert not can_reach_opening(WHITNACK | {"opening_tail": "hold_last"}, 5, "222", {}, [], 0)
    assert opening_max(WHITNACK, 1, "444KK2b") == 55


def test_every_piece_of_an_opening_must_leave_a_way():
    game = table(hands=["444KK2b"])
    assert laydowns(game) == {"meld 444", "meld KK2"}
    game.apply("meld 444")
    assert game.legal() == {"meld KK2"}  # not `add 2>4`, no discard
    assert game.position()["turn"]["laid"] == 15 and not game.sides[0].opened
    game.apply("meld KK2")
    assert game.sides[0].opened and game.position()["turn"]["laid"] == 0
    assert game.legal() == {"discard b"}


def test_opening_minimum_zero():
    game = table(WHITNACK | {"opening": [0]}, hands=["4445"])
    game.apply("meld 444")
    assert game.sides[0].opened


def test_opening_may_use_the_last_card_and_brings_the_foot():
    game = table(hands=["AAA"], feet=["45r6"], stock="r7K")
    game.apply("meld AAA")
    assert game.sides[0].opened and game.feet[0] is None and game.sides[0].red3 == 2
    assert game.hands[0] == "4567" and game.stock == "K" and not game.over


# --------------------------------------------------------------------------------------- Rule 5, taking


def test_take_that_opens():
    game = table(hands=["992b"], discard="9KKQJT8b4", phase="draw")
    assert game.legal() == {"draw", "take"}
    game.apply("take")
    assert game.position()["turn"] == {
        "seat": 0,
        "phase": "play",
        "asked": False,
        "answers": {},
        "may_go_out": False,
        "laid": 30,
        "taking": 6,
    }
    assert game.discard == "KKQJT8b4" and game.hands[0] == "2b"
    assert game.legal() == {"add 2>9"}
    game.apply("add 2>9")
    assert game.hands[0] == canonical("bKKQJT8") and game.known[0] == canonical("KKQJT8") and game.discard == "b4"
    assert game.sides[0].melds == {"9": "9992"} and game.sides[0].opened
    game.apply("discard K")
    assert game.known[0] == canonical("KQJT8")
    assert table(hands=["99b"], discard="9K", phase="draw").legal() == {"draw"}
    assert table(WHITNACK | {"take_needs_open": True}, hands=["992b"], discard="9K", phase="draw").legal() == {"draw"}


def test_the_other_cards_cannot_count_toward_the_minimum():
    assert table(hands=["99b"], discard="9AAA", phase="draw").legal() == {"draw"}


def test_take_needs_room_in_the_open_meld():
    for size, legal in ((3, True), (4, True), (5, False), (6, False)):
        side = {"melds": {"K": "K" * size}, "opened": True}
        game = table(hands=["KK45"], sides=[side], discard="K7", phase="draw")
        assert ("take" in game.legal()) == legal
        game = table(WHITNACK | {"take_key": "any_meld"}, hands=["KK*45"], sides=[side], discard="K7", phase="draw")
        labels = {"take", "take+*", "take>meld"} if legal else {"take>meld"}
        assert game.legal() == {"draw"} | labels


def test_take_keys():
    opened = [{"opened": True}]
    assert table(hands=["K2*5"], sides=opened, discard="K7", phase="draw").legal() == {"draw"}
    both = WHITNACK | {"take_key": "natural_and_wild"}
    game = table(both, hands=["K2*5"], sides=opened, discard="K7", phase="draw")
    assert game.legal() == {"draw", "take+2", "take+*"}
    game.apply("take+*")
    assert game.sides[0].melds == {"K": "KK*"} and game.hands[0] == "572"
    dirty = [{"melds": {"K": "KKK2"}, "opened": True}]
    game = table(both, hands=["K245"], sides=dirty, discard="K7", phase="draw")
    game.apply("take+2")
    assert game.sides[0].books == ["KKKKK22"] and game.sides[0].melds == {} and game.hands[0] == "457"
    one = both | {"wild_limit": "at_most", "max_wilds": 1}
    assert table(one, hands=["K245"], sides=dirty, discard="K7", phase="draw").legal() == {"draw"}
    for top in "b2*r":
        assert table(both, hands=["22**b"], sides=opened, discard=top + "7", phase="draw").legal() == {"draw"}


def test_take_a_wild():
    pair = WHITNACK | {"take_wild_top": "matching_pair"}
    game = table(pair, hands=["22**5"], sides=[{"melds": {"wild": "2**"}, "opened": True}], discard="*7", phase="draw")
    game.apply("take")
    assert game.sides[0].melds == {"wild": "2*****"} and game.hands[0] == "5722"
    frozen = pair | {"wild_discard_freezes": True, "take_key": "any_meld"}
    side = {"melds": {"K": "KKK"}, "opened": True}
    assert table(frozen, hands=["22KK"], sides=[side], discard="2K", phase="draw").legal() == {"draw"}
    assert table(frozen, hands=["22KK4"], sides=[side], discard="K42", phase="draw").legal() == {"draw", "take"}


def test_take_counts():
    opened = [{"opened": True}]
    for count, hand, left in ((1, "4", "789TJQA"), (3, "478", "9TJQA"), ("all", "4789TJQA", "")):
        game = table(WHITNACK | {"take_count": count}, hands=["4KK"], sides=opened, discard="K789TJQA", phase="draw")
        game.apply("take")
        assert (game.hands[0], game.discard) == (hand, left)
    assert table(WHITNACK | {"take_count": 0}, hands=["4KK"], sides=opened, discard="K7", phase="draw").legal() == {"draw"}


def test_a_take_that_empties_the_hand_brings_cards_before_the_foot():
    game = table(hands=["KK"], sides=[{"opened": True}], discard="K4r", phase="draw")
    game.apply("take")
    assert game.hands[0] == "4" and game.feet[0] == "4567" and game.sides[0].red3 == 1
    game = table(hands=["KK"], sides=[{"opened": True}], discard="K", phase="draw")
    game.apply("take")
    assert game.hands[0] == "4567" and game.feet[0] is None


def test_a_take_must_leave_enough_in_the_foot():
    for discard, legal in (("K", False), ("K4", False), ("K45", True), ("K4r", False)):
        game = table(hands=["KK"], feet=[None], sides=[{"opened": True}], discard=discard, phase="draw")
        assert ("take" in game.legal()) == legal


# ----------------------------------------------------------------------------------------- Rule 6, foot


def test_foot_after_a_discard_comes_at_the_next_turn():
    game = table(hands=["4", "45", "45", "45"], sides=[{"opened": True}], stock="8888888888888")
    game.apply("discard 4")
    assert game.hands[0] == "" and game.feet[0] == "4567"
    for _ in range(3):
        game.apply("draw")
        assert game.feet[0] == "4567"
        game.apply("discard 8")
    assert game.feet[0] is None and game.hands[0] == "4567" and game.position()["turn"]["phase"] == "draw"


# ------------------------------------------------------------------------------------ Rule 7, going out

QUOTA = ["4444444", "5555555", "6666662", "7777772"]
NO_ASKING = WHITNACK | {"permission": "none", "partner_foot": False}


def test_five_kings_and_two_in_hand():
    side = {"melds": {"K": "KKKKK"}, "books": ["4444444", "6666662", "7777772", "2222222"], "opened": True}
    game = table(NO_ASKING, hands=["KK"], feet=[None], sides=[side])
    assert game.legal() == {"add K", "discard K"}
    game.apply("add K")
    assert game.legal() == {"add K"}  # the quota is not met, so the last card cannot be discarded
    game.apply("add K")
    assert game.over and game.end_reason == "out" and game.out_seat == 0
    required = table(NO_ASKING | {"final_discard": "required"}, hands=["KK"], feet=[None], sides=[side])
    assert required.legal() == {"discard K"}
    required = table(NO_ASKING | {"final_discard": "required"}, hands=["KK4"], feet=[None], sides=[side])
    required.apply("add K")
    assert required.legal() == {"add K", "discard K", "discard 4"}
    required.apply("add K")
    assert required.legal() == {"discard 4"}
    assert table(WHITNACK, hands=["KK"], feet=[None, "4", None], sides=[side]).legal() == {"discard K"}


def test_the_joker_must_wait():
    side = {"melds": {"wild": "222222"}, "books": QUOTA, "opened": True}
    feet = [None, "4567", None]
    assert table(hands=["*5"], feet=feet, sides=[side]).legal() == {"discard *", "discard 5"}
    game = table(hands=["*56"], feet=feet, sides=[side])
    assert "ask" not in game.legal() and "add *" in game.legal()
    game.apply("add *")
    assert game.legal() == {"ask", "discard 5", "discard 6"}
    game.apply("ask")
    assert game.to_move() == 2 and game.legal() == {"yes", "no"} and game.position()["turn"]["phase"] == "answer"
    game.apply("yes")
    assert game.position()["turn"]["answers"] == {"2": "yes"} and game.position()["turn"]["may_go_out"]
    assert game.legal() == {"discard 5", "discard 6"}
    game.apply("discard 5")
    assert not game.over and game.position()["turn"]["answers"] == {}


def test_asking():
    side = {"melds": {"K": "KKKKK"}, "books": [*QUOTA, "2222222"], "opened": True}
    feet = [None, "4567", None]
    assert "ask" not in table(hands=["KK4"], feet=[None, "4567", "44"], sides=[side]).legal()  # partner's foot
    assert "ask" in table(WHITNACK | {"partner_foot": False}, hands=["KK4"], feet=[None], sides=[side]).legal()
    assert "ask" not in table(hands=["KK4"], feet=["44", "4567", None], sides=[side]).legal()
    game = table(hands=["KK4"], feet=feet, sides=[side])
    game.apply("ask")
    game.apply("no")
    assert game.legal() == {"add K", "discard K", "discard 4"}
    game.apply("add K")
    assert game.legal() == {"discard K", "discard 4"}
    game = table(hands=["KK4"], feet=feet, sides=[side])
    game.apply("ask")
    game.apply("yes")
    game.apply("add K")
    game.apply("add K")
    assert game.legal() == {"discard 4"}
    game.apply("discard 4")
    assert game.over and game.end_reason == "out"


def test_two_partners_answer_in_turn_order():
    rules = WHITNACK | {"players": 6, "seating": "threes", "decks": 7}
    side = {"melds": {"K": "KKKKK"}, "books": [*QUOTA, "2222222"], "opened": True}
    game = table(rules, hands=["45"] * 4 + ["KK4"], feet=[None, "4", None, "4", None], sides=[side], seat=4)
    game.apply("ask")
    assert game.to_move() == 0
    game.apply("yes")
    assert game.to_move() == 2 and not game.may_go_out
    game.apply("no")
    assert game.to_move() == 4 and "ask" not in game.legal() and not game.may_go_out


def test_binding_both():
    rules = WHITNACK | {"permission": "binding_both"}
    side = {"melds": {"K": "KKKKK"}, "books": [*QUOTA, "2222222"], "opened": True}
    feet = [None, "4567", None]
    assert "ask" not in table(rules, hands=["KK45"], feet=feet, sides=[side]).legal()
    game = table(rules, hands=["KKQQ2"], feet=feet, sides=[side])
    game.apply("ask")
    game.apply("yes")
    assert game.legal() == {"add K", "meld QQ2"}  # not `add 2>K`, no discard
    game.apply("add K")
    game.apply("add K")
    assert game.legal() == {"meld QQ2"}
    game.apply("meld QQ2")
    assert game.over


def test_final_discard_forbidden():
    side = {"melds": {"K": "KKKKK"}, "books": [*QUOTA, "2222222"], "opened": True}
    rules = NO_ASKING | {"final_discard": "forbidden"}
    assert "add K" not in table(rules, hands=["K4"], feet=[None], sides=[side]).legal()
    game = table(rules, hands=["KK"], feet=[None], sides=[side])
    game.apply("add K")
    assert game.legal() == {"add K"}
    game.apply("add K")
    assert game.end_reason == "out"


# --------------------------------------------------------------------------------- Rule 8, end of a deal


def test_stock_out():
    game = table(stock="4", phase="draw")
    game.apply("draw")
    assert game.over and game.end_reason == "stock_draw" and game.stock == "4" and game.legal() == set()
    game = table(stock="r4r", phase="draw", hands=["45"])
    game.apply("draw")
    assert game.end_reason == "stock_red3" and game.sides[0].red3 == 2 and game.hands[0] == "445"
    game = table(stock="r4r5", phase="draw", hands=["45"])
    game.apply("draw")
    assert not game.over and game.hands[0] == "4455" and game.stock == ""


def test_stock_out_reshuffle():
    rules = WHITNACK | {"stock_out": "reshuffle"}
    game = table(rules, stock="4", discard="K89TJ", phase="draw", hands=["45"])
    game.apply("draw")
    assert not game.over and game.reshuffles == 1 and game.discard == "K"
    assert canonical(game.hands[0] + game.stock) == canonical("44589TJ")
    game = table(rules, stock="4", discard="K", phase="draw", hands=["45"])
    game.apply("draw")
    assert game.end_reason == "stock_draw" and game.hands[0] == "445"
    game = table(rules, stock="4r", discard="K", phase="draw", hands=["45"])
    game.apply("draw")
    assert game.end_reason == "stock_red3" and game.sides[0].red3 == 1


def test_foot_that_cannot_be_replaced():
    game = table(hands=["AAA"], feet=["4rr5"], stock="6")
    game.apply("meld AAA")
    assert game.end_reason == "stock_red3" and game.hands[0] == "456" and game.feet[0] is None
    assert game.deal_scores()[0] == 60 + 200 - 15 - 9 - 20 + 9 - 10  # seat 2 holds 45 and the foot 4567


def test_max_turns():
    game = table(WHITNACK | {"max_turns": 9}, hands=["4", ""])
    game.apply("discard 4")
    assert game.end_reason == "max_turns" and game.feet[1] == "4567"

"""Rule 12: red 3s, the deal, packets, the draw and what happens when the stock runs out."""

import pytest

from .game import ReferenceGame
from .laying import Options, canonical
from .tables import MINI, WHITNACK, table

OPEN = {"opened": True}
UNREPLACED = WHITNACK | {"red3": "lay_unreplaced"}
PENALTY = WHITNACK | {"red3": "penalty"}

# ------------------------------------------------------------------------------------------------- `red3`


def deal_mini(**options):
    deck = "4r5566" + "77r88r" + "9999" + "TTTr" + "J" + "QrK" + "A" * 5
    return ReferenceGame(MINI | options, seed=0, deal=1, dealer=0, deck=deck)


def test_lay_unreplaced_lays_without_replacement():
    game = deal_mini(red3="lay_unreplaced")
    assert game.hands == ["7788", "45566"] and [side.red3 for side in game.sides] == [2, 1]
    assert game.stock.startswith("QrK")
    game = table(UNREPLACED, hands=["45"], phase="draw", stock="r678")
    game.apply("draw")
    assert game.hands[0] == "456" and game.stock == "78" and game.sides[0].red3 == 1


def test_penalty_keeps_red3s_in_the_packets():
    game = deal_mini(red3="penalty")
    assert game.hands == [canonical("77r88r"), canonical("4r5566")] and [side.red3 for side in game.sides] == [0, 0]
    game = table(PENALTY, hands=["45"], phase="draw", stock="r678")
    game.apply("draw")
    assert game.hands[0] == "456r" and game.stock == "78"
    assert game.legal() == {"discard 4", "discard 5", "discard 6", "discard r"}
    game.apply("discard r")
    assert game.discard == "rb" and game.legal() == {"draw"}  # on top it blocks the take


def test_penalty_in_the_foot_and_in_a_take():
    game = table(PENALTY, hands=["AAA"], feet=["45r6"])
    game.apply("meld AAA")
    assert game.hands[0] == "456r" and game.sides[0].red3 == 0
    game = table(PENALTY, hands=["KK4"], sides=[OPEN], discard="K5r", phase="draw")
    game.apply("take")
    assert game.hands[0] == "45r" and game.known[0] == "5r"  # 12.19


def test_penalty_keep_a_card_counts_red3s():
    for discard, legal in (("Kr", False), ("Krr", True)):
        game = table(PENALTY, hands=["KK"], feet=[None], sides=[OPEN], discard=discard, phase="draw")
        assert ("take" in game.legal()) == legal


def test_penalty_the_last_card_discarded_may_be_a_red3():
    rules = PENALTY | {"books_to_go_out": [0, 0, 0], "permission": "binding_both"}
    game = table(rules, hands=["KKKr"], feet=[None, None, None, None], sides=[OPEN])
    game.apply("ask")
    game.apply("yes")
    assert game.legal() == {"meld KKK"}  # 12.19: the card left over under binding_both may be one
    game.apply("meld KKK")
    game.apply("discard r")
    assert game.end_reason == "out" and game.discard[0] == "r"


def test_penalty_scores():
    rules = PENALTY | {"red3_held": 500, "red3_laid": 100, "red3_bonus": [[1, 1000]]}
    game = table(rules, hands=["rr4"], feet=["r5"])
    assert game.deal_scores()[0] == -1500 - 5 - 5 - 10 - 20  # seat 2 holds 45, and 4567 in its foot


# ------------------------------------------------------------- 12.26: turns that end without a discard


def test_a_player_without_a_legal_action_ends_the_turn():
    game = table(UNREPLACED | {"draw": 1}, hands=["4"], feet=[None], stock="r67", phase="draw", sides=[OPEN], turns=8)
    game.apply("draw")
    assert game.seat == 1 and game.turns == 9 and game.hands[0] == "4" and game.discard == "b"
    game = table(UNREPLACED | {"draw": 1}, hands=["4"], stock="r67", phase="draw")  # not in the foot: it can discard
    game.apply("draw")
    assert game.seat == 0 and game.legal() == {"discard 4"}


def test_a_packet_of_red3s_gives_way_to_the_next():
    rules = MINI | {"red3": "lay_unreplaced", "hand_size": 2, "foot_size": 2}
    game = ReferenceGame(rules, seed=0, deal=1, dealer=1, deck="rr" + "45" + "67" + "89" + "J" + "QK")
    assert game.hands == ["67", "45"] and game.feet == [None, "89"] and game.sides[0].red3 == 2


def test_a_last_packet_of_red3s_is_not_going_out():
    rules = UNREPLACED | {"books_to_go_out": [0, 0, 0], "permission": "none", "partner_foot": False}
    game = table(rules, hands=["AAA"], feet=["rr"])
    game.apply("meld AAA")
    assert not game.over and game.hands[0] == "" and game.feet[0] is None and game.seat == 1


def test_after_an_answer_the_only_card_stays():
    rules = UNREPLACED | {"books_to_go_out": [0, 0, 0], "draw": 1}
    game = table(rules, hands=["4"], feet=[None, None, None], stock="r67", phase="draw", sides=[OPEN])
    game.apply("draw")
    assert game.legal() == {"ask"}
    game.apply("ask")
    game.apply("no")
    assert game.seat == 1 and game.hands[0] == "4"
    game = table(rules | {"final_discard": "forbidden"}, hands=["4"], feet=[None, None, None], sides=[OPEN])
    game.apply("ask")
    game.apply("yes")  # nor does the yes help who may not discard the last card
    assert game.seat == 1 and game.hands[0] == "4"


# -------------------------------------------------------------------------- `upcard`, `packets`, seats


def test_without_an_upcard_the_first_player_can_only_draw():
    game = ReferenceGame(MINI | {"upcard": False}, seed=0, deal=1, dealer=0, deck="445566" + "778899" + "9999" + "TTTT" + "KQJ")
    assert (game.discard, game.stock) == ("", "KQJ") and game.legal() == {"draw"}


def test_three_packets():
    rules = MINI | {"packets": [3, 2, 2]}
    game = ReferenceGame(rules, seed=0, deal=1, dealer=1, deck="AAA444" + "r566" + "7788" + "K" + "9TJQK")
    assert game.hands == ["AAA", "444"] and game.knees == ["5r", "66"] and game.feet == ["77", "88"]  # 12.23
    assert game.position()["knees"] == ["5r", "66"]
    assert "knees" not in table().position()
    game.apply("draw")
    game.apply("meld AAA")
    game.apply("discard 9")
    assert game.hands[0] == "" and game.knees[0] == "5r"
    game.apply("draw")
    game.apply("discard T")
    assert game.knees == [None, "66"] and game.hands[0] == "5J" and game.sides[0].red3 == 1  # the red 3 is replaced
    assert game.packets_to_come(0) == ["77"] and not game.in_foot(0)


def test_three_packets_only_the_last_is_the_foot():
    rules = WHITNACK | {"packets": [4, 4, 4], "books_to_go_out": [0, 0, 0], "permission": "none", "partner_foot": False}
    game = table(rules, hands=["KKK"], feet=["44"], knees=[None] * 4, sides=[OPEN])
    game.apply("meld KKK")
    assert not game.over and game.hands[0] == "44" and game.feet[0] is None
    game = table(rules, hands=["KKK"], feet=["44"], knees=["66"] + [None] * 3, sides=[OPEN])
    game.apply("meld KKK")
    assert game.hands[0] == "66" and game.feet[0] == "44"
    assert game.deal_scores()[0] == 30 - 10 - 10 - 10 - 20  # 12 `packets`: what is not picked up counts


@pytest.mark.parametrize("players, seating, sides", [(8, "pairs", 4), (8, "fours", 2), (8, "alone", 8), (7, "alone", 7), (6, "pairs", 3)])
def test_sides_of_large_tables(players, seating, sides):
    options = Options(WHITNACK | {"players": players, "seating": seating})
    assert [options.side_of(seat) for seat in range(players)] == [seat % sides for seat in range(players)]


# -------------------------------------------------------------------------------- `foot_after_discard`


def test_foot_at_the_next_turn_by_default():
    game = table(hands=["4", "45"], sides=[OPEN])
    game.apply("discard 4")
    assert game.hands[0] == "" and game.feet[0] == "4567"


def test_foot_at_once():
    rules = WHITNACK | {"foot_after_discard": "at_once"}
    game = table(rules, hands=["4"], feet=["4r56"], sides=[OPEN], stock="7KK")
    game.apply("discard 4")
    assert game.hands[0] == "4567" and game.feet[0] is None and game.sides[0].red3 == 1 and game.seat == 1
    game = table(rules | {"max_turns": 9}, hands=["4"], sides=[OPEN])
    game.apply("discard 4")
    assert game.end_reason == "max_turns" and game.feet[0] is None  # 12.11: it comes before `max_turns`
    game = table(rules, hands=["4"], feet=["4r56"], sides=[OPEN], stock="")
    game.apply("discard 4")
    assert game.end_reason == "stock_red3"


def test_foot_in_place_of_the_draw():
    rules = WHITNACK | {"foot_after_discard": "instead_of_draw"}
    game = table(rules, hands=["45", ""], feet=["44", "4567"], sides=[OPEN], stock="")
    game.apply("discard 4")
    assert game.seat == 1 and game.phase == "play" and game.hands[1] == "4567"  # 12.11: it needs no stock card
    assert game.legal() == {"discard 4", "discard 5", "discard 6", "discard 7"}
    game = table(rules, hands=["AAA"], sides=[OPEN])
    game.apply("meld AAA")  # emptied by laying, the foot comes at once, as ever
    assert game.seat == 0 and game.hands[0] == "4567"


# ---------------------------------------------------------------------- `short_draw`, `max_reshuffles`


def test_short_draw_draws_the_rest():
    rules = WHITNACK | {"short_draw": "draws_rest"}
    game = table(rules, hands=["45"], stock="6", phase="draw")
    game.apply("draw")
    assert game.hands[0] == "456" and not game.over and not game.last_turn
    game = table(rules, hands=["45"], stock="", phase="draw")
    game.apply("draw")
    assert game.end_reason == "stock_draw"  # 12.17: a draw that finds no card at all
    game = table(rules, hands=["45"], stock="6r", phase="draw")
    game.apply("draw")
    assert game.end_reason == "stock_red3"  # 12.17: a red 3 without a replacement
    game = table(rules, hands=["45"], stock="r6", phase="draw")
    game.apply("draw")
    assert not game.over and game.hands[0] == "456"


def test_short_draw_last_turn():
    rules = WHITNACK | {"short_draw": "last_turn"}
    game = table(rules, hands=["45"], stock="6", phase="draw")
    game.apply("draw")
    assert game.last_turn and game.position()["last_turn"] is True
    game.apply("discard 4")
    assert game.end_reason == "stock_draw"
    game = table(rules, hands=["45"], stock="67", phase="draw")
    game.apply("draw")
    assert not game.last_turn and "last_turn" not in game.position()  # 12.32: an exact draw starts no last turn
    game = table(rules, hands=["45"], stock="", phase="draw")
    game.apply("draw")
    assert game.end_reason == "stock_draw"


def test_going_out_in_the_last_turn_is_paid():
    rules = WHITNACK | {"books_to_go_out": [0, 0, 0], "permission": "none", "partner_foot": False}
    rules |= {"short_draw": "last_turn", "last_round": "all"}
    game = table(rules, hands=["KKK"], feet=[None], sides=[OPEN], last_turn=True)
    game.apply("meld KKK")
    assert game.end_reason == "out" and game.out_seat == 0 and game.deal_scores()[0] == 30 + 100 - 10 - 20


def test_short_draw_reshuffles_first():
    rules = WHITNACK | {"short_draw": "last_turn", "stock_out": "reshuffle"}
    game = table(rules, hands=["45"], stock="6", discard="K88", phase="draw")
    game.apply("draw")
    assert game.reshuffles == 1 and game.hands[0] == "4568" and not game.last_turn


def test_max_reshuffles():
    for most, ends in ((0, True), (1, False), (None, False)):
        rules = WHITNACK | {"stock_out": "reshuffle", "max_reshuffles": most}
        game = table(rules, hands=["45"], stock="6", discard="K88", phase="draw")
        game.apply("draw")
        assert game.over == ends

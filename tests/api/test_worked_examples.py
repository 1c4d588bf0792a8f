"""The worked examples of docs/rules.md 4, 5, 7 and 9 as positions."""

import pytest

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.state import END_OUT, END_STOCK_DRAW
from tests.api.tables import game_at, table

NO_CARD_POINTS = {"points": dict.fromkeys(("joker", "two", "ace", "high", "low", "black3"), 0), "opening": [0]}
NO_ASKING = {"permission": "none", "partner_foot": False}
BOTH_FEET = {0: None, 2: None}
# Two clean, two dirty books.
QUOTA = ["4444444", "5555555", "6666662", "7777772"]


def legal(game: GameAccess) -> set[str]:
    """Labels of the legal actions."""
    return {ACTIONS.label(action) for action in game.legal()}


def play(game: GameAccess, *labels: str) -> GameAccess:
    """Play these actions, each of which must be legal."""
    for label in labels:
        assert label in legal(game), label
        game.play(ACTIONS.parse(label))
    return game


# ------------------------------------------------------------------------------------------------ 9, scoring


def test_9_a() -> None:
    """Out with 2 clean, 2 dirty, 1 wild and 2 red 3s: 3400 before card points."""
    books = ["KKKKKKK", "4444444", "QQQQQ22", "99999**", "2222222"]
    game = game_at(table(
        NO_ASKING | NO_CARD_POINTS, hands={0: "4", 2: "45"}, feet=BOTH_FEET, sides={0: {"books": books, "red3": 2}}
    ))  # fmt: skip
    play(game, "discard 4")
    assert game.game["end_reason"] == END_OUT and game.scores()[0] == 3400


def test_9_b() -> None:
    """860: a clean book of kings, a dirty one of 9s, three aces, a red 3; Q 7 * in one hand, a foot never reached."""
    foot = "r" + "*22" + "5"
    game = game_at({
        "hands": ["Q7*", "", "", ""], "feet": [None, None, foot, None],
        "sides": [{"books": ["KKKKKKK", "9999922"], "melds": {"A": "AAA"}, "red3": 1}],
    }, check=False)  # fmt: skip
    assert game.scores() == [860, 0]


def test_9_b_as_a_whole_position() -> None:
    """The same in a deal that can come about: the stock is short and drawing ends it."""
    game = game_at(table(
        hands={0: "Q7*", 2: ""}, feet={0: None, 2: "r*2288888888A"}, stock="4", phase="draw",
        sides={0: {"books": ["KKKKKKK", "9999922"], "melds": {"A": "AAA"}, "red3": 1}},
    ))  # fmt: skip
    play(game, "draw")
    assert game.game["end_reason"] == END_STOCK_DRAW
    # The foot: a red 3 (100), * 50, 2 2 40, eight 8s 80, an ace 20.
    assert game.scores()[0] == 570 + 390 + 60 + 100 - 65 - 290


def test_9_c() -> None:
    """Stock out with 2 clean, 1 dirty, 1 wild and 1 red 3: 2900 before card points."""
    books = ["KKKKKKK", "4444444", "QQQQQ22", "2222222"]
    game = game_at(table(
        NO_CARD_POINTS, hands={0: "45", 2: "45"}, feet=BOTH_FEET, stock="4", phase="draw",
        sides={0: {"books": books, "red3": 1}},
    ))  # fmt: skip
    play(game, "draw")
    assert game.game["end_reason"] == END_STOCK_DRAW and game.scores()[0] == 2900


def test_9_d() -> None:
    """Two red 3s in an unopened foot: -200, beside the points of its other cards."""
    foot = {2: "rr4444555566K"}
    game = game_at(table(hands={0: "45", 2: "45"}, feet=foot, stock="4", phase="draw", sides={}))
    other = game_at(table(hands={0: "45", 2: "45"}, feet={2: "4444455556666"}, stock="4", phase="draw"))
    difference = (10 * 5 + 10) + 200 - 13 * 5
    assert play(other, "draw").scores()[0] - play(game, "draw").scores()[0] == difference


# ------------------------------------------------------------------------------------------------ 4, opening


def test_4_seven_sixes_are_not_enough() -> None:
    """35 points; a book's bonus does not count."""
    assert "meld 666" not in legal(game_at(table(hands={0: "66666668"})))
    assert "meld 666" not in legal(game_at(table(hands={0: "6666666668"})))  # nine: the last two cannot be laid
    assert "meld 666" in legal(game_at(table(hands={0: "66666666668"})))  # ten: a book and a second meld


def test_4_every_piece_must_leave_a_way() -> None:
    """4 4 4 K K 2 b, minimum 50: after 4 4 4 a 2 on the fours would leave no way."""
    game = game_at(table(hands={0: "444KK2b"}))
    assert legal(game) == {"meld 444", "meld KK2", *(f"discard {card}" for card in "4K2b")}
    play(game, "meld 444")
    assert legal(game) == {"meld KK2"} and game.game["laid"] == 15
    play(game, "meld KK2")
    assert game.game["opened"][0] and legal(game) == {"discard b"}


def test_4_the_last_card_may_reach_it() -> None:
    """A A A from a hand of three: the side is open and the foot picked up."""
    game = play(game_at(table(hands={0: "AAA"})), "meld AAA")
    assert game.game["opened"][0] and game.game["in_foot"][0] and game.game["hand_sizes"][0] == 13


@pytest.mark.parametrize(("meld", "allowed"), [("KKK", 1), ("KKK2", 0), ("KKKK2", 1), ("KKKK22", 0), ("KKKKKK", 1), ("KKKKK2", 1)])
def test_4_one_wild_at_3_4_5_cards_and_two_at_6_7(meld: str, allowed: int) -> None:
    """two_to_one, as S1 has it."""
    game = game_at(table(hands={0: "2*89"}, sides={0: {"melds": {"K": meld}}}))
    assert {"add 2>K" in legal(game), "add *>K" in legal(game)} == {bool(allowed)}


# ------------------------------------------------------------------------------------------------- 5, taking


def test_5_a_take_that_opens() -> None:
    """Minimum 50, a 9 on top, 9 9 2 in the hand: 9 9 9 2 are 50; the other six come then."""
    game = game_at(table(hands={0: "992b"}, discard="9KKQJT8b4", phase="draw"))
    assert legal(game) == {"draw", "take"}
    play(game, "take")
    assert legal(game) == {"add 2>9"} and (game.game["laid"], game.game["taking"]) == (30, 6)
    play(game, "add 2>9")
    assert game.game["opened"][0] and game.game["hand_sizes"][0] == 7 and game.game["taking"] == 0


def test_5_the_other_cards_do_not_count() -> None:
    """Three aces below the top would reach the minimum, and may not."""
    assert legal(game_at(table(hands={0: "99b"}, discard="9AAA", phase="draw"))) == {"draw"}


@pytest.mark.parametrize(("size", "allowed"), [(3, True), (4, True), (5, False), (6, False)])
def test_5_a_meld_of_5_or_6_cannot_be_taken_onto(size: int, allowed: bool) -> None:
    """A pair and the top card are three."""
    game = game_at(table(hands={0: "KK45"}, sides={0: {"melds": {"K": "K" * size}}}, discard="K7", phase="draw"))
    assert ("take" in legal(game)) == allowed


@pytest.mark.parametrize("top", "b2*")
def test_5_threes_and_wilds_block(top: str) -> None:
    """A black 3 or a wild on top."""
    game = game_at(table(hands={0: "22**bb"}, sides={0: {"melds": {"K": "KKK"}}}, discard=top + "7", phase="draw"))
    assert legal(game) == {"draw"}


# --------------------------------------------------------------------------------------------- 7, going out

FIVE_KINGS = {0: {"melds": {"K": "KKKKK"}, "books": ["4444444", "6666662", "7777772", "2222222"]}}


def test_7_five_kings_and_two_in_the_hand() -> None:
    """No permission needed; the seventh king completes the quota: both kings may be laid."""
    game = game_at(table(NO_ASKING, hands={0: "KK"}, feet=BOTH_FEET, sides=FIVE_KINGS))
    assert legal(game) == {"add K", "discard K"}
    play(game, "add K")
    assert legal(game) == {"add K"}  # one clean book: the last king cannot be discarded
    play(game, "add K")
    assert game.game["end_reason"] == END_OUT and game.game["out_seat"] == 0


def test_7_five_kings_with_another_final_discard() -> None:
    """Required: the last card must be kept for the discard. Forbidden: as above. With permission needed: neither."""
    required = game_at(table(NO_ASKING | {"final_discard": "required"}, hands={0: "KK"}, feet=BOTH_FEET, sides=FIVE_KINGS))
    assert legal(required) == {"discard K"}
    forbidden = game_at(table(NO_ASKING | {"final_discard": "forbidden"}, hands={0: "KK"}, feet=BOTH_FEET, sides=FIVE_KINGS))
    play(forbidden, "add K", "add K")
    assert legal(game_at(table(hands={0: "KK"}, feet=BOTH_FEET, sides=FIVE_KINGS))) == {"discard K"}


def test_7_the_joker_must_wait() -> None:
    """The wild meld at six wilds, only the wild book missing: with * 5 the joker waits, with * 5 6 it may be laid."""
    sides = {0: {"melds": {"wild": "222222"}, "books": QUOTA}}
    assert legal(game_at(table(hands={0: "*5"}, feet=BOTH_FEET, sides=sides))) == {"discard *", "discard 5"}
    game = game_at(table(hands={0: "*56"}, feet=BOTH_FEET, sides=sides))
    assert "ask" not in legal(game)
    play(game, "add *")
    assert legal(game) == {"ask", "discard 5", "discard 6"}
    play(game, "ask")
    assert game.game["to_move"] == 2 and legal(game) == {"yes", "no"}
    play(game, "yes")
    assert legal(game) == {"discard 5", "discard 6"}  # two cards that fit nowhere: out of reach this turn


def test_7_a_yes_does_not_oblige() -> None:
    """binding_no: after the yes the player may lay all and go out, or not."""
    sides = {0: {"melds": {"K": "KKKKK"}, "books": [*QUOTA, "2222222"]}}
    game = game_at(table(hands={0: "KK4"}, feet=BOTH_FEET, sides=sides))
    play(game, "ask", "yes")
    assert legal(game) == {"add K", "discard K", "discard 4"}
    play(game, "add K", "add K", "discard 4")
    assert game.game["end_reason"] == END_OUT


def test_7_after_a_no() -> None:
    """Going out is not possible this turn: a king may be laid, two not; nothing is asked again."""
    sides = {0: {"melds": {"K": "KKKKK"}, "books": [*QUOTA, "2222222"]}}
    game = play(game_at(table(hands={0: "KK4"}, feet=BOTH_FEET, sides=sides)), "ask", "no", "add K")
    assert legal(game) == {"discard K", "discard 4"}

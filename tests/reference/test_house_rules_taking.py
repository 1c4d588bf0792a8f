"""Rule 12: taking from the discard pile."""

import pytest

from .tables import WHITNACK, laydowns, table

OPEN = {"opened": True}
COUNTS = WHITNACK | {"take_opens": "counts"}
SHOWN = WHITNACK | {"take_key": "shown_pair"}
USE = WHITNACK | {"take_key": "any_use"}


def at_draw(rules, hand, discard, side=OPEN, **fields):
    return table(rules, hands=[hand], discard=discard, sides=[side], phase="draw", **fields)


def takes(*args, **fields):
    return at_draw(*args, **fields).legal() - {"draw"}


# --------------------------------------------------------------------------- `take_count`, `take_min`


def test_take_count_by_deal():
    rules = WHITNACK | {"take_count": [2, 0, "all"]}
    for deal, taken in ((1, 2), (2, 0), (3, 4), (9, 4)):  # 12.21: the last holds
        game = at_draw(rules, "KK4", "K789", deal=deal)
        assert ("take" in game.legal()) == (taken > 0)
        if taken:
            game.apply("take")
            assert len(game.discard) == 4 - taken


def test_take_min():
    rules = WHITNACK | {"take_min": 3}
    assert takes(rules, "KK4", "K7") == set()
    assert takes(rules, "KK4", "K78") == {"take"}  # 12.28: the top card counts


# ----------------------------------------------------------------------------- `take_key`: a list of keys


@pytest.mark.parametrize(
    "keys, labels",
    [
        (["natural_pair"], {"take"}),
        (["natural_and_wild"], {"take+2", "take+*"}),
        (["own_meld"], {"take>meld"}),
        (["natural_pair", "own_meld"], {"take", "take>meld"}),
        (["natural_pair", "natural_and_wild", "own_meld"], {"take", "take+2", "take+*", "take>meld"}),
        ("any_meld", {"take", "take+2", "take+*", "take>meld"}),
    ],
)
def test_a_list_names_the_keys(keys, labels):
    side = OPEN | {"melds": {"K": "KKK"}}
    rules = WHITNACK | {"take_key": keys}
    assert takes(rules, "KK2*4", "K7", side) == labels
    frozen = rules | {"freeze_by": ["black3"]}
    assert takes(frozen, "KK2*4", "K7b", side) == labels & {"take"}  # 12.28: only the natural pair, where it is listed


def test_a_wild_on_top_does_not_depend_on_the_list():
    rules = WHITNACK | {"take_key": ["own_meld"], "take_wild_top": "matching_pair"}
    assert takes(rules, "22*5", "27") == {"take"}
    assert takes(rules, "2**5", "27") == set()


# ------------------------------------------------------------------------------------------- `freeze_by`


@pytest.mark.parametrize("kind, card", [("wild", "2"), ("wild", "*"), ("red3", "r"), ("black3", "b")])
def test_freeze_by(kind, card):
    rules = WHITNACK | {"take_key": "any_meld", "red3": "penalty"}
    side = OPEN | {"melds": {"K": "KKK"}}
    free = takes(rules, "KK24", "K7" + card, side)
    assert free == {"take", "take+2", "take>meld"}
    assert takes(rules | {"freeze_by": [kind]}, "KK24", "K7" + card, side) == {"take"}
    assert takes(rules | {"freeze_by": [kind]}, "KK24", "K78", side) == free


def test_freeze_by_and_the_old_option():
    rules = WHITNACK | {"take_key": "natural_and_wild", "wild_discard_freezes": True, "freeze_by": ["red3"]}
    assert takes(rules, "KK24", "K2") == {"take"}  # 12.14: it adds the wilds


# ------------------------------------------------------------------------------------------- `take_opens`


def test_cards_taken_may_count_toward_the_minimum():
    closed = {"opened": False}
    assert takes(WHITNACK, "99b", "9AAA", closed) == set()
    game = at_draw(COUNTS, "99b", "9AAAr4", closed)
    game.apply("take")
    # 12.4: they come right after the key is melded and are known; nothing is owed
    assert game.hands[0] == "4AAAb" and game.known[0] == "4AAA" and game.discard == "" and game.sides[0].red3 == 1
    assert game.position()["turn"]["taking"] == 0 and game.position()["turn"]["laid"] == 30
    assert game.legal() == {"meld AAA"}
    game.apply("meld AAA")
    assert game.sides[0].opened and game.legal() == {"discard 4", "discard b"}
    assert takes(COUNTS, "99b", "9AA", closed) == set()  # the minimum cannot be reached


# ------------------------------------------------------------------------------------------- `shown_pair`


def test_a_pair_is_shown():
    game = at_draw(SHOWN, "KK2", "K7r8", {"opened": False})  # no minimum is owed
    assert game.legal() == {"draw", "take"}
    game.apply("take")
    assert game.hands[0] == "78KKK2" and game.known[0] == "78KKK" and game.discard == "" and game.sides[0].red3 == 1
    assert game.sides[0].melds == {} and "discard K" in game.legal()
    assert takes(SHOWN, "K24", "K7", OPEN | {"melds": {"K": "KKK"}}) == set()
    assert takes(SHOWN | {"take_needs_open": True}, "KK4", "K7", {"opened": False}) == set()  # 12.2
    assert takes(SHOWN, "KK4", "b7") == set()


def test_what_is_known_after_a_showing():
    for before, after in (("", "7KKK"), ("K", "7KKK"), ("KK", "7KKK"), ("KKK", "7KKKK")):
        game = at_draw(SHOWN, "KKK4", "K7", known=[before, "", "", ""])
        game.apply("take")
        assert game.known[0] == after  # 12.2: the larger of two and those known before, then the cards taken


def test_shown_pair_is_not_changed_by_freezing():
    rules = SHOWN | {"freeze_by": ["wild"], "take_wild_top": "matching_pair"}
    assert takes(rules, "KK4", "K2") == {"take"}  # 12.3
    assert takes(rules, "224", "2K") == {"take"}
    assert takes(rules | {"take_wild_top": "blocked"}, "224", "2K") == set()
    game = at_draw(rules, "224", "2K")
    game.apply("take")
    assert game.hands[0] == "4K222" and game.known[0] == "K222"


def test_shown_pair_fits_any_meld():
    side = OPEN | {"melds": {"K": "KKKKKK"}}  # nothing need be melded, so there need be no room
    assert takes(SHOWN, "KK4", "K7", side) == {"take"}


# ---------------------------------------------------------------------------------------------- `any_use`


def test_any_use_owes_a_lay_down():
    game = at_draw(USE, "778AAA", "K78r5")
    assert game.legal() == {"draw", "take"}
    game.apply("take")
    assert game.hands[0] == "577788KAAA" and game.known[0] == "578K" and game.sides[0].red3 == 1
    assert game.position()["must_use"] == "578K"  # 12.1: not the red 3
    assert game.legal() == {"meld 777"}  # not the aces, no discard
    game.apply("meld 777")
    assert "must_use" not in game.position()
    assert {"meld AAA", "discard 5"} < game.legal()


def test_any_use_is_legal_only_if_it_can_be_done():
    assert takes(USE, "78AAA", "K78") == set()
    assert takes(USE, "778AAA", "K78") == {"take"}
    assert takes(USE, "4", "K2", OPEN | {"melds": {"A": "AAAA"}}) == {"take"}  # a wild that was taken will do
    assert takes(USE, "778", "b777") == set()  # a 3 on top
    assert takes(USE, "778", "r777") == set()


def test_any_use_growing_a_book_will_do():
    side = OPEN | {"books": ["KKKKKKK"]}
    assert takes(USE, "44", "K7", side) == set()
    assert takes(USE | {"add_to_complete": "naturals"}, "44", "K7", side) == {"take"}


def test_any_use_before_the_opening():
    closed = {"opened": False}
    assert takes(USE, "KKK44", "KKAAA", closed) == set()  # only with `counts`
    rules = USE | {"take_opens": "counts"}
    assert takes(rules, "44", "KAAAA", closed) == {"take"}
    assert takes(rules, "44", "KAA", closed) == set()
    game = at_draw(rules, "QQQ44", "KAAA", closed)
    game.apply("take")
    assert game.legal() == {"meld AAA"}  # 12.4: the first lay-down of 12.1 begins the opening
    game.apply("meld AAA")
    assert game.sides[0].opened


def test_any_use_a_piece_of_the_opening_first():
    rules = USE | {"take_opens": "counts"}
    game = at_draw(rules, "QQQJJ", "J88", {"opened": False})
    game.apply("take")
    assert game.legal() == {"meld JJJ"}
    game.apply("meld JJJ")
    assert game.legal() == {"meld QQQ"}


def test_any_use_frozen():
    rules = USE | {"freeze_by": ["wild"]}
    assert takes(rules, "77AAA", "K772") == set()
    game = at_draw(rules, "KK7", "K72")
    game.apply("take")
    # 12.3: the take of `natural_pair`, no further duty
    assert game.sides[0].melds == {"K": "KKK"} and "must_use" not in game.position() and "discard 7" in game.legal()


def test_any_use_with_a_wild_on_top():
    assert takes(USE, "227", "2777") == set()
    rules = USE | {"take_wild_top": "matching_pair"}
    game = at_draw(rules, "2247", "27")
    game.apply("take")
    assert game.sides[0].melds == {"wild": "222"} and not game.must_use
    assert takes(rules, "2*7", "27") == set()
    assert takes(rules | {"freeze_by": ["wild"]}, "2247", "27") == set()


def test_any_use_in_the_foot_keeps_a_card():
    for hand, legal in (("K", False), ("K4", False), ("K45", True)):
        game = at_draw(USE, hand, "KK", feet=[None])
        assert ("take" in game.legal()) == legal


def test_a_turn_with_must_use_given():
    game = table(WHITNACK, hands=["777KKK44"], sides=[OPEN], must_use="7Q")
    assert laydowns(game) == game.legal() == {"meld 777"}


def test_penalty_a_red3_on_top_blocks():
    rules = WHITNACK | {"red3": "penalty", "take_key": "any_meld"}
    assert takes(rules, "KK4", "rK", OPEN | {"melds": {"K": "KKK"}}) == set()

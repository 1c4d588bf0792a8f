"""Rule 12: what an opening must reach, and how."""

import random

import pytest

from .cards import LAYDOWNS, without
from .laying import Options
from .openings import Opening, can_complete, is_complete
from .tables import WHITNACK, laydowns, table
from .test_searches import random_options, small_hand

UNREPLACED = WHITNACK | {"red3": "lay_unreplaced"}  # with it a side that has not opened may be in its foot

# -------------------------------------------------------------------------------------------- `opening_by`


def test_minimum_by_the_sides_own_total():
    rules = WHITNACK | {"opening_by": "total", "opening_totals": [[0, 50], [1500, 90], [3000, 120]], "opening": [0]}
    options = Options(rules)
    assert [options.opening_minimum(4, total) for total in (-100, 0, 1495, 1500, 2995, 3000, 9000)] == [50, 50, 50, 90, 90, 120, 120]
    for scores, legal in (([0, 1500], True), ([1500, 0], False)):  # sides may differ
        assert bool(laydowns(table(rules, hands=["AAA4"], scores=scores))) == legal


# ---------------------------------------------------------------------------------------- `opening_books`


def test_bonuses_of_books_count():
    rules = WHITNACK | {"opening_books": True}
    assert laydowns(table(WHITNACK, hands=["666666645"])) == set()  # 35 points
    game = table(rules, hands=["666666645"])
    game.apply("meld 666")
    assert game.position()["turn"]["laid"] == 15
    for _ in range(3):
        assert game.legal() == {"add 6"}
        game.apply("add 6")
    game.apply("add 6")
    assert game.sides[0].opened and game.position()["turn"]["laid"] == 0
    assert laydowns(table(rules, hands=["66666645"])) == set()  # six of them are no book


def test_bonuses_are_those_of_the_book_as_it_is_now():
    rules = WHITNACK | {"opening_books": True, "opening": [400], "add_to_complete": "any", "clean_book": 300, "dirty_book": 0}
    options = Options(rules)
    assert options.opening_worth({}, ["6666666"]) == 335
    assert options.opening_worth({}, ["66666662"]) == 55  # 12.5: a wild makes it dirty
    assert options.opening_worth({"wild": "222"}, ["6666666"]) == 395
    sevens = Options(rules | {"sevens_book": 1000})
    assert sevens.opening_worth({}, ["7777777"]) == 1035


# ----------------------------------------------------------------------------------------- `opening_meld`


def test_one_meld_must_reach_it():
    hand = ["444KKKQQQ7"]
    assert laydowns(table(hands=hand)) == {"meld 444", "meld KKK", "meld QQQ"}  # 75 in all
    rules = WHITNACK | {"opening_meld": "one"}
    assert laydowns(table(rules, hands=hand)) == set()
    game = table(rules, hands=["KKK2QQQ*4"])
    assert laydowns(game) == {"meld KK2", "meld KK*", "meld KKK", "meld QQ2", "meld QQ*", "meld QQQ"}
    game.apply("meld QQQ")
    assert game.legal() == {"add *>Q", "add 2>Q"}  # 12.7: no other meld until it has
    game.apply("add 2>Q")
    assert game.sides[0].opened and "meld KKK" in game.legal()


def test_one_meld_as_its_book_too():
    rules = WHITNACK | {"opening_meld": "one", "opening": [40]}
    assert laydowns(table(rules, hands=["6666666666"])) == set()  # a second meld of the rank is another meld
    growing = rules | {"add_to_complete": "naturals"}
    game = table(growing, hands=["6666666645"])
    game.apply("meld 666")
    for _ in range(4):
        game.apply("add 6")
    assert not game.sides[0].opened and game.legal() == {"add 6"}
    game.apply("add 6")
    assert game.sides[0].opened


def test_one_meld_is_the_takes_own():
    rules = WHITNACK | {"opening_meld": "one"}
    game = table(rules, hands=["KK2QQQ4"], discard="K5", phase="draw")
    assert "take" in game.legal()
    game.apply("take")
    assert game.legal() == {"add 2>K"}
    assert "take" not in table(rules, hands=["KK4QQQ*"], discard="K5", phase="draw", deal=2).legal()  # 80 of 90
    assert "take" in table(hands=["KK4QQQ*"], discard="K5", phase="draw", deal=2).legal()


def test_only_naturals_count():
    rules = WHITNACK | {"opening_meld": "naturals"}
    assert laydowns(table(rules, hands=["KKK2**5"])) == set()
    game = table(rules, hands=["KKKKK25"])
    assert laydowns(game) == {"meld KKK", "meld KK2"}
    game.apply("meld KK2")
    assert game.position()["turn"]["laid"] == 20
    assert Options(rules | {"opening_books": True}).opening_worth({}, ["KKKKK22"]) == 350  # 12.5: bonuses still count


# --------------------------------------------------------------------------------------- `opening_waived`


def test_a_clean_book_waives_the_minimum():
    rules = WHITNACK | {"opening_waived": ["clean_book"]}
    game = table(rules, hands=["66666662"], deal=2)
    assert laydowns(game) == {"meld 666"}  # with the 2 there would be neither 90 points nor a clean book
    for label in ("meld 666", "add 6", "add 6", "add 6", "add 6"):
        game.apply(label)
    assert game.sides[0].opened
    assert laydowns(table(rules, hands=["6666665"])) == set()


def test_an_emptied_hand_waives_the_minimum():
    rules = WHITNACK | {"opening_waived": ["empty_hand"]}
    game = table(rules, hands=["444"])
    game.apply("meld 444")
    assert game.sides[0].opened and game.hands[0] == "4567" and game.feet[0] is None
    assert laydowns(table(rules, hands=["4445"])) == set()
    assert laydowns(table(rules | {"red3": "lay_unreplaced"}, hands=["444"], feet=[None])) == set()  # 12.6: no packet follows


def test_no_waiver_while_cards_of_a_take_are_owed():
    rules = WHITNACK | {"opening_waived": ["empty_hand"]}
    assert "take" not in table(rules, hands=["44"], discard="45", phase="draw").legal()
    assert "take" in table(rules, hands=["44"], discard="4", phase="draw").legal()
    assert "take" not in table(rules | {"take_opens": "counts"}, hands=["44"], discard="45", phase="draw").legal()
    assert "take" in table(rules | {"take_opens": "counts"}, hands=["44"], discard="444", phase="draw").legal()


# ---------------------------------------------------------------------------- 12.27: in the last packet


def test_an_opening_in_the_last_packet_leaves_two_cards():
    for hand, legal in (("KKKQQQ4", False), ("KKKQQQ45", True)):
        game = table(UNREPLACED, hands=[hand], feet=[None])
        assert bool(laydowns(game)) == legal
        floating = table(UNREPLACED | {"floating": True}, hands=[hand], feet=[None])
        assert laydowns(floating) == {"meld KKK", "meld QQQ"}
    assert laydowns(table(UNREPLACED, hands=["KKKQQQ4"], feet=[None], turns_left=1, out=1)) == {"meld KKK", "meld QQQ"}


def test_cards_owed_count_among_the_two():
    for discard, legal in (("K5", False), ("K56", True)):
        game = table(UNREPLACED, hands=["KK*"], feet=[None], discard=discard, phase="draw")
        assert ("take" in game.legal()) == legal


def test_an_unopened_side_can_neither_ask_nor_go_out():
    rules = UNREPLACED | {"books_to_go_out": [0, 0, 0]}
    feet = [None, "4567", None]
    assert table(rules, hands=["45"], feet=feet).legal() == {"discard 4", "discard 5"}
    assert table(rules | {"permission": "none"}, hands=["4"], feet=feet).legal() == set()  # play ends such a turn itself (12.26)


# ------------------------------------------------------------------------------- against a plain search


def plain_search(options, opening, hand, melds, books, seen):
    """Is the opening complete, or is there a lay-down after which it can be completed?"""
    key = (hand, str(melds), str(books))
    if key in seen:
        return False
    seen.add(key)
    if is_complete(options, opening, hand, melds, books) and len(hand) >= opening.keep:
        return True
    for label, (_, cards) in LAYDOWNS.items():
        left = without(hand, cards)
        if left is None or (options.opening_meld == "one" and label.startswith("meld")):
            continue
        after = options.lay(label, melds, books)
        if after is not None and plain_search(options, opening, left, *after, seen):
            return True
    return False


def compare_searches(seeds):
    found = {True: 0, False: 0}
    for seed in seeds:
        rng = random.Random(seed)
        rules = WHITNACK | random_options(rng) | {
            "opening": [5 * rng.randrange(2, 25)],
            "opening_books": rng.random() < 0.4,
            "opening_meld": rng.choice(["any", "one", "naturals"]),
            "opening_waived": rng.choice([[], ["clean_book"], ["empty_hand"], ["clean_book", "empty_hand"]]),
            "clean_book": rng.choice([10, 50]), "dirty_book": rng.choice([0, 30]), "wild_book": 20,
            "melds_a_rank": rng.choice(["reopen", "once"]),
        }  # fmt: skip
        options = Options(rules)
        hand = small_hand(rng, rng.randrange(4, 9))
        first = [label for label in LAYDOWNS if without(hand, LAYDOWNS[label][1]) is not None]
        after = [(label, options.lay(label, {}, [])) for label in first]
        opening = Opening(1, 0, rng.choice([0, 0, 1]), rng.random() < 0.7, rng.choice([0, 0, 1, 2]))
        for label, state in after:
            if state is not None:
                left = without(hand, LAYDOWNS[label][1])
                answer = can_complete(options, opening, left, *state)
                assert answer == plain_search(options, opening, left, *state, set()), (rules, opening, hand, label)
                found[answer] += 1
    return found


def test_search_equals_plain_search():
    found = compare_searches(range(150))
    assert min(found.values()) > 40, found


@pytest.mark.long
def test_search_equals_plain_search_long():
    compare_searches(range(1000, 11_000))

"""Melds and books. Rule: docs/rules.md 4.4 to 4.13."""

import pytest

from tests.rules.clauses.pairs import after, clause, legal, positions
from tests.rules.clauses.table import Game, at

OPEN = at(melds="444")  # a side that has opened, with nothing that matters on the table

test_4_4_three_cards_begin_a_meld = legal(
    "4.4",
    ("three of a natural rank", "meld KKK", OPEN.but(hand="KKK5"), dict(hand="KK5")),
    ("a wild among them", "meld KK2", OPEN.but(hand="KK25"), dict(hand="KQ25")),
    ("three wilds in any mix", "meld 22*", OPEN.but(hand="22*5"), dict(hand="2*5")),
    ("a partner adds to it", "add 4", at("456", seat=2, sides={0: dict(melds="444")}), dict(seat=3)),
)

test_4_4_smaller_melds_are_none = positions(
    "4.4",
    ("three cards lie in a meld", at(melds="KKK"), lambda p: p["sides"][0]["melds"].update(K="KK"), "fewer than 3 cards"),
    ("of one rank", at(melds="KKK"), lambda p: p["sides"][0]["melds"].update(K="KKQ"), "one rank of 4 to A"),
)

test_4_5_a_book_is_closed = legal(
    "4.5",
    ("the seventh card", "add K", at("K5", melds="KKKKKK"), dict(melds="", books="KKKKKKK")),
    ("with books of six", "add K", at("K5", melds="KKKKK", book_size=6), dict(melds="", books="KKKKKK")),
    ("three cards onto four, not five", "take", at("KK5", melds="KKKK", discard="K", phase="draw"), dict(melds="KKKKK")),
)


@after("4.5", ("seven cards are a book at once", at("K5", melds="KKKKKK"), dict(melds="KKKKK")))
def test_4_5_book_at_once(game, is_book):
    """A meld becomes a book with its seventh card."""
    game.play("add K")
    assert game.books() == (["KKKKKKK"] if is_book else [])
    assert game.melds() == (set() if is_book else {"KKKKKK"})


test_4_6_one_meld_of_a_rank = legal(
    "4.6",
    ("a second one once the first is a book", "meld KKK", at("KKK5", books="KKKKKKK"), dict(books="", melds="KKKKKK")),
    ("also a third", "meld KKK", at("KKK5", books="KKKKKKK KKKKK22"), dict(books="KKKKKKK", melds="KKKK22")),
    ("wilds count as a rank", "meld 222", at("2225", books="222222*"), dict(books="", melds="22222*")),
)


@after("4.6", ("the second meld in the same turn", at("KKKK5", melds="KKKKKK"), dict(melds="KKKKK")))
def test_4_6_second_meld_in_the_same_turn(game, completes):
    """The card that completes the book makes room for the next meld of its rank."""
    assert "meld KKK" not in game.legal
    game.play("add K")
    assert ("meld KKK" in game.legal) == completes


# Which melds of 3 to 7 cards may hold so many wilds, counted by hand: most wilds by size.
MOST_WILDS = {"two_to_one": (1, 1, 1, 2, 2), "more_naturals": (1, 1, 2, 2, 3), "at_most": (1, 2, 2, 2, 2)}


# Every meld of 3 to 6 cards that a limit allows, with two naturals at least: (limit, naturals, wilds).
MELDS = [
    (limit, size - wilds, wilds)
    for limit, most in MOST_WILDS.items()
    for size in (3, 4, 5, 6)
    for wilds in range(most[size - 3] + 1)
    if size - wilds >= 2
]


@clause("4.7")
@pytest.mark.parametrize(("limit", "naturals", "wilds"), MELDS)
def test_4_7_every_size(limit, naturals, wilds):
    """One more wild onto a meld, and one more natural, by the limit at the size it comes to."""
    most = MOST_WILDS[limit][naturals + wilds + 1 - 3]
    game = Game(at("2K5", melds="K" * naturals + "2" * wilds, wild_limit=limit))
    assert ("add 2>K" in game.legal) == (wilds + 1 <= most)
    assert "add K" in game.legal


test_4_7_second_and_third_wild = legal(
    "4.7",
    ("two_to_one, the second onto 5 cards", "add 2>K", at("25", melds="KKKK2"), dict(melds="KKK2")),
    ("two_to_one, the second onto 6", "add 2>K", at("25", melds="KKKKK2"), dict(melds="KKKK22")),
    ("the second onto 4, by limit", "add 2>K", at("25", melds="KKK2", wild_limit="more_naturals"), dict(wild_limit="two_to_one")),
    ("more_naturals, the second onto 4", "add 2>K", at("25", melds="KKK2", wild_limit="more_naturals"), dict(melds="KK2")),
    ("more_naturals, the third onto 6", "add 2>K", at("25", melds="KKKK22", wild_limit="more_naturals"), dict(melds="KKK22")),
    ("the third onto 6, by limit", "add *>K", at("*5", melds="KKKK22", wild_limit="more_naturals"), dict(wild_limit="two_to_one")),
    ("at_most 2, the second onto 3", "add 2>K", at("25", melds="KK2", wild_limit="at_most"), dict(wild_limit="more_naturals")),
    ("at_most 2, the second onto 4 and the third", "add 2>K", at("25", melds="KKK2", wild_limit="at_most"), dict(melds="KK22")),
    ("at_most 2, the second onto 5 and the third", "add 2>K", at("25", melds="KKKK2", wild_limit="at_most"), dict(melds="KKK22")),
    ("at_most 2, the second onto 6 and the third", "add 2>K", at("25", melds="KKKKK2", wild_limit="at_most"), dict(melds="KKKK22")),
    ("at_most 3, the third onto 4", "add 2>K", at("25", melds="KK22", wild_limit="at_most", max_wilds=3), dict(max_wilds=2)),
    ("at_most 3, the third completes", "add 2>K", at("25", melds="KKKK22", wild_limit="at_most", max_wilds=3), dict(max_wilds=2)),
    ("at_most 0", "meld KK2", OPEN.but(hand="KK25", wild_limit="at_most", max_wilds=1, books_to_go_out=[2, 0, 1]), dict(max_wilds=0)),
    ("two wilds of three cards", "meld K22", OPEN.but(hand="K225", wild_limit="at_most", min_naturals=1), dict(max_wilds=1)),
)

test_4_8_fewest_naturals = legal(
    "4.8",
    ("two naturals and a wild", "meld KK2", OPEN.but(hand="KK25"), dict(min_naturals=3)),
    ("one natural", "meld K2*", OPEN.but(hand="K2*5", wild_limit="at_most", min_naturals=1), dict(min_naturals=2)),
    ("a wild onto a clean meld", "add 2>K", at("25", melds="KKKK", min_naturals=4), dict(melds="KKK")),
    ("the limit holds besides", "meld K22", OPEN.but(hand="K225", min_naturals=1, wild_limit="at_most"), dict(wild_limit="more_naturals")),
)


@after(
    "4.9",
    ("the seventh is a wild", at("K2", melds="KKKKKK", books="5555555 6666662"), dict(melds="KKKKK2")),
    ("a joker", at("K*5", melds="KKKKKK"), dict(melds="KKKKK2")),
)
def test_4_9_a_wild_makes_it_dirty(game, was_clean):
    """A clean meld takes a wild and is dirty from then on; one that is dirty already stays so whatever comes."""
    clean, dirty = 500, 300
    with_king = Game(game.state).play("add K").scores[0]
    wild = "2" if "2" in game.hand() else "*"
    with_wild = game.play(f"add {wild}>K").scores[0]
    # Laid instead of the king, a wild scores its own points more, and the king's less, twice (on the table, in the hand).
    assert with_wild - with_king == 2 * ({"2": 20, "*": 50}[wild] - 10) - ((clean - dirty) if was_clean else 0)


test_4_10_wild_melds = legal(
    "4.10",
    ("allowed or banned", "meld 222", OPEN.but(hand="2225", books_to_go_out=[2, 2, 0]), dict(wild_melds=False)),
    ("below the cap", "meld 222", OPEN.but(hand="2225", wild_book_cap=1), dict(books="2222222")),
    ("below a cap of 2", "meld 22*", at("22*5", books="2222222", wild_book_cap=2), dict(books="2222222 222222*")),
    ("a cap of 0 is a ban", "meld 222", OPEN.but(hand="2225", books_to_go_out=[2, 2, 0], wild_book_cap=1), dict(wild_book_cap=0)),
    ("no cap", "meld 222", at("2225", books="2222222"), dict(wild_book_cap=1)),
    ("the open one goes on", "add 2", at("25", melds="222222", wild_book_cap=1), dict(melds="", books="2222222")),
)
CAPPED_TAKE = at("225", books="222222*", discard="2...", phase="draw", take_wild_top="matching_pair", wild_book_cap=2)
test_4_10_takes = legal("4.10", ("nor by a take", "take", CAPPED_TAKE, dict(wild_book_cap=1)))

GROWN = at("K2*5", books="KKKKKKK 2222222", add_to_complete="any")
test_4_11_books_grow = legal(
    "4.11",
    ("a natural", "add K", GROWN.but(add_to_complete="naturals"), dict(add_to_complete="none")),
    ("a natural, with any", "add K", GROWN, dict(add_to_complete="none")),
    ("a wild", "add 2>K", GROWN, dict(add_to_complete="naturals")),
    ("a wild onto a wild book", "add *", GROWN, dict(add_to_complete="naturals")),
)
test_4_11_grown_books = positions(
    "4.11",
    (
        "grown by a natural",
        at(books="KKKKKKKK", add_to_complete="naturals"),
        lambda p: p["rules"].update(add_to_complete="none"),
        "allows 7",
    ),
    ("grown by a wild", at(books="22222222", add_to_complete="any"), lambda p: p["rules"].update(add_to_complete="naturals"), "allows 7"),
)

test_4_12_an_open_meld_comes_first = legal(
    "4.12",
    ("the book takes a wild, the open meld not", "add 2>K", GROWN.but(hand="25"), dict(melds="KKK2")),
    ("two_to_one binds grown books", "add 2>K", at("25", books="KKKKKK2", add_to_complete="any"), dict(books="KKKKK22")),
    ("at_most does not", "add 2>K", at("25", books="KKKKK22", wild_limit="at_most", add_to_complete="any"), dict(wild_limit="two_to_one")),
    (
        "more_naturals binds them",
        "add 2>K",
        at("25", books="KKKKK22", wild_limit="more_naturals", add_to_complete="any"),
        dict(books="KKKK222"),
    ),
    ("min_naturals binds them", "add 2>K", at("25", books="KKKK", book_size=3, min_naturals=4, add_to_complete="any"), dict(books="KKK")),
)


@after(
    "4.12",
    ("the dirty one first", at("K5", books="KKKKKKK KKKKK22", add_to_complete="any"), dict(books="KKKKKKK")),
    ("the dirty one completed first", at("K5", books="KKKKK2* KKKKKK2", add_to_complete="any"), dict(books="KKKKKKK KKKKKK2")),
)
def test_4_12_naturals(game, _):
    """A natural goes to the earliest dirty book, without one to the earliest clean one."""
    before = game.books()
    at_book = next((n for n, book in enumerate(before) if "2" in book), 0)
    game.play("add K")
    assert [len(book) for book in game.books()] == [7 + (n == at_book) for n in range(len(before))]


@after(
    "4.12",
    ("past the dirty one that is full", at("25", books="KKKKKKK KKKKK22 KKKKKK2", add_to_complete="any"), dict(books="KKKKKKK KKKKK22")),
    ("the open meld takes it", at("25", melds="KKK", books="KKKKKK2 KKKKKKK", add_to_complete="any"), dict(melds="444")),
)
def test_4_12_wilds(game, is_inside):
    """A wild goes to the open meld; else to the dirty book that can hold it; else to a clean one."""
    has_meld = "KKK" in game.melds()
    game.play("add 2>K")
    if has_meld:
        assert "KKK2" in game.melds() and game.books() == ["KKKKKK2", "KKKKKKK"]
    elif len(game.books()) == 3:
        assert game.books() == ["KKKKKKK", "KKKKK22", "KKKKKK22"]
    elif is_inside or game.melds():
        assert game.books() == ["KKKKKK22", "KKKKKKK"]
    else:
        assert game.books() == ["KKKKKKK2", "KKKKK22"]


@after("4.12", ("the first completed", at("*5", books="2222222 22222**", add_to_complete="any"), dict(books="22222** 2222222")))
def test_4_12_wild_books(game, _):
    """Among wild books the one completed first grows."""
    first, second = game.books()
    game.play("add *")
    assert game.books() == [first + "*", second]


OUT = {"permission": "none", "partner_foot": False, "books_to_go_out": [1, 1, 0]}


@after(
    "4.13",
    (
        "a natural or a wild onto the only clean book",
        at("K2444", in_foot=(0,), books="KKKKKKK 5555522", add_to_complete="any", **OUT),
        dict(hand="22444"),
    ),
)
def test_4_13_a_clean_book_becomes_dirty(game, stays_clean):
    """A clean book that got a wild is a dirty one for the score and for going out."""
    score = game.scores[0]
    if stays_clean:
        game.play("add K")
        assert game.scores[0] == score + 2 * 10 and "meld 444" in game.legal
        game.play("meld 444", "discard 2")
        assert game.out_seat == 0
    else:
        game.play("add 2>K")
        assert game.scores[0] == score + 2 * 20 - 500 + 300
        assert "meld 444" not in game.legal  # with one card left no clean book would let it out

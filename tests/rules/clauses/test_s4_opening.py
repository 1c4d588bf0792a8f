"""A turn's parts, and a side's first lay-down. Rule: docs/rules.md 4.1 to 4.3, 4.14 to 4.18."""

from tests.rules.clauses.pairs import after, clause, legal
from tests.rules.clauses.table import Game, at

test_4_1_draw_then_lay_down_then_discard = legal(
    "4.1",
    ("drawing comes first", "draw", at("KKK5", melds="444", phase="draw"), dict(phase="play")),
    ("taking comes first", "take", at("bKK5", melds="444", phase="draw", discard="K..."), dict(phase="play")),
    ("laying down comes after it", "meld KKK", at("KKK5", melds="444"), dict(phase="draw")),
    ("so does the discard", "discard 5", at("KKK5", melds="444"), dict(phase="draw")),
)


@after("4.1", ("a discard without a lay-down", at("KKK5", melds="444"), dict(hand="KKK56")))
def test_4_1_nothing_need_be_laid(game, _):
    """A turn may end without a lay-down, and nothing is laid after the discard."""
    game.play("discard K")
    assert game.to_move == 1 and game.legal >= {"draw"} and not game.lay_downs


@after(
    "4.2",
    ("two cards", at("5", stock="789TJ...", phase="draw"), dict(draw=1)),
    ("by the deal", at("5", stock="789TJ...", phase="draw", draw=[3, 2], deal=2), dict(deal=1)),
    ("the last entry holds on", at("5", stock="789TJ...", phase="draw", draw=[1, 3, 2], deal=4), dict(draw=[1, 2, 3])),
)
def test_4_2_number_of_cards(game, draws_two):
    """As many cards come from the stock's front as the option says for the deal."""
    game.play("draw")
    assert (game.hand() == "578") == draws_two and game.hand() in ("57", "578", "5789")


@after(
    "4.2",
    ("a red 3 among two", at("5", stock="7r89...", phase="draw"), dict(stock="78r9...")),
    ("a red 3 for a red 3", at("5", stock="r7r8r...", phase="draw"), dict(stock="778rr...")),
)
def test_4_2_red_threes(game, has_red3):
    """Red 3s among the cards drawn are laid and replaced; those further back stay in the stock."""
    drawn = game.position["stock"][:4]
    red3s = drawn.count("r") if has_red3 else 0
    game.play("draw")
    assert game.side()["red3"] == red3s and game.hand() == ("578" if has_red3 or "8r" in drawn[:3] else "577")
    assert game.turn["phase"] == "play"


test_4_3_discard = legal(
    "4.3",
    ("a wild", "discard *", at("*5", melds="444"), dict(hand="25")),
    ("a card that could be laid", "discard 4", at("45", melds="444"), dict(hand="55")),
    ("not with an opening begun", "discard b", at("K2b5", melds="KKK", opened=True), dict(opened=False, laid=30)),
)


@after("4.3", ("the discard is the new top", at("5Q", discard="9...", melds="444"), dict(hand="59")))
def test_4_3_ends_the_turn(game, is_queen):
    """The discard lies on top of the pile and the next seat begins."""
    game.play("discard Q" if is_queen else "discard 9")
    assert game.position["discard"][:2] == ("Q9" if is_queen else "99") and game.to_move == 1
    assert game.turn["phase"] == "draw" and game.position["turns"] == 9


ONE_LEFT = at("4b", melds="444", books="KKKKKKK 5555522", in_foot=(0,), permission="none", partner_foot=False, books_to_go_out=[1, 1, 0])
test_4_3_last_card_in_the_foot = legal(
    "4.3",
    ("laying all but the last card", "add 4", ONE_LEFT, dict(books_to_go_out=[1, 2, 0])),
)

test_4_14_minimum = legal(
    "4.14",
    ("exactly 60", "meld 222", at("222b", opening=[60]), dict(opening=[65])),
    ("exactly 50 of two melds, and 5 below", "meld 888", at("8884444b"), dict(hand="888444b")),
    ("exactly 50 of three kings and a 2", "meld KKK", at("KKK2b"), dict(hand="KKK4b")),
    ("deal 1", "meld 222", at("222b"), dict(deal=2)),
    ("deal 2, exactly 90", "meld 22*", at("22*b", deal=2), dict(deal=3)),
    ("deal 2, 5 below", "meld AAA", at("AAAKKKb", deal=2), dict(hand="AAA77777b")),
    ("deal 3, exactly 120", "meld AAA", at("AAAAAAb", deal=3), dict(deal=4)),
    ("deal 4, exactly 150", "meld AAA", at("AAAAAA888b", deal=4), dict(hand="AAAAAA777b")),
    ("below the list's second entry", "meld AAA", at("AAAb", opening=[50, 65], deal=1), dict(deal=2)),
)
LATER = at("222b", deal=5, deals=12)
test_4_14_later_deals = legal(
    "4.14",
    ("cycle: deal 5 is as deal 1", "meld 222", LATER, dict(opening_tail="hold_last")),
    ("cycle: deal 6 is as deal 2", "meld 222", LATER, dict(deal=6)),
    ("cycle: deal 9 is as deal 1", "meld 222", LATER.but(deal=9), dict(deal=8)),
    ("hold_last: the last of the list", "meld 222", LATER.but(opening=[90, 50], opening_tail="hold_last"), dict(opening_tail="cycle")),
    ("a minimum of 0", "meld 444", at("444b", opening=[0]), dict(opening=[20])),
)


@after("4.14", ("in one turn", at("AAAKKKb", opening=[90]), dict(opening=[60])))
def test_4_14_opens(game, needs_both):
    """A first lay-down opens the side once it reaches the minimum, and not before."""
    game.play("meld AAA")
    assert game.side()["opened"] != needs_both and game.turn["laid"] == (60 if needs_both else 0)
    if needs_both:
        game.play("meld KKK")
    assert game.side()["opened"] and game.turn["laid"] == 0 and "discard b" in game.legal


test_4_15_what_counts = legal(
    "4.15",
    ("no bonus: seven 6s are 35", "meld 666", at("6666666b", opening=[35]), dict(opening=[50])),
    ("a second meld of the rank", "meld 666", at("6666666666b"), dict(hand="666666666b")),
    ("no red 3", "meld KKK", at("KKK8887", red3=2, opening=[60]), dict(opening=[65])),
    ("wild melds", "meld 22*", at("22*b", deal=2), dict(books_to_go_out=[2, 2, 0], wild_melds=False)),
    ("ten cards of a book of ten", "meld 666", at("6666666666b", book_size=10), dict(hand="666666666b")),
)


@after("4.15", ("the eighth card begins a second meld", at("6666666666b"), dict(book_size=10)))
def test_4_15_second_meld_in_an_opening(game, is_second):
    """The book closes within the opening, and a second meld of its rank completes the minimum."""
    game.play("meld 666", *["add 6"] * 4)
    assert game.books() == (["6666666"] if is_second else []) and not game.side()["opened"]
    assert game.legal == ({"meld 666"} if is_second else {"add 6"})
    game.play(*(["meld 666"] if is_second else ["add 6"] * 3))
    assert game.side()["opened"]


UNFINISHED = at("KK2b", melds="444", opened=False, laid=15)
test_4_16_only_laying = legal(
    "4.16",
    ("no discard below the minimum", "discard b", UNFINISHED.but(opened=True, laid=0), dict(opened=False, laid=15)),
)


@after(
    "4.16",
    ("the card that reaches the minimum empties the hand", at("2", melds="KKK", opened=False, laid=30), dict(hand="2b")),
    ("the meld that reaches it empties the hand", at("AAA"), dict(hand="AAAb")),
)
def test_4_16_last_card(game, is_last):
    """The last card of the hand may be the one that reaches the minimum; the foot comes then."""
    game.play(*({"add 2>K", "meld AAA"} & game.legal))
    assert game.side()["opened"] and game.up() == is_last
    assert game.turn["phase"] == "play" and game.to_move == 0 and not game.over
    assert len(game.hand()) == (13 if is_last else 1)


test_4_16_last_card_below_it = legal(
    "4.16",
    ("three aces, all cards", "meld AAA", at("AAA", opening=[60]), dict(opening=[65])),
)

EXAMPLE = at("444KK2b")
test_4_17_a_way_must_be_left = legal(
    "4.17",
    ("fours, with KK2 to follow", "meld 444", EXAMPLE, dict(hand="444K82b")),
    ("the 2 is needed by the kings", "add 2>4", UNFINISHED.but(hand="KKK2b"), dict(hand="KK2b")),
    ("KK2 alone is 40", "meld KK2", EXAMPLE, dict(hand="44KK2b")),
    ("exactly what is left", "meld 444", EXAMPLE.but(opening=[55]), dict(opening=[60])),
    ("wilds that would be too many", "meld KK2", at("KK22b", wild_limit="at_most", opening=[60]), dict(wild_limit="two_to_one")),
    ("min_naturals", "meld KKK", at("KKK2b"), dict(min_naturals=4)),
    ("a wild meld or two wilds on kings", "meld 22*", at("22*KKb", opening=[90]), dict(opening=[95])),
    ("with a wild kept for the other meld", "meld KK2", at("KK2QQ2b", opening=[80]), dict(hand="KK2Q72b")),
)


@after("4.17", ("4 4 4 K K 2 b", EXAMPLE, dict(hand="444KKK2b")))
def test_4_17_example(game, only_kings_are_left):
    """After the fours the 2 is needed by K K; a third king frees it."""
    game.play("meld 444")
    assert game.legal == ({"meld KK2"} if only_kings_are_left else {"add 2>4", "meld KK2", "meld KKK"})


test_4_18_open_for_all = legal(
    "4.18",
    ("the partner lays 30 points", "meld KKK", at("KKKb", seat=2, sides={0: dict(melds="AAA")}), dict(sides={})),
    ("the other side does not", "meld KKK", at("KKKb", seat=2, sides={0: dict(melds="AAA")}), dict(sides={1: dict(melds="AAA")})),
)


@clause("4.18")
def test_4_18_only_for_the_deal():
    """The next deal begins with no side open."""
    game = Game(at("AAAK", stock="4", phase="draw", melds="AAA")).play("draw")
    assert game.over and game.side()["opened"]
    game.engine.next_deal()
    assert not game.engine.game["opened"].any() and game.engine.game["deal"] == 2

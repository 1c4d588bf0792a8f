"""Taking from the discard pile. Rule: docs/rules.md 5."""

from tests.rules.clauses.pairs import after, legal, positions
from tests.rules.clauses.table import at

# Seat 0 is to draw, its side is open, a king lies on the pile.
TAKE = at("KK5", melds="444", discard="K6789TJQA", phase="draw")
KEYS = TAKE.but(hand="K2*5", take_key="natural_and_wild")

test_5_1_instead_of_drawing = legal(
    "5.1",
    ("with a count of 1", "take", TAKE.but(take_count=1), dict(take_count=0)),
    ("before the draw", "take", TAKE, dict(phase="play")),
)


@after(
    "5.1",
    ("seven of nine", TAKE, dict(take_count=8)),
    ("seven of seven", TAKE.but(discard="K6789TJ"), dict(discard="K6789T")),
    ("three", TAKE.but(take_count=3), dict(take_count=4)),
    ("the whole pile", TAKE.but(take_count="all"), dict(take_count=30)),
    ("only the top card", TAKE.but(take_count=1), dict(take_count=2)),
)
def test_5_1_number_taken(game, _):
    """The top cards of the pile come, as many as the option says, or all where there are fewer."""
    pile, count = game.position["discard"], game.rules.take_count
    number = len(pile) if count == "all" else min(count, len(pile))
    game.play("take")
    assert game.hand() == "".join(sorted("5" + pile[1:number], key="456789TJQKA".index))
    assert game.position["discard"] == pile[number:] and "KKK" in game.melds()


test_5_2_threes_block = legal(
    "5.2",
    ("a black 3 on top", "take", TAKE.but(hand="KKbb5"), dict(discard="bK6789TJQA")),
    ("a black 3 below", "take", TAKE.but(discard="Kb"), dict(discard="bK")),
    ("a red 3, not buried", "take", TAKE.but(discard="Kr", bury_upcard=["wild"]), dict(discard="r")),
    ("a black 3 with any key", "take>meld", TAKE.but(take_key="any_meld", melds="KKK"), dict(discard="bK")),
)

WILD = TAKE.but(hand="22**5", discard="2K", take_wild_top="matching_pair")
test_5_3_wild_on_top = legal(
    "5.3",
    ("a pair takes it, or it blocks", "take", WILD, dict(take_wild_top="blocked")),
    ("two 2s for a 2", "take", WILD.but(hand="22*5"), dict(hand="2**5")),
    ("two jokers for a joker", "take", WILD.but(hand="2**5", discard="*K"), dict(hand="22*5")),
    ("onto the open meld of 4, not of 5", "take", WILD.but(melds="22**"), dict(melds="222**")),
    ("where wild melds are banned", "take", WILD.but(books_to_go_out=[2, 2, 0]), dict(wild_melds=False)),
    ("below the cap", "take", WILD.but(wild_book_cap=1), dict(books="2222222")),
    ("one natural and a wild do not", "take", WILD.but(hand="22K5"), dict(hand="2K*5", take_key="natural_and_wild")),
)


@after("5.3", ("begins or joins a wild meld", WILD, dict(melds="2**")))
def test_5_3_the_three_are_a_wild_meld(game, begins):
    """The wild and its pair lie in the wild meld."""
    game.play("take")
    assert ("222" if begins else "2222**") in game.melds() and game.hand() == "5K**"


test_5_4_keys = legal(
    "5.4",
    ("two naturals", "take", TAKE, dict(hand="K5")),
    ("one natural and a 2", "take+2", KEYS, dict(take_key="natural_pair")),
    ("one natural and a joker", "take+*", KEYS, dict(hand="K25")),
    ("any_meld includes it", "take+2", KEYS.but(take_key="any_meld"), dict(hand="2*5")),
    ("no card at all", "take>meld", TAKE.but(hand="Q5", melds="KKK", take_key="any_meld"), dict(take_key="natural_and_wild")),
    ("no card without the open meld", "take>meld", TAKE.but(hand="Q5", melds="KKK", take_key="any_meld"), dict(melds="444")),
    ("two wilds are no key", "take+2", KEYS.but(hand="K225", min_naturals=1), dict(hand="225")),
)

test_5_5_must_fit = legal(
    "5.5",
    ("an open meld of 4, not of 5", "take", TAKE.but(melds="KKKK"), dict(melds="KKKKK")),
    ("nor of 6", "take", TAKE.but(melds="KKKK"), dict(melds="KKKKKK")),
    ("the top card alone onto 6, not a pair", "take>meld", TAKE.but(melds="KKKKKK", take_key="any_meld"), dict(melds="", books="KKKKKKK")),
    ("a pair with books of six", "take", TAKE.but(melds="KKK", book_size=6), dict(melds="KKKK")),
    ("the wild limit", "take+2", KEYS.but(melds="KK2", wild_limit="at_most"), dict(melds="KK22")),
    ("max_wilds", "take+2", KEYS.but(melds="KK2", wild_limit="at_most", max_wilds=2), dict(max_wilds=1)),
    ("min_naturals", "take+2", KEYS, dict(min_naturals=3)),
    ("min_naturals with the open meld", "take+2", KEYS.but(melds="KKK", min_naturals=5), dict(min_naturals=6)),
    (
        "not onto a book that may grow",
        "take>meld",
        TAKE.but(take_key="any_meld", melds="KKK", add_to_complete="any"),
        dict(melds="", books="KKKKKKK"),
    ),
)


@after("5.5", ("a second meld of the rank", TAKE.but(books="KKKKKKK", add_to_complete="naturals"), dict(add_to_complete="none")))
def test_5_5_never_joins_a_book(game, _):
    """A pair of a rank whose book is complete begins a new meld, whether books grow or not."""
    game.play("take")
    assert game.books() == ["KKKKKKK"] and "KKK" in game.melds()


@after("5.5", ("a take completes a book", TAKE.but(melds="KKKK"), dict(melds="KKK")))
def test_5_5_completes_a_book(game, completes):
    """The seven are a book at once."""
    game.play("take")
    assert (game.books(), game.melds()) == ((["KKKKKKK"], set()) if completes else ([], {"KKKKKK"}))


NINES = at("992b", discard="9AAAKKQ8", phase="draw")
test_5_6_opening_by_a_take = legal(
    "5.6",
    ("9 9 9 2 are 50", "take", NINES, dict(hand="99b")),
    ("exactly the minimum, and 5 below", "take", NINES, dict(opening=[55])),
    ("only the other six would reach it", "take", NINES.but(hand="99Kb", opening=[30]), dict(opening=[50])),
    ("not even with aces in the hand beside those taken", "take", NINES.but(hand="99AAAb"), dict(hand="99AAb")),
    ("in deal 2", "take", NINES.but(hand="99AAAb", deal=2), dict(deal=3)),
    ("with a wild for a key", "take+*", NINES.but(hand="9*b", take_key="natural_and_wild"), dict(opening=[75])),
    ("a wild used up by the key", "take+2", NINES.but(hand="992b", take_key="natural_and_wild"), dict(hand="92Kb")),
)
TAKING = at("2b", melds="999", opened=False, laid=30, taking=6, discard="AAAKKQ8")
test_5_6_others_come_later = legal(
    "5.6",
    ("the aces taken wait", "meld AAA", TAKING.but(hand="2AAAb"), dict(hand="2b")),
    ("nothing else before", "discard b", TAKING.but(opened=True, laid=0, taking=0), dict(opened=False, laid=30, taking=6)),
)


@after("5.6", ("50 are reached", NINES, dict(opening=[30])))
def test_5_6_order(game, in_two_steps):
    """The minimum first; only then do the other cards come."""
    game.play("take")
    if in_two_steps:
        assert game.legal == {"add 2>9"} and game.turn["taking"] == 6 and game.hand() == "2b"
        game.play("add 2>9")
    assert game.side()["opened"] and game.turn["taking"] == 0
    assert game.hand() == "QKKAAA" + ("b" if in_two_steps else "2b") and game.position["discard"] == "8"


test_5_7_needs_open = legal(
    "5.7",
    ("a side that has not opened", "take", NINES, dict(take_needs_open=True)),
    ("a side that has", "take", TAKE.but(take_needs_open=True, hand="KK2*5"), dict(melds="", opened=False)),
    ("open by the partner", "take", TAKE.but(take_needs_open=True, seat=2), dict(seat=1, sides={0: dict(melds="888")}, melds="")),
)

FROZEN = KEYS.but(hand="KK2*5", discard="K62", take_key="any_meld", melds="KK2", wild_discard_freezes=True, opening=[0])
test_5_8_a_wild_freezes = legal(
    "5.8",
    ("a 2 in the pile, a wild for a key", "take+2", FROZEN.but(wild_discard_freezes=False), dict(wild_discard_freezes=True)),
    ("a joker as well", "take+*", FROZEN.but(discard="K67"), dict(discard="K*7")),
    ("the first upcard included", "take>meld", FROZEN.but(discard="K6"), dict(discard="K6*", bury_upcard=["red3"])),
    ("two naturals still take it", "take", FROZEN, dict(hand="K2*5")),
    ("beyond the cards that would come", "take+2", FROZEN.but(discard="K6789TJQA5"), dict(discard="K6789TJQA2")),
    ("no wild on top", "take", WILD, dict(wild_discard_freezes=True)),
    ("two naturals before the opening", "take", NINES.but(discard="92", wild_discard_freezes=True), dict(hand="9222b")),
)


@after("5.9", ("red 3s come without replacement", TAKE.but(discard="K6r", bury_upcard=[]), dict(discard="K67")))
def test_5_9_red_threes(game, has_red3):
    """A red 3 among the cards taken is laid and not replaced."""
    stock = game.position["stock"]
    game.play("take")
    assert game.hand() == ("56" if has_red3 else "567") and game.side()["red3"] == has_red3
    assert game.position["stock"] == stock


@after(
    "5.9",
    ("a pile of one card empties the hand", TAKE.but(hand="KK", discard="K"), dict(discard="K6")),
    ("only a red 3 comes", TAKE.but(hand="KK", discard="Kr", bury_upcard=[]), dict(discard="K6r")),
    ("a count of one card", TAKE.but(hand="KK", take_count=1), dict(take_count=2)),
    ("an opening through it", at("99", discard="9", phase="draw", opening=[30]), dict(discard="96")),
)
def test_5_9_the_cards_before_the_foot(game, is_emptied):
    """Only when the cards taken are there is it looked at whether the hand is empty."""
    game.play("take")
    assert game.up() == is_emptied and game.side()["opened"]
    assert game.hand() == "6" or (len(game.hand()) == 13 and is_emptied)


@after("5.9", ("in the same turn", TAKE.but(discard="KQQQ"), dict(discard="KQQJ")))
def test_5_9_may_be_melded_at_once(game, has_three):
    """The cards taken may be laid in the same turn."""
    game.play("take")
    assert ("meld QQQ" in game.legal) == has_three


@after("5.9", ("on reaching the minimum, before the foot", NINES.but(hand="992", discard="96"), dict(discard="9")))
def test_5_9_opening_with_the_last_card(game, comes):
    """The card that opens is the last of the hand: the owed card comes, and the foot only where there is none."""
    game.play("take", "add 2>9")
    assert game.up() != comes and (game.hand() == "6") == comes


FOOT = TAKE.but(hand="KK", in_foot=(0,), discard="K67")
test_5_10_enough_must_be_left = legal(
    "5.10",
    ("two cards come", "take", FOOT, dict(discard="K6")),
    ("one stays, one comes", "take", FOOT.but(hand="KK5", discard="K6"), dict(discard="K")),
    ("a red 3 is no card of the hand", "take", FOOT.but(discard="K67", bury_upcard=[]), dict(discard="K6r")),
    ("only in the foot", "take", FOOT.but(discard="K6", in_foot=()), dict(in_foot=(0,))),
)


@after("5.11", ("a known king is discarded", at("KQ5", melds="444", known={0: "K"}), dict(known={0: "Q"})))
def test_5_11_known_until_played(game, plays_it):
    """What was taken is known until it is played."""
    game.play("discard K")
    assert game.position["known"][0] == ("" if plays_it else "Q")


@after("5.11", ("one of two kings is known", at("KKQ5", melds="444", known={0: "KQ"}), dict(known={0: "KKQ"})))
def test_5_11_a_known_one_first(game, was_the_only_one):
    """A card played counts as a known one of its kind."""
    game.play("discard K")
    assert game.position["known"][0] == ("Q" if was_the_only_one else "QK")


@after("5.11", ("taken cards", TAKE.but(known={0: "5"}), dict(known={})))
def test_5_11_taken_cards_are_known(game, five_is_known):
    """The cards under the top one are known, the top one and its key lie on the table."""
    game.play("take")
    assert game.position["known"][0] == ("5" if five_is_known else "") + "6789TJ"


@after("5.11", ("the hand is emptied", at("KK", melds="KKK", known={0: "K"}), dict(hand="KKK")))
def test_5_11_an_emptied_hand_has_none_known(game, is_emptied):
    """Nothing is known of the foot that follows."""
    game.play("add K", "add K")
    assert game.up() == is_emptied and game.position["known"][0] == ""


test_5_11_only_held_cards = positions(
    "5.11",
    ("a known card is held", at("K5", known={0: "K"}), lambda p: p["known"].__setitem__(0, "KK"), r"known\[0\]: 2 of K"),
)

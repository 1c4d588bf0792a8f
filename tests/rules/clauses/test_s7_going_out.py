"""Going out: who may, and what must be kept. Rule: docs/rules.md 7.1 to 7.3, 7.6 to 7.10."""

from tests.rules.clauses.pairs import after, legal, positions
from tests.rules.clauses.table import at

BOOKS = "8888888 9999999 TTTTT22 JJJJJ2* 22222**"
# Seat 0 is in the foot and nothing is asked; its side has the books of whitnack.
FREE = at("44K", melds="444 KKKKK", books=BOOKS, in_foot=(0,), permission="none", partner_foot=False)
SHORT = FREE.but(books="8888888 9999999 TTTTT22 JJJJJ2*")  # no wild book


@after("7.1", ("by laying the last cards", FREE.but(hand="44"), dict(hand="4445")))
def test_7_1_by_laying(game, is_last):
    """Laying the last card ends the deal."""
    game.play("add 4", "add 4")
    assert game.over == is_last and game.out_seat == (0 if is_last else None)
    assert not is_last or game.end == "out"


@after("7.1", ("by the discard of the last card", FREE.but(hand="4K"), dict(hand="45K")))
def test_7_1_by_the_discard(game, is_last):
    """Discarding the last card ends the deal."""
    game.play("add 4", "discard K")
    assert game.over == is_last and game.out_seat == (0 if is_last else None)


PICKED_UP_NOW = FREE.but(hand="44", in_foot=(), foot="KKKK4", foot_size=5)


@after("7.1", ("the turn in which the foot was picked up", PICKED_UP_NOW, dict(foot="KKKQ4")))
def test_7_1_in_the_same_turn(game, all_fit):
    """A player may pick up the foot and go out in the same turn; the hand alone is not the foot."""
    game.play("add 4", "add 4")
    assert game.up() and not game.over
    game.play("add 4", "add K", "add K")
    assert game.books()[-1] == "KKKKKKK" and ("discard K" in game.legal)
    assert game.hand() == ("KK" if all_fit else "QK")


test_7_1_only_from_the_foot = legal(
    "7.1",
    ("the last card of the hand needs no books", "add 4", SHORT.but(hand="4", in_foot=()), dict(hand="45", in_foot=(0,))),
)

TWO_TO_GO = FREE.but(hand="44")
test_7_2_quota = legal(
    "7.2",
    ("two clean books", "add 4", TWO_TO_GO, dict(books="8888888 TTTTT22 JJJJJ2* 22222**")),
    ("two dirty books", "add 4", TWO_TO_GO, dict(books="8888888 9999999 TTTTT22 22222**")),
    ("a wild book", "add 4", TWO_TO_GO, dict(books="8888888 9999999 TTTTT22 JJJJJ2*")),
    ("a surplus clean book is no dirty one", "add 4", TWO_TO_GO, dict(books="8888888 9999999 QQQQQQQ TTTTT22 22222**")),
    ("a surplus dirty book is no clean one", "add 4", TWO_TO_GO, dict(books="8888888 QQQQQ22 TTTTT22 JJJJJ2* 22222**")),
    ("the option's numbers", "add 4", TWO_TO_GO, dict(books_to_go_out=[3, 2, 1])),
    ("by the deal", "add 4", TWO_TO_GO.but(deal=2, books_to_go_out=[[3, 2, 1], [2, 2, 1]]), dict(deal=1)),
    ("the last entry holds on", "add 4", TWO_TO_GO.but(deal=4, books_to_go_out=[[3, 2, 1], [2, 2, 1]]), dict(deal=1)),
    (
        "the last entry of those listed",
        "add 4",
        TWO_TO_GO.but(deal=3, books_to_go_out=[[2, 2, 1], [2, 2, 1], [2, 2, 0]], books=BOOKS[:-8]),
        dict(deal=2),
    ),
    ("the other side's books are not its own", "add 4", TWO_TO_GO, dict(books=BOOKS[:-8], sides={1: dict(books="22222**")})),
)
test_7_2_completed_in_this_turn = legal(
    "7.2",
    (
        "earlier in the turn",
        "add 4",
        SHORT.but(hand="44", melds="444 222222", books=BOOKS[:31] + " 22222**", books_to_go_out=[2, 2, 1]),
        dict(books=BOOKS[:31]),
    ),
    ("by the very last card", "add K", FREE.but(hand="K5", melds="KKKKKK", books=BOOKS[8:]), dict(melds="KKKKK")),
    ("by the very last card, that no discard follows", "add K", FREE.but(hand="KK", melds="KKKKK", books=BOOKS[8:]), dict(melds="KKKK")),
)


@after("7.2", ("the very last card completes it", FREE.but(hand="KK", melds="KKKKK", books=BOOKS[8:]), dict(books=BOOKS)))
def test_7_2_the_last_card_completes_the_quota(game, is_needed):
    """A book completed by the card that empties the hand counts."""
    game.play("add K")
    assert game.legal == ({"add K"} if is_needed else {"add K", "discard K"})
    game.play("add K")
    assert game.end == "out" and game.books()[-1] == "KKKKKKK"


PARTNER = TWO_TO_GO.but(partner_foot=True, in_foot=(0, 2))
test_7_3_partner_foot = legal(
    "7.3",
    ("the partner is in the foot", "add 4", PARTNER, dict(in_foot=(0,))),
    ("the partner is not, and need not be", "add 4", PARTNER.but(partner_foot=False, in_foot=(0,)), dict(partner_foot=True)),
    ("opponents do not matter", "add 4", PARTNER, dict(in_foot=(0, 1, 3), sides={1: dict(melds="555")})),
)
THREES = PARTNER.but(preset="six-threes", in_foot=(0, 2, 4))
test_7_3_every_partner = legal("7.3", ("both partners of three", "add 4", THREES, dict(in_foot=(0, 2))))


MID_TURN = PARTNER.but(hand="55", hands={2: "4"}, in_foot=(2,), melds="444 555", stock="6745...")


@after("7.3", ("in mid-turn, or by the discard", MID_TURN, dict(hand="5")))
def test_7_3_picked_up_in_mid_turn(game, by_laying):
    """Seat 0 picks up the foot in mid-turn and discards from it, or only at its next turn; seat 2 comes before that."""
    game.play(*["add 5", "add 5"] if by_laying else [])
    game.play(min(label for label in game.legal if label.startswith("discard"))).pass_turn()
    assert game.to_move == 2 and game.up(0) == by_laying
    game.play("draw", "add 4")
    assert game.hand(2) == "45" and ("add 4" in game.legal) == by_laying


test_7_6_final_discard = legal(
    "7.6",
    ("optional: or discarded", "add 4", FREE.but(hand="45"), dict(final_discard="forbidden")),
    ("required: two cards, one to be discarded", "add 4", FREE.but(hand="45", final_discard="required"), dict(books=BOOKS[:-8])),
    ("required: all cards of a meld", "meld QQQ", FREE.but(hand="QQQ"), dict(final_discard="required")),
    ("required: all but one", "meld QQQ", FREE.but(hand="QQQ5", final_discard="required"), dict(hand="QQQ")),
    ("forbidden: the last card can be laid", "add 4", FREE.but(hand="4K", final_discard="forbidden"), dict(hand="4Q")),
    ("forbidden: all cards of a meld", "meld QQQ", FREE.but(hand="QQQ", final_discard="forbidden"), dict(hand="QQQ5")),
)


@after(
    "7.6",
    ("one card left", FREE.but(hand="44", final_discard="optional"), dict(final_discard="required")),
    ("one card left, to lay", FREE.but(hand="44", final_discard="forbidden"), dict(final_discard="required")),
)
def test_7_6_one_card_left(game, may_be_laid):
    """With one card left: laid or discarded, only laid, only discarded."""
    game.play("add 4")
    labels = {"optional": {"add 4", "discard 4"}, "required": {"discard 4"}, "forbidden": {"add 4"}}
    assert game.legal == labels[game.rules.final_discard] and ("add 4" in game.legal) == may_be_laid
    game.play(sorted(game.legal)[0])
    assert game.end == "out"


def no_wild_book(position):
    """The wild book goes to the stock."""
    position["sides"][0]["books"].remove("22222**")
    position["stock"] += "22222**"


def gives(card):
    """A card of seat 0's hand goes to the stock."""

    def give(position):
        position["hands"][0] = position["hands"][0].replace(card, "", 1)
        position["stock"] += card

    return give


test_7_7_one_card_is_kept = positions(
    "7.7",
    ("one card left, and the quota or not", FREE.but(hand="Q"), no_wild_book, "seat 0 has no legal action"),
)


@after("7.7", ("the discard of the last card", FREE.but(hand="4Q"), dict(books=BOOKS[:-8])))
def test_7_7_last_card(game, may_go_out):
    """The last card is discarded only where that goes out; else a card has to be kept before."""
    assert ("add 4" in game.legal) == may_go_out
    game.play("add 4", "discard Q") if may_go_out else game.play("discard Q")
    assert game.over == may_go_out and (may_go_out or game.hand() == "4")


test_7_8_enough_must_be_left = legal(
    "7.8",
    ("two cards", "add 4", SHORT.but(hand="456"), dict(hand="45")),
    ("two cards after a meld", "meld QQQ", SHORT.but(hand="QQQ56"), dict(hand="QQQ5")),
    ("none, where that goes out", "meld QQQ", FREE.but(hand="QQQ"), dict(books=BOOKS[:-8])),
    ("one, where its discard goes out", "meld QQQ", FREE.but(hand="QQQ5"), dict(books=BOOKS[:-8])),
    ("one that can be laid, completing the quota", "add K", FREE.but(hand="KK", books=BOOKS[8:]), dict(hand="K5")),
    ("and no discard required", "add K", FREE.but(hand="KK", books=BOOKS[8:]), dict(final_discard="required")),
    ("by a wild onto the wild meld", "add 4", FREE.but(hand="4*", melds="444 222222", books=BOOKS[:31]), dict(melds="444 22222")),
    (
        "by a wild onto a natural meld",
        "add 4",
        FREE.but(hand="42", melds="444 KKKKK2", books="8888888 9999999 JJJJJ2* 22222**"),
        dict(melds="444 KKKKKK", books=BOOKS[8:]),
    ),
    ("a take, the cards it brings counted", "take", SHORT.but(hand="QQ5", phase="draw", discard="Q6"), dict(discard="Q")),
    ("a take that leaves one to discard", "take", FREE.but(hand="QQ5", phase="draw", discard="Q"), dict(books=BOOKS[:-8])),
    ("a take that leaves none", "take", FREE.but(hand="QQ", phase="draw", discard="Q"), dict(final_discard="required")),
    ("before a yes", "add 4", SHORT.but(hand="456", permission="binding_no", books=BOOKS), dict(hand="45")),
    ("only in the foot", "add 4", SHORT.but(hand="45", in_foot=()), dict(in_foot=(0,))),
)


@after("7.8", ("a take that goes out", FREE.but(hand="QQ", phase="draw", discard="Q"), dict(discard="Q6")))
def test_7_8_take_goes_out(game, is_last):
    """A take of a one-card pile empties the foot and goes out; a card it brings is kept."""
    game.play("take")
    assert game.over == is_last and game.out_seat == (0 if is_last else None)


FIVE_KINGS = FREE.but(hand="KK", melds="KKKKK", books=BOOKS[8:])
JOKER = FREE.but(hand="*56", melds="222222", books=BOOKS[:31], permission="binding_no", in_foot=(0, 2), partner_foot=True)
test_7_9_examples = legal(
    "7.9",
    ("both kings may be laid", "add K", FIVE_KINGS, dict(permission="binding_no")),
    ("* 5 6: the joker may be laid", "add *", JOKER, dict(hand="*5")),
    ("* 5, nothing asked", "add *", JOKER.but(hand="*5", permission="none"), dict(permission="binding_no")),
)


@after("7.9", ("the joker, then the question", JOKER, dict(melds="22222")))
def test_7_9_then_the_question(game, completes):
    """The question is asked once the wild book is there."""
    assert "ask" not in game.legal
    game.play("add *")
    assert ("ask" in game.legal) == completes


test_7_10_never_stuck = positions(
    "7.10",
    ("two cards in the foot, or one", SHORT.but(hand="56"), gives("6"), "seat 0 has no legal action"),
    ("an opening with a way left", at("2b", melds="KKK", opened=False, laid=30), gives("2"), "seat 0 has no legal action"),
)

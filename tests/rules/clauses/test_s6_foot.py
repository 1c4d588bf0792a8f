"""The foot. Rule: docs/rules.md 6."""

from tests.rules.clauses.pairs import after, legal
from tests.rules.clauses.table import at

LAST = at("5", melds="444", foot="66677788899TJ")


@after(
    "6.1",
    ("a meld of all cards", at("KKK", melds="444", foot="66677788899TJ"), dict(hand="KKK5")),
    ("the last card added", at("4", melds="444", foot="66677788899TJ"), dict(hand="45")),
)
def test_6_1_by_laying_down(game, is_emptied):
    """The foot is picked up at once and the same turn goes on, up to a discard from it."""
    game.play(*({"meld KKK", "add 4"} & game.legal))
    assert game.up() == is_emptied and game.to_move == 0 and game.turn["phase"] == "play"
    assert ("meld 666" in game.legal) == is_emptied
    if is_emptied:
        game.play("discard T")
        assert game.to_move == 1 and len(game.hand()) == 12


test_6_1_the_turn_goes_on = legal(
    "6.1",
    ("a card of the foot is laid in the same turn", "discard T", at("TTT9", foot="66677788899TJ", melds="444"), dict(hand="999J")),
)


@after("6.2", ("by the discard", LAST, dict(hand="56")))
def test_6_2_at_the_next_turn(game, is_emptied):
    """The foot comes at the start of the player's next turn, before drawing, and not before."""
    game.play("discard 5")
    assert not game.up() and game.hand() == ("" if is_emptied else "6")
    for seat in (1, 2, 3):
        assert game.to_move == seat and not game.up()
        game.pass_turn()
    assert game.to_move == 0 and game.turn["phase"] == "draw" and game.up() == is_emptied
    assert game.hand() == ("66677788899TJ" if is_emptied else "6")


ENDING = at("5", melds="444", foot="66677788899Tr", hands={2: "7"}, feet={2: "K" * 13}, stock="QQQQQQ5")


@after("6.2", ("the stock is short at the next player's draw", ENDING.but(stock="5"), dict(stock="QQQQQQ5")))
def test_6_2_never_picked_up(game, ends_before):
    """If the deal ends before the player's next turn, the foot was never picked up: its red 3 counts against it."""
    game.play("discard 5")
    if not ends_before:
        for _ in range(3):
            game.play("draw", "discard Q")
    assert game.up() != ends_before
    score = game.scores[0]
    game.play("draw")
    assert game.over and game.end == "stock_draw" and game.scores[0] == score
    table = 3 * 5 - 3 * 5 - 3 * 5 - 3 * 10 - 2 * 10 - 10  # three 4s, less the cards of the foot but its red 3
    others = 5 + 13 * 10  # the partner's hand and foot
    # Picked up, the red 3 is laid and a 5 replaces it; the partner has drawn a queen more than it discarded.
    assert score == table - others + (-100 if ends_before else 100 - 5 - 10)


# Seat 3 is about to discard; seat 0 has emptied its hand by a discard and comes next.
BEFORE = at("57", seat=3, sides={0: dict(melds="888")}, hands={0: ""}, feet={0: "66778899TTJJr"}, stock="J")


@after("6.3", ("picked up, and the draw ends the deal", BEFORE, dict(hands={0: "6"})))
def test_6_3_counts_as_picked_up(game, picks_up):
    """A foot picked up at the start of a turn counts, also when the draw after it ends the deal: its red 3 is laid."""
    red3s = game.side()["red3"]
    game.play("discard 5")
    assert game.up() == picks_up and game.to_move == 0
    game.play("draw")
    assert game.end == "stock_draw" and game.up() == picks_up
    assert game.side()["red3"] == red3s + picks_up


MAX_TURNS = BEFORE.but(max_turns=13, turns=11)


@after("6.3", ("the last turn of the deal comes after it", MAX_TURNS, dict(turns=12)))
def test_6_3_not_past_the_last_turn(game, picks_up):
    """A deal that ends by its number of turns ends before the next player picks up the foot."""
    game.play("discard 5")
    assert game.over != picks_up and game.up() == picks_up


FOOT = at("AAA", melds="444", foot="667788899TJ" + "rr", stock="5rQK...")


@after(
    "6.4",
    ("red 3s in the foot, one more among the cards for them", FOOT, dict(foot="667788899TJQK")),
    ("three of them", FOOT.but(foot="667788899T" + "rrr"), dict(foot="667788899TJJQ")),
)
def test_6_4_laid_and_replaced(game, has_red3s):
    """The red 3s are laid, and as many cards drawn; a red 3 among them is laid and replaced as well."""
    number = game.position["feet"][0].count("r")
    game.play("meld AAA")
    assert game.side()["red3"] == (number + 1 if has_red3s else 0)
    assert len(game.hand()) == 13 and "r" not in game.hand() and game.turn["phase"] == "play"
    assert game.position["stock"].startswith(("" if number == 3 else "K") if has_red3s else "5rQK")


@after("6.4", ("no card left for a red 3", FOOT.but(stock=""), dict(foot="667788899TJQK")))
def test_6_4_empty_stock(game, ends):
    """With an empty stock the red 3s are laid all the same, the other cards stay, and the deal ends."""
    game.play("meld AAA")
    assert game.over == ends and game.up()
    if ends:
        assert game.end == "stock_red3" and game.side()["red3"] == 2 and game.hand() == "667788899TJ"


@after("6.4", ("one card for two red 3s", FOOT.but(stock="5"), dict(stock="5Q")))
def test_6_4_short_stock(game, ends):
    """A stock that replaces only some of them ends the deal too; what came stays."""
    game.play("meld AAA")
    assert game.over == ends and game.side()["red3"] == 2
    assert game.hand() == ("5667788899TJ" if ends else "5667788899TJQ")


@after("6.4", ("picked up after a discard", BEFORE.but(stock=""), dict(stock="Q")))
def test_6_4_at_the_start_of_a_turn(game, ends):
    """The same where the foot is picked up at the start of the turn."""
    red3s = game.side()["red3"]
    game.play("discard 5")
    assert game.up() and game.over == ends and game.side()["red3"] == red3s + 1
    assert ends or game.legal >= {"draw"}

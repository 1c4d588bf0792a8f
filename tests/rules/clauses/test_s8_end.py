"""How a deal ends. Rule: docs/rules.md 8."""

from tests.rules.clauses.pairs import after, clause, legal
from tests.rules.clauses.table import Game, at

OUT = at("44", melds="444", books="8888888 TTTTT22", books_to_go_out=[1, 1, 0], in_foot=(0,), permission="none", partner_foot=False)


@after("8.1", ("by going out", OUT, dict(hand="445")))
def test_8_1_bonus(game, goes_out):
    """The side that goes out gets the bonus; a last card kept gets none."""
    score = game.scores[0]
    game.play("add 4", "add 4")
    assert game.over == goes_out and game.scores[0] == score + 4 * 5 + (100 if goes_out else 0)


DRAW = at("5", phase="draw", stock="67")


@after(
    "8.2",
    ("2 cards, or 1", DRAW, dict(stock="6")),
    ("2 cards, or none", DRAW, dict(stock="")),
    ("3 cards for a draw of 3", DRAW.but(draw=3, stock="678"), dict(stock="67")),
    ("1 card for a draw of 1", DRAW.but(draw=1, stock="6"), dict(stock="")),
    ("by the deal", DRAW.but(draw=[2, 3]), dict(deal=2)),
    ("1 card, a red 3", DRAW, dict(stock="r")),
)
def test_8_2_short_stock(game, goes_on):
    """Drawing from a stock shorter than the draw ends the deal with nothing drawn, and nobody gets the bonus."""
    stock, scores, hand = game.position["stock"], game.scores, game.hand()
    game.play("draw")
    assert game.over != goes_on
    if not goes_on:
        assert game.end == "stock_draw" and game.position["stock"] == stock and game.hand() == hand
        assert game.scores == scores and game.out_seat is None


test_8_2_taking_instead = legal(
    "8.2",
    ("a take goes on", "take", at("KK5", melds="444", phase="draw", stock="", discard="K..."), dict(discard="b...")),
    ("nobody must", "draw", at("KK5", melds="444", phase="draw", stock="", discard="K..."), dict(phase="play")),
)


@after("8.2", ("a take, or the draw", at("KK5", melds="444", phase="draw", stock="", discard="K..."), dict(discard="b...")))
def test_8_2_plays_on_by_taking(game, can_take):
    """With an empty stock a take goes on with the deal; choosing to draw ends it."""
    game.play("take" if can_take else "draw")
    assert game.over != can_take


@after(
    "8.3",
    ("3 cards, one a red 3", DRAW.but(stock="6r7"), dict(stock="6r")),
    ("3 cards, the red 3 last", DRAW.but(stock="67r"), dict(stock="6r")),
    ("3 cards, two red 3s", DRAW.but(stock="6r7"), dict(stock="r6r")),
    ("4 cards, two red 3s", DRAW.but(stock="rr67"), dict(stock="rr6")),
    ("2 cards, one of them a red 3", DRAW.but(stock="67"), dict(stock="r7")),
    ("2 cards, both red 3s", DRAW.but(stock="67"), dict(stock="rr")),
    ("3 cards, all red 3s", DRAW.but(stock="67r"), dict(stock="rrr")),
)
def test_8_3_a_red_three_without_replacement(game, goes_on):
    """Every red 3 found is laid and counts, the cards that came stay, and the deal ends."""
    stock = game.position["stock"]
    game.play("draw")
    assert game.over != goes_on
    if goes_on:
        assert game.turn["phase"] == "play" and len(game.hand()) == 3
        return
    assert game.end == "stock_red3" and game.side()["red3"] == stock.count("r")
    assert game.hand() == "5" + stock.replace("r", "") and game.position["stock"] == ""


@after("8.3", ("a red 3 without replacement", DRAW.but(stock="r6"), dict(stock="76")))
def test_8_3_counts(game, is_red3):
    """It counts as laid: only the 6 that came is held."""
    score = game.scores[0]
    game.play("draw")
    assert game.over == is_red3 and game.scores[0] - score == (100 - 5 if is_red3 else -5 - 5)


# Reshuffling: a pile of few cards and an empty stock; the other player holds all cards that are left.
MINI = at("5", preset="mini", phase="draw", stock="", discard="K789", hands={1: "..."}, stock_out="reshuffle")


@after("8.4", ("an empty stock, and discards", MINI, dict(stock_out="end_deal")))
def test_8_4_reshuffle(game, reshuffles):
    """All discards but the top become the stock, and the draw goes on."""
    game.play("draw")
    assert game.over != reshuffles
    if reshuffles:
        assert game.position["discard"] == "K" and game.position["reshuffles"] == 1
        assert sorted(game.position["stock"] + game.hand()) == sorted("5789")
    else:
        assert game.end == "stock_draw" and game.position["reshuffles"] == 0


@after(
    "8.4",
    ("one discard below the top", MINI.but(discard="K7"), dict(discard="K")),
    ("two for a draw of two", MINI.but(discard="K78", draw=2), dict(discard="K7")),
)
def test_8_4_nothing_left_to_shuffle(game, goes_on):
    """If nothing is left to shuffle the deal ends, but what came stays."""
    below = game.position["discard"][1:]
    game.play("draw")
    assert game.over != goes_on and game.hand() == "5" + below and game.position["discard"] == "K"
    assert goes_on or game.end == "stock_draw"


@after("8.4", ("when the next card is needed", MINI.but(stock="6", draw=2), dict(stock="66")))
def test_8_4_only_when_needed(game, needs_more):
    """What is left of the stock is drawn first; the pile stays while it suffices."""
    game.play("draw")
    assert game.hand()[:2] == "56" and game.position["reshuffles"] == int(needs_more)
    assert game.position["discard"] == ("K" if needs_more else "K789")


@after("8.4", ("a red 3 is the last card", MINI.but(stock="r"), dict(discard="K")))
def test_8_4_for_a_red_three(game, goes_on):
    """A red 3's replacement may come from a reshuffle; without one it is laid all the same and the deal ends."""
    game.play("draw")
    assert game.side()["red3"] == 1 and game.over != goes_on
    assert goes_on or (game.end == "stock_red3" and game.hand() == "5")


@after("8.4", ("a red 3 among two", MINI.but(stock="r6", draw=2), dict(discard="K")))
def test_8_4_one_card_at_a_time(game, goes_on):
    """Each red 3 is replaced before the next card of the draw: the 6 replaces it and the second card is missing."""
    game.play("draw")
    assert game.side()["red3"] == 1 and game.over != goes_on
    assert goes_on or (game.end == "stock_draw" and game.hand() == "56")


@clause("8.4")
def test_8_4_order_depends_on_seed_deal_and_number():
    """The order of a reshuffle is a function of seed, deal and its number, not of what was played before."""
    pile = "K" + "46789TJQA" * 2
    orders = {}
    for seed, deal, hand in ((1, 1, "5"), (1, 1, "55"), (2, 1, "5"), (1, 2, "5")):
        game = Game(MINI.but(discard=pile, seed=seed, deal=deal, deals=2, hand=hand)).play("draw")
        orders[seed, deal, hand] = game.position["stock"]
    assert orders[1, 1, "5"] == orders[1, 1, "55"]
    assert len(set(orders.values())) == 3
    game = Game(MINI.but(discard=pile, seed=1, hand="5")).play("draw")
    second = Game(MINI.but(discard=pile, seed=1, hand="5"), game_with(reshuffles=1, discard=pile)).play("draw")
    assert second.position["stock"] != game.position["stock"] and second.position["reshuffles"] == 2


def game_with(discard, reshuffles):
    """The position of MINI with a pile, after so many reshuffles."""
    position = Game(MINI.but(discard=discard, seed=1)).position
    return position | {"rules": MINI.rules.resolved(), "reshuffles": reshuffles}


LAST_TURN = at("45", melds="444", max_turns=9, turns=8)


@after(
    "8.5",
    ("the last turn", LAST_TURN, dict(turns=7)),
    ("the option", LAST_TURN, dict(max_turns=10)),
    ("200 for each player", LAST_TURN.but(max_turns="auto", turns=799), dict(turns=798)),
)
def test_8_5_last_turn(game, is_last):
    """The discard that completes the last turn ends the deal, and nobody gets the bonus for going out."""
    score = game.scores[0]
    game.play("discard 5")
    assert game.over == is_last and game.scores[0] == score + 5
    assert not is_last or (game.end == "max_turns" and game.out_seat is None)


@after("8.5", ("going out with the last discard", OUT.but(hand="4", max_turns=9, turns=8), dict(hand="45")))
def test_8_5_going_out_counts(game, goes_out):
    """A discard that goes out counts as that, also in the last turn."""
    game.play("discard 4")
    assert game.end == ("out" if goes_out else "max_turns")

"""Scoring. Rule: docs/rules.md 9."""

import pytest

from hf_env import VectorGame
from hf_env.engine.state import GAME_DTYPE
from hf_env.positions import from_position
from tests.rules.clauses.pairs import after, clause
from tests.rules.clauses.table import Game, at, position_of

# Seat 0 is to draw from an empty stock, which ends the deal. Its side holds a 5, a 4, and a foot of each player:
# 13 sixes and 13 sevens. That is worth -140, and the three 4s on the table 15.
HELD = 5 + 5 + 13 * 5 + 13 * 5
END = at("5", hands={2: "4"}, foot="6" * 13, feet={2: "7" * 13}, melds="444", phase="draw", stock="")
BASE = 15 - HELD


def final(game):
    """The score of side 0 once the deal is over."""
    game.play("draw")
    assert game.over and game.end == "stock_draw"
    assert list(game.engine.game["deal_scores"][:2]) == game.scores
    return game.scores[0]


@after(
    "9.1",
    ("the cards of a meld", END.but(melds="444 KKK"), dict(melds="444 QQ2")),
    ("and its wilds", END.but(melds="444 22*"), dict(melds="444 222")),
)
def test_9_1_cards_on_the_table(game, is_inside):
    """Every card in melds and books counts, natural or wild."""
    assert final(game) - BASE in ((30, 90) if is_inside else (40, 60))


@after(
    "9.1",
    ("seven kings, or six and a 2", END.but(books="KKKKKKK"), dict(books="KKKKKK2")),
    ("clean_book", END.but(books="KKKKKKK"), dict(clean_book=400)),
    ("seven kings, or six", END.but(books="KKKKKKK"), dict(books="", melds="444 KKKKKK")),
)
def test_9_1_clean_book(game, is_inside):
    """A clean book's bonus, and not that of a dirty one or none."""
    other = {("KKKKKK2", 500): 300 + 80, ("KKKKKKK", 400): 400 + 70, ("", 500): 60}
    key = (game.state["books"], game.rules.clean_book)
    assert final(game) - BASE == (500 + 70 if is_inside else other[key])


@after(
    "9.1",
    ("dirty_book", END.but(books="9999922"), dict(dirty_book=305)),
    ("one wild is enough", END.but(books="9999992", points={"two": 10, "high": 10}), dict(books="9999999")),
)
def test_9_1_dirty_book(game, is_inside):
    """A dirty book's bonus."""
    bonus = 300 if is_inside else {"9999922": 305, "9999999": 500}[game.state["books"]]
    assert final(game) - BASE == bonus + (90 if game.state["books"] == "9999922" else 70)


@after(
    "9.1",
    ("wild_book", END.but(books="22222**"), dict(wild_book=1000)),
    ("seven wilds, or six", END.but(books="22222**"), dict(books="", melds="444 2222**")),
)
def test_9_1_wild_book(game, is_inside):
    """A wild book's bonus, for seven wilds."""
    bonus = 1500 if is_inside else {"22222**": 1000, "": -20}[game.state["books"]]
    assert final(game) - BASE == bonus + 200


@after("9.1", ("each book has its own", END.but(books="KKKKKKK KKKKKKK"), dict(books="KKKKKKK")))
def test_9_1_each_book(game, has_two):
    """Two books of a rank have two bonuses."""
    assert final(game) - BASE == 570 * (2 if has_two else 1)


@after("9.1", ("red3_laid", END.but(red3=2), dict(red3_laid=50)), ("one more", END.but(red3=2), dict(red3=1)))
def test_9_1_red_threes(game, is_inside):
    """Each red 3 on the table counts."""
    assert final(game) - BASE == (200 if is_inside else 100)


@after("9.1", ("a side that never opened", END.but(melds="", red3=2), dict(red3=1)))
def test_9_1_red_threes_without_opening(game, has_two):
    """Red 3s count for a side that has not opened too."""
    assert not game.side()["opened"] and final(game) == -HELD + (200 if has_two else 100)


OUT = at("4", melds="555", books="8888888", in_foot=(0,), books_to_go_out=[1, 0, 0], permission="none", partner_foot=False)


@after("9.1", ("going_out", OUT, dict(going_out=200)), ("or a card kept", OUT, dict(hand="44")))
def test_9_1_going_out(game, is_inside):
    """The bonus for going out."""
    before = game.scores[0]
    game.play("discard 4")
    bonus = 100 if is_inside else {"4": 200, "44": 0}[game.state["hand"]]
    assert game.scores[0] - before == 5 + bonus and game.over == (bonus > 0)


@after(
    "9.2",
    ("a hand", END.but(hand="5"), dict(hand="55")),
    ("a partner's hand", END.but(hands={2: "4"}), dict(hands={2: "45"})),
    ("a black 3", END.but(hand="5"), dict(hand="5b")),
    ("a foot", END.but(foot="6" * 13), dict(foot="6" * 12 + "T")),
)
def test_9_2_cards_held(game, is_inside):
    """Cards in hands and in feet not picked up count against the side: here 5 points more of them."""
    assert final(game) - BASE == (0 if is_inside else -5)


@after(
    "9.2",
    ("a red 3 in a foot", END.but(foot="6" * 12 + "r"), dict(red3_held=200)),
    ("two of them", END.but(foot="6" * 12 + "r"), dict(foot="6" * 11 + "rr")),
)
def test_9_2_red_threes_held(game, is_inside):
    """A red 3 in a foot not picked up costs, in place of card points."""
    number, each = game.state["foot"].count("r"), game.rules.red3_held
    assert final(game) - BASE == 5 * number - number * each
    assert (number * each == 100) == is_inside


@after("9.2", ("a foot picked up", END.but(in_foot=(0,), melds="444"), dict(in_foot=())))
def test_9_2_foot_picked_up(game, is_up):
    """A foot that was picked up is no foot any more: what is left of it is the hand."""
    assert final(game) - BASE == (13 * 5 if is_up else 0)


@clause("9.2")
def test_9_2_negative():
    """A score may be negative."""
    assert final(Game(END.but(melds=""))) == -HELD < 0


SEVENS = END.but(books="7777777", feet={2: "6" * 7 + "J" * 6}, foot="6" * 13, sevens_book=1000)
SEVENS_HELD = 15 - 5 - 5 - 20 * 5 - 60


@after(
    "9.3",
    ("a clean book of 7s", SEVENS, dict(sevens_book="none")),
    ("no other rank", SEVENS, dict(books="8888888", points={"high": 5}, feet={2: "6" * 7 + "5" * 6}, foot="6" * 13)),
)
def test_9_3_sevens_book(game, is_inside):
    """`sevens_book` is the bonus of a clean book of 7s, in place of `clean_book`."""
    others = SEVENS_HELD + (30 if game.rules.points.high == 5 else 0)
    assert final(game) - others == 35 + (1000 if is_inside else 500)


@after("9.3", ("clean, not dirty", SEVENS, dict(books="7777772")))
def test_9_3_dirty_sevens(game, is_clean):
    """A dirty book of 7s is a dirty book."""
    assert final(game) - SEVENS_HELD == (35 + 1000 if is_clean else 50 + 300)


PENALTY = END.but(melds="444 2222**", unfinished_wild_penalty=500)


@after(
    "9.3",
    ("an unfinished wild meld", PENALTY, dict(melds="444", books="22222**")),
    ("the option", PENALTY, dict(unfinished_wild_penalty=0)),
)
def test_9_3_unfinished_wild_meld(game, is_inside):
    """The penalty for a wild meld that is no book; a wild book has none."""
    wild = 180 if "2222**" in game.state["melds"] else 200 + 1500
    assert final(game) - BASE == wild - (500 if is_inside else 0)


@after("9.3", ("only a wild meld", PENALTY, dict(melds="444 KKKK22")))
def test_9_3_not_for_dirty_melds(game, is_wild):
    """Another unfinished meld costs nothing, wilds in it or not."""
    assert final(game) - BASE == (180 - 500 if is_wild else 80)


LAST = END.but(deal=4, deals=4)


@after("9.4", ("the last of four deals", LAST, dict(deal=3)), ("of five", LAST, dict(deals=5)))
def test_9_4_number_of_deals(game, is_last):
    """A game has so many deals."""
    game.play("draw")
    assert game.over and game.game_over == is_last


@after(
    "9.4",
    ("exactly at the target", END.but(target=1000, books="KKKKKKK", scores=[995 - BASE - 570 + 5, 0]), dict(scores=[995 - BASE - 570, 0])),
    ("at the end of the deal", END.but(target=1000, melds="444", scores=[995, 0], red3=2), dict(red3=1)),
    ("past the number of deals", END.but(target=1000, deal=9, scores=[995, 0], red3=2), dict(scores=[900, 0])),
    ("the other side", END.but(target=1000, scores=[0, 995], sides={1: dict(red3=9)}), dict(scores=[0, 0])),
)
def test_9_4_target(game, is_reached):
    """With a target the game ends after the deal at whose end a total is at or above it."""
    totals = [before + score for before, score in zip(game.position["scores"], game.scores, strict=True)]
    assert (max(totals) >= 1000) == is_reached
    game.play("draw")
    assert game.over and game.game_over == is_reached and list(game.engine.game["scores"][:2]) == totals


@after(
    "9.4",
    ("the last deal there may be", END.but(target=100_000, max_deals=6, deal=6), dict(deal=5)),
    ("50 of them", END.but(target=100_000, deal=50), dict(deal=49)),
)
def test_9_4_most_deals(game, is_last):
    """Without reaching the target a game ends after `max_deals` deals."""
    game.play("draw")
    assert game.game_over == is_last


def rewards_at_the_end(state):
    """What each seat of the game gets for winning."""
    games = VectorGame(1, rules=state.rules.resolved(), reward="win")
    games.reset(game_seeds=[1])
    built, _ = from_position(position_of(state))
    assert built.dtype == GAME_DTYPE
    numbers = games.decisions[:1].tobytes() + games.game_numbers[:1].tobytes()
    games.restore(0, built[0].tobytes() + numbers)
    games.step([0])
    assert games.terminated[0]
    return [round(float(reward), 3) for reward in games.rewards[0]]


def lead(state, points):
    """The state in its last deal with totals such that side 0 ends so many points ahead of the last side."""
    scores = Game(state).play("draw").scores
    return state.but(scores=[points] + [scores[0] - score for score in scores[1:]])


FOUR = END.but(deal=4)
THREE = at("5", preset="six-pairs", phase="draw", stock="", deal=4, hands={3: "4"}, foot="6" * 13, feet={3: "7" * 13}, melds="444")


@clause("9.5")
@pytest.mark.parametrize(
    ("ahead", "two_sides", "three_sides"),
    [
        (5, [1, -1, 1, -1], [1, -0.5, -0.5] * 2),
        (0, [0, 0, 0, 0], [0, 0, 0] * 2),
        (-5, [-1, 1, -1, 1], [-0.5, 0.5, 0.5] * 2),
    ],
)
def test_9_5_highest_total(ahead, two_sides, three_sides):
    """The highest total wins, 5 points more are enough; equal totals share the win."""
    assert rewards_at_the_end(lead(FOUR, ahead)) == two_sides
    assert rewards_at_the_end(lead(THREE, ahead)) == three_sides


# The other side scores 1000 for ten red 3s, less 10 and 260 for the cards held.
OTHERS = {"hands": {1: "4", 2: "4", 3: "4"}, "feet": {1: "8" * 13, 2: "7" * 13, 3: "9" * 13}}
EQUAL = END.but(deal=4, scores=[1000 - 10 - 260 - BASE, 0], **OTHERS)


@after("9.5", ("equal totals, or 5 less", EQUAL, dict(scores=[725 - BASE, 0])))
def test_9_5_totals(game, is_equal):
    """Totals are the sums of the deals' scores."""
    game.play("draw")
    first, second = (int(total) for total in game.engine.game["scores"][:2])
    assert first == second if is_equal else first == second - 5


NOTHING = dict.fromkeys(("joker", "two", "ace", "high", "low", "black3"), 0)
EXAMPLE_A = at("4", books="KKKKKKK 4444444 QQQQQ22 99999** 2222222", red3=2, in_foot=(0, 2), permission="none", points=NOTHING, opening=[0])


@after("9.6", ("a: out with 2 clean, 2 dirty, 1 wild and 2 red 3s", EXAMPLE_A, dict(hand="45")))
def test_9_6_example_a(game, goes_out):
    """1000 + 600 + 1500 + 100 + 200 = 3400 before card points, 100 less if not out."""
    game.play("discard 4")
    assert game.over == goes_out and game.scores[0] == (3400 if goes_out else 3300)


EXAMPLE_B = at(
    "Q7*", melds="AAA", books="KKKKKKK 9999922", red3=1, in_foot=(0,), hands={2: ""}, feet={2: "5*22r"}, foot_size=5, phase="draw", stock=""
)


@after("9.6", ("b: as in the text, or a king less", EXAMPLE_B, dict(books="9999922", melds="AAA KKKKKK")))
def test_9_6_example_b(game, has_seven):
    """570 + 390 + 60 + 100 - 65 - 195 = 860; with six kings 510 less."""
    assert final(game) == (860 if has_seven else 350)


@after(
    "9.6",
    (
        "c: stock out with 2 clean, 1 dirty, 1 wild and 1 red 3",
        EXAMPLE_A.but(books="KKKKKKK 4444444 QQQQQ22 2222222", red3=1, phase="draw", stock=""),
        dict(red3=0),
    ),
)
def test_9_6_example_c(game, has_red3):
    """2900 before card points, and 2800 without the red 3."""
    assert final(game) == (2900 if has_red3 else 2800)


@after("9.6", ("d: two red 3s in an unopened foot", END.but(melds="", foot="6" * 11 + "rr"), dict(foot="6" * 12 + "r")))
def test_9_6_example_d(game, has_two):
    """-200, and the points of the other cards besides."""
    assert final(game) == -HELD + (10 - 200 if has_two else 5 - 100)

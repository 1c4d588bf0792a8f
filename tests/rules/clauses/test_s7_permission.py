"""Asking to go out. Rule: docs/rules.md 7.4, 7.5."""

import numpy as np

from hf_env import ACTIONS
from hf_env.hand_and_foot_v0 import env as make_env
from tests.rules.clauses.pairs import after, clause, legal
from tests.rules.clauses.table import Game, at, position_of

BOOKS = "8888888 9999999 TTTTT22 JJJJJ2* 22222**"
# Whitnack: seat 0 and its partner are in the foot, the side has the books; the draw is done.
ASK = at("KK4", melds="444 KKKKK", books=BOOKS, in_foot=(0, 2))
# Two teams of three, seat 4 to ask seats 0 and 2.
THREES = ASK.but(preset="six-threes", seat=4, in_foot=(0, 2, 4))

test_7_4_the_question = legal(
    "7.4",
    ("where permission is needed", "ask", ASK, dict(permission="none")),
    ("in the foot", "ask", ASK, dict(in_foot=(2,))),
    ("after the draw", "ask", ASK, dict(phase="draw")),
    ("the books are there", "ask", ASK, dict(books=BOOKS[:-8])),
    ("the partner is in the foot", "ask", ASK, dict(in_foot=(0,))),
    ("the partner need not be", "ask", ASK.but(partner_foot=False, in_foot=(0,)), dict(partner_foot=True)),
    ("once a turn, after a no", "ask", ASK, dict(answers={2: "no"})),
    ("once a turn, after a yes", "ask", ASK, dict(answers={2: "yes"})),
    ("every partner of three", "ask", THREES, dict(in_foot=(0, 4))),
    (
        "a book that a lay-down still completes",
        "ask",
        ASK.but(melds="444", books=BOOKS + " KKKKKKK", books_to_go_out=[3, 2, 1]),
        dict(books=BOOKS, melds="444 KKKKK"),
    ),
)


@after("7.4", ("completed in this turn", ASK.but(hand="KK45", books_to_go_out=[3, 2, 1]), dict(melds="444 KKKK")))
def test_7_4_after_completing_the_quota(game, completes):
    """The quota may be completed first and the question asked then."""
    assert "ask" not in game.legal
    game.play("add K", "add K")
    assert ("ask" in game.legal) == completes


@after("7.4", ("the answer is a yes", ASK, dict(permission="none")))
def test_7_4_partner_answers(game, must_ask):
    """The partner answers at that moment, and play returns to the asker."""
    if must_ask:
        game.play("ask")
        assert game.to_move == 2 and game.turn["phase"] == "answer" and game.legal == {"yes", "no"}
        game.play("yes")
        assert game.to_move == 0 and game.turn["phase"] == "play" and game.turn["may_go_out"]
    game.play("add K", "add K", "discard 4")
    assert game.end == "out" and game.out_seat == 0


@after("7.4", ("first the seat after the asker's", THREES, dict(answers={0: "yes"}, phase="answer")))
def test_7_4_several_answer(game, nobody_yet):
    """Several partners answer in the order of turns, from the seat after the asker's."""
    if nobody_yet:
        game.play("ask")
        assert game.to_move == 0
        game.play("yes")
    assert game.to_move == 2 and not game.turn["may_go_out"]
    game.play("yes")
    assert game.to_move == 4 and game.turn["answers"] == {"0": "yes", "2": "yes"} and game.turn["may_go_out"]


ASKED = THREES.but(phase="answer", asked=True)


@after("7.4", ("one no of two", ASKED.but(answers={0: "yes"}), dict(answers={})))
def test_7_4_first_no_ends_it(game, was_second):
    """A no ends the question, whoever is left to be asked; two teams of three, one no."""
    assert game.to_move == (2 if was_second else 0)
    game.play("no")
    assert game.to_move == 4 and not game.turn["may_go_out"] and "ask" not in game.legal
    assert game.turn["answers"] == ({"0": "yes", "2": "no"} if was_second else {"0": "no"})


@after("7.4", ("a new turn", ASK.but(hand="KK4T"), dict(answers={2: "no"})))
def test_7_4_asked_again_next_turn(game, _):
    """What was asked and answered is forgotten when the turn ends."""
    game.play("discard T").pass_turn()
    assert game.to_move == 2 and game.turn["asked"] is False and game.turn["answers"] == {}
    game.play("draw")
    assert "ask" in game.legal


def seen_when_asked(state):
    """What the partner sees when asked."""
    table = make_env(rules="whitnack")
    table.reset(seed=0)
    table.set_position(position_of(state))
    table.step(ACTIONS.parse("ask"))
    return table.observe(table.agent_selection)["observation"]


@clause("7.4")
def test_7_4_the_partner_knows_no_more_than_else():
    """Whether the asker holds 4 and K or 5 and Q, the partner is shown the same; a card known to be held shows."""
    one, other = ASK.but(stock="Q5..."), ASK.but(hand="KQ5", stock="K4...")
    assert np.array_equal(seen_when_asked(one), seen_when_asked(other))
    assert not np.array_equal(seen_when_asked(one.but(known={0: "4"})), seen_when_asked(one))


test_7_5_without_a_yes = legal(
    "7.5",
    ("a yes", "add K", ASK.but(hand="KK", answers={2: "yes"}), dict(answers={2: "no"})),
    ("or none needed", "add K", ASK.but(hand="KK", permission="none"), dict(permission="binding_no")),
    ("a no of two", "add K", THREES.but(hand="KK", answers={0: "yes", 2: "yes"}), dict(answers={0: "yes", 2: "no"})),
    ("binding_no: a yes does not oblige", "discard K", ASK.but(answers={2: "yes"}), dict(permission="binding_both")),
    (
        "binding_both: after a no anything goes",
        "discard K",
        ASK.but(permission="binding_both", answers={2: "no"}),
        dict(answers={2: "yes"}),
    ),
    ("binding_both: before the question too", "discard K", ASK.but(permission="binding_both"), dict(answers={2: "yes"})),
)


@after("7.5", ("after a yes", ASK, dict(phase="answer", asked=True)))
def test_7_5_a_no_is_for_this_turn(game, says_yes):
    """After a no the last card is kept, after a yes it goes out."""
    game.play(*["ask", "yes"] if says_yes else ["no"])
    game.play("add K")
    assert ("add K" in game.legal) == says_yes
    game.play("discard K")
    assert not game.over and game.hand() == "4"


BOTH = ASK.but(permission="binding_both")
test_7_5_binding_both = legal(
    "7.5",
    ("asked where all but one can be laid", "ask", BOTH, dict(hand="KKQ5")),
    ("or everything", "ask", BOTH.but(hand="KK44", final_discard="forbidden"), dict(hand="KK4Q")),
    ("with a new meld", "ask", BOTH.but(hand="QQQ5"), dict(hand="QQ65")),
    ("wilds shared among melds", "ask", BOTH.but(hand="QQ2AA2"), dict(hand="QQ2AA5")),
    ("one black 3 is the discard", "ask", BOTH.but(hand="KKb"), dict(hand="KKbb")),
    ("a black 3 cannot be laid", "ask", BOTH.but(hand="KKb"), dict(final_discard="forbidden")),
    ("required: something is left to discard", "ask", BOTH.but(hand="QQQ5", final_discard="required"), dict(hand="QQQ6J")),
    ("binding_no asks with anything", "ask", ASK.but(hand="KKQ5"), dict(permission="binding_both")),
    ("a wild is needed elsewhere", "add 2>4", BOTH.but(hand="QQ22", melds="444", answers={2: "yes"}), dict(hand="QQ2")),
    ("it may not end otherwise", "add 2>K", BOTH.but(hand="KQQ22", answers={2: "yes"}), dict(hand="KQQ2")),
    (
        "the clean books must stay",
        "add 2>8",
        BOTH.but(hand="2Q", answers={2: "yes"}, add_to_complete="any", books=BOOKS + " AAAAAAA"),
        dict(books=BOOKS),
    ),
)


@after("7.5", ("K K Q Q 2", BOTH.but(hand="KKQQ2"), dict(permission="binding_no")))
def test_7_5_bound_to_go_out(game, is_bound):
    """After the yes each action keeps a way to go out; with binding_no the player may change its mind."""
    game.play("ask", "yes")
    if is_bound:
        assert game.legal == {"add K", "meld QQ2"}
    else:
        assert game.legal > {"add K", "meld QQ2", "add 2>K", "discard 2"}
    game.play("add K", "add K", "meld QQ2")
    assert game.end == "out"


@clause("7.5")
def test_7_5_the_last_card_may_be_laid_or_discarded():
    """With one card left that fits, both ways of going out are legal after the yes."""
    game = Game(BOTH.but(answers={2: "yes"}, hand="44")).play("add 4")
    assert game.legal == {"add 4", "discard 4"}

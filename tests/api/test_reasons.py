"""Every illegal action is explained by a sentence that says what is wrong."""

import random
import re

import pytest

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.explanations import FALLBACK, IT_IS_LEGAL, why_illegal
from hf_env.rules import list_rules, load_rules
from tests.api.tables import game_at, table
from tests.differential.drivers import DRIVERS
from tests.rules.strategies import random_rule_set

RULE_SETS = [load_rules(name) for name in list_rules()] + [random_rule_set(seed) for seed in range(16)]
DECISIONS = 150


@pytest.mark.parametrize("number", range(len(RULE_SETS)))
def test_no_illegal_action_gets_the_fallback(number: int) -> None:
    """All 127 actions at states of games, the engine's mask and the sentence agreeing."""
    rng = random.Random(number)
    game = GameAccess(RULE_SETS[number].to_record())
    for name in ("non_discard", "eager", "greedy_or_random"):
        game.start(number)
        for _ in range(DECISIONS):
            if game.is_over:
                if game.game["game_over"]:
                    break
                game.next_deal()
                continue
            legal = game.legal()
            action = DRIVERS[name](game, legal, rng)
            if rng.random() < 0.1 or game.game["in_foot"][game.game["to_move"]]:
                _check_all(game, set(legal.tolist()))
            game.play(action)


def _check_all(game: GameAccess, legal: set[int]) -> None:
    before = game.games.tobytes()
    for action in range(len(ACTIONS)):
        reason = why_illegal(game.games, 0, game.rules, action)
        assert (reason == IT_IS_LEGAL) == (action in legal)
        assert reason != FALLBACK, ACTIONS.label(action)
        assert "\n" not in reason and len(reason) < 160 and not re.search(r"[<>\[\]{}]|np\.", reason), reason
    assert game.games.tobytes() == before


QUOTA = ["4444444", "5555555", "6666662", "7777772"]
FULL = [*QUOTA, "2222222"]
OPEN = {0: {"melds": {"K": "KKK2", "Q": "QQQQQQ"}}}
IN_FOOT = {"feet": {0: None, 2: None}}
FOUR_SIXES = {"hands": {0: "KK4"}, **IN_FOOT, "sides": {0: {"melds": {"K": "KKKKK"}, "books": FULL}}}
SENTENCES = [
    ("add 2>K", {"hands": {0: "244"}, "sides": OPEN}, "the meld KKK22 would hold 2 wilds for 3 naturals; two_to_one allows 1"),
    ("meld 422", {"hands": {0: "4225"}, "sides": OPEN}, "the meld 422 would hold 1 natural beside a wild; min_naturals = 2"),
    ("add K", {"hands": {0: "445"}, "sides": OPEN}, "the hand holds no K"),
    ("meld JJJ", {"hands": {0: "JJ5"}, "sides": OPEN}, "the hand holds only 2 of the 3 J needed"),
    ("meld KKK", {"hands": {0: "KKK5"}, "sides": OPEN}, "the side's meld of K is open already (KKK2): add to it"),
    ("add J", {"hands": {0: "JJ5"}, "sides": OPEN}, "the side has no open meld of J"),
    ("add 4", {"hands": {0: "4JJ"}, "sides": {0: {"books": ["4444444"]}}},
     "the side has no open meld of 4, and books are closed (add_to_complete = none)"),
    ("draw", {"sides": OPEN}, "drawing or taking begins a turn, and this one has begun"),
    ("add K", {"hands": {0: "K4"}, "sides": OPEN, "phase": "draw"}, "a turn begins with drawing or taking"),
    ("take", {"hands": {0: "KK4"}, "sides": OPEN, "phase": "draw"}, "a black 3 on top blocks the discard pile"),
    ("take", {"hands": {0: "K4"}, "sides": OPEN, "phase": "draw", "discard": "K5"}, "the hand holds only 1 of the 2 K needed"),
    ("take", {"hands": {0: "QQ4"}, "sides": OPEN, "phase": "draw", "discard": "Q5"},
     "3 cards do not fit: the meld of Q has 6, a book has 7"),
    ("take", {"hands": {0: "994"}, "phase": "draw", "discard": "9AA"},
     "the opening needs 50 points, and with it the hand can lay 30 at most"),
    ("take", {"hands": {0: "KK"}, "sides": OPEN, **IN_FOOT, "phase": "draw", "discard": "K", "stock": ""}, None),
    ("add 2>4", {"hands": {0: "KK2b"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "laid": 15},
     "the opening needs 50 points, and with it the hand can lay 35 at most"),
    ("discard b", {"hands": {0: "KK2b"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "laid": 15},
     "the opening is not finished: 15 of 50 points are laid"),
    ("ask", {"sides": OPEN}, "seat 0 is not in the foot"),
    ("ask", {"sides": {0: {"books": QUOTA}}, **IN_FOOT}, "the side has 0 of 1 wild book needed"),
    ("ask", {"sides": {0: {"books": FULL}}, "feet": {0: None}}, "seat 2 has not picked up the foot"),
    ("ask", {**FOUR_SIXES, "asked": True, "answers": {"2": "no"}}, "the question was asked this turn"),
    ("yes", FOUR_SIXES, "no partner has asked to go out"),
    ("add K", {**FOUR_SIXES, "asked": True, "phase": "answer"}, "seat 2 must answer first whether seat 0 may go out"),
    ("add K", {**FOUR_SIXES, "hands": {0: "K4"}},
     "it would leave 1 card in the foot, and going out is not allowed: there is no permission, as no partner was asked"),
    ("add K", {**FOUR_SIXES, "hands": {0: "K4"}, "asked": True, "answers": {"2": "no"}},
     "it would leave 1 card in the foot, and going out is not allowed: there is no permission, as a partner said no"),
    ("discard 4", {"hands": {0: "4"}, **IN_FOOT,
                   "sides": {0: {"melds": {"4": "444444"}, "books": ["5555555", "6666662", "7777772", "2222222"]}},
                   "rules": {"preset": "whitnack", "permission": "none"}},
     "it is the last card in the foot, and going out is not allowed: the side has 1 of 2 clean books needed"),
    ("discard K", {**FOUR_SIXES, "hands": {0: "KK4"}, "rules": {"preset": "whitnack", "permission": "binding_both"},
                   "asked": True, "answers": {"2": "yes"}, "may_go_out": True},
     "after the yes only lay-downs that can still end in going out are legal (permission = binding_both)"),
    ("add 2>Q", {"hands": {0: "KKQ2"}, **IN_FOOT, "sides": {0: {"melds": {"K": "KKKKK", "Q": "QQQQ"}, "books": FULL}},
                 "rules": {"preset": "whitnack", "permission": "binding_both", "final_discard": "forbidden"},
                 "asked": True, "answers": {"2": "yes"}, "may_go_out": True}, None),
    ("ask", {"hands": {0: "KK45"}, **IN_FOOT, "sides": {0: {"melds": {"K": "KKKKK"}, "books": FULL}},
             "rules": {"preset": "whitnack", "permission": "binding_both"}},
     "no sequence of lay-downs from this hand ends in going out (permission = binding_both)"),
    ("add K", {"hands": {0: "K"}, **IN_FOOT, "sides": {0: {"melds": {"K": "KKKKK"}, "books": FULL}},
               "rules": {"preset": "whitnack", "permission": "none", "final_discard": "required"}},
     "it would lay the last card, which must be discarded (final_discard = required)"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "given", "sentence"), SENTENCES)
def test_sentences(label: str, given: dict, sentence: str | None) -> None:
    """Positions with the sentence they must give; None: the action is legal there, or only must be explained."""
    game = game_at(table(**given))
    reason = why_illegal(game.games, 0, game.rules, ACTIONS.parse(label))
    assert reason != FALLBACK
    if sentence is not None:
        assert reason == sentence


def test_numbers_that_are_no_actions_are_refused() -> None:
    """127 actions, counted from 0."""
    game = game_at(table(hands={0: "45"}))
    for action in (-1, len(ACTIONS)):
        with pytest.raises(ValueError, match="does not exist"):
            why_illegal(game.games, 0, game.rules, action)

"""Positions: exact round trips, refusals that name the field, partial positions."""

import copy
import json
import random
from typing import Any

import numpy as np
import pytest

from hf_env import ACTIONS, VectorGame
from hf_env.engine.access import GameAccess
from hf_env.positions import PositionError, from_position, rules_value, to_position
from hf_env.rules import RuleSet, list_rules, load_rules
from tests.api.tables import game_at, table
from tests.differential.drivers import DRIVERS
from tests.rules.strategies import random_rule_set

RULE_SETS = [load_rules(name) for name in list_rules()] + [random_rule_set(seed) for seed in range(12)]
DECISIONS = 200


# ----------------------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("number", range(len(RULE_SETS)))
def test_round_trip(number: int) -> None:
    """A position read and written again is the same, through JSON, at states of games of many rule sets."""
    rules, rng = RULE_SETS[number], random.Random(number)
    game = GameAccess(rules.to_record())
    for name in ("eager", "greedy_or_random"):
        game.start(number)
        for _ in range(DECISIONS):
            legal = game.legal()
            if rng.random() < 0.2 or game.is_over:
                _check_round_trip(game, rules, legal)
            if game.is_over:
                if game.game["game_over"]:
                    break
                game.next_deal()
                continue
            game.play(DRIVERS[name](game, legal, rng))


def _check_round_trip(game: GameAccess, rules: RuleSet, legal: np.ndarray) -> None:
    position = to_position(game.games, 0, rules)
    again = json.loads(json.dumps(position))
    games, same_rules = from_position(again, check=not game.is_over)
    assert same_rules == rules
    assert to_position(games, 0, rules) == position == again
    other = GameAccess(game.rules, games)
    assert other.legal().tolist() == legal.tolist()
    assert other.scores() == game.scores()
    assert other.broken_invariant() == 0


def test_play_goes_on_the_same() -> None:
    """From a position the game goes on as the game that it was taken from: to the end, with deals, deals' dealers and reshuffles."""
    rules = load_rules("mini", deals=3, stock_out="reshuffle", take_count="all", max_turns=60)
    for seed in range(20):
        game = GameAccess(rules.to_record())
        game.start(seed)
        rng = random.Random(seed)
        for _ in range(rng.randrange(60)):
            game.play(int(rng.choice(game.legal())))
            if game.is_over:
                game.next_deal()
        other = game_at(to_position(game.games, 0, rules))
        while True:
            assert to_position(game.games, 0, rules) == to_position(other.games, 0, rules)
            if game.is_over:
                if game.game["game_over"]:
                    break
                game.next_deal()
                other.next_deal()
                continue
            action = int(rng.choice(game.legal()))
            game.play(action)
            other.play(action)


def test_observations_survive() -> None:
    """What every seat sees, events included, and the whole state vector are those of the game itself."""
    for name in ("whitnack", "family", "six-threes"):
        table_of = {"rules": name, "seed": 5, "events": True}
        games, others = VectorGame(1, **table_of), VectorGame(1, **table_of)
        rng = random.Random(name)
        for step in range(600):
            if step % 13 == 0:
                rules = games.rules[0]
                others.games[0] = from_position(to_position(games.games, 0, rules))[0][0]
                others.refresh()
                for seat in range(rules.players):
                    assert np.array_equal(games.observe(seat), others.observe(seat))
                assert np.array_equal(games.states(), others.states())
                assert np.array_equal(games.action_masks, others.action_masks)
            busy = [action for action in np.flatnonzero(games.action_masks[0]) if 0 < action < 113]
            games.step(np.array([rng.choice(busy or list(np.flatnonzero(games.action_masks[0])))]))


def test_helper_fields_may_be_left_out() -> None:
    """Without the fields about the past play is the same."""
    rules = load_rules("whitnack")
    game = GameAccess(rules.to_record())
    game.start(1)
    for _ in range(100):
        game.play(int(game.legal()[-1]))
    short = to_position(game.games, 0, rules, history=False)
    assert not {"events", "num_events", "stats", "recent_discards"} & set(short)
    assert to_position(from_position(short)[0], 0, rules, history=False) == short
    assert game_at(short).legal().tolist() == game.legal().tolist()


def test_rules_of_a_position() -> None:
    """A preset by its name, others as a table; rules given apart stand in their place."""
    assert rules_value(load_rules("whitnack")) == "whitnack"
    changed = load_rules("family", deals=3, **{"points.ace": 15})
    assert rules_value(changed) == {"preset": "family", "deals": 3, "points": {"ace": 15}} or load_rules(rules_value(changed)) == changed
    assert load_rules(rules_value(changed)) == changed
    position = table(changed)
    assert from_position(position)[1] == changed
    assert from_position(table("whitnack"), "saskatchewan")[1] == load_rules("saskatchewan")


# -------------------------------------------------------------------------------------------------- refusals

QUOTA = ["4444444", "5555555", "6666662", "7777772", "2222222"]


def changed(**changes: Any) -> dict[str, Any]:
    """A position in which seat 0 is in the foot after the draw, with dotted fields changed (None: deleted)."""
    position = table(
        hands={0: "KK4", 1: "89"},
        feet={0: None, 2: None},
        sides={0: {"melds": {"K": "KKK2"}, "books": QUOTA}, 1: {"melds": {"Q": "QQQ"}}},
    )
    for path, value in changes.items():
        target, keys = position, path.split("__")
        for key in keys[:-1]:
            target = target[int(key) if isinstance(target, list) else key]
        last = int(keys[-1]) if isinstance(target, list) else keys[-1]
        if value is DELETED:
            del target[last]
        else:
            target[last] = value
    return position


DELETED = object()
ASKED = {"turn__asked": True, "turn__phase": "answer"}
REFUSED = [
    # Shape: present, of its type, in range.
    ({"format": "hf-position/2"}, 'format: must be "hf-position/1"'),
    ({"format": DELETED}, "format: must be"),
    ({"rules": DELETED}, "rules: missing"),
    ({"rules": 3}, "rules: must be a name"),
    ({"rules": "whitnak"}, "rules: there is no rule set"),
    ({"rules": {"players": 9}}, "rules: players"),
    ({"hand": []}, "hand: unknown field"),
    ({"stock": DELETED}, "stock: missing"),
    ({"seed": 1.5}, "seed: must be a whole number"),
    ({"seed": 1 << 64}, "seed: must be a whole number"),
    ({"deal": 0}, "deal: must be a whole number from 1"),
    ({"deal": 5}, "deal: 5 is beyond the 4 deals"),
    ({"deal": True}, "deal: must be a whole number"),
    ({"dealer": 4}, "dealer: must be a whole number from 0 to 3"),
    ({"scores": [0]}, "scores: has 1 entries"),
    ({"scores__1": 3}, "scores[1]: 3 is no multiple of 5"),
    ({"scores__0": 10**6}, "scores[0]: must be a whole number"),
    ({"turns": -1}, "turns: must be"),
    ({"turns": 800}, "turns: 800 turns end the deal"),
    ({"reshuffles": 1}, "reshuffles: 1, but stock_out = end_deal"),
    ({"turn": 3}, "turn: must be a table"),
    ({"turn__seat": 7}, "turn.seat: must be"),
    ({"turn__seat": DELETED}, "turn.seat: missing"),
    ({"turn__phase": "meld"}, "turn.phase: must be one of"),
    ({"turn__asked": 1}, "turn.asked: must be true or false"),
    ({"turn__who": 1}, "turn.who: unknown field"),
    ({"turn__answers": {"9": "yes"}}, "turn.answers.9: unknown field"),
    ({"turn__answers": {"2": "maybe"}}, 'turn.answers.2: must be "yes" or "no"'),
    ({"hands": "KK"}, "hands: must be a list"),
    ({"hands": ["KK"]}, "hands: has 1 entries"),
    ({"hands__1": None}, "hands[1]: must be a text"),
    ({"hands__1": "8x"}, 'hands[1]: "x" is no card'),
    ({"hands__1": "8" * 433}, "hands[1]: 433 cards are too many"),
    ({"hands__1": "8" * 33}, "cards: 52 of 8, and 8 decks, the most that a rule set has, hold 32"),
    ({"sides__1__red3": 17}, "cards: 27 of r, and 8 decks"),
    ({"stock": "4" * 433}, "stock: 433 cards are too many"),
    ({"sides__0__melds__K": "KK"}, 'sides[0].melds.K: "KK" has fewer than 3 cards'),
    ({"sides__0__melds__K": "KQ2"}, 'sides[0].melds.K: "KQ2" is no meld'),
    ({"sides__0__melds__K": "222"}, 'sides[0].melds.K: "222" is a meld of wild'),
    ({"sides__0__melds__Z": "222"}, "sides[0].melds.Z: unknown field"),
    ({"sides__0__books__0": "bbb"}, 'sides[0].books[0]: "bbb" is no meld'),
    ({"sides__0__books": "KKKKKKK"}, "sides[0].books: must be a list"),
    ({"sides__0__red3": -1}, "sides[0].red3: must be"),
    ({"sides__0__opened": None}, "sides[0].opened: must be true or false"),
    ({"sides__1": []}, "sides[1]: must be a table"),
    ({"recent_discards": ["4" * 5]}, "recent_discards[0]: 5 cards are too many"),
    ({"events": [[0, "fly", 0]]}, "events[0]: must be [seat, action, red 3s laid]"),
    ({"num_events": 3}, "events: has 0 entries"),
    ({"stats": {"num_takes": [1]}}, "stats.num_takes: has 1 entries"),
    ({"stats": {"luck": []}}, "stats.luck: unknown field"),
    # Cards.
    ({"hands__0": "KK5"}, "cards: "),
    ({"sides__0__red3": 3}, "cards: 13 of r"),
    ({"known__0": "4"}, None),
    ({"known__0": "44"}, "known[0]: 2 of 4 are known and 1 held"),
    ({"known__0": "Q"}, "known[0]: 1 of Q are known and 0 held"),
    # Melds and books.
    ({"sides__0__melds__wild": "2222222"}, "cards: "),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_refusals(changes: dict[str, Any], message: str | None) -> None:
    """One line that begins with the field."""
    position = changed(**changes)
    if message is None:
        from_position(position)
        return
    with pytest.raises(PositionError) as error:
        from_position(position)
    assert str(error.value).startswith(message), error.value
    assert "\n" not in str(error.value)


# Each: keyword arguments of `table`, and how the refusal begins.
FOOT = {"feet": {0: None, 2: None}}
BROKEN = [
    ({"hands": {0: "KKr"}}, "hands[0]: a red 3"),
    ({"feet": {0: "4567"}}, "feet[0]: has 4 cards, and foot_size = 13"),
    ({"feet": {0: None}}, "feet[0]: picked up, but side 0 has not opened"),
    ({"hands": {1: ""}}, "hands[1]: empty, but side 1 has not opened"),
    ({"hands": {0: "K"}}, "hands[0]: one card after the draw, but side 0 has not opened"),
    ({"hands": {0: "K"}, "phase": "draw"}, None),
    ({"hands": {0: "K"}, "sides": {0: {"opened": True}}}, None),
    ({"hands": {0: "A"}, "sides": {0: {"melds": {"A": "AA2"}, "opened": False}}, "laid": 60, "deal": 2, "rules": {"opening": [50, 80]}}, None),
    ({"hands": {0: ""}, "sides": {0: {"opened": True}}}, "hands[0]: empty at its own turn"),
    ({"hands": {2: ""}, "sides": {0: {"opened": True}}}, None),
    ({"hands": {2: ""}, **FOOT, "sides": {0: {"opened": True}}}, "hands[2]: empty in the foot"),
    ({"sides": {0: {"melds": {"K": "KKKKKKK"}}}}, 'sides[0].melds.K: "KKKKKKK" has 7 cards and is a book'),
    ({"sides": {0: {"melds": {"K": "KK22"}}}}, 'sides[0].melds.K: "KK22" holds 2 wilds for 2 naturals; two_to_one allows 1'),
    ({"sides": {0: {"melds": {"K": "K22"}}}}, 'sides[0].melds.K: "K22" holds 1 natural beside a wild; min_naturals = 2'),
    ({"sides": {0: {"books": ["KKKK222"]}}}, 'sides[0].books[0]: "KKKK222" holds 3 wilds'),
    ({"sides": {0: {"books": ["KKKKKK"]}}}, 'sides[0].books[0]: "KKKKKK" has 6 cards, a book has 7'),
    ({"sides": {0: {"books": ["KKKKKKKK"]}}}, 'sides[0].books[0]: "KKKKKKKK" has 8 cards; add_to_complete = none'),
    ({"rules": {"add_to_complete": "naturals"}, "sides": {0: {"books": ["KKKKKKKK"]}}}, None),
    ({"rules": {"add_to_complete": "naturals"}, "sides": {0: {"books": ["22222222"]}}}, 'sides[0].books[0]: "22222222" has 8'),
    ({"rules": {"wild_book_cap": 1}, "sides": {0: {"books": ["2222222", "*******"]}}}, "sides[0].books: 2 wild books"),
    ({"rules": {"wild_book_cap": 1}, "sides": {0: {"books": ["2222222"], "melds": {"wild": "22*"}}}}, "sides[0].melds.wild: no wild meld"),
    ({"rules": "bicycle", "sides": {0: {"melds": {"wild": "22*"}}}}, 'sides[0].melds.wild: "22*" is a wild meld, and wild_melds'),
    ({"sides": {1: {"melds": {"K": "KKK"}, "opened": False}}}, "sides[1]: has melds, but has not opened"),
    ({"hands": {0: "KK2"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "phase": "draw", "laid": 15}, "sides[0]: has melds, but"),
    ({"hands": {0: "KK2"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "laid": 15}, None),
    ({"hands": {0: "KK2"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "laid": 20}, "turn.laid: 20, but the cards of the opening are worth 15"),
    ({"sides": {0: {"melds": {"A": "AAA"}, "opened": False}}, "laid": 60}, "sides[0].opened: false, but 60 points reach the minimum of 50"),
    ({"hands": {0: "Kb"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "laid": 15}, "turn: seat 0 has no legal action"),
    ({"laid": 15}, "turn.laid: 15, but seat 0 is not in the middle"),
    ({"taking": 2}, "turn.taking: 2, but seat 0 is not in the middle"),
    ({"hands": {0: "KK2"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "laid": 15, "taking": 2, "discard": "b"}, "turn.taking: 2 cards are owed, and"),
    ({"hands": {0: "KK2"}, "sides": {0: {"melds": {"4": "444"}, "opened": False}}, "laid": 15, "taking": 7, "discard": "bbb89TJQ"}, "turn.taking: 7 cards are owed; take_count = 7 leaves 6"),
    ({"hands": {0: "4"}, **FOOT, "sides": {0: {"opened": True}}}, "hands[0]: one card in the foot after the draw, and nobody has said yes"),
    ({"hands": {0: "4"}, **FOOT, "sides": {0: {"books": QUOTA}}}, "hands[0]: one card in the foot after the draw, and nobody has said yes"),
    ({"hands": {0: "4"}, **FOOT, "sides": {0: {"books": QUOTA}}, "asked": True, "phase": "answer"}, "hands[0]: one card in the foot after"),
    ({"hands": {0: "4"}, **FOOT, "sides": {0: {"books": QUOTA}}, "asked": True, "answers": {"2": "yes"}, "may_go_out": True}, None),
    ({"hands": {0: "4"}, **FOOT, "sides": {0: {"books": QUOTA}}, "phase": "draw"}, None),
    ({"rules": {"permission": "none"}, "hands": {0: "4"}, **FOOT, "sides": {0: {"opened": True}}}, "turn: seat 0 has no legal action"),
    ({"phase": "over"}, "turn.phase: the deal is over"),
    ({"may_go_out": True}, "turn.may_go_out: true, but not every partner"),
    ({"phase": "answer"}, "turn.phase: answer, but nothing was asked"),
    ({"answers": {"2": "no"}}, "turn.answers: given, but nothing was asked"),
    ({"asked": True, "phase": "answer"}, "turn.asked: true, but seat 0 is not in the foot"),
    ({"asked": True, "phase": "answer", "feet": {0: None}, "sides": {0: {"books": QUOTA}}}, "turn.asked: true, but a partner"),
    ({"asked": True, "phase": "answer", **FOOT, "sides": {0: {"books": QUOTA}}}, None),
    ({"asked": True, "phase": "answer", **FOOT, "sides": {0: {"books": QUOTA[:4]}}}, "turn.asked: true, but the side has 0 of 1 wild"),
    ({"asked": True, "phase": "answer", **FOOT, "sides": {0: {"books": QUOTA}}, "answers": {"2": "no"}}, "turn.phase: answer, but the question has been answered"),
    ({"asked": True, "phase": "play", **FOOT, "sides": {0: {"books": QUOTA}}}, "turn.answers: the question has not been answered"),
    ({"asked": True, "phase": "draw", **FOOT, "sides": {0: {"books": QUOTA}}}, "turn.asked: true, but the question comes after the draw"),
    ({"asked": True, **FOOT, "sides": {0: {"books": QUOTA}}, "answers": {"2": "yes"}}, "turn.may_go_out: false, but every partner"),
    ({"asked": True, **FOOT, "sides": {0: {"books": QUOTA}}, "answers": {"1": "yes"}}, "turn.answers.1: seat 1 is no partner"),
    ({"rules": "brouillette", "asked": True, "phase": "answer", **FOOT, "sides": {0: {"books": QUOTA[:4]}}}, None),
    ({"rules": "family", "asked": True, "phase": "answer"}, "turn.asked: true, but permission = none"),
    ({"rules": "six-threes", "asked": True, "phase": "answer", "feet": {0: None, 2: None, 4: None}, "sides": {0: {"books": QUOTA}}, "answers": {"4": "yes"}}, "turn.answers: partners answer in the order"),
    ({"rules": "six-threes", "asked": True, "feet": {0: None, 2: None, 4: None}, "sides": {0: {"books": QUOTA}}, "answers": {"2": "no", "4": "yes"}}, "turn.answers: the first no ends"),
    ({"phase": "draw", "discard": ""}, "discard: empty before the draw"),
    ({"discard": ""}, None),
    ({"discard": "br"}, "discard: holds a red 3"),
    ({"rules": {"bury_upcard": []}, "discard": "br"}, None),
    ({"rules": {"bury_upcard": []}, "discard": "rb"}, "discard: holds a red 3"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), BROKEN)
def test_what_no_play_leads_to(given: dict[str, Any], message: str | None) -> None:
    """Positions just outside, and some just inside, of what can come about."""
    position = table(**given)
    if message is None:
        from_position(position)
        return
    with pytest.raises(PositionError) as error:
        from_position(position)
    assert str(error.value).startswith(message), error.value


def test_not_a_table() -> None:
    """Anything else than a table is refused."""
    for thing in (None, 3, "draw", [1]):
        with pytest.raises(PositionError, match="a position is a table"):
            from_position(thing)


def test_garbage_never_gets_through() -> None:
    """Positions with values of any type anywhere: read, or refused by PositionError, never another error."""
    rng = random.Random(0)
    junk = [None, True, -1, 3, 1 << 70, 1.5, "", "K", "x", [], {}, [None], ["K", 3], {"a": 1}, "KKKKKKK", [[0, "draw", 0]]]
    for _ in range(1_200):
        position = copy.deepcopy(changed())
        for _ in range(rng.choice([1, 1, 2])):
            target: Any = position
            while True:
                keys = list(target) if isinstance(target, dict) else list(range(len(target)))
                if not keys:
                    break
                key = rng.choice(keys)
                if isinstance(target[key], dict | list) and rng.random() < 0.7:
                    target = target[key]
                    continue
                target[key] = rng.choice(junk)
                break
        for check in (True, False):
            try:
                from_position(position, check=check)
            except PositionError as error:
                assert "\n" not in str(error)


# --------------------------------------------------------------------------------------------------- partial


def test_partial_positions() -> None:
    """Unchecked, what a position does not say is empty: a table can be scored from the little that matters."""
    game = game_at({}, check=False)
    assert game.scores() == [0, 0] and int(game.game["turn_seat"]) == 0
    game = game_at({"rules": "whitnack", "sides": [{"books": ["KKKKKKK"]}]}, check=False)
    assert game.scores() == [570, 0]
    game = game_at({"hands": ["Q7*"], "feet": [None, None, "r5"]}, check=False)
    assert game.scores() == [-65 - 105, 0]
    with pytest.raises(PositionError, match=r"hands\[0\]"):
        from_position({"hands": ["xyz"]}, check=False)


@pytest.mark.parametrize("wilds", ["2" * 32 + "*" * 16, "2" * 33, "*" * 17, "2" * 120])
def test_no_more_wilds_than_the_search_has_room_for(wilds: str) -> None:
    """Unchecked too, nothing gets in for which the engine's buffers are too small: 49 wilds wrote beyond them."""
    position = {"hands": [wilds + "4" * 32], "turn": {"seat": 0, "phase": "play"}, "discard": "5"}
    if len(wilds) == 48:
        assert {ACTIONS.label(action) for action in game_at(position, check=False).legal()} >= {"meld 222", "meld 444"}
        return
    with pytest.raises(PositionError, match=r"^cards: "):
        from_position(position, check=False)


def test_a_hand_of_more_than_127_cards() -> None:
    """A whole pile taken may bring so many; such a game's position is read as it was written."""
    rules = load_rules("two-player", decks=8, take_count="all")
    pile = "K" + "456789TJQ" * 15
    game = game_at(table(rules, hands={0: "KK4"}, sides={0: {"melds": {"8": "888"}}}, discard=pile, phase="draw"))
    game.play(ACTIONS.parse("take"))
    position = to_position(game.games, 0, rules)
    assert len(position["hands"][0]) == 136
    assert to_position(from_position(position)[0], 0, rules) == position


def test_finished_deals_can_be_shown() -> None:
    """The end of a deal is written, and read unchecked."""
    rules = load_rules("mini")
    game = GameAccess(rules.to_record())
    game.start(2, single_deal=True)
    while not game.is_over:
        game.play(int(game.legal()[0]))
    position = to_position(game.games, 0, rules)
    assert position["turn"]["phase"] == "over" and position["end"]["reason"] == "stock_draw" and position["single_deal"]
    games, _ = from_position(position, check=False)
    assert to_position(games, 0, rules) == position
    with pytest.raises(PositionError, match="the deal is over"):
        from_position(position)

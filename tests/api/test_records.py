"""Records: a game written, read and replayed is the game; anything changed in it is named."""

import copy
import functools
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hf_env import deck_for, records
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import CARDS_PER_DECK, KIND_CHARS
from hf_env.records import GameRecorder, RecordError
from hf_env.rules import RuleSet, list_rules, load_rules
from tests.differential.drivers import DRIVERS

RESHUFFLING = load_rules("mini", deals=2, stock_out="reshuffle", max_turns=60)


def recorded(rules: RuleSet, seed: int, most: int = 1 << 30, *, deal: int = 1, single_deal: bool = False) -> dict[str, Any]:
    """The record of a game, broken off after `most` actions."""
    game, recorder, rng = GameAccess(rules.to_record()), GameRecorder(), random.Random(seed)
    game.start(seed, deal, single_deal=single_deal)
    recorder.start(rules, seed, [f"p{seat}" for seat in range(rules.players)], single_deal=single_deal)
    recorder.deal(game.games, 0)
    for _ in range(most):
        if game.is_over:
            if game.game["game_over"]:
                break
            game.next_deal()
            recorder.deal(game.games, 0)
        action = DRIVERS["eager"](game, game.legal(), rng)
        game.play(action)
        recorder.action(game.games, 0, action)
    return recorder.record()


@pytest.mark.parametrize("name", list_rules())
def test_a_file_of_games(name: str, tmp_path: Path) -> None:
    """Two games of every preset through a file: equal, and verified by replaying them."""
    games = [recorded(load_rules(name), seed) for seed in (1, 2)]
    path = tmp_path / "games.jsonl"
    assert records.write(path, games[:1]) == 1
    assert records.write(path, games[1:], append=True) == 1
    again = list(records.read(path))
    assert again == games
    for record in again:
        final = records.replay(record)[0]
        assert final["game_over"] == 1
        assert sum(deal["scores"][0] for deal in record["deals"]) == final["scores"][0]


def test_the_format() -> None:
    """The fields of hf-record/1."""
    record = recorded(load_rules("whitnack"), 7)
    assert list(record) == ["format", "rules", "rules_fingerprint", "seed", "seeds", "players", "deals"]
    assert (record["format"], record["rules"], record["seed"]) == ("hf-record/1", "whitnack", 7)
    assert record["players"] == ["p0", "p1", "p2", "p3"] and len(record["deals"]) == 4
    for number, deal in enumerate(record["deals"]):
        assert deal["deal"] == number + 1 and deal["dealer"] == (record["deals"][0]["dealer"] + number) % 4
        assert deal["deck"] == deck_for("whitnack", 7, number + 1) and len(deal["deck"]) == 270
        assert deal["actions"][0] in ("draw", "take") and deal["reshuffles"] == []


def test_deck_for() -> None:
    """All cards, another order for another deal or seed, the same each time; no upcard that is buried."""
    for name in list_rules():
        rules = load_rules(name)
        decks = [deck_for(rules, seed, deal) for seed in (1, 2) for deal in (1, 2, 3)]
        assert len(set(decks)) == len(decks) and decks[0] == deck_for(name, 1, 1)
        cards = {kind: number * rules.decks for kind, number in zip(KIND_CHARS, CARDS_PER_DECK, strict=True)}
        upcard = rules.players * (rules.hand_size + rules.foot_size)
        for deck in decks:
            assert Counter(deck) == cards and deck[upcard] not in "r2*"
    with pytest.raises(ValueError, match="deals count from 1"):
        deck_for("whitnack", 1, 0)
    for seed in (-1, 1 << 63):
        with pytest.raises(ValueError, match="is not from 0 to"):
            deck_for("whitnack", seed, 1)


def test_no_place_of_the_deck_is_constant() -> None:
    """Over 2,000 seeds every place of the deck holds every common kind at some time."""
    decks = [deck_for("two-player", seed, 1) for seed in range(2_000)]
    for place in range(len(decks[0])):
        assert len({deck[place] for deck in decks}) > 11


def test_dealing_follows_the_deck() -> None:
    """From the front of the order: the hands in turn order from the seat after the dealer, the feet, the upcard, the stock."""
    rules = load_rules("family")
    for seed in range(20):
        game = GameAccess(rules.to_record())
        game.start(seed)
        deck = deck_for(rules, seed, 1)
        first = (int(game.game["dealer"]) + 1) % 4
        for offset in range(4):
            seat = (first + offset) % 4
            foot = deck[44 + 11 * offset : 55 + 11 * offset]
            assert [foot.count(kind) for kind in KIND_CHARS] == game.game["feet"][seat].tolist()
            hand = Counter(deck[11 * offset : 11 + 11 * offset])
            held = Counter({kind: int(n) for kind, n in zip(KIND_CHARS, game.game["hands"][seat], strict=True)})
            assert (hand - held).keys() <= {"r"} and sum((held - hand).values()) == hand["r"]
        assert KIND_CHARS[game.game["discard"][0]] == deck[88]
        left = int(game.game["stock_end"]) - int(game.game["stock_next"])
        assert "".join(KIND_CHARS[kind] for kind in game.game["stock"][: game.game["stock_end"]])[-left:] == deck[-left:]


def test_broken_off_games() -> None:
    """A game that was stopped ends with a deal without scores; what there is is verified."""
    for most in (0, 1, 30, 300):
        record = recorded(load_rules("whitnack"), 3, most)
        assert record["deals"][-1]["scores"] is None
        assert sum(len(deal["actions"]) for deal in record["deals"]) == most
        records.replay(json.loads(json.dumps(record)))


def test_one_deal() -> None:
    """The record of a game that is one deal, not the first."""
    record = recorded(load_rules("whitnack"), 3, deal=3, single_deal=True)
    assert record["single_deal"] and [deal["deal"] for deal in record["deals"]] == [3]
    assert records.replay(record)[0]["game_over"] == 1


def test_reshuffles_are_recorded() -> None:
    """Each order that became the stock."""
    seen = 0
    for seed in range(10):
        record = recorded(RESHUFFLING, seed)
        assert record["rules"]["stock_out"] == "reshuffle"
        seen += sum(len(deal["reshuffles"]) for deal in record["deals"])
        records.replay(record)
    assert seen > 10


def test_helper_fields_may_be_left_out() -> None:
    """Only what the format names is needed."""
    record = recorded(load_rules("mini"), 5)
    for deal in record["deals"]:
        del deal["deal"], deal["end"]
    del record["rules_fingerprint"], record["players"]
    records.replay(record)


def test_steps() -> None:
    """A step before each action, with the seat that plays it, and one at the end of each deal."""
    record = recorded(load_rules("whitnack"), 7)
    labels: list[list[str]] = [[]]
    for step in records.steps(record):
        if step.action is None:
            labels.append([])
            continue
        assert step.seat == step.games[0]["to_move"] and step.deal == len(labels)
        labels[-1].append(step.label)
    assert labels[:-1] == [deal["actions"] for deal in record["deals"]]


# ------------------------------------------------------------------------------------------------ what differs


def _set(path: str, value: Any) -> Callable[[dict], None]:
    def change(record: dict) -> None:
        target: Any = record
        *keys, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        for key in keys:
            target = target[key]
        if value is DELETED:
            del target[last]
        else:
            target[last] = value(target[last]) if callable(value) else value

    return change


DELETED = object()
CHANGED = [
    (_set("format", "hf-record/2"), "format: must be 'hf-record/1'"),
    (_set("rules", DELETED), "rules: missing"),
    (_set("rules", "nobody's"), "rules: there is no rule set"),
    (_set("rules", {"players": 9}), "rules: players"),
    (_set("rules", "family"), "rules_fingerprint: "),
    (_set("rules_fingerprint", "0"), "rules_fingerprint: '0' in the record"),
    (_set("seed", "7"), "seed: missing or of a wrong type"),
    (_set("seed", 1 << 70), "seed: seed"),
    (_set("seed", 8), "deals[0].d"),
    (_set("players", ["a"]), "players: must be a list of 4"),
    (_set("deals", []), "deals: none"),
    (_set("deals", 3), "deals: missing or of a wrong type"),
    (_set("deals.1", 3), "deals[1]: must be a table"),
    (_set("deals.1.dealer", lambda seat: (seat + 1) % 4), "deals[1].dealer: "),
    (_set("deals.1.dealer", "0"), "deals[1].dealer: of a wrong type"),
    (_set("deals.1.deal", 3), "deals[1].deal: 3 in the record, 2 by the rules"),
    (_set("deals.0.deal", 3), "deals[0].deal: the game begins with deal 1"),
    (_set("deals.0.deal", 0), "deals[0].deal: must be from 1"),
    (_set("deals.2.deck", lambda deck: deck[1:] + deck[0]), "deals[2].deck: "),
    (_set("deals.2.deck", DELETED), "deals[2].deck: missing"),
    (_set("deals.0.actions.0", "fly"), "deals[0].actions[0]: 'fly' is no action"),
    (_set("deals.0.actions.0", 3), "deals[0].actions[0]: 3 is no action"),
    (_set("deals.0.actions.1", "draw"), "deals[0].actions[1]: 'draw' by seat"),
    (_set("deals.0.actions.0", "discard K"), "deals[0].actions[0]: 'discard K' by seat"),
    (lambda record: record["deals"][3]["actions"].pop(), "deals[3].actions: end after "),
    (lambda record: record["deals"][3]["actions"].append("sleep"), "deals[3].actions["),
    (lambda record: record["deals"].append(record["deals"][3]), "deals[4]: the game was over after deal 4"),
    (_set("deals.2.scores.1", lambda score: score + 5), "deals[2].scores: "),
    (_set("deals.2.scores", [1]), "deals[2].scores: must be null or a list of 2"),
    (_set("deals.2.scores", None), "deals[2].scores: None in the record"),
    (_set("deals.2.end", "lost"), "deals[2].end: 'lost' in the record"),
    (_set("deals.2.reshuffles", ["KKQ"]), "deals[2].reshuffles: 1 in the record, 0 in the game"),
]


@functools.cache
def whitnack_game() -> dict[str, Any]:
    """A game to be changed in a copy."""
    return recorded(load_rules("whitnack"), 7)


@pytest.mark.parametrize(("change", "message"), CHANGED)
def test_what_differs_is_named(change: Callable[[dict], None], message: str) -> None:
    """The first thing that differs, in one line."""
    record = copy.deepcopy(whitnack_game())
    change(record)
    with pytest.raises(RecordError) as error:
        records.replay(record)
    assert str(error.value).startswith(message), error.value
    assert "\n" not in str(error.value)


def test_a_changed_reshuffle_is_named() -> None:
    """Another order, one too few, one too many."""
    record = next(r for r in (recorded(RESHUFFLING, seed) for seed in range(10)) if len(r["deals"][0]["reshuffles"]) > 1)
    orders = record["deals"][0]["reshuffles"]
    for changed, message in (
        ([orders[0][::-1], *orders[1:]], r"deals\[0\]\.reshuffles\[0\]: "),
        (orders[:-1], "and there is one more"),
        ([*orders, "KKQ"], "in the game"),
    ):
        record["deals"][0]["reshuffles"] = changed
        with pytest.raises(RecordError, match=message):
            records.replay(record)


def test_files_that_hold_no_records(tmp_path: Path) -> None:
    """The line is named; empty lines are passed over; rubbish is refused."""
    path = tmp_path / "x.jsonl"
    for content, message in (
        (b'\n\n{"a": 1}\n[1]\n', "line 4: no JSON object"),
        (b'{"a": 1\n', "line 1: no JSON"),
        (b"\xff\xfe\x00", "line 1: no JSON"),
        (b"[" * 100_000, "line 1: no JSON"),
    ):
        path.write_bytes(content)
        with pytest.raises(RecordError, match=message):
            list(records.read(path))
    path.write_bytes(b"")
    assert list(records.read(path)) == []
    with pytest.raises(RecordError, match="a record is a table"):
        records.replay([])


def test_recorder_is_used_in_order() -> None:
    """start() first, with a name for each seat."""
    with pytest.raises(RuntimeError, match="start"):
        GameRecorder().record()
    with pytest.raises(ValueError, match="2 names for 4 seats"):
        GameRecorder().start("whitnack", 1, ["a", "b"])

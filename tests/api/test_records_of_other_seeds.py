"""Records whose seeds were others: they replay with their own cards, and whatever is wrong with these is named.

records_of_seeds_1.jsonl.gz was made before the seeds changed, by the drivers of tests/differential: two games of whitnack,
three of mini, four with reshuffles (one as the deal ends, two as a foot is picked up), a single deal, a game broken off,
games of two, six and three players.
"""

import copy
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hf_env import records
from hf_env.engine.access import GameAccess
from hf_env.engine.cards import KIND_CHARS, MAX_CARDS, parse_cards
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.positions import from_position, to_position
from hf_env.positions.schema import END_REASONS
from hf_env.records import RecordError, deck_for
from hf_env.rules import load_rules
from hf_env.seeds import SEEDS_VERSION
from tests.api.test_records import RESHUFFLING, recorded

FILE = Path(__file__).with_name("records_of_seeds_1.jsonl.gz")
FOUR_RESHUFFLES = 8  # its place in the file
NUM_RECORDS = 14
DELETED = object()


@functools.cache
def _read() -> list[dict[str, Any]]:
    return list(records.read(FILE))


def old_record(number: int) -> dict[str, Any]:
    """A record of the file whose seed has other cards than the record, today and whatever a seed means tomorrow."""
    record = copy.deepcopy(_read()[number])
    while deck_for(record["rules"], record["seed"], record["deals"][0]["deal"]) == record["deals"][0]["deck"]:
        record["seed"] += 1
    return record


# ------------------------------------------------------------------------------------------------ what replays


def test_what_the_file_holds() -> None:
    """All that the docstring says."""
    games = [old_record(number) for number in range(NUM_RECORDS)]
    assert len(_read()) == NUM_RECORDS and not any("seeds" in game for game in games)
    seats = [load_rules(game["rules"]).players for game in games]
    assert {2, 3, 4, 6} == set(seats)
    assert any(game.get("single_deal") for game in games) and any(game["deals"][-1]["scores"] is None for game in games)
    feet, ends = 0, 0
    for game in games:
        before = None
        for step in records.steps(game):
            g = step.games[0].copy()
            if before is not None and g["deal"] == before["deal"] and g["reshuffles"] > before["reshuffles"]:
                feet += int(g["in_foot"].sum() > before["in_foot"].sum())
                ends += int(g["phase"] == PHASE_OVER)
            before = g
    assert feet == 2 and ends == 2


@pytest.mark.parametrize("seeds", [None, 1, SEEDS_VERSION + 1])
@pytest.mark.parametrize("number", range(NUM_RECORDS))
def test_replays_with_its_own_cards(number: int, seeds: int | None) -> None:
    """The seed's own cards are others, and the game is the recorded one."""
    record = old_record(number)
    if seeds is not None:
        record["seeds"] = seeds
    assert records.has_own_cards(record)
    final = records.replay(record)[0]
    last = record["deals"][-1]
    assert final["deal"] == last["deal"] and final["seed"] == record["seed"] and final["given_order"] == 0
    if last["scores"] is not None:
        assert final["deal_scores"][: len(last["scores"])].tolist() == last["scores"]
        assert END_REASONS[int(final["end_reason"])] == last["end"]
        totals = np.sum([deal["scores"] for deal in record["deals"]], axis=0)
        assert final["scores"][: len(totals)].tolist() == totals.tolist() and final["game_over"] == 1


def test_the_same_record_of_todays_seeds_is_refused() -> None:
    """As ever: the seed decides there."""
    record = old_record(0)
    record["seeds"] = SEEDS_VERSION
    with pytest.raises(RecordError, match=r"deals\[0\]\.(dealer|deck): .* by the rules and the seed"):
        records.replay(record)


@pytest.mark.parametrize("seed", range(4))
def test_todays_record_replays_alike_with_its_own_cards(seed: int) -> None:
    """Without its field it is a record of before; each state on the way is the same but for where the stock lies."""
    record = recorded(RESHUFFLING, seed)
    assert record["seeds"] == SEEDS_VERSION and not records.has_own_cards(record)
    without = {name: value for name, value in record.items() if name != "seeds"}
    seen = 0
    for one, other in zip(records.steps(record), records.steps(without), strict=True):
        assert to_position(one.games, 0, one.rules) == to_position(other.games, 0, other.rules)
        assert other.action is None or GameAccess(RESHUFFLING.to_record(), other.games.copy()).broken_invariant() == 0
        seen += int(other.games[0]["reshuffles"])
    assert seen > 0 or not any(deal["reshuffles"] for deal in record["deals"])


def test_a_position_of_before_goes_on() -> None:
    """With the cards that it says; what is shuffled from then on is of its seed as it is today."""
    record = old_record(5)
    rules = load_rules(record["rules"])
    positions = [to_position(step.games, 0, step.rules) for step in records.steps(record) if step.action is not None]
    for position in (positions[0], positions[40]):
        games, _ = from_position(json.loads(json.dumps(position)))
        game, rng = GameAccess(rules.to_record(), games), np.random.default_rng(1)
        assert to_position(game.games, 0, rules) == position
        deals = 1
        while not game.game["game_over"]:
            if game.is_over:
                given = GameAccess(rules.to_record(), game.games.copy())
                game.next_deal()
                given.next_deal(parse_cards(deck_for(rules, record["seed"], deals + 1)))
                assert game.games.tobytes() == given.games.tobytes()
                deals += 1
            if not game.is_over:
                game.play(int(rng.choice(game.legal())))
            assert game.broken_invariant() == 0
        assert deals == 2


# ------------------------------------------------------------------------------------------------ what is refused


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


def _bury(deck: str) -> str:
    """A red 3 becomes the upcard. Hands of 2 and feet of 20 for two players."""
    other = deck.rindex("r")
    cards = list(deck)
    cards[44], cards[other] = cards[other], cards[44]
    return "".join(cards)


WRONG_SEEDS = (True, "1", -1, 0, 1.0, 1.5, float("nan"), None, [1], {}, -(10**5000))
CHANGED = [
    *((_set("seeds", value), "seeds: must be a whole number from 1, not ") for value in WRONG_SEEDS),
    (_set("deals.0.dealer", DELETED), "deals[0].dealer: missing"),
    (_set("deals.0.deck", DELETED), "deals[0].deck: missing"),
    (_set("deals.0.reshuffles", DELETED), "deals[0].reshuffles: missing"),
    (_set("deals.0.dealer", 2), "deals[0].dealer: must be a seat from 0 to 1, not 2"),
    (_set("deals.0.dealer", -1), "deals[0].dealer: must be a seat from 0 to 1, not -1"),
    (_set("deals.0.dealer", 1 << 80), "deals[0].dealer: must be a seat from 0 to 1, not "),
    (_set("deals.0.dealer", True), "deals[0].dealer: of a wrong type"),
    # For two players another dealer is the same game with the seats exchanged.
    (_set("deals.0.dealer", lambda seat: 1 - seat), "deals[0].scores: "),
    (_set("deals.0.deck", ""), "deals[0].deck: must be a text of 1 to 432 cards"),
    (_set("deals.0.deck", "K" * (MAX_CARDS + 1)), "deals[0].deck: must be a text of 1 to 432 cards"),
    (_set("deals.0.deck", "K" * 108), "deals[0].deck: 0 of 4, but decks = 2 hold 8"),
    (_set("deals.0.deck", lambda deck: deck[:-1]), "deals[0].deck: 107 cards, but decks = 2 hold 108"),
    (_set("deals.0.deck", lambda deck: deck * 2), "deals[0].deck: 216 cards, but decks = 2 hold 108"),
    (_set("deals.0.deck", lambda deck: "k" + deck[1:]), "deals[0].deck: 'k' is no card"),
    (_set("deals.0.deck", lambda deck: "\u2028" + deck[1:]), "deals[0].deck: '\\u2028' is no card"),
    (_set("deals.0.deck", _bury), "deals[0].deck: the upcard is r, which is buried"),
    (_set("deals.0.deck", lambda deck: deck[::-1]), "deals[0]."),
    (_set("deals.0.actions.3", "fly"), "deals[0].actions[3]: 'fly' is no action"),
    (_set("deals.0.actions.0", "discard r"), "deals[0].actions[0]: "),
    (_set("deals.0.actions", lambda actions: actions[:-1]), "deals[0].actions: end after "),
    (_set("deals.0.scores.1", lambda score: score + 5), "deals[0].scores: "),
    (_set("deals.0.end", "out"), "deals[0].end: 'out' in the record"),
    (_set("deals.0.deal", 2), "deals[0].deal: the game begins with deal 1"),
    # An order of the right cards counts; what is played with it is no longer what was played.
    (_set("deals.0.reshuffles.0", lambda order: order[::-1]), "deals[0].actions["),
    (_set("deals.0.reshuffles.1", lambda order: order[:-1]), "deals[0].reshuffles[1]: "),
    (_set("deals.0.reshuffles.1", lambda order: order + order[0]), "deals[0].reshuffles[1]: "),
    (_set("deals.0.reshuffles.1", lambda order: "*" * len(order)), "deals[0].reshuffles[1]: "),
    (_set("deals.0.reshuffles.1", lambda order: "r" * MAX_CARDS), "deals[0].reshuffles[1]: "),
    (_set("deals.0.reshuffles.1", "K" * (MAX_CARDS + 1)), "deals[0].reshuffles[1]: must be a text of 1 to 432 cards"),
    (_set("deals.0.reshuffles.1", ""), "deals[0].reshuffles[1]: must be a text of 1 to 432 cards"),
    (_set("deals.0.reshuffles.1", None), "deals[0].reshuffles[1]: must be a text"),
    (_set("deals.0.reshuffles.1", ["K"]), "deals[0].reshuffles[1]: must be a text"),
    (_set("deals.0.reshuffles.1", lambda order: order[:-1] + "x"), "deals[0].reshuffles[1]: 'x' is no card"),
    (_set("deals.0.reshuffles.1", DELETED), "deals[0].reshuffles[1]: "),
    (_set("deals.0.reshuffles.3", DELETED), "deals[0].reshuffles: 3 in the record, and there is one more"),
    (_set("deals.0.reshuffles", []), "deals[0].reshuffles: 0 in the record, and there is one more"),
    (_set("deals.0.reshuffles", lambda orders: [*orders, "KQ"]), "deals[0].reshuffles: 5 in the record, 4 in the game"),
    (_set("deals.0.reshuffles", "KQ"), "deals[0].reshuffles: of a wrong type"),
]


@pytest.mark.parametrize(("change", "message"), CHANGED)
def test_what_is_wrong_is_named(change: Callable[[dict], None], message: str) -> None:
    """The first thing, in one short line."""
    record = old_record(FOUR_RESHUFFLES)
    change(record)
    with pytest.raises(RecordError) as error:
        records.replay(record)
    text = str(error.value)
    assert text.startswith(message), text
    assert text.isprintable() and len(text) < 1000


def test_later_dealers_follow() -> None:
    """Each deal is dealt by the next seat, whoever dealt the first."""
    record = old_record(0)
    record["deals"][2]["dealer"] = (record["deals"][2]["dealer"] + 1) % 4
    with pytest.raises(RecordError, match=r"deals\[2\]\.dealer: \d in the record, \d by the rules$"):
        records.replay(record)


def test_a_deal_that_the_game_lacks() -> None:
    """After the last deal there is none, whatever cards it says."""
    record = old_record(0)
    record["deals"].append(record["deals"][0] | {"deal": 5})
    with pytest.raises(RecordError, match=r"deals\[4\]: the game was over after deal 4"):
        records.replay(record)


# ------------------------------------------------------------------------------------------------ given cards in the engine


def _at_a_reshuffle() -> tuple[GameAccess, int, list[int]]:
    """A game before an action that reshuffles, that action, and the order by the seed, which backwards is another."""
    for seed in range(50):
        for step in records.steps(recorded(RESHUFFLING, seed)):
            if step.action is None:
                continue
            before = step.games.copy()
            after = GameAccess(RESHUFFLING.to_record(), before.copy())
            after.play(step.action)
            order = after.game["stock"][: after.game["stock_end"]].tolist()
            if after.game["reshuffles"] > before[0]["reshuffles"] and order != order[::-1]:
                return GameAccess(RESHUFFLING.to_record(), before), step.action, order
    raise AssertionError("no reshuffle")


def test_a_given_order_is_taken_once() -> None:
    """It becomes the stock; it does not stay for the next one; another order, or none, leaves it to the seed."""
    game, action, by_seed = _at_a_reshuffle()
    before = game.games.copy()
    wanted = by_seed[::-1]
    ones_too_many = [*by_seed, by_seed[0]]
    others = [[], by_seed[1:], ones_too_many, [by_seed[0]] * len(by_seed), [0] * MAX_CARDS, [0] * (MAX_CARDS + 5)]
    for order, expected in [(wanted, wanted), *((order, by_seed) for order in others)]:
        game.games[:] = before
        game.play(action, order)
        assert game.game["stock"][: game.game["stock_end"]].tolist() == expected
        assert game.game["given_order"] == 0 and game.is_over | (game.broken_invariant() == 0)
    for kind in (-1, len(KIND_CHARS), 300):
        game.games[:] = before
        with pytest.raises(ValueError, match="is no kind of card"):
            game.play(action, [kind])
        assert game.games.tobytes() == before.tobytes()


def test_an_order_at_every_action_changes_nothing_else() -> None:
    """Where there is no reshuffle; also where the array has no room behind the stock."""
    rules = load_rules("whitnack", decks=8, stock_out="reshuffle", max_turns=60)
    game, other = GameAccess(rules.to_record()), GameAccess(rules.to_record())
    rng = np.random.default_rng(3)
    for one in (game, other):
        one.start(11)
    while not game.is_over:
        action = int(rng.choice(game.legal()))
        game.play(action, [int(kind) for kind in rng.integers(0, len(KIND_CHARS), int(rng.integers(1, MAX_CARDS)))])
        other.play(action)
        assert game.is_over or game.broken_invariant() == 0
        assert to_position(game.games, 0, rules) == to_position(other.games, 0, rules)


def test_an_order_left_in_a_game_is_a_broken_invariant() -> None:
    """No position, observation or copy is to carry one along."""
    game, _, _ = _at_a_reshuffle()
    game.games["given_order"][0] = 3
    assert game.broken_invariant() == 22


@pytest.mark.parametrize("name", ["whitnack", "two-player", "mini"])
def test_the_seeds_deck_given_is_the_seeds_game(name: str) -> None:
    """Deal by deal the same bytes; the dealer may be another."""
    rules = load_rules(name)
    game, given = GameAccess(rules.to_record()), GameAccess(rules.to_record())
    game.start(3, 2, single_deal=True)
    given.start(3, 2, single_deal=True, deck=parse_cards(deck_for(rules, 3, 2)))
    assert game.games.tobytes() == given.games.tobytes()
    dealer = (int(game.game["dealer"]) + 1) % rules.players
    given.start(3, 2, deck=parse_cards(deck_for(rules, 3, 2)), dealer=dealer)
    assert given.game["dealer"] == dealer and given.game["to_move"] == (dealer + 1) % rules.players
    game.game["phase"] = PHASE_OVER
    given.games[:] = game.games
    game.next_deal()
    given.next_deal(parse_cards(deck_for(rules, 3, 3)))
    assert game.games.tobytes() == given.games.tobytes()


def test_a_deck_that_cannot_be_dealt_leaves_the_game_as_it_was() -> None:
    """Refused before anything compiled sees it."""
    rules = load_rules("mini")
    deck = parse_cards(deck_for(rules, 1, 1))
    game = GameAccess(rules.to_record())
    for wrong in ([], deck[1:], [*deck, 0], [99, *deck[1:]], [-1, *deck[1:]], [0] * 54):
        with pytest.raises(ValueError, match=r"cards|kind|decks"):
            game.start(1, deck=wrong)
        with pytest.raises(ValueError, match=r"cards|kind|decks"):
            game.next_deal(wrong)
    for dealer in (-1, 2):
        with pytest.raises(ValueError, match="is no seat"):
            game.start(1, deck=deck, dealer=dealer)
    with pytest.raises(ValueError, match="only with a deck"):
        game.start(1, dealer=0)
    assert game.games.tobytes() == np.zeros(1, GAME_DTYPE).tobytes()

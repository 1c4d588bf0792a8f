"""The engine agrees with the slow reference at random positions, and after every action that is legal there."""

import json
import random
from collections import Counter
from collections.abc import Callable

import pytest

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.engine.invariants import MESSAGES
from hf_env.positions import PositionError, from_position, to_position
from hf_env.rules import RuleSet
from tests.differential.harness import REASONS, Difference, reshuffled
from tests.differential.random_positions import last_cards, opening, short_stock
from tests.reference.game import ReferenceGame
from tests.reference.laying import Options


def compare(rules: RuleSet, position: dict, seen: Counter[str]) -> None:
    """Legal actions at the position, and state and scores after each."""
    seen["tried"] += 1
    try:
        games, _ = from_position(position, rules)
    except PositionError as error:
        if "no legal action" in str(error):
            check_dead_end(rules, position)
        seen[str(error).split(":")[0]] += 1
        return
    seen["compared"] += 1

    def reshuffle(number: int, below_top: str) -> str:
        return reshuffled(position["seed"], position["deal"], number, below_top)

    resolved = rules.resolved()
    options = Options(resolved)

    def fresh_reference() -> ReferenceGame:
        game = ReferenceGame.from_position(resolved, position, reshuffle)
        game.options = options  # with what its searches have found
        return game

    reference = fresh_reference()
    engine = GameAccess(rules.to_record(), games)
    labels = {ACTIONS.label(action) for action in engine.legal()}
    what = f"{rules.to_toml()}\n{json.dumps(position)}"
    legal = reference.legal()
    if labels != legal:
        raise Difference(f"legal: engine only {sorted(labels - legal)}, reference only {sorted(legal - labels)}\n{what}")
    read_again = sorted(labels)[seen["compared"] % len(labels)]
    for label in labels:
        seen[label.split()[0]] += 1
        after = GameAccess(rules.to_record(), games.copy())
        after.play(ACTIONS.parse(label))
        expected = fresh_reference()
        expected.apply(label)
        compare_states(rules, after, expected, f"after {label!r}\n{what}")
        seen[expected.end_reason or "on"] += 1
        if label == read_again and not after.is_over:
            # Play never leads from a position that is accepted to one that is refused.
            from_position(to_position(after.games, 0, rules), rules)


def compare_states(rules: RuleSet, engine: GameAccess, reference: ReferenceGame, what: str) -> None:
    """Everything that a position holds, scores, the end, and what is legal next. Raises Difference."""
    if engine.broken_invariant():
        raise Difference(f"{MESSAGES[engine.broken_invariant()]} {what}")
    if engine.scores() != reference.deal_scores():
        raise Difference(f"scores: {engine.scores()}, {reference.deal_scores()} {what}")
    if engine.is_over != reference.over:
        raise Difference(f"over: {engine.is_over} {what}")
    if reference.over and REASONS[int(engine.game["end_reason"])] != reference.end_reason:
        raise Difference(f"end: {engine.game['end_reason']}, {reference.end_reason} {what}")
    labels = {ACTIONS.label(action) for action in engine.legal()}
    if labels != reference.legal() or (not labels and not reference.over):
        raise Difference(f"legal: {sorted(labels)}, {sorted(reference.legal())} {what}")
    ours, theirs = to_position(engine.games, 0, rules, history=False), reference.position()
    for key in theirs:
        if key not in ("rules", "scores") and not (key == "turn" and reference.over) and ours[key] != theirs[key]:
            raise Difference(f"{key}: {ours[key]}, {theirs[key]} {what}")


def check_dead_end(rules: RuleSet, position: dict) -> None:
    """A position without a legal action in the engine has none in the reference either (no play leads to it)."""
    assert ReferenceGame.from_position(rules.resolved(), position).legal() == set(), position


def compare_many(draw: Callable[[random.Random], tuple[RuleSet, dict]], seeds: range) -> Counter[str]:
    """Positions of these seeds."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        rules, position = draw(random.Random(seed))
        compare(rules, position, seen)
    return seen


def test_last_cards() -> None:
    """Going out, keeping a card, asking, both-binding permission, takes in the foot."""
    seen = compare_many(last_cards, range(500))
    assert seen["compared"] > 250 and min(seen[name] for name in ("out", "ask", "take", "meld", "add", "discard")) > 7, seen


def test_openings() -> None:
    """Pieces of openings and takes that open, from hands of 4 to 28 cards, books within the opening."""
    seen = compare_many(opening, range(160))
    assert seen["compared"] > 100 and min(seen[name] for name in ("take", "take+2", "meld", "add", "discard")) > 1, seen


def test_short_stock() -> None:
    """Draws and feet with little left to draw, red 3s among it, with and without a reshuffle."""
    seen = compare_many(short_stock, range(300))
    assert seen["compared"] > 150 and min(seen[name] for name in ("draw", "stock_draw", "stock_red3", "on")) > 8, seen


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_short_stock_long(part: int) -> None:
    """40,000 positions."""
    compare_many(short_stock, range(10_000 + 2_000 * part, 12_000 + 2_000 * part))


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_last_cards_long(part: int) -> None:
    """60,000 positions."""
    compare_many(last_cards, range(10_000 + 3_000 * part, 13_000 + 3_000 * part))


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_openings_long(part: int) -> None:
    """20,000 positions."""
    compare_many(opening, range(10_000 + 1_000 * part, 11_000 + 1_000 * part))

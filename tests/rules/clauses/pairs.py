"""Pairs of states, one just inside a clause and one just outside, and the three ways to make tests of them.

Every pair is two tests; their ids name the clause. All pairs are in `PAIRS`, for the test that compares them with
docs/rules.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from hf_env.explanations import FALLBACK, IT_IS_LEGAL
from hf_env.positions import PositionError, from_position
from hf_env.rules import RulesError, load_rules
from tests.rules.clauses.table import Game, State, position_of

Test = Callable[..., None]


@dataclass(frozen=True)
class Pair:
    """Two states, or two rule sets, that differ in as little as possible. `what`: what they differ about."""

    clause: str
    what: str
    inside: Any
    outside: Any


PAIRS: list[Pair] = []
# Tests that have a clause, by clause: what the trailers of docs/rules.md must name.
TESTS: dict[str, list[Test]] = {}


def clause(number: str) -> Callable[[Test], Test]:
    """A further test of a clause."""

    def mark(test: Test) -> Test:
        TESTS.setdefault(number, []).append(test)
        return test

    return mark


def _parametrised(number: str, entries: list[tuple[Any, ...]], check: Callable[[Any, bool], None], docstring: str) -> Test:
    """A test of both halves of each entry: (what, inside, outside, what `check` needs besides)."""
    params = []
    for what, inside, outside, *more in entries:
        PAIRS.append(Pair(number, what, inside, outside))
        for half, is_inside in ((inside, True), (outside, False)):
            name = f"{number} {what}: {'inside' if is_inside else 'outside'}"
            params.append(pytest.param(half, is_inside, more, id=name))

    @pytest.mark.parametrize(("half", "is_inside", "more"), params)
    def test(half: Any, is_inside: bool, more: list[Any]) -> None:
        check(half, is_inside, *more)

    test.__doc__ = docstring
    return clause(number)(test)


def legal(number: str, *entries: tuple[str, str, State, dict[str, Any]]) -> Test:
    """A test of pairs (what, label, state, changes): the label is legal at the state, and not with the changes."""

    def check(state: State, is_inside: bool, label: str) -> None:
        game = Game(state)
        assert (label in game.legal) == is_inside, sorted(game.legal)
        reason = game.why_not(label)
        assert (reason == IT_IS_LEGAL) == is_inside and reason != FALLBACK and reason

    made = [(what, inside, inside.but(**changes), label) for what, label, inside, changes in entries]
    return _parametrised(number, made, check, f"Clause {number}: what is legal, and just not.")


def after(number: str, *entries: tuple[str, State, dict[str, Any]]) -> Callable[[Callable[[Game, bool], None]], Test]:
    """Decorator of a check: what is so after some actions at the state, and is not with the changes."""

    def wrap(check: Callable[[Game, bool], None]) -> Test:
        made = [(what, inside, inside.but(**changes)) for what, inside, changes in entries]
        return _parametrised(number, made, lambda state, is_inside: check(Game(state), is_inside), check.__doc__ or "")

    return wrap


def positions(number: str, *entries: tuple[str, State, Callable[[dict[str, Any]], None], str]) -> Test:
    """A test of pairs (what, state, spoil, message): the position is one that play leads to, and spoilt it is refused."""

    def check(state: State, is_inside: bool, spoil: Callable[[dict[str, Any]], None], message: str) -> None:
        if is_inside:
            Game(state)
            return
        position = position_of(state)
        spoil(position)
        with pytest.raises(PositionError, match=message):
            from_position(position)

    made = [(what, state, state, spoil, message) for what, state, spoil, message in entries]
    return _parametrised(number, made, check, f"Clause {number}: what play leads to, and what it does not.")


def rule_sets(number: str, *entries: tuple[str, dict[str, Any], dict[str, Any], str]) -> Test:
    """A test of pairs (what, settings, changes, message): a rule set that can be played, and refused with the changes."""

    def check(settings: dict[str, Any], is_inside: bool, message: str) -> None:
        if is_inside:
            load_rules(settings)
            return
        with pytest.raises(RulesError) as caught:
            load_rules(settings)
        assert str(caught.value).startswith(message), caught.value

    made = [(what, settings, settings | changes, message) for what, settings, changes, message in entries]
    return _parametrised(number, made, check, f"Clause {number}: what can be played, and what is refused.")

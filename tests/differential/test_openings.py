"""Openings against brute force: a piece is legal exactly if some sequence of lay-downs after it reaches the minimum."""

import random
from functools import cache

import pytest

from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.positions import PositionError, from_position
from hf_env.rules import RuleSet
from tests.differential.harness import Difference
from tests.differential.random_positions import Builder, random_rules, sharpened
from tests.reference.laying import LAYDOWNS, Options, without

LARGEST_HAND = 10


def brute_force(rules: RuleSet, position: dict) -> set[str]:
    """Lay-downs of seat 0 after which the minimum is reached or can be, by trying out every sequence."""
    options = Options(rules.resolved())
    minimum = rules.opening_minimum(position["deal"])

    @cache
    def most(hand: str, melds: tuple, books: tuple) -> int:
        best = 0
        for label, (_, cards) in LAYDOWNS.items():
            left = without(hand, cards)
            after = None if left is None else options.lay(label, dict(melds), list(books))
            if after is not None:
                points = options.value(cards) + most(left, tuple(after[0].items()), tuple(after[1]))
                best = max(best, points)
        return best

    side = position["sides"][0]
    legal = set()
    for label, (_, cards) in LAYDOWNS.items():
        left = without(position["hands"][0], cards)
        after = None if left is None else options.lay(label, side["melds"], side["books"])
        if after is None:
            continue
        points = position["turn"]["laid"] + options.value(cards)
        if points >= minimum or points + most(left, tuple(after[0].items()), tuple(after[1])) >= minimum:
            legal.add(label)
    return legal


def compare(seeds: range) -> tuple[int, int]:
    """(positions compared, pieces that fit but may not be laid for want of points)."""
    compared = refused = 0
    for seed in seeds:
        rng = random.Random(seed)
        rules = random_rules(rng, opening=True)
        b = Builder(rules, rng)
        side = {"melds": {}, "books": [], "red3": 0, "opened": False}
        laid = 0
        if rng.random() < 0.4:
            side = b.side(rng.choice([0, 1]), rng.randrange(1, 3)) | {"opened": False}
            laid = b.options.value("".join(side["melds"].values()) + "".join(side["books"]))
        position = b.finish(side, b.hand(rng.randrange(3, LARGEST_HAND + 1)), False, laid=laid)
        rules = sharpened(rules, b.options, position, rng)
        try:
            games, _ = from_position(position, rules)
        except PositionError as error:
            assert "no legal action" not in str(error) or not brute_force(rules, position)
            continue
        engine = {ACTIONS.label(action) for action in GameAccess(rules.to_record(), games).legal()} & set(LAYDOWNS)
        expected = brute_force(rules, position)
        if engine != expected:
            raise Difference(f"engine only {engine - expected}, brute force only {expected - engine}\n{rules.to_toml()}\n{position}")
        compared += 1
        for label, (_, cards) in LAYDOWNS.items():
            fits = without(position["hands"][0], cards) is not None and b.options.lay(label, side["melds"], side["books"])
            refused += bool(fits) and label not in engine
    return compared, refused


def test_openings() -> None:
    """1,000 hands of up to 10 cards under random limits, growing books among them."""
    compared, refused = compare(range(1_000))
    assert compared > 200 and refused > 100


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_openings_long(part: int) -> None:
    """20,000 hands."""
    compare(range(1_000 + 2_000 * part, 3_000 + 2_000 * part))

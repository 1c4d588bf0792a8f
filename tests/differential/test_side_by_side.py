"""The engine agrees with the slow reference at every decision of whole games.

Each game is also recorded, replayed and compared, and every state is looked at for broken invariants. Short forms here;
the `long` ones are those of ``make test-long``.
"""

import random
from collections import Counter

import pytest

from hf_env.rules import RuleSet, list_rules, load_rules
from tests.differential.drivers import DRIVERS, EASY_QUOTA
from tests.differential.harness import SideBySide
from tests.rules.strategies import random_rule_set

NAMES = list(DRIVERS)
# Some random rule sets have deals of ten thousand decisions; what is interesting comes sooner.
MOST_DECISIONS = 2_000
PRESETS = [name for name in list_rules() if name != "whitnack"]


def play_games(rules: RuleSet, seeds: range, most_decisions: int = 1 << 30, ends: Counter[str] | None = None) -> int:
    """Games of these seeds, the drivers in turn; returns the number of decisions compared."""
    decisions = 0
    for seed in seeds:
        name = NAMES[seed % len(NAMES)]
        is_easy = name == "easy_quota" and rules.quota(1) == (2, 2, 1)
        table = rules.with_overrides(books_to_go_out=EASY_QUOTA) if is_easy else rules
        game = SideBySide(table, seed, most_decisions)
        game.play(DRIVERS[name], random.Random(seed))
        decisions += game.decisions
        if ends is not None:
            ends += game.ends
    return decisions


def test_whitnack() -> None:
    """24 games of the default rules, by all drivers in equal parts."""
    ends: Counter[str] = Counter()
    assert play_games(load_rules("whitnack"), range(24), ends=ends) > 18_000
    assert ends["out"] > 5 and ends["stock_draw"] > 5 and ends["stock_red3"] > 0


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    """2 games of every other preset, by other drivers from preset to preset."""
    first = PRESETS.index(name)
    play_games(load_rules(name), range(first, first + 2))


@pytest.mark.parametrize("seed", range(20))
def test_random_rule_sets(seed: int) -> None:
    """20 random rule sets, 3 games each."""
    play_games(random_rule_set(seed), range(3 * seed, 3 * seed + 3), MOST_DECISIONS)


@pytest.mark.long
@pytest.mark.parametrize("part", range(50))
def test_whitnack_long(part: int) -> None:
    """5,000 games of the default rules."""
    play_games(load_rules("whitnack"), range(1000 + 100 * part, 1100 + 100 * part))


@pytest.mark.long
@pytest.mark.parametrize("name", PRESETS)
def test_presets_long(name: str) -> None:
    """100 games of every other preset."""
    play_games(load_rules(name), range(100))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200))
def test_random_rule_sets_long(seed: int) -> None:
    """200 random rule sets, 10 games each."""
    play_games(random_rule_set(seed), range(10 * seed, 10 * seed + 10), 10 * MOST_DECISIONS)

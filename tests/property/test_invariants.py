"""Properties of every state: cards conserved, counters right, always something legal, every deal ends within the bound
that `most_decisions` states, records replay to the same game; and what was met.

The `long` forms make 1,000,000 decisions for each preset too, play 200 random rule sets, and replay every game.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from hf_env.actions import ACTIONS
from hf_env.rules import RuleSet, list_rules, load_rules
from tests.property import kernels as k
from tests.property.playing import NUM_GAMES, Findings, most_decisions, run
from tests.rules.strategies import random_rule_set

PRESETS = [name for name in list_rules() if name != "whitnack"]
LEAST = 30  # a row of the coverage table under this fails the run
# Rows that whitnack cannot fill: its limit of turns is beyond its stock.
NOT_IN_WHITNACK = {k.MAX_TURNS}


def allowed_in_whitnack(label: str) -> bool:
    """Two naturals beside a wild and a natural pair as key leave these out: K22 and the like, three ways to take."""
    if label in ("take+2", "take+*", "take>meld"):
        return False
    return not (label.startswith("meld ") and label[5] not in "2*" and label[6] in "2*" and label[7] in "2*")


def check_whitnack(findings: Findings) -> None:
    """Every row was met often enough and every action that whitnack allows was seen legal, and no other."""
    print("\n" + findings.table())
    for row, count in enumerate(findings.coverage):
        assert row in NOT_IN_WHITNACK or count >= LEAST, f"{k.ROWS[row]}: only {count}\n{findings.table()}"
    for action, label in enumerate(ACTIONS):
        assert bool(findings.seen[action]) == allowed_in_whitnack(label), f"{label}: legal {findings.seen[action]} times"


def test_whitnack() -> None:
    """1,000,000 decisions of the default rules."""
    findings = run(load_rules("whitnack"), 1_000_000)
    check_whitnack(findings)
    assert findings.replayed > 40_000


def test_the_bound_is_the_one_that_the_rules_state() -> None:
    """docs/rules.md 8.5."""
    assert most_decisions(load_rules("whitnack")) == 3_470
    assert most_decisions(load_rules("mini")) == 400 * 3 + 54


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name: str) -> None:
    """30,000 decisions of every other preset."""
    assert run(load_rules(name), 30_000).replayed > 1_200


@pytest.mark.parametrize("seed", range(0, 100, 5))
def test_random_rule_sets(seed: int) -> None:
    """10,000 decisions of 20 random rule sets."""
    assert run(random_rule_set(seed), 10_000).replayed > 250


def test_every_action_is_met() -> None:
    """Under one rule set or another every one of the 127 actions is legal at some time."""
    seen = np.zeros(len(ACTIONS), np.int64)
    for name in ("whitnack", "family"):
        seen += run(load_rules(name, min_naturals=1, max_wilds=3, wild_limit="at_most", take_key="any_meld"), 60_000).seen
    assert not [label for action, label in enumerate(ACTIONS) if not seen[action]]


SCRIPT = """
from hf_env.rules import load_rules
from tests.property.playing import run
f = run(load_rules("mini", **{overrides}), {decisions}, seed=3, num_games=10)
print(f.decisions, f.deals, f.seen.tolist(), f.coverage.tolist())
"""
INTERPRETED = {"add_to_complete": "any", "stock_out": "reshuffle", "min_naturals": 1, "max_turns": 60, "take_count": "all"}


def run_elsewhere(environment: dict[str, str], overrides: dict, decisions: int) -> str:
    """The same run in a process of its own with other settings of Numba."""
    code = SCRIPT.format(overrides=overrides, decisions=decisions)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_interpreted_kernels_play_the_same() -> None:
    """The kernels as ordinary Python (where an index out of range raises) make the same games as compiled."""
    interpreted = run_elsewhere({"NUMBA_DISABLE_JIT": "1"}, INTERPRETED, 1_500)
    f = run(load_rules("mini", **INTERPRETED), 1_500, seed=3, num_games=10)
    assert interpreted.split("\n")[0] == f"{f.decisions} {f.deals} {f.seen.tolist()} {f.coverage.tolist()}"


@pytest.mark.long
def test_bounds_are_kept() -> None:
    """Compiled with bounds checks: no kernel reads beyond an array."""
    run_elsewhere({"NUMBA_BOUNDSCHECK": "1"}, {}, 20_000)
    run_elsewhere({"NUMBA_BOUNDSCHECK": "1"}, INTERPRETED, 20_000)


def run_and_replay_all(rules: RuleSet, decisions: int, seed: int) -> None:
    """A run whose every game is recorded and replayed."""
    findings = run(rules, decisions, seed, recorded=NUM_GAMES)
    print("\n" + findings.table())
    assert findings.replayed == findings.decisions >= decisions


@pytest.mark.long
@pytest.mark.parametrize("name", list_rules())
def test_presets_long(name: str) -> None:
    """1,000,000 decisions of every preset."""
    run_and_replay_all(load_rules(name), 1_000_000, seed=2)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200))
def test_random_rule_sets_long(seed: int) -> None:
    """20,000 decisions of 200 random rule sets."""
    run_and_replay_all(random_rule_set(seed), 20_000, seed=4)

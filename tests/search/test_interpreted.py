"""The search finds the same compiled, as ordinary Python, and with its bounds checked."""

import json

import pytest

from tests.architecture.subprocesses import run_python

SCRIPT = """
import json
from agents.search import SearchPolicy
from hf_env import load_rules
from tests.search.decisions import batch_of, reached
lines = []
for name in ("mini", "whitnack"):
    rules = load_rules(name)
    games = reached(rules, {count}, seed=6)
    result = SearchPolicy(rollouts=8, player="greedy", depth=2).search(batch_of(games, rules))
    lines.append([result.actions.tolist(), result.counts.sum(0).tolist(), [f"{{mean:.6f}}" for mean in result.means[result.counts > 0]]])
print(json.dumps(lines))
"""


def found(count, **variables):
    return json.loads(run_python(SCRIPT.format(count=count), timeout=1200, **variables))


def test_interpreted_it_finds_the_same():
    compiled = found(4)
    assert len(compiled[1][2]) >= 4
    assert found(4, NUMBA_DISABLE_JIT="1") == compiled


@pytest.mark.long
def test_no_index_is_out_of_bounds():
    # Compiled kernels look at no bounds; with the check a bad index raises. Its code is cached apart.
    assert found(60, NUMBA_BOUNDSCHECK="1") == found(60)

"""VectorGame's masks equal those of the version of the kernels that always includes the searches."""

import numpy as np
import pytest

from hf_env import VectorGame
from hf_env.engine.access import GameAccess
from hf_env.engine.workspace import needs_growth
from hf_env.rules import list_rules, load_rules

GROWING = {"add_to_complete": "any"}
BINDING = {"permission": "binding_both", "books_to_go_out": [1, 0, 0], "partner_foot": False}


def test_only_growth_and_two_way_permission_need_the_searches() -> None:
    assert not any(needs_growth(load_rules(name).to_record()) for name in list_rules())
    assert needs_growth(load_rules("whitnack", **GROWING).to_record())
    assert needs_growth(load_rules("whitnack", **BINDING).to_record())


@pytest.mark.parametrize("rules", [*list_rules(), GROWING, BINDING, [GROWING, "whitnack"]], ids=str)
def test_masks_equal_those_with_all_searches(rules) -> None:
    vec = VectorGame(4, rules, seed=11)
    generator = np.random.default_rng(0)
    for _ in range(400):
        for slot in range(4):
            full = GameAccess(vec.rule_records, vec.games[slot : slot + 1].copy())
            assert np.array_equal(full.legal(), np.flatnonzero(vec.action_masks[slot]))
        lays = vec.action_masks.copy()
        lays[:, 113:] *= generator.random((4, 14)) < 0.2  # few discards: feet and going out come sooner
        chosen = np.where(lays.any(1, keepdims=True), lays, vec.action_masks)
        vec.step(np.array([generator.choice(np.flatnonzero(mask)) for mask in chosen]))

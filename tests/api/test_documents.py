"""The documents say what the code does: their generated tables are up to date."""

from pathlib import Path

import pytest

from hf_env import ACTIONS, ObservationLayout, StateLayout
from hf_env.observation.document import BLOCKS, with_tables

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", BLOCKS)
def test_generated_tables_are_up_to_date(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert with_tables(name, text) == text, "run python -m hf_env.observation.document"


@pytest.mark.parametrize("name", BLOCKS)
def test_a_document_without_its_markers_is_refused(name):
    with pytest.raises(ValueError, match="has no block"):
        with_tables(name, "nothing")


def test_the_tables_name_everything():
    observation, actions = ((DOCS / name).read_text(encoding="utf-8") for name in ("observation.md", "actions.md"))
    for layout in (ObservationLayout("whitnack", events=True), StateLayout("whitnack")):
        assert all(f"| `{section.name}` | " in observation for section in layout.sections)
    assert all(f"| {number} | `{label}` | " in actions for number, label in enumerate(ACTIONS))


def test_action_ids_and_labels_go_both_ways():
    assert len(ACTIONS) == 127 and len(set(ACTIONS)) == 127
    for number, label in enumerate(ACTIONS):
        assert ACTIONS.label(number) == label and ACTIONS.parse(label) == number and ACTIONS.meaning(number)
    for wrong in (-1, 127):
        with pytest.raises(ValueError, match="0 to 126"):
            ACTIONS.label(wrong)
    for wrong in ("", "discard r", "meld KKKK", "add b", "Draw", "meld 2KK"):
        with pytest.raises(ValueError, match="is no action"):
            ACTIONS.parse(wrong)

"""The tables of docs/observation.md and docs/actions.md, made from the layouts and the table of actions.

``python -m hf_env.observation.document`` rewrites them in place; a test compares.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from hf_env.actions import ACTIONS
from hf_env.observation.layout import ObservationLayout, StateLayout

DOCS = Path(__file__).parents[2] / "docs"


def observation_table() -> str:
    """The sections for four players in pairs, with the section of events."""
    layout = ObservationLayout("whitnack", events=True)
    return layout.table()


def widths_table() -> str:
    """Widths of observation and state vector for each number of seats and sides."""
    rows = ["| seats | sides | observation | with events | state |", "|--:|--:|--:|--:|--:|"]
    for seats, sides in ((2, 2), (3, 3), (4, 2), (4, 4), (5, 5), (6, 2), (6, 3), (6, 6)):
        key = (seats, sides)
        plain, events = ObservationLayout(key).width, ObservationLayout(key, events=True).width
        rows.append(f"| {seats} | {sides} | {plain} | {events} | {StateLayout(key).width} |")
    return "\n".join(rows)


def state_table() -> str:
    """The sections of the state vector that the observation lacks."""
    layout = StateLayout("whitnack")
    known = {section.name for section in ObservationLayout("whitnack", events=True).sections}
    lines = layout.table().splitlines()
    rows = [line for line, section in zip(lines[2:], layout.sections, strict=True) if section.name not in known]
    return "\n".join([*lines[:2], *rows])


def families_table() -> str:
    """One row a family of actions."""
    rows = ["| ids | example | meaning |", "|---|---|---|"]
    for first, end, example, meaning in ACTIONS.families():
        ids = f"{first}" if end == first + 1 else f"{first}..{end - 1}"
        rows.append(f"| {ids} | `{example}` | {meaning} |")
    return "\n".join(rows)


def actions_table() -> str:
    """Every action: id and label."""
    rows = ["| id | label | meaning |", "|--:|---|---|"]
    rows += [f"| {number} | `{label}` | {ACTIONS.meaning(number)} |" for number, label in enumerate(ACTIONS)]
    return "\n".join(rows)


BLOCKS = {
    "observation.md": {"sections": observation_table, "widths": widths_table, "state": state_table},
    "actions.md": {"families": families_table, "actions": actions_table},
}


def with_tables(name: str, text: str, makers: Mapping[str, Callable[[], str]] | None = None) -> str:
    """A document's text with its generated blocks made anew.

    Args:
        makers: what makes each block, for a document that is not one of BLOCKS.

    Raises:
        ValueError: Where a block's markers are missing.
    """
    for block, make in (BLOCKS[name] if makers is None else makers).items():
        begin, end = f"<!-- generated: {block} -->", f"<!-- end of {block} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        if not pattern.search(text):
            raise ValueError(f"{name} has no block {begin} ... {end}")
        whole = f"{begin}\n{make()}\n{end}"
        before, after = pattern.split(text, maxsplit=1)
        text = before + whole + after
    return text


def main() -> None:
    """Rewrite the tables of both documents."""
    for name in BLOCKS:
        path = DOCS / name
        path.write_text(with_tables(name, path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"wrote the tables of {path}")


if __name__ == "__main__":
    main()

"""Which numbers of an observation a network reads, by the names of their sections, and where those lie today.

A layout grows: a new rule option or a new section comes between the others. A network goes on reading what it was made
for, wherever that lies; what it does not read may come and go.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from hf_env.observation.layout import ObservationLayout


def layout_sections(layout: ObservationLayout) -> list[list[Any]]:
    """[name, number of values] of each section: what a checkpoint says of the observation that its network reads."""
    return [[section.name, section.length] for section in layout.sections]


def first_difference(made_for: list[list[Any]], here: list[list[Any]]) -> str:
    """The first section that differs between two lists of ``layout_sections``, in words; empty where none does."""
    for number, (old, new) in enumerate(itertools.zip_longest(made_for, here)):
        if old != new:
            was, now = (f"{each[0]} of {each[1]} values" if each else "none" for each in (old, new))
            return f"section {number} was {was}, here it is {now}"
    return ""


def sections_read(made_for: Sequence[Sequence[Any]], scale: np.ndarray) -> list[str]:
    """Names of the sections that a network reads.

    Args:
        made_for: the layout that it was made for, as of ``layout_sections``.
        scale: (F,) float32, its ``observation_scale``: a number whose scale is 0 is not seen.

    Returns:
        The names in the layout's order.

    Raises:
        ValueError: the sections are not F values long.
    """
    ends = np.cumsum([length for _, length in made_for], dtype=np.int64)
    if len(scale) != (ends[-1] if len(ends) else 0):
        raise ValueError(f"its sections hold {ends[-1] if len(ends) else 0} values, and its network reads {len(scale)}")
    return [name for (name, length), end in zip(made_for, ends, strict=True) if scale[end - length : end].any()]


def columns_here(made_for: Sequence[Sequence[Any]], scale: np.ndarray, layout: ObservationLayout) -> np.ndarray | None:
    """Where the numbers that a network was made for lie in a layout of today.

    Args:
        made_for, scale: as of ``sections_read``.
        layout: of today.

    Returns:
        (F,) int64, the column of each number, or None where all are where they were. Column 0 stands for the numbers of
        sections that are not read and not here.

    Raises:
        ValueError: naming the first section that the network reads and that is not here, or is of another length.
    """
    here = {section.name: section for section in layout.sections}
    read = set(sections_read(made_for, scale))
    columns = []
    for name, length in made_for:
        section = here.get(name)
        if section is not None and section.length == length:
            columns.append(np.arange(section.slice.start, section.slice.stop))
        elif name in read:
            now = f"it has {section.length} values" if section is not None else "there is none"
            raise ValueError(f"it reads {name} of {length} values, and here {now}")
        else:
            columns.append(np.zeros(length, np.int64))
    joined = np.concatenate(columns) if columns else np.zeros(0, np.int64)
    return None if np.array_equal(joined, np.arange(layout.width)) else joined

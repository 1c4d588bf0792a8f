"""What the numbers of an observation mean, for users: the table of sections.py with the place of each section."""

from dataclasses import dataclass

import numpy as np

from hf_env.observation.sections import Row, observation_rows, state_rows
from hf_env.rules import load_rules

LAYOUT_VERSION = 1


@dataclass(frozen=True)
class Section:
    """One named part of an observation or state vector.

    Attributes:
        name: by which ``decode`` gives it.
        slice: where it lies in the vector.
        shape: that ``decode`` gives it.
        meaning: with its axes.
        low, high: the range of the int16 values.
        scale: by which float32 observations are multiplied.
        known_to: who may know it, "own seat", "all" or, in the state, "nobody".
    """

    name: str
    slice: slice
    shape: tuple[int, ...]
    meaning: str
    low: int
    high: int
    scale: float
    known_to: str

    @property
    def length(self) -> int:
        """Number of values."""
        return self.slice.stop - self.slice.start


class _Layout:
    """Named sections that tile a vector of int16."""

    def __init__(self, rows: list[Row], num_seats: int, num_sides: int) -> None:
        self.num_seats, self.num_sides = num_seats, num_sides
        sections = []
        at = 0
        for row in rows:
            end = at + int(np.prod(row.shape))
            sections.append(Section(row.name, slice(at, end), row.shape, row.meaning, *row.range, float(row.scale), row.known_to))
            at = end
        self.sections: tuple[Section, ...] = tuple(sections)
        self.width = at
        self._by_name = {section.name: section for section in sections}

    def __getitem__(self, name: str) -> Section:
        """The section of that name.

        Raises:
            KeyError: Naming it.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"no section {name!r}; sections are {', '.join(self._by_name)}") from None

    def scales(self) -> np.ndarray:
        """(width,) float32: what an int16 vector is multiplied by to become float32 in about -1..1."""
        scales = np.empty(self.width, np.float32)
        for section in self.sections:
            scales[section.slice] = section.scale
        return scales

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each (width,) int16."""
        low, high = np.empty(self.width, np.int16), np.empty(self.width, np.int16)
        for section in self.sections:
            low[section.slice], high[section.slice] = section.low, section.high
        return low, high

    def decode(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """The sections of one int16 vector (width,) by name, each in its shape. float32 ones are scaled back first.

        Raises:
            ValueError: For a vector of another length.
        """
        vector = np.asarray(vector)
        if vector.shape != (self.width,):
            raise ValueError(f"a vector of shape {vector.shape} is not of this layout; it has shape ({self.width},)")
        if np.issubdtype(vector.dtype, np.floating):
            vector = np.rint(vector / self.scales()).astype(np.int16)
        return {section.name: vector[section.slice].reshape(section.shape) for section in self.sections}

    def table(self) -> str:
        """The sections as a Markdown table; kinds in the order of the table's note."""
        lines = ["| section | from | shape | range | scale | known to | meaning |", "|---|--:|---|---|--:|---|---|"]
        for x in self.sections:
            shape = " x ".join(str(n) for n in x.shape)
            lines.append(f"| `{x.name}` | {x.slice.start} | {shape} | {x.low}..{x.high} | {x.scale:g} | {x.known_to} | {x.meaning} |")
        return "\n".join(lines)


def _seats_and_sides(rules) -> tuple[int, int]:
    if isinstance(rules, tuple):
        return rules
    rules = load_rules(rules)
    return rules.players, rules.num_sides


class ObservationLayout(_Layout):
    """Layout of an observation. It has ``sections`` (a tuple of Section, in order) and ``width``, the vector's length F.

    Args:
        rules: a name, path, RuleSet, overrides, or (seats, sides).
        events: with the section of the last 64 public events, which is off by default.
    """

    version = LAYOUT_VERSION

    def __init__(self, rules="whitnack", events: bool = False) -> None:
        seats, sides = _seats_and_sides(rules)
        super().__init__(observation_rows(seats, sides, events), seats, sides)
        self.events = events


class StateLayout(_Layout):
    """Layout of the state vector, the whole truth, for a central critic; seats as they are, sides from side 0.

    Args:
        rules: as for ObservationLayout.
    """

    version = LAYOUT_VERSION

    def __init__(self, rules="whitnack") -> None:
        seats, sides = _seats_and_sides(rules)
        super().__init__(state_rows(seats, sides), seats, sides)

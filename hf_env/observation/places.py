"""Where the encoder writes: the layouts of sections.py as constants of compiled code.

Compiled code keeps them as they are here. Its cache is keyed by the sources of this package, of the engine and of the
rules, where the options are declared.
"""

import numpy as np

from hf_env.engine.cards import MAX_SEATS
from hf_env.observation.sections import OPTION_PREFIX, Row, observation_rows, option_row, state_rows
from hf_env.rules import options as o
from hf_env.rules.record import shown_options

NOT_THERE = -1


def starts_of(rows: list[Row]) -> dict[str, int]:
    """Where each section begins in the vector; ``options``: the first of the rule options."""
    starts: dict[str, int] = {}
    at = 0
    for row in rows:
        starts["options" if row.name.startswith(OPTION_PREFIX) and "options" not in starts else row.name] = at
        at += int(np.prod(row.shape))
    return starts


def _tables() -> list[tuple[int, int]]:
    """Seats and sides of every table: as many seats on each side."""
    return [(seats, sides) for seats in range(2, MAX_SEATS + 1) for sides in range(2, seats + 1) if seats % sides == 0]


def _places(rows_of) -> np.recarray:
    """By seats and sides: a record of int64 whose fields are named as the sections."""
    names = [name for name in starts_of(state_rows(2, 2)) | starts_of(observation_rows(2, 2, True)) if not name.startswith(OPTION_PREFIX)]
    dtype = np.dtype([(name, np.int64) for name in names])
    places = np.full((MAX_SEATS + 1, MAX_SEATS + 1, len(names)), NOT_THERE, np.int64).view(dtype)[..., 0]
    for table in _tables():
        starts = rows_of(*table)
        places[table] = tuple(starts.get(name, NOT_THERE) for name in names)
    return places.view(np.recarray)


# PLACES[seats, sides].quota_missing is where that section begins. Without events, nothing is written where they would be.
OBSERVATION_PLACES = _places(lambda seats, sides: starts_of(observation_rows(seats, sides, True)))
STATE_PLACES = _places(lambda seats, sides: starts_of(state_rows(seats, sides)))

# How an option is read of the rule record, by number.
READ_COUNT, READ_POINTS, READ_CHOICE, READ_LIMIT, READ_NEXT_MINIMUM = range(5)
_READINGS = {o.AS_IT_IS: READ_COUNT, o.BY_DEAL: READ_COUNT, o.IN_POINTS: READ_POINTS, o.NEXT_MINIMUM: READ_NEXT_MINIMUM}
_OF_GROUP = {o.CHOICES: READ_CHOICE, o.LIMITS: READ_LIMIT}


def _options() -> np.ndarray:
    """(K, 4) int64: where it is written, from the first option; how it is read; of which word; how much further a deal."""
    table = []
    at = 0
    for option in shown_options():
        reading = _OF_GROUP.get(option.shown.group, _READINGS[option.shown.read])
        table.append((at, reading, option.first, option.stride))
        at += int(np.prod(option_row(option).shape))
    return np.array(table, np.int64)


OPTIONS = _options()

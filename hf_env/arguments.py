"""Checks of the arguments of public constructors and functions, with messages that name what is allowed."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hf_env.suggest import did_you_mean


def check_choice(name: str, value: Any, allowed: Iterable[Any]) -> Any:
    """Check that an argument is one of a few values.

    Args:
        name: of the argument, for the message.
        value: what was given.
        allowed: the values that it may have.

    Returns:
        The value.

    Raises:
        ValueError: names the argument, the value and what is allowed.
    """
    values = list(allowed)  # a list: what is looked for may be unhashable
    if value not in values:
        words = ", ".join(repr(word) for word in values)
        hint = did_you_mean(value, [word for word in values if isinstance(word, str)])
        raise ValueError(f"{name}={value!r} is not known; allowed: {words}{hint}")
    return value


def check_int(name: str, value: Any, low: int, high: int) -> int:
    """Check that an argument is a whole number of a range.

    Args:
        name: of the argument, for the message.
        value: what was given: an integer of Python or NumPy, but no boolean.
        low: the least that is allowed.
        high: the most that is allowed.

    Returns:
        The value as an int.

    Raises:
        ValueError: names the argument, the value and the range.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= int(value) <= high:
        raise ValueError(f"{name}={value!r} must be a whole number from {low} to {high}")
    return int(value)

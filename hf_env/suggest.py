"""The nearest known name for a word that is none: one hint for every file, option and command."""

import difflib
import typing
from collections.abc import Iterable
from typing import Any

# The share of letters in order from which a name is near: "whitnak" is "whitnack", "luck" is nothing.
_NEAR = 0.6


def nearest(word: Any, known: Iterable[str]) -> str | None:
    """The known name that is nearest to a word; None where none is near."""
    # Longer words are no slip of the keyboard, and comparing them would take long.
    return next(iter(difflib.get_close_matches(str(word)[:60], list(known), n=1, cutoff=_NEAR)), None)


def words_of(annotation: Any) -> list[str]:
    """The words that a field's type allows, of ``Literal["none", "any"]`` both; none for another type."""
    return [word for word in typing.get_args(annotation) if isinstance(word, str)]


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """``"; did you mean NAME?"``, or an empty text where no known name is near."""
    name = nearest(word, known)
    return f"; did you mean {name}?" if name else ""

"""What a user is told when a rule set is refused: one line, which names the option, its value and what is allowed."""

import reprlib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hf_env.suggest import did_you_mean, words_of


class RulesError(ValueError):
    """A rule set, a rule file or a setting that cannot be used. The message is one line, meant for the user."""


# Long values are cut: a message stays one readable line whatever a file held.
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 3
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlist = _SHORT.maxtuple = 8
_SHORT.maxdict = 6


def shown(value: Any) -> str:
    """One short line that shows a value as a rule file writes it (``true``, ``"none"``, text in double quotes)."""
    if value is True or value is False:
        return "true" if value else "false"
    if value is None:
        return '"none"'
    try:
        if isinstance(value, tuple):
            value = list(value)
        text = _SHORT.repr(value)
    except ValueError:  # an int of more digits than Python turns into text
        return "a number of thousands of digits"
    return text.replace("'", '"') if '"' not in text else text


def unknown_option(name: Any, known: Iterable[str]) -> str:
    """The line about a key that is no option: what may have been meant, or where all are listed."""
    return f"unknown option {shown(name)}" + (did_you_mean(name, known) or "; `handfoot rules show whitnack` lists all options")


def from_validation_error(error: ValidationError, model: type[BaseModel], given: dict[str, Any]) -> RulesError:
    """The first of pydantic's errors as one line; `model` holds what each option allows, `given` what was written."""
    errors = error.errors(include_url=False)
    line = _line(errors[0], model, given)
    # One wrong list gives an error for each entry, and for each alternative of a type.
    fields = {each["loc"][: 2 if each["loc"][:1] == ("points",) else 1] for each in errors}
    more = len(fields) - 1
    if more > 0:
        line += f" (and {more} more error{'s' if more > 1 else ''})"
    return RulesError(line)


def _line(detail: Any, model: type[BaseModel], given: dict[str, Any]) -> str:
    location = detail["loc"]
    if not location:  # a combination: the condition has written the whole line
        return str(detail["ctx"]["error"])
    name, value = str(location[0]), given.get(location[0])
    field, known = model.model_fields.get(name), list(model.model_fields)
    inner = field.annotation if field is not None else None
    if isinstance(inner, type) and issubclass(inner, BaseModel) and isinstance(value, dict) and len(location) > 1:
        last = str(location[1])
        field, known = inner.model_fields.get(last), [f"{name}.{each}" for each in inner.model_fields]
        name, value = f"{name}.{last}", value.get(location[1])
    if field is None:
        return unknown_option(name, known)
    return not_allowed(name, value, field)


def not_allowed(name: str, value: Any, field: FieldInfo) -> str:
    """The line about a value that is out of a field's range: what is allowed, and which word may have been meant.

    Args:
        name: of the field, as the user writes it.
        field: whose ``json_schema_extra`` says in words what is allowed.
    """
    extra = field.json_schema_extra
    allowed = extra["allowed"] if isinstance(extra, dict) else "valid"
    return f"{name} = {shown(value)} is not allowed: it must be {allowed}{did_you_mean(value, words_of(field.annotation))}"

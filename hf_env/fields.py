"""Fields of a model of settings: value, what is allowed, meaning and effect in one row, for errors and docs alike."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from hf_env.rules.errors import not_allowed, shown
from hf_env.suggest import did_you_mean


def setting(default: Any, allowed: str, meaning: str, effect: str = "", **limits: Any) -> Any:
    """A field of a model.

    Args:
        default: its value where none is given; a function of nothing is called for it.
        allowed: what it may be, in words that follow "it must be".
        meaning: what it sets.
        effect: what more and less of it does, or why this default.
        limits: as pydantic's Field takes them: ge, gt, le, pattern.
    """
    given = {"default_factory": default} if callable(default) else {"default": default}
    return Field(**given, description=meaning, json_schema_extra={"allowed": allowed, "effect": effect}, **limits)


def whole(default: int | None, low: int, high: int, meaning: str, effect: str = "") -> Any:
    """A whole number from ``low`` to ``high``; a field with the default None may be none."""
    words = f"a whole number from {low:,} to {high:,}" + (', or "none"' if default is None else "")
    return setting(default, words, meaning, effect, ge=low, le=high)


def number(default: float | None, low: float, high: float, meaning: str, effect: str = "", *, optional: bool = False) -> Any:
    """A number from ``low`` to ``high``."""
    words = f"a number from {low:,.10g} to {high:,.10g}" + (', or "none"' if optional else "")
    return setting(default, words, meaning, effect, ge=low, le=high)


def positive(default: float | None, high: float, meaning: str, effect: str = "", *, optional: bool = False) -> Any:
    """A number above 0 and at most ``high``."""
    words = f"a number above 0, at most {high:,.10g}" + (', or "none"' if optional else "")
    return setting(default, words, meaning, effect, gt=0, le=high)


def choice(default: str | None, names: Sequence[str], meaning: str, effect: str = "") -> Any:
    """One of some names; the field's type lists them too."""
    quoted = ", ".join(f'"{name}"' for name in names)
    return setting(default, f"one of {quoted}", meaning, effect)


def yes_no(default: bool, meaning: str, effect: str = "") -> Any:
    """True or false."""
    return setting(default, "true or false", meaning, effect)


def extra(model: type[BaseModel], name: str, key: str) -> str:
    """What a field's row says under "allowed" or "effect"."""
    values = model.model_fields[name].json_schema_extra
    return str(values[key]) if isinstance(values, dict) else ""


def refusal(error: ValidationError, model: type[BaseModel], given: Mapping[str, Any], prefix: str = "") -> str:
    """The first of pydantic's errors as one line: the setting, its value and what is allowed.

    Args:
        model: the model whose fields were made by this module.
        given: what was written.
        prefix: of the names, as "network.".
    """
    errors = error.errors(include_url=False)
    first = errors[0]
    words = str(first.get("ctx", {}).get("error", ""))
    if words:  # a validator has written the whole line
        return words
    name = str(first["loc"][0])
    if name not in model.model_fields:
        return unknown_setting(name, model, prefix)
    return not_allowed(prefix + name, given.get(name), model.model_fields[name])


def unknown_setting(name: str, model: type[BaseModel], prefix: str = "") -> str:
    """The line about a key that is no setting: what was meant, or all that there are."""
    known = [prefix + each for each in model.model_fields]
    return f"unknown setting {prefix}{name}" + (did_you_mean(prefix + name, known) or f"; known: {', '.join(known)}")


def table(rows: Mapping[str, tuple[type[BaseModel], str]], defaults: Mapping[str, Any]) -> str:
    """Settings as a Markdown table: name, what is allowed, default, meaning, effect.

    Args:
        rows: the name in the table -> model and field.
        defaults: the name -> its default, where it is worth showing.
    """
    lines = ["| setting | allowed | default | meaning | more and less |", "|---|---|---|---|---|"]
    for name, (model, field) in rows.items():
        meaning = model.model_fields[field].description
        default = f"`{shown(defaults[name])}`" if name in defaults else ""
        lines.append(f"| `{name}` | {extra(model, field, 'allowed')} | {default} | {meaning} | {extra(model, field, 'effect')} |")
    return "\n".join(lines)

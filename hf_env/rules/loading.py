"""Getting a rule set from what a user names: a preset, a file, a table of options; with single options changed.

Rule: docs/rules.md 10.1.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from hf_env.rules.errors import RulesError, shown
from hf_env.rules.preset_files import DEFAULT_PRESET, merge_settings, preset_names, preset_settings, unknown_preset
from hf_env.rules.ruleset import RuleSet, flat, string_keys
from hf_env.rules.toml_files import MAX_LINE_LENGTH, read_toml_file

RulesLike = str | os.PathLike[str] | Mapping[str, Any] | RuleSet


def load_rules(source: RulesLike = DEFAULT_PRESET, /, **overrides: Any) -> RuleSet:
    """The rule set that `source` names, with `overrides` laid over it.

    Args:
        source: a preset's name (see :func:`list_rules`); the path of a TOML file; a mapping of option keys, which may
            hold ``preset``; or a RuleSet.
        overrides: option keys and values; ``**{"points.ace": 15}`` changes one entry of ``points``.

    Raises:
        RulesError: one line that says what is wrong with the name, the file, a value or a combination of values.
    """
    if "preset" in overrides:
        raise RulesError("preset cannot be overridden: give that name as the rule set instead")
    if isinstance(source, RuleSet):
        return source.with_overrides(**overrides) if overrides else source
    if isinstance(source, Mapping):
        return _from_settings(source, overrides)
    if isinstance(source, str) and source in preset_names():
        return _from_settings({"preset": source}, overrides)
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _looks_like_path(source)):
        path = os.fspath(source)
        try:
            return _from_settings(read_toml_file(path), overrides)
        except FileNotFoundError:
            raise unknown_preset(path, "rule file") from None
        except RulesError as error:
            name = shown(path)
            raise (error if name in str(error) else RulesError(f"{name}: {error}")) from None
    if isinstance(source, str):
        raise RulesError(f"{unknown_preset(source)} (or give the path of a TOML file)")
    raise RulesError(f"rules must be a name, a path, a table of options or a RuleSet, not {type(source).__name__}")


def list_rules() -> list[str]:
    """Names of the rule sets that come with the package, the default first."""
    return list(preset_names())


def diff_rules(a: RuleSet, b: RuleSet) -> list[tuple[str, Any, Any]]:
    """Each option in which two rule sets differ: key (``points.ace`` for a card), value in `a`, value in `b`."""
    left, right = flat(a.resolved()), flat(b.resolved())
    return [(key, left[key], right[key]) for key in left if key != "preset" and left[key] != right[key]]


def parse_setting(text: str) -> tuple[str, Any]:
    """Key and value of a ``KEY=VALUE`` of the command line, for the overrides of :func:`load_rules`.

    The value is written as in TOML (``3``, ``no``, ``[50, 90]``); words need no quotes. ``points.ace=15`` is a key.
    Whether the key exists is seen by :func:`load_rules`.

    Raises:
        RulesError: For a text that is no such setting.
    """
    key, equals, written = text.partition("=")
    key, written = key.strip(), written.strip()
    if not equals or not written or not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)?", key):
        raise RulesError(f"setting {shown(text)} is not KEY=VALUE, such as deals=3 or points.ace=15")
    for candidate in (written, _quote_words(written)):
        value = _toml_value(candidate)
        if value is not None:
            return key, value
    raise RulesError(f"{key}: {shown(written)} is no value; write a number, a word, or a list such as [2, 2, 1]")


def _from_settings(settings: Mapping[Any, Any], overrides: Mapping[str, Any]) -> RuleSet:
    preset = settings.get("preset", DEFAULT_PRESET)
    if not isinstance(preset, str):
        raise RulesError(f"preset = {shown(preset)} is not allowed: it must be the name of a rule set")
    merged = merge_settings(preset_settings(preset), settings)
    merged["preset"] = preset
    return RuleSet(**string_keys(merge_settings(merged, overrides)))


def _looks_like_path(source: str) -> bool:
    if source.endswith(".toml") or "/" in source or os.sep in source:
        return True
    try:
        return os.path.exists(source)
    except ValueError:  # a null byte
        return False


def _toml_value(written: str) -> Any:
    if len(written) > MAX_LINE_LENGTH:
        return None
    try:
        table = tomllib.loads(f"value = {written}")
    except (ValueError, RecursionError):
        return None
    # A line break in the text could have begun another key.
    return table["value"] if set(table) == {"value"} else None


def _quote_words(written: str) -> str:
    """The text with quotes around words that stand bare, true and false excepted."""
    pieces = re.split(r"(\"[^\"]*\"|'[^']*')", written)
    for index in range(0, len(pieces), 2):
        pieces[index] = re.sub(r"(?<![\w.+-])(?!(?:true|false)\b)[A-Za-z_][\w-]*", r'"\g<0>"', pieces[index])
    return "".join(pieces)


def load_rule_sets(rules: Any) -> tuple[RuleSet, ...]:
    """Load one rule set, or a list of them of which each game draws one.

    Args:
        rules: what ``load_rules`` takes, or a sequence of that.

    Returns:
        The rule sets.

    Raises:
        RulesError: as ``load_rules`` does.
        ValueError: the list is empty, or the numbers of seats or sides differ.
    """
    several = isinstance(rules, Sequence) and not isinstance(rules, str | bytes)
    sets = tuple(load_rules(source) for source in (rules if several else [rules]))
    if not sets:
        raise ValueError("rules: the list is empty; give at least one rule set")
    first = sets[0]
    for other in sets[1:]:
        if (other.players, other.num_sides) != (first.players, first.num_sides):
            raise ValueError(
                f"rules: a list needs equal numbers of seats and sides, but {first.name} has {first.players} and "
                f"{first.num_sides}, {other.name} has {other.players} and {other.num_sides}"
            )
    return sets

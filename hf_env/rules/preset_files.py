"""The named rule sets that come with the package, as plain settings, and how settings are laid over one another.

Rule: docs/rules.md 10.1, 10.2.
"""

import functools
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

from hf_env.rules.errors import RulesError, shown
from hf_env.rules.toml_files import parse_toml
from hf_env.suggest import did_you_mean

DEFAULT_PRESET = "whitnack"


@functools.cache
def preset_names() -> tuple[str, ...]:
    """Names of all presets, the default first, the others in alphabetical order."""
    folder = resources.files("hf_env.rules") / "presets"
    names = sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted(names, key=lambda name: name != DEFAULT_PRESET))


def unknown_preset(name: Any, thing: str = "rule set") -> RulesError:
    """The error for a name that no preset (or file, says `thing`) has, with the close ones and the list."""
    close = did_you_mean(str(name).removesuffix(".toml"), preset_names())
    hint = f"{close} The" if close else "; the"
    return RulesError(f"there is no {thing} {shown(name)}{hint} named rule sets are {', '.join(preset_names())}")


def preset_text(name: str) -> str:
    """The preset's file as it was written, comments included.

    Raises:
        RulesError: For an unknown name.
    """
    if name not in preset_names():
        raise unknown_preset(name)
    return (resources.files("hf_env.rules") / "presets" / f"{name}.toml").read_text(encoding="utf-8")


@functools.cache
def preset_settings(name: str) -> Mapping[str, Any]:
    """All settings of a preset, those of the preset it stands on included, without the key ``preset``; read only.

    Raises:
        RulesError: For an unknown name.
    """
    settings = parse_toml(preset_text(name).encode(), f"the preset {name}")
    base = settings.pop("preset", None)
    if base is not None:
        settings = merge_settings(preset_settings(base), settings)
    return MappingProxyType(settings)


def merge_settings(base: Mapping[str, Any], overrides: Mapping[Any, Any]) -> dict[str, Any]:
    """`base` with `overrides` laid over it.

    ``points`` is merged kind by kind, and ``points.ace`` may be written as a key.
    """
    merged = dict(base)
    for key, value in overrides.items():
        group, _, member = key.partition(".") if isinstance(key, str) else (key, "", "")
        if group == "points" and member:
            value = {member: value}
        elif group != key:
            group = key  # a dotted key of no group: refused later, under the name that was written
        if group == "points" and isinstance(value, Mapping) and isinstance(merged.get("points"), Mapping):
            value = {**merged["points"], **value}
        merged[group] = value
    return merged

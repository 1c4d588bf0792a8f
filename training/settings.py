"""Settings of a training run as a user gives them: a config's name, a TOML file, or ``KEY=VALUE``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.neural.base import NetworkConfig
from hf_env.fields import unknown_setting
from hf_env.rules import RulesError, RuleSet
from hf_env.rules.toml_files import MAX_LINE_LENGTH, read_toml_file
from hf_env.suggest import did_you_mean
from training.config import GONE, RENAMED, ConfigError, TrainConfig, current_names
from training.effects import without_effect

_CONFIGS = Path(__file__).with_name("configs")
# Tables, of which ``network.width`` or ``pools.opponents`` names one entry.
_TABLES = ("network", "pools")


def shipped_configs() -> dict[str, Path]:
    """The configs that come with the package, by name."""
    return {path.stem: path for path in sorted(_CONFIGS.glob("*.toml"))}


def read_toml(path: Path) -> dict[str, Any]:
    """The table of a TOML file.

    Raises:
        ConfigError: One line that names the file and what is wrong.
    """
    try:
        return read_toml_file(path, "file of settings")
    except FileNotFoundError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except RulesError as error:
        raise ConfigError(str(error)) from None


def load_config(source: Path | str) -> TrainConfig:
    """The config of that name in the package, or of a TOML file that gives some of the settings.

    In such a file a setting is as in ``seats = ["learner", "pool:opponents"]``.
    A file with ``decisions_budget`` and no ``time_budget_seconds`` has no limit of time.

    Raises:
        ConfigError: one line that names the file and what is wrong.
    """
    path = shipped_configs().get(str(source), Path(source))
    if not path.suffix and not _is_there(path):
        hint = did_you_mean(source, shipped_configs())
        raise ConfigError(f"no config {str(source)!r}; the package has {', '.join(shipped_configs())}, others are TOML files{hint}")
    table = read_toml(path)
    try:
        return with_settings(None, current_names(table))
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that is too long, or no possible path
        return False


def with_settings(base: TrainConfig | None, settings: Mapping[str, Any]) -> TrainConfig:
    """A config with settings laid over it: a table of network or pools entry by entry; without a base, the defaults.

    A budget in decisions without one in seconds leaves no limit of time.

    Raises:
        ConfigError: For an unknown setting, a value out of range, or one of ``settings`` that changes nothing beside the others.
    """
    for name in settings:
        if name not in TrainConfig.model_fields and name not in RENAMED and name not in GONE:
            raise ConfigError(unknown_setting(name, TrainConfig))
    changes = dict(settings)
    if "decisions_budget" in changes:
        changes = {"time_budget_seconds": None} | changes
    names = set(changes)
    for table in _TABLES:
        if isinstance(changes.get(table), Mapping):
            names |= {f"{table}.{name}" for name in changes[table]}
    if base is None:
        config = TrainConfig(**changes)
    else:
        for table, before in (("network", base.network.model_dump()), ("pools", base.pools)):
            if isinstance(changes.get(table), Mapping):
                changes[table] = {**before, **changes[table]}
        config = base.replace(**changes)
    for line in without_effect(config, names):
        raise ConfigError(line)
    return config


def rule_keys() -> list[str]:
    """The keys of a rule set, ``points.ace`` and its like among them."""
    points = RuleSet.model_fields["points"].annotation
    return [*RuleSet.model_fields, *(f"points.{kind}" for kind in getattr(points, "model_fields", ()))]


def setting_keys() -> list[str]:
    """The keys of the training settings, ``network.width`` and its like among them."""
    return [*TrainConfig.model_fields, *(f"network.{name}" for name in NetworkConfig.model_fields)]


def parse_settings(texts: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What ``--set KEY=VALUE`` gives: training settings, and the texts that change the rules.

    A value is written as in TOML; one that is no TOML, as a word without quotes, is taken as text.

    Raises:
        ConfigError: for a text that is no setting, a key that neither the settings nor the rules have, or one given twice.
    """
    settings: dict[str, Any] = {}
    rules = []
    given = set()
    for text in texts:
        key, equals, written = (part.strip() for part in text.partition("="))
        group, _, member = key.partition(".")
        if not equals or not written or not key:
            raise ConfigError(f"--set {text!r} is not KEY=VALUE, such as num_games=256, network.width=64 or deals=3")
        if key in given:
            raise ConfigError(f"--set gives {key} twice")
        given.add(key)
        if key in rule_keys():
            rules.append(text)
        elif key in RENAMED:
            raise ConfigError(f"unknown setting {key}: it is called {RENAMED[key]} now")
        elif key in GONE:
            raise ConfigError(f"unknown setting {key}: {GONE[key]}")
        elif key in TrainConfig.model_fields:
            settings[key] = _value(written)
        elif group in _TABLES and member:
            table = settings.setdefault(group, {})
            if not isinstance(table, dict):
                raise ConfigError(f"--set {text!r}: {group} is already given as a whole")
            table[member] = _value(written)
        else:
            hint = did_you_mean(key, [*setting_keys(), *rule_keys()])
            raise ConfigError(f"unknown setting {key}{hint or '; docs/training.md and `handfoot rules show whitnack` list all keys'}")
    return settings, tuple(rules)


def _value(written: str) -> Any:
    if len(written) > MAX_LINE_LENGTH:
        return written
    try:
        table = tomllib.loads(f"value = {written}")
    except (ValueError, RecursionError):
        return written
    # A line break in the text could have begun another key.
    return table["value"] if set(table) == {"value"} else written

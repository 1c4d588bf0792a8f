"""Settings that change nothing beside the others: what a user gave, and what lets it do something."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hf_env.rules.errors import shown
from hf_env.suggest import did_you_mean
from training.config import TrainConfig
from training.league.lineups import PAST, POOL, TEAM, default_seats


def without_effect(config: TrainConfig, names: Iterable[str] | None = None) -> list[str]:
    """Settings other than the default that change nothing beside the others, a line each.

    Args:
        config: The settings.
        names: The settings to look at, ``network.width`` and ``pools.NAME`` among them; None: all.

    Returns:
        The lines, each with the setting, its value and why.
    """
    values, defaults = _flat(config), _flat(TrainConfig())
    reasons = _idle(config) | _idle_pools(config)
    looked_at = values if names is None else set(names)
    return [
        f"{name} = {shown(values[name])} has no effect: {reason}"
        for name, reason in reasons.items()
        if reason and name in looked_at and name in values and values[name] != defaults.get(name)
    ]


def _flat(config: TrainConfig) -> dict[str, Any]:
    """The settings by the names that a user gives them."""
    values: dict[str, Any] = {name: getattr(config, name) for name in TrainConfig.model_fields}
    for table, entries in (("network", config.network.model_dump()), ("pools", config.pools)):
        values |= {f"{table}.{name}": value for name, value in entries.items()}
    return values


def _idle(config: TrainConfig) -> dict[str, str]:
    """Why a setting changes nothing; an empty reason where it does."""
    no_teacher = "there is no teacher" if config.teacher is None else ""
    no_past = ""
    if PAST not in _players(config):
        no_past = f'neither a seat nor a pool that a seat draws from holds "{PAST}"'
    elif config.pool_size == 0:
        no_past = "pool_size is 0, so that no past self is kept"
    elif config.pool_interval == 1:
        no_past = "pool_interval is 1, so that no past self is kept before the run ends"
    return {
        "network.rank_width": 'network.kind is not "ranks"' if config.network.kind != "ranks" else "",
        "teacher": "teacher_weight or teacher_end is 0" if 0 in (config.teacher_weight, config.teacher_end) else "",
        "teacher_weight": no_teacher,
        "teacher_end": no_teacher,
        "pool_size": no_past if config.pool_size else "",
        "pool_interval": no_past if config.pool_interval < 1 else "",
        "hardness": no_past or ("pool_size is 1: there is one past self to draw" if config.pool_size == 1 else ""),
        "seats": no_past if PAST in config.seats else "",
    }


def _idle_pools(config: TrainConfig) -> dict[str, str]:
    drawn = _pools_drawn(config)
    return {
        f"pools.{name}": f"no seat draws from the pool {shown(name)}{did_you_mean(name, drawn)}"
        for name in config.pools
        if name not in drawn
    }


def _seats(config: TrainConfig) -> tuple[str, ...]:
    return config.seats or default_seats(config.rules[0].players, config.rules[0].num_sides)


def _pools_drawn(config: TrainConfig) -> list[str]:
    """Names of the pools that seats draw from."""
    return [entry.split(":", 1)[1] for entry in _seats(config) if entry.startswith((POOL, TEAM))]


def _players(config: TrainConfig) -> set[str]:
    """All who may sit at a seat."""
    drawn = [player for name in _pools_drawn(config) for player in config.pools.get(name, ())]
    return {*_seats(config), *drawn}

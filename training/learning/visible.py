"""Which numbers of an observation a network is to see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hf_env import ObservationLayout, RuleSet, VectorGame
from hf_env.observation.layout import Section
from hf_env.rules.errors import shown
from hf_env.rules.ruleset import flat
from hf_env.suggest import did_you_mean
from training.config import ConfigError


def visible_scale(games, ignored: tuple[str, ...], rules: Sequence[RuleSet] = ()) -> np.ndarray:
    """(F,) float32: the games' observation scale, 0 in the sections that the network is not to see.

    Left out beside the ignored ones: options that are the same in all deals of all the ``rules``.

    Raises:
        ConfigError: For a section that does not exist.
    """
    scale = np.array(games.observation_scale, np.float32)
    for name in ignored:
        names = [section.name for section in games.observation_layout.sections]
        if name not in names:
            hint = did_you_mean(name, names) or "; docs/observation.md lists them"
            raise ConfigError(f"network.ignored: the observation has no section {shown(name)}{hint}")
        scale[games.observation_layout[name].slice] = 0.0
    for section in constant_options(rules):
        scale[section.slice] = 0.0
    return scale


def constant_options(rules: Sequence[RuleSet]) -> list[Section]:
    """Sections of the observation with options that never change under these rules: they tell a network nothing."""
    if not rules:
        return []
    seen = []
    for rule_set in rules:
        games = VectorGame(1, rule_set, 0)
        longest = max([0, *(len(value) for value in flat(rule_set.resolved()).values() if isinstance(value, list | tuple))])
        for deal in range(1, 2 + longest):
            games.games["deal"] = deal
            seen.append(games.observe(np.zeros(1, np.int32))[0].copy())
    constant = (np.array(seen) == seen[0]).all(0)
    layout = ObservationLayout(rules[0])
    return [section for section in layout.sections if section.name.startswith("option_") and constant[section.slice].all()]

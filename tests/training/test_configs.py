"""The configs that come with the package can be read, and say what they are."""

import pytest

from hf_env import VectorGame, load_rules
from training.config import ConfigError, TrainConfig
from training.learning.visible import constant_options, visible_scale
from training.settings import load_config, shipped_configs


def test_quick_standard_and_long_are_there_and_differ_in_time():
    configs = {name: load_config(name) for name in shipped_configs()}
    assert {name: config.time_budget_seconds for name, config in configs.items()} == {
        "quick": 300.0,
        "several": 3600.0,
        "standard": 3600.0,
        "long": 7200.0,
    }
    assert configs["quick"] == TrainConfig()


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(ConfigError, match="no config 'fast'; the package has long, quick, several, standard, others are TOML files"):
        load_config("fast")


def test_options_that_never_change_are_not_seen_and_others_are():
    names = {section.name for section in constant_options([load_rules("whitnack")])}
    assert "option_decks" in names and "option_book_size" in names
    assert "option_next_minimum" not in names  # the minimum grows from deal to deal
    games = VectorGame(1, "whitnack")
    scale = visible_scale(games, (), [load_rules("whitnack")])
    hidden = {section.name for section in games.observation_layout.sections if not scale[section.slice].any()}
    assert hidden == names


def test_under_several_rule_sets_what_differs_is_seen():
    rules = [load_rules("whitnack"), load_rules("whitnack", hand_size=11)]
    alone = {section.name for section in constant_options(rules[:1])}
    assert alone - {section.name for section in constant_options(rules)} == {"option_hand_size"}
    assert constant_options([]) == []

"""The table of scripted players: all that is known of a player follows from its row."""

import pickle
import tomllib
from pathlib import Path

import pytest

import agents.scripted
from agents.registry import SCRIPTED, load
from agents.scripted.table import PLAYER_IDS, PLAYERS

ROOT = Path(__file__).parents[2]


def test_names_and_numbers_are_unique():
    assert len({player.name for player in PLAYERS}) == len({player.id for player in PLAYERS}) == len(PLAYERS)
    assert tuple(PLAYER_IDS) == SCRIPTED
    assert all(player.id >= 0 for player in PLAYERS)  # -1 is WEIGHTED


@pytest.mark.parametrize("player", PLAYERS, ids=PLAYER_IDS)
def test_a_row_has_its_class_under_all_names(player):
    policy = load(f"{player.name}:noise=0.25")
    cls = getattr(agents.scripted, f"{player.name.capitalize()}Policy")
    assert type(policy) is cls and cls.player == player.name and cls.__doc__ == player.summary
    assert pickle.loads(pickle.dumps(cls())).name == player.name
    assert cls.__name__ in agents.scripted.__all__
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["hf_env.policies"]
    assert entry_points[player.name] == f"agents.scripted:{cls.__name__}"


def test_an_unknown_class_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'CleverPolicy'"):
        agents.scripted.CleverPolicy  # noqa: B018

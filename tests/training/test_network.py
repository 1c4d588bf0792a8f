"""The network sees what it is to see, and no more."""

import numpy as np
import pytest
import torch

from agents.neural import NetworkConfig, build_network
from hf_env import VectorGame
from training.config import ConfigError
from training.learning.visible import visible_scale


def test_ignored_sections_change_nothing_and_cost_no_weights() -> None:
    games = VectorGame(3, "whitnack", seed=1)
    ignored = games.observation_layout["recent_discards"]
    network = build_network(NetworkConfig("mlp", width=16, depth=2), visible_scale(games, ("recent_discards",)), 127, seed=2)
    assert network.hidden[0].weight.shape == (16, games.observation_width - ignored.length)
    before = torch.from_numpy(games.observations.copy())
    after = before.clone()
    after[:, ignored.slice] = 1
    seen = before.clone()
    seen[:, games.observation_layout["hand"].slice] += 1
    with torch.no_grad():
        assert torch.equal(network(before)[0], network(after)[0])
        assert not torch.equal(network(before)[0], network(seen)[0])


def test_all_columns_equal_a_plain_linear_layer() -> None:
    games = VectorGame(2, "mini", seed=1)
    network = build_network(NetworkConfig("mlp", width=8, depth=2, ignored=()), games.observation_scale, 127, seed=2)
    scaled = torch.from_numpy(games.observations.astype(np.float32) * games.observation_scale)
    first = network.hidden[0]
    expected = torch.relu(network.norms[0](first(scaled)))
    expected = torch.relu(network.norms[1](network.hidden[1](expected)))
    with torch.no_grad():
        assert torch.allclose(network(torch.from_numpy(games.observations))[0], network.policy_head(expected), atol=1e-5)


def test_an_unknown_section_is_named() -> None:
    games = VectorGame(1, "mini", seed=1)
    with pytest.raises(ConfigError, match='no section "discards"; did you mean discard_size'):
        visible_scale(games, ("discards",))

"""The network of ranks treats all ranks alike, sees what it is to see, and is refused where it does not fit."""

import numpy as np
import pytest
import torch

from agents.neural import CheckpointError, NetworkConfig, build_network
from agents.neural.checkpoint import network_bytes, network_from_bytes
from agents.neural.ranks.network import RANK_SECTIONS, rank_actions, split_columns
from hf_env import ACTIONS, ObservationLayout, VectorGame
from hf_env.engine.cards import NUM_NATURALS
from training.learning.visible import visible_scale

CONFIG = NetworkConfig(width=24, rank_width=8)


@pytest.fixture(scope="module")
def games():
    """Tables in the middle of their play."""
    games = VectorGame(32, "whitnack", seed=4)
    generator = np.random.default_rng(0)
    for _ in range(60):
        games.step(np.array([generator.choice(np.flatnonzero(mask)) for mask in games.action_masks], np.int32))
    return games


@pytest.fixture
def network(games):
    scale = visible_scale(games, CONFIG.ignored)
    network = build_network(CONFIG, scale, len(ACTIONS), seed=3, layout=games.observation_layout)
    with torch.no_grad():
        # As after some learning: heads that say something.
        for layer in (network.rank_head, network.policy_head, network.value_head):
            layer.weight.normal_(generator=torch.Generator().manual_seed(1))
    return network


@pytest.mark.parametrize("table", [(2, 2), (3, 3), (4, 2), (6, 2), (6, 3)])
def test_the_sections_of_ranks_are_those_of_the_layout(table):
    layout = ObservationLayout(table)
    by_rank = {section.name for section in layout.sections if section.shape[-1] >= NUM_NATURALS}
    assert by_rank == set(RANK_SECTIONS)
    of_ranks, others = split_columns(layout, np.ones(layout.width, np.float32))
    assert sorted([*of_ranks.ravel(), *others]) == list(range(layout.width))


def test_every_action_has_one_logit_and_each_rank_its_own():
    labels = [[ACTIONS.label(int(action)) for action in own] for own in rank_actions()]
    for rank, own in zip("456789TJQKA", labels, strict=True):
        assert len(own) == 10 and all(rank in label.replace("meld", "").replace("add", "") for label in own)
    assert len(set(rank_actions().ravel().tolist())) == 110


def test_ranks_that_change_places_change_places_in_the_logits(games, network):
    """Without vectors of their own the ranks are alike: a permutation of their numbers permutes their actions."""
    order = np.random.default_rng(5).permutation(NUM_NATURALS)
    before = torch.from_numpy(games.observations.copy())
    of_ranks, _ = split_columns(games.observation_layout, np.ones(games.observation_width, np.float32))
    after = before.clone()
    after[:, of_ranks.ravel()] = before[:, of_ranks[order].ravel()]
    with torch.no_grad():
        (logits, values), (moved, moved_values) = network(before), network(after)
    actions = rank_actions()
    assert torch.allclose(moved[:, actions.ravel()], logits[:, actions[order].ravel()], atol=1e-4)
    rest = np.setdiff1d(np.arange(len(ACTIONS)), actions)
    assert torch.allclose(moved[:, rest], logits[:, rest], atol=1e-4) and torch.allclose(moved_values, values, atol=1e-4)
    assert not torch.allclose(moved[:, actions.ravel()], logits[:, actions.ravel()], atol=1e-2)


def test_each_seen_number_matters_and_no_other(games, network):
    before = torch.from_numpy(games.observations.copy()).float().requires_grad_()
    logits, values = network(before)
    torch.autograd.backward([logits.square().sum(), values.square().sum()])
    touched = before.grad.abs().sum(0) > 0
    assert torch.equal(touched, network.observation_scale > 0)


def test_a_first_policy_is_nearly_uniform_and_a_first_value_is_0(games):
    network = build_network(CONFIG, games.observation_scale, len(ACTIONS), seed=3, layout=games.observation_layout)
    with torch.no_grad():
        logits, values = network(torch.from_numpy(games.observations))
    assert logits.std(1).max() < 0.1 and (values == 0).all()


def test_it_comes_back_from_its_bytes(games, network):
    again = network_from_bytes(network_bytes(network), CONFIG, len(ACTIONS))
    observations = torch.from_numpy(games.observations)
    with torch.no_grad():
        assert all(torch.equal(one, other) for one, other in zip(network(observations), again(observations), strict=True))


@pytest.mark.parametrize("column", [-1, 10**6])
def test_columns_outside_the_observation_are_refused(network, column):
    network.rank_columns[0, 0] = column
    with pytest.raises(CheckpointError, match="columns of the ranks lie outside the observation"):
        network_from_bytes(network_bytes(network), CONFIG, len(ACTIONS))


def test_what_it_cannot_be_built_for_is_refused(games):
    with pytest.raises(ValueError, match="layout of the observation, and none is given"):
        build_network(CONFIG, games.observation_scale, len(ACTIONS))
    with pytest.raises(ValueError, match="has 127 actions, not 5"):
        build_network(CONFIG, games.observation_scale, 5, layout=games.observation_layout)
    with pytest.raises(ValueError, match=r'^network\.kind = "tree" is not allowed: it must be one of "ranks", "mlp"'):
        build_network(NetworkConfig("tree"), games.observation_scale, len(ACTIONS))

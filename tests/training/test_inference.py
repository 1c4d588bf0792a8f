"""A network in compiled code says what it says in PyTorch, follows its weights, and is left to PyTorch where it cannot be run."""

import numpy as np
import pytest
import torch

from agents.neural import NeuralPolicy, build_network
from agents.neural import policy as policy_module
from agents.neural.ranks.single_row import CompiledRanks
from agents.policy import PolicyBatch, decision_keys
from hf_env.kernels.compile import INTERPRETED
from tests.training.helpers import games_under_way, outspoken_network

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted, PyTorch runs the network")


@pytest.fixture(scope="module")
def games():
    return games_under_way(64, 150)


def make(games, **config):
    network = outspoken_network(games, **config)
    with torch.no_grad():
        network.value_mean.fill_(0.7)
        network.value_std.fill_(1.9)
    return network.requires_grad_(False)


def by_pytorch(network, observations):
    with torch.inference_mode():
        logits, values = network(torch.from_numpy(observations))
        return logits.numpy(), network.denormalise(values).numpy()


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == np.float32
        assert np.allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("config", [{}, {"depth": 2}, {"depth": 3}, {"width": 128, "rank_width": 32}, {"width": 5, "rank_width": 3}])
def test_it_is_the_network(games, config):
    network = make(games, **config)
    assert_same(CompiledRanks(network)(games.observations), by_pytorch(network, games.observations))
    extreme = np.full_like(games.observations[:2], 32767)
    assert np.isfinite(CompiledRanks(network)(extreme)[0]).all()


def test_it_follows_the_weights(games):
    network = make(games)
    compiled = CompiledRanks(network)
    before = compiled(games.observations)
    assert np.array_equal(compiled(games.observations)[0], before[0])
    with torch.no_grad():
        network.rank_head.weight.mul_(1.5)
    assert not np.array_equal(compiled(games.observations)[0], before[0])
    assert_same(compiled(games.observations), by_pytorch(network, games.observations))
    other = build_network(network.config, games.observation_scale, games.num_actions, 5, games.observation_layout)
    network.load_state_dict(other.state_dict())
    assert_same(compiled(games.observations), by_pytorch(other, games.observations))
    with torch.no_grad():
        network.value_mean.fill_(100.0)
    assert compiled(games.observations)[1].mean() > 50


def test_a_weight_that_is_not_a_number_shows(games):
    network = make(games)
    with torch.no_grad():
        network.rank_in.weight[0, 0] = float("nan")
    assert np.isnan(CompiledRanks(network)(games.observations)[0]).any()


@pytest.mark.parametrize("config", [{"kind": "mlp"}, {"layer_norm": False}])
def test_what_it_cannot_run_is_left_to_pytorch(games, config):
    network = make(games, **config)
    with pytest.raises(ValueError, match="only networks of ranks"):
        CompiledRanks(network)
    policy = NeuralPolicy(network)
    assert policy.compiled is None
    assert_same(policy._forward(games.observations), by_pytorch(network, games.observations))


def test_one_that_learns_is_left_to_pytorch(games):
    network = make(games).requires_grad_(True)
    policy = NeuralPolicy(network)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.1, fused=True)
    for _ in range(2):
        network(torch.from_numpy(games.observations))[0].square().mean().backward()
        optimiser.step()
        assert_same(policy._forward(games.observations[:1]), by_pytorch(network, games.observations[:1]))


def test_few_rows_and_many_choose_alike(games, monkeypatch):
    network = make(games)
    batch = PolicyBatch(
        games.observations, games.action_masks, np.arange(64), games.seats, np.zeros(64, bool), decision_keys(0, np.arange(64), 0, 0, 0)
    )
    for mode in ("argmax", "sample"):
        policy = NeuralPolicy(network, mode)
        many = policy.act(batch)
        single = np.concatenate([policy.act(batch.rows(slice(row, row + 1))) for row in range(64)])
        monkeypatch.setattr(policy_module, "_FEW_ROWS", 64)
        assert np.array_equal(policy.act(batch), single)
        monkeypatch.undo()
        assert (many == single).mean() > 0.95

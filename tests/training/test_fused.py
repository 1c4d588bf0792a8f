"""The compiled network and loss are PyTorch's own, results and gradients, on any number of threads, and keep what is not finite."""

import numpy as np
import pytest
import torch

from agents.neural import loss_statistics as choices
from agents.neural.ranks import network as rank_network
from hf_env.kernels.compile import INTERPRETED
from hf_env.vector.threads import run_blocks
from tests.training.helpers import games_under_way, outspoken_network

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted, the plain forms are used")


def numbers(*shape, seed=0, scale=1.0):
    return (scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))).requires_grad_()


def gradients(results, arguments, seed=9):
    """Of a random combination of the results, so that every result's gradient matters."""
    total = sum((result * numbers(*result.shape, seed=seed + i).detach()).sum() for i, result in enumerate(results))
    return torch.autograd.grad(total, arguments)


def assert_same(found, expected, tolerance=2e-5):
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert torch.allclose(one, other, rtol=tolerance, atol=tolerance * (1 + float(other.detach().abs().max())))


@pytest.fixture(scope="module")
def games():
    return games_under_way(300, 120)


def plainly(monkeypatch, call):
    """The call with PyTorch's own operations."""
    with monkeypatch.context() as patch:
        patch.setattr(rank_network, "runs_fused", lambda *arguments: False)
        return call()


@pytest.mark.parametrize("config", [{}, {"width": 128, "rank_width": 32}, {"width": 5, "rank_width": 3}])
@pytest.mark.parametrize("num_rows", [1, 7, 300])
def test_the_network_in_one_call_is_pytorchs(games, monkeypatch, config, num_rows):
    network = outspoken_network(games, **config)
    observations = torch.from_numpy(games.observations[:num_rows])
    parameters = list(network.parameters())

    def both():
        results = network(observations)
        return results, gradients(results, parameters)

    (found, found_gradients), (expected, expected_gradients) = both(), plainly(monkeypatch, both)
    assert_same(found, expected)
    for (name, _), one, other in zip(network.named_parameters(), found_gradients, expected_gradients, strict=True):
        scale = 1e-12 + float(other.abs().max())
        assert torch.allclose(one / scale, other / scale, atol=2e-4), name
    with torch.inference_mode():
        assert all(torch.equal(one, other) for one, other in zip(network(observations), found, strict=True))


def test_gradients_of_the_value_alone_and_of_a_constant(games, monkeypatch):
    network = outspoken_network(games)
    observations = torch.from_numpy(games.observations[:50])
    parameters = list(network.parameters())

    def of_values():
        return torch.autograd.grad(network(observations)[1].sum(), parameters, allow_unused=True)

    found, expected = of_values(), plainly(monkeypatch, of_values)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, torch.zeros_like(one) if other is None else other, atol=1e-3)


def test_two_passes_before_the_first_way_back(games, monkeypatch):
    network = outspoken_network(games)
    parameters = list(network.parameters())
    rows = [torch.from_numpy(games.observations[:40]), torch.from_numpy(games.observations[40:80])]

    def one_after_another():
        return [torch.autograd.grad(network(one)[0].square().sum(), parameters, allow_unused=True)[0] for one in rows]

    first, second = (network(one)[0].square().sum() for one in rows)
    together = [torch.autograd.grad(each, parameters, allow_unused=True)[0] for each in (second, first)][::-1]
    for one, other in zip(together, one_after_another(), strict=True):
        assert torch.equal(one, other)
    loss = network(rows[0])[0].sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="has been gone back through already"):
        loss.backward()


def test_weights_changed_before_the_way_back_are_noticed(games):
    network = outspoken_network(games)
    loss = network(torch.from_numpy(games.observations[:5]))[0].sum()
    with torch.no_grad():
        network.body[0].weight.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_threads_do_not_disturb_each_other(games):
    network = outspoken_network(games, width=64, rank_width=16)
    parameters = list(network.parameters())
    blocks = [slice(start, start + 25) for start in range(0, 300, 25)]

    def work(block):
        return torch.autograd.grad(network(torch.from_numpy(games.observations[block]))[0].square().sum(), parameters, allow_unused=True)

    alone = [work(block) for block in blocks]
    for _ in range(20):
        for found, expected in zip(run_blocks(work, blocks), alone, strict=True):
            assert all((one is None and other is None) or torch.equal(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("config", [{"depth": 2}, {"depth": 0}, {"layer_norm": False}])
def test_other_networks_are_left_to_pytorch(games, monkeypatch, config):
    network = outspoken_network(games, **config)
    observations = torch.from_numpy(games.observations[:5])
    assert not rank_network.runs_fused(network, observations)
    found = network(observations)
    assert all(torch.equal(one, other) for one, other in zip(found, plainly(monkeypatch, lambda: network(observations)), strict=True))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_stays_so(games, bad):
    network = outspoken_network(games)
    with torch.no_grad():
        network.rank_in.weight[0, 0] = bad
    logits, values = network(torch.from_numpy(games.observations))
    assert logits.isnan().any() and values.isnan().any()
    logits, masks = torch.zeros(2, 127), torch.ones(2, 127, dtype=torch.int8)
    logits[1, 5] = bad
    for result in choices.choice_statistics(logits, masks, torch.zeros(2, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)):
        assert result[0].isfinite() and result[1].isnan()


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4])
def test_statistics_of_choices_are_pytorchs(scale):
    generator = np.random.default_rng(1)
    masks = torch.from_numpy((generator.random((64, 127)) < 0.1).astype(np.int8))
    masks[:, 3] = 1
    masks[0] = 0
    masks[0, 3] = 1  # forced
    masks[1] = 1  # all legal
    legal = [np.flatnonzero(row) for row in masks.numpy()]
    actions, taught = (torch.tensor([generator.choice(row) for row in legal], dtype=torch.int32) for _ in range(2))
    taught[::4] = -1
    logits = numbers(64, 127, scale=scale)
    found, expected = (each(logits, masks, actions, taught) for each in (choices.choice_statistics, choices.plain_choice_statistics))
    assert_same(found, expected)
    (one,), (other,) = gradients(found, [logits]), gradients(expected, [logits])
    assert_same([one], [other])
    assert (one[masks == 0] == 0).all() and torch.isfinite(one).all()

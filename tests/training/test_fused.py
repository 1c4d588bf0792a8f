"""The compiled steps of the networks and of PPO's loss are PyTorch's own, results and gradients, and keep what is not finite."""

import numpy as np
import pytest
import torch

from agents.neural import fused
from hf_env.engine.jit import INTERPRETED

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


@pytest.mark.parametrize(("num_rows", "num_ranks", "width"), [(1, 1, 1), (3, 11, 32), (70, 11, 48), (5, 2, 7)])
@pytest.mark.parametrize("with_rows", [False, True])
@pytest.mark.parametrize("with_residual", [False, True])
def test_a_stage_of_ranks_is_pytorchs(num_rows, num_ranks, width, with_rows, with_residual):
    norm = torch.nn.LayerNorm(width)
    with torch.no_grad():
        norm.weight.copy_(numbers(width, seed=5))
        norm.bias.copy_(numbers(width, seed=6))
    x, vector = numbers(num_rows, num_ranks, width, seed=1, scale=3.0), numbers(num_ranks, width, seed=2)
    rows = numbers(num_rows, width, seed=3) if with_rows else None
    residual = numbers(num_rows, num_ranks, width, seed=4) if with_residual else None
    arguments = [each for each in (x, vector, rows, residual, norm.weight, norm.bias) if each is not None]
    found, expected = (stage(x, vector, rows, residual, norm) for stage in (fused.rank_stage, fused.plain_rank_stage))
    assert_same(found, expected)
    # One unit has no variance: its gradients are rounding errors times 1 / sqrt(epsilon).
    assert_same(gradients(found, arguments), gradients(expected, arguments), 1e-3 if width == 1 else 2e-5)


def test_a_stage_takes_gradients_of_one_result_alone():
    norm, x, vector = torch.nn.LayerNorm(8), numbers(4, 11, 8), numbers(11, 8, seed=1)
    for which in (0, 1):
        found, expected = (stage(x, vector, None, None, norm)[which] for stage in (fused.rank_stage, fused.plain_rank_stage))
        assert_same(gradients([found], [x, vector]), gradients([expected], [x, vector]))


def test_a_stage_without_a_norm_and_in_double_precision_is_the_plain_one():
    x, vector = numbers(4, 11, 8), numbers(11, 8, seed=1)
    assert_same(
        fused.rank_stage(x, vector, None, None, torch.nn.Identity()), fused.plain_rank_stage(x, vector, None, None, torch.nn.Identity())
    )
    norm = torch.nn.LayerNorm(8).double()
    assert fused.rank_stage(x.double(), vector.double(), None, None, norm)[0].dtype == torch.float64


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_stays_so(bad):
    x, vector = numbers(2, 11, 8).detach(), torch.zeros(11, 8)
    x[1, 3, 2] = bad
    out, mean = fused.rank_stage(x, vector, None, None, torch.nn.LayerNorm(8))
    assert out[0].isfinite().all() and mean[0].isfinite().all()
    assert out[1, 3].isnan().all() and mean[1].isnan().all()
    logits, masks = torch.zeros(2, 127), torch.ones(2, 127, dtype=torch.int8)
    logits[1, 5] = bad
    for result in fused.choice_statistics(logits, masks, torch.zeros(2, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)):
        assert result[0].isfinite() and result[1].isnan()


def test_columns_are_pytorchs():
    generator = np.random.default_rng(0)
    observations = torch.from_numpy(generator.integers(-400, 20_000, (37, 691), np.int16))
    rank_columns, other_columns = (torch.from_numpy(generator.integers(0, 691, shape)) for shape in ((11, 26), 125))
    arguments = observations, rank_columns, other_columns, numbers(125).detach()
    for found, expected in zip(fused.take_columns(*arguments), fused.plain_take_columns(*arguments), strict=True):
        assert torch.equal(found, expected)
    # Every second column of a wider array: rows that do not lie one after another.
    assert torch.equal(fused.take_columns(observations[:, ::2], rank_columns // 2, other_columns // 2, arguments[3])[0],
                       fused.plain_take_columns(observations[:, ::2], rank_columns // 2, other_columns // 2, arguments[3])[0])  # fmt: skip


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
    found, expected = (each(logits, masks, actions, taught) for each in (fused.choice_statistics, fused.plain_choice_statistics))
    assert_same(found, expected)
    (one,), (other,) = gradients(found, [logits]), gradients(expected, [logits])
    assert_same([one], [other])
    assert (one[masks == 0] == 0).all() and torch.isfinite(one).all()

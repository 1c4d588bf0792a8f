"""A network of ranks forwards and backwards, each in one compiled call that holds no lock of the interpreter.

Run operation by operation, a minibatch changes hands with the interpreter some two hundred times. Here it is two calls.
Products of matrices are the BLAS's (SciPy's, through Numba). What stands between them are the passes of
agents/neural/ranks/kernels.py. The gradients are written out; tests hold them against autograd's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.neural.ranks.arrays import RankPlaces, RankSizes, RankWeights, WorkPool, first_rows
from agents.neural.ranks.kernels import (
    Norm,
    Normed,
    Pooled,
    layer_backward,
    layer_forward,
    rank_stage_backward,
    rank_stage_forward,
    take_columns,
)
from agents.neural.tensors import as_array, runs_compiled
from hf_env.kernels.compile import numeric_entry, numeric_kernel


@numeric_kernel
def _write_outputs(places, weights, work, logits, values):
    """Put the heads' outputs where their actions are; arguments as of ``run_forward``."""
    num_ranks, per_rank = places.rank_actions.shape
    num_rest = len(places.rest_actions)
    for row in range(len(values)):
        for rank in range(num_ranks):
            for number in range(per_rank):
                logit = work.rank_logits[row * num_ranks + rank, number] + weights.rank_bias[rank, number]
                logits[row, places.rank_actions[rank, number]] = logit
        for number in range(num_rest):
            logits[row, places.rest_actions[number]] = work.head_outputs[row, number] + weights.heads_bias[number]
        values[row] = work.head_outputs[row, num_rest] + weights.heads_bias[num_rest]


@numeric_entry
def run_forward(observations, places, weights, work, logits, values):
    """Write logits and normalised values, and into ``work`` all that ``run_backward`` reads.

    Args:
        observations: (N, F) int16.
        places: RankPlaces.
        weights: RankWeights.
        work: RankWork.
        logits: (N, A) float32, written.
        values: (N,) float32, written.
    """
    num_rows, num_ranks, own, width = len(observations), len(places.rank_columns), work.message.shape[1], work.body.shape[1]
    num_others = len(places.other_columns)
    rank_linear = work.rank_linear.reshape(num_rows, num_ranks, own)
    ranks_1 = work.ranks_1.reshape(num_rows, num_ranks, own)
    ranks_2 = work.ranks_2.reshape(num_rows, num_ranks, own)
    nobody, nothing = np.empty((0, 0), np.float32), np.empty((0, 0, 0), np.float32)
    # The first stage of the ranks.
    take_columns(observations, places, work.rank_inputs.reshape(num_rows, num_ranks, -1), work.table)
    np.dot(work.rank_inputs, weights.rank_in.T, work.rank_linear)
    rank_stage_forward(
        rank_linear, weights.rank_vector, nobody, nothing, Norm(weights.norm_1, weights.norm_1_bias),
        Normed(work.normed_1, work.deviations_1), Pooled(ranks_1, work.rank_mean),
    )  # fmt: skip
    # The body.
    for row in range(num_rows):
        for unit in range(own):
            work.table[row, num_others + unit] = work.rank_mean[row, unit]
    np.dot(work.table, weights.body.T, work.body_linear)
    layer_forward(
        work.body_linear, weights.body_bias, Norm(weights.norm_body, weights.norm_body_bias),
        Normed(work.normed_body, work.deviations_body), work.body,
    )  # fmt: skip
    # The second stage of the ranks.
    np.dot(work.body, weights.body_to_rank.T, work.message)
    for row in range(num_rows):
        for unit in range(own):
            work.message[row, unit] += weights.body_to_rank_bias[unit]
    np.dot(work.ranks_1, weights.rank_to_rank.T, work.rank_linear)
    rank_stage_forward(
        rank_linear, weights.second_rank_vector, work.message, ranks_1, Norm(weights.norm_2, weights.norm_2_bias),
        Normed(work.normed_2, work.deviations_2), Pooled(ranks_2, work.rank_mean),
    )  # fmt: skip
    # The heads.
    for row in range(num_rows):
        for unit in range(width):
            work.head_inputs[row, unit] = work.body[row, unit]
        for unit in range(own):
            work.head_inputs[row, width + unit] = work.rank_mean[row, unit]
    np.dot(work.ranks_2, weights.rank_head.T, work.rank_logits)
    np.dot(work.head_inputs, weights.heads.T, work.head_outputs)
    _write_outputs(places, weights, work, logits, values)


@numeric_kernel
def _read_gradients(logits_gradient, values_gradient, places, work, gradients):
    """Inverse of ``_write_outputs``: the gradients of the heads' outputs, and of their biases; arguments as of ``run_backward``."""
    num_ranks, per_rank = places.rank_actions.shape
    num_rest = len(places.rest_actions)
    for row in range(len(values_gradient)):
        for rank in range(num_ranks):
            for number in range(per_rank):
                gradient = logits_gradient[row, places.rank_actions[rank, number]]
                work.rank_logits[row * num_ranks + rank, number] = gradient
                gradients.rank_bias[rank, number] += gradient
        for number in range(num_rest):
            gradient = logits_gradient[row, places.rest_actions[number]]
            work.head_outputs[row, number] = gradient
            gradients.heads_bias[number] += gradient
        work.head_outputs[row, num_rest] = values_gradient[row]
        gradients.heads_bias[num_rest] += values_gradient[row]


@numeric_entry
def run_backward(logits_gradient, values_gradient, places, weights, work, gradients):
    """Write the gradients of all weights from those of ``run_forward``'s logits and values.

    Args:
        logits_gradient: (N, A) float32.
        values_gradient: (N,) float32.
        places: RankPlaces.
        weights: RankWeights, those of the way forward.
        work: RankWork, as the way forward left it; written over.
        gradients: RankWeights of zeros, written.
    """
    num_rows, num_ranks, own, width = len(values_gradient), len(places.rank_columns), work.message.shape[1], work.body.shape[1]
    num_others = len(places.other_columns)
    rank_linear = work.rank_linear.reshape(num_rows, num_ranks, own)
    ranks_1_gradient = work.ranks_1_gradient.reshape(num_rows, num_ranks, own)
    nobody, nothing = np.empty((0, 0), np.float32), np.empty((0, 0, 0), np.float32)
    # The heads.
    _read_gradients(logits_gradient, values_gradient, places, work, gradients)
    np.dot(work.rank_logits.T, work.ranks_2, gradients.rank_head)
    np.dot(work.head_outputs.T, work.head_inputs, gradients.heads)
    np.dot(work.rank_logits, weights.rank_head, work.ranks_2)
    np.dot(work.head_outputs, weights.heads, work.head_inputs)
    for row in range(num_rows):
        for unit in range(own):
            work.rank_mean[row, unit] = work.head_inputs[row, width + unit]
    # The second stage of the ranks.
    rank_stage_backward(
        Pooled(work.ranks_2.reshape(num_rows, num_ranks, own), work.rank_mean), Normed(work.normed_2, work.deviations_2),
        Norm(weights.norm_2, weights.norm_2_bias), rank_linear, gradients.second_rank_vector, work.message, ranks_1_gradient,
        Norm(gradients.norm_2, gradients.norm_2_bias),
    )  # fmt: skip
    np.dot(work.rank_linear.T, work.ranks_1, gradients.rank_to_rank)
    np.dot(work.rank_linear, weights.rank_to_rank, work.matrix_gradient)
    np.dot(work.message.T, work.body, gradients.body_to_rank)
    np.dot(work.message, weights.body_to_rank, work.body_linear)
    for row in range(num_rows):
        for unit in range(own):
            gradients.body_to_rank_bias[unit] += work.message[row, unit]
        for unit in range(width):
            work.body_linear[row, unit] += work.head_inputs[row, unit]
        for rank in range(row * num_ranks, (row + 1) * num_ranks):
            for unit in range(own):
                work.ranks_1_gradient[rank, unit] += work.matrix_gradient[rank, unit]
    # The body.
    layer_backward(
        work.body_linear, Normed(work.normed_body, work.deviations_body), Norm(weights.norm_body, weights.norm_body_bias),
        work.body, gradients.body_bias, Norm(gradients.norm_body, gradients.norm_body_bias),
    )  # fmt: skip
    np.dot(work.body.T, work.table, gradients.body)
    np.dot(work.body, weights.body, work.table)
    for row in range(num_rows):
        for unit in range(own):
            work.rank_mean[row, unit] = work.table[row, num_others + unit]
    # The first stage of the ranks.
    rank_stage_backward(
        Pooled(ranks_1_gradient, work.rank_mean), Normed(work.normed_1, work.deviations_1), Norm(weights.norm_1, weights.norm_1_bias),
        rank_linear, gradients.rank_vector, nobody, nothing, Norm(gradients.norm_1, gradients.norm_1_bias),
    )  # fmt: skip
    np.dot(work.rank_linear.T, work.rank_inputs, gradients.rank_in)


_pool = WorkPool()


def _weights(network: Any) -> RankWeights:
    """The weights as ``run_forward`` takes them, as tensors; autograd goes on from these."""
    n = network
    return RankWeights(
        rank_in=n.rank_in.weight * n.observation_scale[n.rank_columns[0]], rank_vector=n.rank_vector,
        norm_1=n.norms[0].weight, norm_1_bias=n.norms[0].bias, body=n.body[0].weight, body_bias=n.body[0].bias,
        norm_body=n.norms[2].weight, norm_body_bias=n.norms[2].bias,
        body_to_rank=n.body_to_rank.weight, body_to_rank_bias=n.body_to_rank.bias, rank_to_rank=n.rank_to_rank.weight,
        second_rank_vector=n.second_rank_vector, norm_2=n.norms[1].weight, norm_2_bias=n.norms[1].bias,
        rank_head=n.rank_head.weight, rank_bias=n.rank_bias + n.rank_head.bias,
        heads=torch.cat([n.policy_head.weight, n.value_head.weight]), heads_bias=torch.cat([n.policy_head.bias, n.value_head.bias]),
    )  # fmt: skip


class FusedPass(torch.autograd.Function):
    """``run_forward`` and ``run_backward`` as one step of autograd."""

    @staticmethod
    def forward(ctx, observations, places, sizes, keep, *weights):
        """Logits (N, A) and values (N,).

        Args:
            keep: whether there will be a way back.
        """
        num_rows = len(observations)
        whole = _pool.take(num_rows, sizes)
        logits, values = torch.empty(num_rows, places.rank_actions.size + len(places.rest_actions)), torch.empty(num_rows)
        arrays = RankWeights(*map(as_array, weights))
        run_forward(as_array(observations), places, arrays, first_rows(whole, num_rows), logits.numpy(), values.numpy())
        if keep:
            ctx.work, ctx.places, ctx.sizes = whole, places, sizes
            # So that PyTorch notices weights that are changed before the way back.
            ctx.save_for_backward(*weights)
        else:
            _pool.give_back(whole, sizes)
        return logits, values

    @staticmethod
    def backward(ctx, logits_gradient, values_gradient):
        """The gradients of the weights."""
        if ctx.work is None:
            raise RuntimeError("the network's pass has been gone back through already, and what it left is gone")
        weights = RankWeights(*map(as_array, ctx.saved_tensors))
        gradients = [torch.zeros(weight.shape) for weight in weights]
        run_backward(
            as_array(logits_gradient), as_array(values_gradient), ctx.places, weights, first_rows(ctx.work, len(values_gradient)),
            RankWeights(*(gradient.numpy() for gradient in gradients)),
        )  # fmt: skip
        _pool.give_back(ctx.work, ctx.sizes)
        ctx.work = None
        return None, None, None, None, *gradients


@functools.cache
def _limit_blas() -> None:
    """One thread for SciPy's BLAS, which Numba calls: its products are small, and other cores are other processes'."""
    importlib.import_module("scipy.linalg.cython_blas")  # loads the library

    # Without the package they are as many as the BLAS likes: slower, and no less right.
    with contextlib.suppress(ModuleNotFoundError):
        import threadpoolctl

        for library in threadpoolctl.ThreadpoolController().lib_controllers:
            # NumPy's own, which the user may want on all cores, is another.
            if library.user_api == "blas" and "scipy" in Path(library.filepath).parent.name:
                library.set_num_threads(1)


def runs_fused(network: Any, observations: torch.Tensor) -> bool:
    """Whether the network's pass over these observations is one compiled call in place of PyTorch's operations.

    It is where all of this holds; elsewhere ``RankNetwork.run_plain`` gives the same up to rounding:
        the kernels are compiled, PyTorch is not compiling the network itself, and the observations are int16 on the CPU;
        there is at least one row;
        the network has one layer in its body, normalised layers, and weights in float32;
        nobody asked for lower precision by ``torch.autocast``.
    """
    return (
        runs_compiled(observations, torch.int16)
        and network.config.layer_norm
        and network.config.depth == 1
        and len(observations) > 0
        and not torch.is_autocast_enabled("cpu")
        and network.rank_in.weight.dtype == torch.float32
    )


def run_fused(network: Any, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (N, A) and normalised values (N,) as of ``network.run_plain``, for a pass that ``runs_fused``."""
    _limit_blas()
    rank_actions, rest_actions = network.action_places()
    places = RankPlaces(
        network.rank_columns.numpy(), network.other_columns.numpy(), network.observation_scale[network.other_columns].numpy(),
        rank_actions, rest_actions,
    )  # fmt: skip
    num_ranks, per_rank = places.rank_columns.shape
    own, width = network.config.rank_width, network.config.width
    sizes = RankSizes(num_ranks, per_rank, len(places.other_columns), own, width, len(rest_actions), rank_actions.shape[1])
    keep = torch.is_grad_enabled() and any(parameter.requires_grad for parameter in network.parameters())
    return FusedPass.apply(observations, places, sizes, keep, *_weights(network))

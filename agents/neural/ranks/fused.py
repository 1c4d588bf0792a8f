"""A network of ranks forwards and backwards, each in one compiled call that holds no lock of the interpreter.

Run operation by operation, a part of a minibatch changes hands with the interpreter some two hundred times, and threads that
work on parts side by side wait for each other more than they work. Here a part is two calls. Products of matrices are the BLAS's
(SciPy's, through Numba), and what stands between them are the passes of agents/neural/ranks/kernels.py. The gradients are written out;
tests hold them against autograd's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.neural.compiled import as_array, runs_compiled
from agents.neural.ranks.kernels import (
    layer_backward,
    layer_forward,
    rank_stage_backward,
    rank_stage_forward,
    take_columns,
)
from hf_env.kernels.compile import numeric_entry

_NO_ROWS, _NO_RESIDUAL = np.empty((0, 0), np.float32), np.empty((0, 0, 0), np.float32)


@numeric_entry
def run_forward(
    observations, rank_columns, other_columns, other_scale, rank_actions, rest_actions, no_rows, no_residual,
    rank_in, rank_vector, norm_1, bias_1, first, first_bias, body_norm, body_bias, to_rank, to_rank_bias, rank_to_rank, second_vector,
    norm_2, bias_2, rank_head, rank_bias, heads, heads_bias,
    of_ranks, flat_of_ranks, table, x, flat_x, ranks, flat_ranks, summary, normed_1, deviations_1, product, body, normed_b, deviations_b,
    told, second, flat_second, normed_2, deviations_2, all_of_it, rank_logits, out, logits, values,
):  # fmt: skip
    """Write logits (N, A) and normalised values (N,) of observations (N, F) int16, and on the way all that ``run_backward`` reads.

    The second and third line of arguments are the weights, in the order of ``_weights``; the rest are arrays to work in, all
    float32, those named flat_ the same memory as one row a rank.
    """
    num_rows, num_ranks, own = ranks.shape
    width, num_others = body.shape[1], len(other_columns)
    take_columns(observations, rank_columns, other_columns, other_scale, of_ranks, table)
    np.dot(flat_of_ranks, rank_in.T, flat_x)
    rank_stage_forward(x, rank_vector, no_rows, no_residual, norm_1, bias_1, normed_1, deviations_1, ranks, summary)
    for row in range(num_rows):
        for unit in range(own):
            table[row, num_others + unit] = summary[row, unit]
    np.dot(table, first.T, product)
    layer_forward(product, first_bias, body_norm, body_bias, normed_b, deviations_b, body)
    np.dot(body, to_rank.T, told)
    for row in range(num_rows):
        for unit in range(own):
            told[row, unit] += to_rank_bias[unit]
    np.dot(flat_ranks, rank_to_rank.T, flat_x)
    rank_stage_forward(x, second_vector, told, ranks, norm_2, bias_2, normed_2, deviations_2, second, summary)
    for row in range(num_rows):
        for unit in range(width):
            all_of_it[row, unit] = body[row, unit]
        for unit in range(own):
            all_of_it[row, width + unit] = summary[row, unit]
    np.dot(flat_second, rank_head.T, rank_logits)
    np.dot(all_of_it, heads.T, out)
    per_rank, num_rest = rank_actions.shape[1], len(rest_actions)
    for row in range(num_rows):
        for rank in range(num_ranks):
            for number in range(per_rank):
                logits[row, rank_actions[rank, number]] = rank_logits[row * num_ranks + rank, number] + rank_bias[rank, number]
        for number in range(num_rest):
            logits[row, rest_actions[number]] = out[row, number] + heads_bias[number]
        values[row] = out[row, num_rest] + heads_bias[num_rest]


@numeric_entry
def run_backward(
    logits_gradient, values_gradient, rank_actions, rest_actions,
    norm_1, bias_1, first, body_norm, body_bias, to_rank, rank_to_rank, norm_2, bias_2, rank_head, heads,
    flat_of_ranks, table, x, flat_x, flat_ranks, summary, normed_1, deviations_1, product, body, normed_b, deviations_b, told, second,
    flat_second, normed_2, deviations_2, all_of_it, rank_logits, out, residual, flat_residual, no_rows, no_residual, more, flat_more,
    d_rank_in, d_rank_vector, d_norm_1, d_bias_1, d_first, d_first_bias, d_body_norm, d_body_bias, d_to_rank, d_to_rank_bias,
    d_rank_to_rank, d_second_vector, d_norm_2, d_bias_2, d_rank_head, d_rank_bias, d_heads, d_heads_bias,
):  # fmt: skip
    """Write the gradients (d_...) of all weights from those of ``run_forward``'s logits and values.

    The third and fourth line of arguments are what ``run_forward`` left, which is written over, and arrays to work in.
    Gradients that are sums over rows begin at 0.
    """
    num_rows, num_ranks, own = second.shape
    width = body.shape[1]
    num_others = table.shape[1] - own
    per_rank, num_rest = rank_actions.shape[1], len(rest_actions)
    # The heads.
    for row in range(num_rows):
        for rank in range(num_ranks):
            for number in range(per_rank):
                gradient = logits_gradient[row, rank_actions[rank, number]]
                rank_logits[row * num_ranks + rank, number] = gradient
                d_rank_bias[rank, number] += gradient
        for number in range(num_rest):
            out[row, number] = logits_gradient[row, rest_actions[number]]
            d_heads_bias[number] += out[row, number]
        out[row, num_rest] = values_gradient[row]
        d_heads_bias[num_rest] += values_gradient[row]
    np.dot(rank_logits.T, flat_second, d_rank_head)
    np.dot(out.T, all_of_it, d_heads)
    np.dot(rank_logits, rank_head, flat_second)
    np.dot(out, heads, all_of_it)
    for row in range(num_rows):
        for unit in range(own):
            summary[row, unit] = all_of_it[row, width + unit]
    # The second stage of the ranks.
    rank_stage_backward(second, summary, normed_2, deviations_2, norm_2, bias_2, x, d_second_vector, told, residual, d_norm_2, d_bias_2)
    np.dot(flat_x.T, flat_ranks, d_rank_to_rank)
    np.dot(flat_x, rank_to_rank, flat_more)
    np.dot(told.T, body, d_to_rank)
    np.dot(told, to_rank, product)
    for row in range(num_rows):
        for unit in range(own):
            d_to_rank_bias[unit] += told[row, unit]
        for unit in range(width):
            product[row, unit] += all_of_it[row, unit]
        for rank in range(num_ranks):
            for unit in range(own):
                residual[row, rank, unit] += more[row, rank, unit]
    # The body.
    layer_backward(product, normed_b, deviations_b, body_norm, body_bias, body, d_first_bias, d_body_norm, d_body_bias)
    np.dot(body.T, table, d_first)
    np.dot(body, first, table)
    for row in range(num_rows):
        for unit in range(own):
            summary[row, unit] = table[row, num_others + unit]
    # The first stage of the ranks.
    rank_stage_backward(
        residual, summary, normed_1, deviations_1, norm_1, bias_1, x, d_rank_vector, no_rows, no_residual, d_norm_1, d_bias_1
    )
    np.dot(flat_x.T, flat_of_ranks, d_rank_in)


# Works are made for a multiple of this many rows, so that passes of nearly equal size share them.
_ROWS = 256


class _Work:
    """The arrays of a pass over up to so many rows; what a forward pass leaves in them stays until its backward pass."""

    def __init__(self, rows: int, num_ranks: int, per_rank: int, num_others: int, own: int, width: int, num_rest: int, per_head: int):
        self._flat_shapes = {"of_ranks": per_rank, "x": own, "ranks": own, "second": own, "residual": own, "more": own}
        self._num_ranks = num_ranks
        shapes = {
            "table": (num_others + own,), "normed_1": (num_ranks, own), "normed_2": (num_ranks, own), "deviations_1": (num_ranks,),
            "deviations_2": (num_ranks,), "summary": (own,), "told": (own,), "product": (width,), "body": (width,), "normed_b": (width,),
            "deviations_b": (), "all_of_it": (width + own,), "rank_logits": (num_ranks, per_head), "out": (num_rest + 1,),
        }  # fmt: skip
        shapes |= {name: (num_ranks, size) for name, size in self._flat_shapes.items()}
        self._arrays = {name: np.empty((rows, *shape), np.float32) for name, shape in shapes.items()}

    def take(self, names: str, num_rows: int) -> list[np.ndarray]:
        """The arrays of these names for so many rows; "flat_" before a name: one row a rank."""
        found = []
        for name in names.split():
            array = self._arrays[name.removeprefix("flat_")][:num_rows]
            if name.startswith("flat_") or name == "rank_logits":
                array = array.reshape(num_rows * self._num_ranks, -1)
            found.append(array)
        return found


_FORWARD = (
    "of_ranks flat_of_ranks table x flat_x ranks flat_ranks summary normed_1 deviations_1 product body normed_b deviations_b told second "
    "flat_second normed_2 deviations_2 all_of_it rank_logits out"
)
_BACKWARD = (
    "flat_of_ranks table x flat_x flat_ranks summary normed_1 deviations_1 product body normed_b deviations_b told second flat_second "
    "normed_2 deviations_2 all_of_it rank_logits out residual flat_residual"
)


class _Pool:
    """Works that wait to be used again: the pages of a fresh one cost as much as the pass itself."""

    # Kinds of work, by size of the network and of the batch.
    _KEPT = 32

    def __init__(self) -> None:
        self._free: dict[tuple[int, ...], list[_Work]] = {}
        self._lock = threading.Lock()

    def take(self, kind: tuple[int, ...]) -> _Work:
        """A work of (rows, ...), as ``_Work`` takes them."""
        with self._lock:
            waiting = self._free.get(kind)
            if waiting:
                return waiting.pop()
        return _Work(*kind)

    def give_back(self, kind: tuple[int, ...], work: _Work) -> None:
        """What was taken, once nothing of it is needed."""
        with self._lock:
            if kind not in self._free and len(self._free) >= self._KEPT:
                self._free.clear()
            self._free.setdefault(kind, []).append(work)


_pool = _Pool()


def can_run(network: Any, observations: torch.Tensor) -> bool:
    """Whether the network's pass over these observations can be one compiled call."""
    return (
        runs_compiled(observations, torch.int16)
        and network.config.layer_norm
        and network.config.depth == 1
        and len(observations) > 0
        and not torch.is_autocast_enabled("cpu")
        and network.rank_in.weight.dtype == torch.float32
    )


def _weights(network: Any) -> list[torch.Tensor]:
    """The weights in the order of ``run_forward``; autograd goes on from these."""
    n = network
    return [
        n.rank_in.weight * n.observation_scale[n.rank_columns[0]], n.rank_vector, n.norms[0].weight, n.norms[0].bias,
        n.body[0].weight, n.body[0].bias, n.norms[2].weight, n.norms[2].bias, n.body_to_rank.weight, n.body_to_rank.bias,
        n.rank_to_rank.weight, n.second_rank_vector, n.norms[1].weight, n.norms[1].bias, n.rank_head.weight,
        n.rank_bias + n.rank_head.bias, torch.cat([n.policy_head.weight, n.value_head.weight]),
        torch.cat([n.policy_head.bias, n.value_head.bias]),
    ]  # fmt: skip


# Of the weights those that ``run_backward`` reads.
_READ_BACK = (2, 3, 4, 6, 7, 8, 10, 12, 13, 14, 16)


class _Whole(torch.autograd.Function):
    @staticmethod
    def forward(ctx, observations, fixed, rest_of_shape, num_actions, keep, *weights):
        arrays = [as_array(weight) for weight in weights]
        num_rows = len(observations)
        kind = (-(-num_rows // _ROWS) * _ROWS, *rest_of_shape)
        work = _pool.take(kind)
        logits, values = torch.empty(num_rows, num_actions), torch.empty(num_rows)
        run_forward(
            as_array(observations), *fixed, _NO_ROWS, _NO_RESIDUAL, *arrays, *work.take(_FORWARD, num_rows), logits.numpy(),
            values.numpy(),
        )  # fmt: skip
        if keep:
            ctx.work, ctx.kind, ctx.num_rows, ctx.places = work, kind, num_rows, fixed[3:]
            # So that PyTorch notices weights that are changed before the way back.
            ctx.save_for_backward(*weights)
        else:
            _pool.give_back(kind, work)
        return logits, values

    @staticmethod
    def backward(ctx, *gradients):
        if ctx.work is None:
            raise RuntimeError("the network's pass has been gone back through already, and what it left is gone")
        weights = ctx.saved_tensors
        found = [torch.zeros(weight.shape) for weight in weights]
        run_backward(
            *map(as_array, gradients), *ctx.places,
            *(as_array(weights[number]) for number in _READ_BACK),
            *ctx.work.take(_BACKWARD, ctx.num_rows), _NO_ROWS, _NO_RESIDUAL, *ctx.work.take("more flat_more", ctx.num_rows),
            *(gradient.numpy() for gradient in found),
        )  # fmt: skip
        _pool.give_back(ctx.kind, ctx.work)
        ctx.work = None
        return None, None, None, None, None, *found


@functools.cache
def _limit_blas() -> None:
    """One thread for SciPy's BLAS, which Numba calls: parts are what threads share, and its products are small."""
    importlib.import_module("scipy.linalg.cython_blas")  # loads the library

    # Without the package they are as many as the BLAS likes: slower, and no less right.
    with contextlib.suppress(ModuleNotFoundError):
        import threadpoolctl

        for library in threadpoolctl.ThreadpoolController().lib_controllers:
            # NumPy's own, which the user may want on all cores, is another.
            if library.user_api == "blas" and "scipy" in Path(library.filepath).parent.name:
                library.set_num_threads(1)


def run_whole(network: Any, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (N, A) and normalised values (N,) as of ``network.forward``, for a pass that ``can_run``."""
    _limit_blas()
    actions, rest = network.action_places()
    rank_columns, other_columns = network.rank_columns.numpy(), network.other_columns.numpy()
    other_scale = network.observation_scale[network.other_columns].numpy()
    own, width = network.config.rank_width, network.config.width
    shape = (*rank_columns.shape, len(other_columns), own, width, len(rest), actions.shape[1])
    keep = torch.is_grad_enabled() and any(parameter.requires_grad for parameter in network.parameters())
    fixed = rank_columns, other_columns, other_scale, actions, rest
    return _Whole.apply(observations, fixed, shape, network.num_actions, keep, *_weights(network))

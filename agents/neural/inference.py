"""A network of ranks played in compiled code, a row at a time: for one decision at the table, and for search's many small batches.

PyTorch takes a third of a millisecond for a single row, nearly all of it for calling its sixty operations. Here a row goes through the
whole network in one call, in less than a tenth of that; from some forty rows on PyTorch's products of matrices are faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from agents.neural.base import PolicyValueNetwork
from agents.neural.compiled import as_array, runs_compiled
from agents.neural.kernels import normalise
from agents.neural.rank_network import RankNetwork
from hf_env.engine.jit import numeric_entry, numeric_kernel


@numeric_kernel
def _norm_relu(values, weight, bias):
    """values = relu(layer_norm(values)), (H,) float32."""
    normalise(values)
    for unit in range(len(values)):
        value = values[unit] * weight[unit] + bias[unit]
        if value < np.float32(0.0):  # so NaN stays NaN
            value = np.float32(0.0)
        values[unit] = value


@numeric_kernel
def _copy(to, values):
    """to = values, (H,) float32: a loop, since a slice would be assigned by way of a copy."""
    for unit in range(len(to)):
        to[unit] = values[unit]


@numeric_kernel
def _add_product(values, factor, row):
    """values += factor * row; most numbers of an observation, and half of what leaves a relu, are 0."""
    if factor != np.float32(0.0):
        for unit in range(len(values)):
            values[unit] += factor * row[unit]


@numeric_entry
def run_rows(
    observations, rank_columns, other_columns, other_scale, rank_in, rank_vectors, rank_norms, first, first_bias, deeper, deeper_bias,
    body_norms, body_to_rank, body_to_rank_bias, rank_to_rank, rank_head, rank_bias, heads, heads_bias, rank_actions, rest_actions,
    ranks, seconds, body, summary, choices, out, logits, values,
):  # fmt: skip
    """Logits (N, A) and normalised values (N,) of observations (N, F) int16; the other arguments are ``CompiledRanks``' arrays.

    Matrices lie input by output. ranks, seconds: (R, H), body: (2, B), summary: (H,), choices: (10,), out: (outputs of the heads,),
    to work in.
    """
    num_ranks, per_rank = rank_columns.shape
    own, width = ranks.shape[1], body.shape[1]
    share = np.float32(1.0 / num_ranks)
    num_others = len(other_columns)
    for row in range(len(observations)):
        seen = observations[row]
        for unit in range(own):
            summary[unit] = np.float32(0.0)
        for rank in range(num_ranks):
            _copy(ranks[rank], rank_vectors[0, rank])
            for number in range(per_rank):
                _add_product(ranks[rank], np.float32(seen[rank_columns[rank, number]]), rank_in[number])
            _norm_relu(ranks[rank], rank_norms[0, 0], rank_norms[0, 1])
            for unit in range(own):
                summary[unit] += ranks[rank, unit] * share
        table = body[0]
        _copy(table, first_bias)
        for number in range(num_others):
            _add_product(table, np.float32(seen[other_columns[number]]) * other_scale[number], first[number])
        for unit in range(own):
            _add_product(table, summary[unit], first[num_others + unit])
        _norm_relu(table, body_norms[0, 0], body_norms[0, 1])
        for layer in range(len(deeper)):
            before, table = table, body[(layer + 1) % 2]
            _copy(table, deeper_bias[layer])
            for unit in range(width):
                _add_product(table, before[unit], deeper[layer, unit])
            _norm_relu(table, body_norms[layer + 1, 0], body_norms[layer + 1, 1])
        # What the body tells every rank is the same for all of them.
        _copy(summary, body_to_rank_bias)
        for unit in range(width):
            _add_product(summary, table[unit], body_to_rank[unit])
        for rank in range(num_ranks):
            second = seconds[rank]
            for unit in range(own):
                second[unit] = rank_vectors[1, rank, unit] + summary[unit]
            for unit in range(own):
                _add_product(second, ranks[rank, unit], rank_to_rank[unit])
            _norm_relu(second, rank_norms[1, 0], rank_norms[1, 1])
        for unit in range(own):
            summary[unit] = np.float32(0.0)
        for rank in range(num_ranks):
            _copy(choices, rank_bias[rank])
            for unit in range(own):
                value = ranks[rank, unit] + seconds[rank, unit]
                summary[unit] += value * share
                _add_product(choices, value, rank_head[unit])
            for number in range(rank_actions.shape[1]):
                logits[row, rank_actions[rank, number]] = choices[number]
        _copy(out, heads_bias)
        for unit in range(width):
            _add_product(out, table[unit], heads[unit])
        for unit in range(own):
            _add_product(out, summary[unit], heads[width + unit])
        for number in range(len(rest_actions)):
            logits[row, rest_actions[number]] = out[number]
        values[row] = out[len(rest_actions)]


class CompiledRanks:
    """A ``RankNetwork`` on the CPU that no longer learns, as arrays for ``run_rows``; changes of its tensors are noticed.

    Raises ValueError for a network that it cannot run: see ``can_run``.
    """

    def __init__(self, network: RankNetwork) -> None:
        if not self.can_run(network):
            raise ValueError("only networks of ranks with normalised layers, on the CPU and no longer learning, run in compiled code")
        self.network = network
        self._watched = (*network.parameters(), network.observation_scale)
        self._versions: list[int] = []
        self._arrays: tuple[Any, ...] = ()
        own, body = network.config.rank_width, network.config.width
        actions, rest = network.action_places()
        self._columns = network.rank_columns.numpy(), network.other_columns.numpy()
        self._places = actions, rest
        self._work = (
            np.zeros((len(actions), own), np.float32), np.zeros((len(actions), own), np.float32), np.zeros((2, body), np.float32),
            np.zeros(own, np.float32), np.zeros(actions.shape[1], np.float32), np.zeros(len(rest) + 1, np.float32),
        )  # fmt: skip

    @staticmethod
    def can_run(network: PolicyValueNetwork) -> bool:
        """Whether a network can be run in compiled code here."""
        return (
            runs_compiled(network.observation_scale, torch.float32)
            and isinstance(network, RankNetwork)
            and network.config.layer_norm
            and network.config.depth >= 1
            # Not every optimiser tells PyTorch that it has changed a tensor.
            and not any(parameter.requires_grad for parameter in network.parameters())
        )

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits (N, A) float32 and values (N,) float32, in units of reward, of observations (N, F) int16, C-contiguous."""
        network = self.network
        # PyTorch counts the changes of each tensor, but for those of some optimisers.
        versions = [tensor._version for tensor in self._watched]
        if versions != self._versions or self._watched[0].requires_grad:
            self._arrays, self._versions = self._weights(), versions
        logits = np.empty((len(observations), network.num_actions), np.float32)
        values = np.empty(len(observations), np.float32)
        run_rows(observations, *self._columns, *self._arrays, *self._places, *self._work, logits, values)
        return logits, (float(network.value_mean) + float(network.value_std) * values.astype(np.float64)).astype(np.float32)

    def _weights(self) -> tuple[Any, ...]:
        n: Any = self.network
        scale = n.observation_scale
        deeper = n.body[1:]
        body = n.config.width

        def norm(layer: Any) -> np.ndarray:  # a LayerNorm, by can_run
            return np.stack([as_array(layer.weight), as_array(layer.bias)])

        return (
            as_array(scale[n.other_columns]),
            as_array((n.rank_in.weight * scale[n.rank_columns[0]]).T),
            np.stack([as_array(n.rank_vector), as_array(n.second_rank_vector)]),
            np.stack([norm(n.norms[0]), norm(n.norms[1])]),
            as_array(n.body[0].weight.T),
            as_array(n.body[0].bias),
            np.stack([as_array(layer.weight.T) for layer in deeper]) if len(deeper) else np.zeros((0, body, body), np.float32),
            np.stack([as_array(layer.bias) for layer in deeper]) if len(deeper) else np.zeros((0, body), np.float32),
            np.stack([norm(layer) for layer in list(n.norms)[2:]]),
            as_array(n.body_to_rank.weight.T),
            as_array(n.body_to_rank.bias),
            as_array(n.rank_to_rank.weight.T),
            as_array(n.rank_head.weight.T),
            as_array(n.rank_bias + n.rank_head.bias),
            as_array(torch.cat([n.policy_head.weight, n.value_head.weight]).T),
            as_array(torch.cat([n.policy_head.bias, n.value_head.bias])),
        )

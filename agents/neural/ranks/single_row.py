"""A network of ranks played in compiled code, a row at a time: for one decision at the table, and inside search.

PyTorch takes a third of a millisecond for a single row, nearly all of it for calling its sixty operations. Here a row goes through the
whole network in one call, in less than a tenth of that; from some forty rows on PyTorch's products of matrices are faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from agents.neural.base import PolicyValueNetwork
from agents.neural.ranks.arrays import RankPlaces
from agents.neural.ranks.kernels import normalise
from agents.neural.ranks.network import RankNetwork
from agents.neural.tensors import as_array, runs_compiled
from hf_env.kernels.compile import numeric_entry, numeric_kernel


@numeric_kernel
def _norm_relu(values, weight, bias):
    """Values = relu(layer_norm(values)), (H,) float32."""
    normalise(values)
    for unit in range(len(values)):
        value = values[unit] * weight[unit] + bias[unit]
        if value < np.float32(0.0):  # so NaN stays NaN
            value = np.float32(0.0)
        values[unit] = value


@numeric_kernel
def _copy(to, values):
    """To = values, (H,) float32: a loop, since a slice would be assigned by way of a copy."""
    for unit in range(len(to)):
        to[unit] = values[unit]


@numeric_kernel
def _add_product(values, factor, row):
    """Values += factor * row; most numbers of an observation are 0."""
    if factor != np.float32(0.0):
        for unit in range(len(values)):
            values[unit] += factor * row[unit]


@numeric_kernel
def _add_products(values, factors, rows):
    """Values (H,) += factors (K,) @ rows (K, H), four rows at a time, so that values are loaded and stored a fourth as often."""
    count = len(factors)
    for row in range(0, count - 3, 4):
        a, b, c, d = factors[row], factors[row + 1], factors[row + 2], factors[row + 3]
        for unit in range(len(values)):
            values[unit] += a * rows[row, unit] + b * rows[row + 1, unit] + c * rows[row + 2, unit] + d * rows[row + 3, unit]
    for row in range(count - count % 4, count):
        for unit in range(len(values)):
            values[unit] += factors[row] * rows[row, unit]


class RankArrays(NamedTuple):
    """A network of ranks that no longer learns; float32, matrices input by output so that a product reads along their rows.

    The letters are those of agents/neural/ranks/arrays.py; L are the layers of the body.

    Attributes:
        num_columns: numbers of an observation.
        places: where they stand, and the actions.
        rank_in: (C, H), with the observation's scale multiplied in.
        rank_vectors: (2, R, H), of the two stages.
        rank_norms: (2, 2, H), weight and bias of the two stages' normalisations.
        first: (G + H, B), first layer of the body.
        first_bias: (B,).
        deeper: (L - 1, B, B), the other layers.
        deeper_bias: (L - 1, B).
        body_norms: (L, 2, B), weight and bias of each layer's normalisation.
        body_to_rank: (B, H).
        body_to_rank_bias: (H,).
        rank_to_rank: (H, H).
        rank_head: (H, P).
        rank_bias: (R, P), the head's bias in it.
        heads: (B + H, K + 1), of the other actions and, last, of the value.
        heads_bias: (K + 1,).
    """

    num_columns: int
    places: RankPlaces
    rank_in: np.ndarray
    rank_vectors: np.ndarray
    rank_norms: np.ndarray
    first: np.ndarray
    first_bias: np.ndarray
    deeper: np.ndarray
    deeper_bias: np.ndarray
    body_norms: np.ndarray
    body_to_rank: np.ndarray
    body_to_rank_bias: np.ndarray
    rank_to_rank: np.ndarray
    rank_head: np.ndarray
    rank_bias: np.ndarray
    heads: np.ndarray
    heads_bias: np.ndarray


class RowWork(NamedTuple):
    """What a row works in, float32, one for each thread: ranks, seconds (R, H), body (2, B), summary (H,), choices (10,), out (heads,)."""

    ranks: np.ndarray
    seconds: np.ndarray
    body: np.ndarray
    summary: np.ndarray
    choices: np.ndarray
    out: np.ndarray


@numeric_kernel
def run_row(seen, network, work, logits):
    """Write the logits of one observation.

    Args:
        seen: (F,) int16, the observation.
        network: RankArrays.
        work: RowWork.
        logits: (A,) float32, written.

    Returns:
        The normalised value.
    """
    places = network.places
    ranks, seconds, body, summary, choices, out = work
    num_ranks, per_rank = places.rank_columns.shape
    own, width = ranks.shape[1], body.shape[1]
    share = np.float32(1.0 / num_ranks)
    num_others = len(places.other_columns)
    for unit in range(own):
        summary[unit] = np.float32(0.0)
    for rank in range(num_ranks):
        _copy(ranks[rank], network.rank_vectors[0, rank])
        for number in range(per_rank):
            _add_product(ranks[rank], np.float32(seen[places.rank_columns[rank, number]]), network.rank_in[number])
        _norm_relu(ranks[rank], network.rank_norms[0, 0], network.rank_norms[0, 1])
        for unit in range(own):
            summary[unit] += ranks[rank, unit] * share
    table = body[0]
    _copy(table, network.first_bias)
    for number in range(num_others):
        _add_product(table, np.float32(seen[places.other_columns[number]]) * places.other_scale[number], network.first[number])
    _add_products(table, summary, network.first[num_others:])
    _norm_relu(table, network.body_norms[0, 0], network.body_norms[0, 1])
    for layer in range(len(network.deeper)):
        before, table = table, body[(layer + 1) % 2]
        _copy(table, network.deeper_bias[layer])
        _add_products(table, before, network.deeper[layer])
        _norm_relu(table, network.body_norms[layer + 1, 0], network.body_norms[layer + 1, 1])
    # What the body tells every rank is the same for all of them.
    _copy(summary, network.body_to_rank_bias)
    _add_products(summary, table, network.body_to_rank)
    for rank in range(num_ranks):
        second = seconds[rank]
        for unit in range(own):
            second[unit] = network.rank_vectors[1, rank, unit] + summary[unit]
        _add_products(second, ranks[rank], network.rank_to_rank)
        _norm_relu(second, network.rank_norms[1, 0], network.rank_norms[1, 1])
    for unit in range(own):
        summary[unit] = np.float32(0.0)
    for rank in range(num_ranks):
        both = seconds[rank]
        for unit in range(own):
            both[unit] += ranks[rank, unit]
            summary[unit] += both[unit] * share
        _copy(choices, network.rank_bias[rank])
        _add_products(choices, both, network.rank_head)
        for number in range(places.rank_actions.shape[1]):
            logits[places.rank_actions[rank, number]] = choices[number]
    _copy(out, network.heads_bias)
    _add_products(out, table, network.heads)
    _add_products(out, summary, network.heads[width:])
    for number in range(len(places.rest_actions)):
        logits[places.rest_actions[number]] = out[number]
    return out[len(places.rest_actions)]


@numeric_entry
def run_rows(observations, network, work, logits, values):
    """Logits (N, A) and normalised values (N,) float32 of observations (N, F) int16.

    Args:
        network: RankArrays, work: RowWork.
    """
    for row in range(len(observations)):
        values[row] = run_row(observations[row], network, work, logits[row])


class CompiledRanks:
    """A ``RankNetwork`` on the CPU that no longer learns, as arrays for ``run_rows``; changes of its tensors are noticed.

    Raises:
        ValueError: For a network that it cannot run: see ``can_run``.
    """

    def __init__(self, network: RankNetwork) -> None:
        if not self.can_run(network):
            raise ValueError("only networks of ranks with normalised layers, on the CPU and no longer learning, run in compiled code")
        self.network = network
        self._watched = (*network.parameters(), network.observation_scale)
        self._versions: list[int] = []
        self._arrays: RankArrays | None = None
        self._places = network.action_places()

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
        logits = np.empty((len(observations), self.network.num_actions), np.float32)
        values = np.empty(len(observations), np.float32)
        run_rows(observations, self.arrays(), self.work(), logits, values)
        mean, deviation = self.value_scale()
        return logits, (mean + deviation * values.astype(np.float64)).astype(np.float32)

    def value_scale(self) -> tuple[float, float]:
        """Mean and standard deviation, in units of reward, of the network's normalised values."""
        return float(self.network.value_mean), float(self.network.value_std)

    def work(self) -> RowWork:
        """Room for one thread."""
        actions, rest = self._places
        own, body = self.network.config.rank_width, self.network.config.width
        shapes = ((len(actions), own), (len(actions), own), (2, body), own, actions.shape[1], len(rest) + 1)
        return RowWork(*(np.empty(shape, np.float32) for shape in shapes))

    def arrays(self) -> RankArrays:
        """The network as it is now."""
        # PyTorch counts the changes of each tensor, but for those of some optimisers.
        versions = [tensor._version for tensor in self._watched]
        if self._arrays is None or versions != self._versions or self._watched[0].requires_grad:
            self._arrays, self._versions = self._weights(), versions
        return self._arrays

    def _weights(self) -> RankArrays:
        n: Any = self.network
        scale = n.observation_scale
        deeper = n.body[1:]
        body = n.config.width

        def norm(layer: Any) -> np.ndarray:  # a LayerNorm, by can_run
            return np.stack([as_array(layer.weight), as_array(layer.bias)])

        return RankArrays(
            len(scale),
            RankPlaces(n.rank_columns.numpy(), n.other_columns.numpy(), as_array(scale[n.other_columns]), *self._places),
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

"""A network of ranks as records of arrays, for compiled passes: where things stand, the weights, and what a pass works in."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

# Works are made for a multiple of this many rows, so that passes of nearly equal size share them.
_ROWS = 256


class RankPlaces(NamedTuple):
    """Where the numbers of R ranks stand in an observation, and their actions among all actions.

    Attributes:
        rank_columns: (R, C) int64, columns of each rank.
        other_columns: (G,) int64, columns of the table.
        other_scale: (G,) float32, what the table's numbers are multiplied by.
        rank_actions: (R, P) int64, actions of each rank.
        rest_actions: (K,) int64, actions of no rank.
    """

    rank_columns: np.ndarray
    other_columns: np.ndarray
    other_scale: np.ndarray
    rank_actions: np.ndarray
    rest_actions: np.ndarray


class RankWeights(NamedTuple):
    """The weights of a network of ranks with one layer in its body, or their gradients; float32, output by input as PyTorch has them.

    H are the units of a rank, B those of the body.

    Attributes:
        rank_in: (H, C), with the observation's scale multiplied in.
        rank_vector: (R, H), what tells a rank from the others in the first stage.
        norm_1: (H,), weight of the first stage's normalisation.
        norm_1_bias: (H,).
        body: (B, G + H), from the table and the mean of the ranks.
        body_bias: (B,).
        norm_body: (B,).
        norm_body_bias: (B,).
        body_to_rank: (H, B).
        body_to_rank_bias: (H,).
        rank_to_rank: (H, H).
        second_rank_vector: (R, H).
        norm_2: (H,), of the second stage.
        norm_2_bias: (H,).
        rank_head: (P, H).
        rank_bias: (R, P), the head's bias in it.
        heads: (K + 1, B + H), of the other actions and, last, of the value.
        heads_bias: (K + 1,).
    """

    rank_in: Any
    rank_vector: Any
    norm_1: Any
    norm_1_bias: Any
    body: Any
    body_bias: Any
    norm_body: Any
    norm_body_bias: Any
    body_to_rank: Any
    body_to_rank_bias: Any
    rank_to_rank: Any
    second_rank_vector: Any
    norm_2: Any
    norm_2_bias: Any
    rank_head: Any
    rank_bias: Any
    heads: Any
    heads_bias: Any


class RankWork(NamedTuple):
    """What a pass over N rows works in, float32; the way forward leaves in it what the way back reads and writes over.

    Attributes:
        rank_inputs: (N * R, C), the ranks' numbers.
        table: (N, G + H), the table's numbers, then the ranks' mean after the first stage; then their gradient.
        rank_linear: (N * R, H), a stage before its normalisation; then the gradient of it.
        ranks_1: (N * R, H), after the first stage.
        ranks_2: (N * R, H), after the second stage; then its gradient.
        rank_mean: (N, H), the mean over the ranks after a stage; then its gradient.
        normed_1: (N, R, H), of the first stage.
        deviations_1: (N, R).
        normed_2: (N, R, H), of the second stage.
        deviations_2: (N, R).
        body_linear: (N, B), the body before its normalisation; then the gradient of its output.
        body: (N, B), the body's output; then the gradient of ``body_linear``.
        normed_body: (N, B).
        deviations_body: (N,).
        message: (N, H), what the body tells every rank; then its gradient.
        head_inputs: (N, B + H), what the heads read; then its gradient.
        rank_logits: (N * R, P); then their gradient.
        head_outputs: (N, K + 1); then their gradient.
        ranks_1_gradient: (N * R, H), of the first stage's output.
        matrix_gradient: (N * R, H), the share of it that comes through ``rank_to_rank``.
    """

    rank_inputs: np.ndarray
    table: np.ndarray
    rank_linear: np.ndarray
    ranks_1: np.ndarray
    ranks_2: np.ndarray
    rank_mean: np.ndarray
    normed_1: np.ndarray
    deviations_1: np.ndarray
    normed_2: np.ndarray
    deviations_2: np.ndarray
    body_linear: np.ndarray
    body: np.ndarray
    normed_body: np.ndarray
    deviations_body: np.ndarray
    message: np.ndarray
    head_inputs: np.ndarray
    rank_logits: np.ndarray
    head_outputs: np.ndarray
    ranks_1_gradient: np.ndarray
    matrix_gradient: np.ndarray


class RankSizes(NamedTuple):
    """What the shapes of a RankWork depend on: R, C, G, H, B, K and P of the records above."""

    num_ranks: int
    per_rank: int
    num_others: int
    own: int
    width: int
    num_rest: int
    per_head: int


def make_work(num_rows: int, sizes: RankSizes) -> RankWork:
    """A RankWork for so many rows."""
    num_ranks, per_rank, num_others, own, width, num_rest, per_head = sizes
    of_all_ranks = num_rows * num_ranks

    def room(*shape: int) -> np.ndarray:
        return np.empty(shape, np.float32)

    return RankWork(
        rank_inputs=room(of_all_ranks, per_rank), table=room(num_rows, num_others + own), rank_linear=room(of_all_ranks, own),
        ranks_1=room(of_all_ranks, own), ranks_2=room(of_all_ranks, own), rank_mean=room(num_rows, own),
        normed_1=room(num_rows, num_ranks, own), deviations_1=room(num_rows, num_ranks),
        normed_2=room(num_rows, num_ranks, own), deviations_2=room(num_rows, num_ranks),
        body_linear=room(num_rows, width), body=room(num_rows, width), normed_body=room(num_rows, width), deviations_body=room(num_rows),
        message=room(num_rows, own), head_inputs=room(num_rows, width + own), rank_logits=room(of_all_ranks, per_head),
        head_outputs=room(num_rows, num_rest + 1), ranks_1_gradient=room(of_all_ranks, own), matrix_gradient=room(of_all_ranks, own),
    )  # fmt: skip


def first_rows(work: RankWork, num_rows: int) -> RankWork:
    """A work for so many rows within a larger one."""
    capacity = len(work.message)
    return RankWork(*(array[: len(array) // capacity * num_rows] for array in work))


class WorkPool:
    """Works that wait to be used again: the pages of a fresh one cost as much as the pass itself."""

    # Kinds of work, by size of the network and of the batch.
    _KEPT = 32

    def __init__(self) -> None:
        self._free: dict[tuple[int, RankSizes], list[RankWork]] = {}
        self._lock = threading.Lock()

    def take(self, num_rows: int, sizes: RankSizes) -> RankWork:
        """A work of at least so many rows; see ``first_rows``."""
        capacity = -(-num_rows // _ROWS) * _ROWS
        with self._lock:
            waiting = self._free.get((capacity, sizes))
            if waiting:
                return waiting.pop()
        return make_work(capacity, sizes)

    def give_back(self, work: RankWork, sizes: RankSizes) -> None:
        """What was taken, once nothing of it is needed."""
        kind = len(work.message), sizes
        with self._lock:
            if kind not in self._free and len(self._free) >= self._KEPT:
                self._free.clear()
            self._free.setdefault(kind, []).append(work)

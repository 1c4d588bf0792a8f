"""What stands between the networks' products of matrices, in one step each: compiled on the CPU, plain PyTorch elsewhere.

Each function exists twice, with the same arguments and results: ``plain_...`` in PyTorch's own operations, for every device
and type, and the one without the prefix, which takes the compiled kernels (agents/neural/kernels.py) for float32 tensors
on the CPU and else the plain one. Tests hold the two against each other, gradients included.
"""

from __future__ import annotations

import numpy as np
import torch

from agents.neural import kernels
from agents.neural.masked_categorical import masked_entropy, masked_log_probs
from hf_env.engine.jit import INTERPRETED

# In place of an array that is not there.
_NO_ROWS, _NO_RESIDUAL = np.empty((0, 0), np.float32), np.empty((0, 0, 0), np.float32)


def _compiled(*tensors: torch.Tensor) -> bool:
    # torch.compile fuses PyTorch's own operations, and cannot look into ours.
    return not INTERPRETED and not torch.compiler.is_compiling() and all(tensor.device.type == "cpu" for tensor in tensors)


def _array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().contiguous().numpy()


def plain_take_columns(
    observations: torch.Tensor, rank_columns: torch.Tensor, other_columns: torch.Tensor, other_scale: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The numbers of each rank, (N, R, C) float32, and those of the table times their scale, (N, G) float32.

    observations: (N, F) int16. rank_columns: (R, C) int64. other_columns: (G,) int64. other_scale: (G,) float32.
    """
    of_ranks = observations.index_select(1, rank_columns.ravel()).float().view(-1, *rank_columns.shape)
    return of_ranks, observations.index_select(1, other_columns).float() * other_scale


def take_columns(
    observations: torch.Tensor, rank_columns: torch.Tensor, other_columns: torch.Tensor, other_scale: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """As ``plain_take_columns``."""
    if not _compiled(observations) or observations.dtype != torch.int16:
        return plain_take_columns(observations, rank_columns, other_columns, other_scale)
    of_ranks = torch.empty(len(observations), *rank_columns.shape)
    others = torch.empty(len(observations), len(other_columns))
    kernels.take_columns(
        _array(observations), _array(rank_columns), _array(other_columns), _array(other_scale), of_ranks.numpy(), others.numpy()
    )
    return of_ranks, others


def plain_rank_stage(
    x: torch.Tensor, vector: torch.Tensor, rows: torch.Tensor | None, residual: torch.Tensor | None, norm: torch.nn.Module
) -> tuple[torch.Tensor, torch.Tensor]:
    """residual + relu(norm(x + vector + rows)), (N, R, H), and its mean over the ranks, (N, H).

    x: (N, R, H). vector: (R, H), of each rank. rows: (N, H), of each row, or None. residual: (N, R, H), or None.
    norm: a LayerNorm over H, or an Identity.
    """
    x = x + vector
    if rows is not None:
        x = x + rows[:, None]
    out = torch.relu(norm(x))
    if residual is not None:
        out = residual + out
    return out, out.mean(1)


class _RankStage(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, vector, rows, residual, weight, bias):
        num_rows, num_ranks, width = x.shape
        normed, out = torch.empty(2, num_rows, num_ranks, width)
        deviations, mean = torch.empty(num_rows, num_ranks), torch.empty(num_rows, width)
        kernels.rank_stage_forward(
            _array(x), _array(vector), _NO_ROWS if rows is None else _array(rows),
            _NO_RESIDUAL if residual is None else _array(residual), _array(weight), _array(bias),
            normed.numpy(), deviations.numpy(), out.numpy(), mean.numpy(),
        )  # fmt: skip
        ctx.save_for_backward(normed, deviations, weight, bias)
        ctx.with_rows, ctx.with_residual = rows is not None, residual is not None
        return out, mean

    @staticmethod
    def backward(ctx, *gradients):
        normed, deviations, weight, bias = ctx.saved_tensors
        num_rows, num_ranks, width = normed.shape
        of_x = torch.empty_like(normed)
        of_rows = torch.empty(num_rows, width) if ctx.with_rows else None
        of_residual = torch.empty_like(normed) if ctx.with_residual else None
        of_vector, of_weight, of_bias = torch.zeros(num_ranks, width), torch.zeros(width), torch.zeros(width)
        kernels.rank_stage_backward(
            _array(gradients[0]), _array(gradients[1]), normed.numpy(), deviations.numpy(), _array(weight), _array(bias),
            of_x.numpy(), of_vector.numpy(), _NO_ROWS if of_rows is None else of_rows.numpy(),
            _NO_RESIDUAL if of_residual is None else of_residual.numpy(), of_weight.numpy(), of_bias.numpy(),
        )  # fmt: skip
        return of_x, of_vector, of_rows, of_residual, of_weight, of_bias


def rank_stage(
    x: torch.Tensor, vector: torch.Tensor, rows: torch.Tensor | None, residual: torch.Tensor | None, norm: torch.nn.Module
) -> tuple[torch.Tensor, torch.Tensor]:
    """As ``plain_rank_stage``."""
    if not isinstance(norm, torch.nn.LayerNorm) or not _compiled(x) or x.dtype != torch.float32:
        return plain_rank_stage(x, vector, rows, residual, norm)
    return _RankStage.apply(x, vector, rows, residual, norm.weight, norm.bias)


def plain_choice_statistics(
    logits: torch.Tensor, action_masks: torch.Tensor, actions: torch.Tensor, taught_actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of the softmax over legal actions: log probabilities of ``actions`` and ``taught_actions``, and the entropy, (N,) each.

    logits: (N, A) float32. action_masks: (N, A) int8. actions, taught_actions: (N,) int32; a taught action of -1 gives 0.
    """
    log_probs = masked_log_probs(logits, action_masks)
    chosen = log_probs.gather(1, actions.long()[:, None]).squeeze(1)
    taught = log_probs.gather(1, taught_actions.clamp_min(0).long()[:, None]).squeeze(1)
    return chosen, torch.where(taught_actions >= 0, taught, 0.0), masked_entropy(log_probs)


class _ChoiceStatistics(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, action_masks, actions, taught_actions):
        logits, probabilities = logits.detach().contiguous(), torch.empty(logits.shape)
        log_totals, chosen, taught, entropies = torch.empty(4, len(logits))
        kernels.choices_forward(
            logits.numpy(), _array(action_masks), _array(actions), _array(taught_actions), probabilities.numpy(),
            log_totals.numpy(), chosen.numpy(), taught.numpy(), entropies.numpy(),
        )  # fmt: skip
        ctx.save_for_backward(logits, actions, taught_actions, probabilities, log_totals, entropies)
        return chosen, taught, entropies

    @staticmethod
    def backward(ctx, *gradients):
        logits, *saved = ctx.saved_tensors
        of_logits = torch.empty_like(logits)
        kernels.choices_backward(_array(logits), *map(_array, saved), *map(_array, gradients), of_logits.numpy())
        return of_logits, None, None, None


def choice_statistics(
    logits: torch.Tensor, action_masks: torch.Tensor, actions: torch.Tensor, taught_actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """As ``plain_choice_statistics``."""
    if not _compiled(logits) or logits.dtype != torch.float32 or action_masks.dtype != torch.int8:
        return plain_choice_statistics(logits, action_masks, actions, taught_actions)
    return _ChoiceStatistics.apply(logits, action_masks, actions, taught_actions)

"""What PPO's loss needs of the policy's distribution, in one step: compiled on the CPU, plain PyTorch elsewhere.

``plain_choice_statistics`` is in PyTorch's own operations, for every device and type; ``choice_statistics`` takes the compiled
kernels (agents/neural/ranks/kernels.py) for float32 logits on the CPU and else the plain one. Tests hold the two against each other,
gradients included.
"""

from __future__ import annotations

import torch

from agents.neural.masked_categorical import masked_entropy, masked_log_probs
from agents.neural.ranks import kernels
from agents.neural.tensors import as_array, runs_compiled
from hf_env.policy_batch import NoLegalActionError


def plain_choice_statistics(
    logits: torch.Tensor, action_masks: torch.Tensor, actions: torch.Tensor, taught_actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of the softmax over legal actions: log probabilities of ``actions`` and ``taught_actions``, and the entropy, (N,) each.

    Args:
        logits: (N, A) float32.
        action_masks: (N, A) int8.
        actions, taught_actions: (N,) int32; a taught action of -1 gives 0.

    Raises:
        NoLegalActionError: Naming the first row without a legal action.
    """
    log_probs = masked_log_probs(logits, action_masks)
    chosen = log_probs.gather(1, actions.long()[:, None]).squeeze(1)
    taught = log_probs.gather(1, taught_actions.clamp_min(0).long()[:, None]).squeeze(1)
    return chosen, torch.where(taught_actions >= 0, taught, 0.0), masked_entropy(log_probs)


class _ChoiceStatistics(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, action_masks, actions, taught_actions):
        logits, probabilities = logits.detach().contiguous(), torch.empty(logits.shape)
        log_totals, entropies, chosen, taught = torch.empty(4, len(logits))
        choices = (action_masks, actions, taught_actions)
        statistics = (probabilities, log_totals, entropies, chosen, taught)
        row = kernels.choices_forward(
            logits.numpy(), kernels.Choices(*map(as_array, choices)), kernels.ChoiceStatistics(*map(as_array, statistics))
        )
        if row >= 0:
            raise NoLegalActionError(row)
        ctx.save_for_backward(logits, *choices, *statistics)
        return chosen, taught, entropies

    @staticmethod
    def backward(ctx, *gradients):
        logits, *saved = map(as_array, ctx.saved_tensors)
        logits_gradient = torch.empty(logits.shape)
        kernels.choices_backward(
            logits, kernels.Choices(*saved[:3]), kernels.ChoiceStatistics(*saved[3:]), *map(as_array, gradients), logits_gradient.numpy()
        )
        return logits_gradient, None, None, None


def choice_statistics(
    logits: torch.Tensor, action_masks: torch.Tensor, actions: torch.Tensor, taught_actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """As ``plain_choice_statistics``."""
    if not runs_compiled(logits, torch.float32) or action_masks.dtype != torch.int8:
        return plain_choice_statistics(logits, action_masks, actions, taught_actions)
    return _ChoiceStatistics.apply(logits, action_masks, actions, taught_actions)

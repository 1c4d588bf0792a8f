"""The policy's distribution: a categorical over the legal actions alone.

``sample_actions`` draws from it with one uniform number a row, at the speed of compiled code; the functions
above it are the same distribution in torch, for the gradient.
"""

import math

import numpy as np
import torch

from hf_env.kernels.compile import entry, kernel
from hf_env.policy_batch import NoLegalActionError, check_legal

# Added to the logits of illegal actions: any lower than it, its gradient in the entropy could overflow, and minus
# infinity would turn it into NaN; any nearer, logits could rival it.
_ILLEGAL = 1e30


def masked_log_probs(logits: torch.Tensor, action_masks: torch.Tensor) -> torch.Tensor:
    """Log probabilities (N, A) of the softmax over legal actions.

    Args:
        logits: (N, A) float32, finite, up to 1e6 in size.
        action_masks: (N, A) bool or int8, at least one legal a row. An illegal action gets -1e30, so that its probability
            and its gradient are exactly 0.

    Raises:
        NoLegalActionError: Naming the first row without a legal action.
    """
    # A compiled graph cannot raise; its rows were checked where they were played.
    if not torch.compiler.is_compiling() and not (legal := (action_masks != 0).any(-1)).all():
        raise NoLegalActionError(int(legal.int().argmin()))
    return torch.log_softmax(logits + (action_masks.float() - 1.0) * _ILLEGAL, dim=-1)


def masked_entropy(log_probs: torch.Tensor) -> torch.Tensor:
    """Entropy (N,) in nats over the legal actions; log_probs as ``masked_log_probs`` returns them.

    An illegal action adds 0 * -1e30, which is 0.
    """
    # The softmax of log probabilities is their exponential, without exp's slow path far below 0 (20 times slower).
    return -(log_probs.softmax(-1) * log_probs).sum(-1)


def masked_probabilities(logits: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
    """Probabilities (N, A) float32 of the same distribution; an illegal action has exactly 0.

    Raises:
        NoLegalActionError: Naming the first row without a legal action.
    """
    check_legal(action_masks)
    masked = np.where(action_masks != 0, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


@kernel
def sample_action(logits, action_mask, draw):
    """One legal action by inversion of the cumulative distribution, and its log probability; -1 where none has a probability.

    Args:
        logits: (A,) float32.
        action_mask: (A,) int8.
        draw: float64 uniform in [0, 1).
    """
    num_actions = len(logits)
    largest = -math.inf
    for action in range(num_actions):
        if action_mask[action] != 0 and logits[action] > largest:
            largest = float(logits[action])
    total = 0.0
    for action in range(num_actions):
        if action_mask[action] != 0:
            total += math.exp(float(logits[action]) - largest)
    # The strict comparison never stops at an action of probability 0; the last legal one with some is kept
    # for the case that rounding lets the sum fall short.
    threshold = draw * total
    chosen = -1
    cumulated = 0.0
    for action in range(num_actions):
        if action_mask[action] != 0:
            weight = math.exp(float(logits[action]) - largest)
            if weight > 0.0:
                chosen = action
                cumulated += weight
                if cumulated > threshold:
                    break
    if chosen < 0:
        return chosen, 0.0
    return chosen, float(logits[chosen]) - largest - math.log(total)


@kernel
def best_action(logits, action_mask):
    """The legal action of the largest logit, the lowest number among equals; -1 where none is legal.

    Args:
        logits: (A,) float32.
        action_mask: (A,) int8.
    """
    chosen = -1
    for action in range(len(logits)):
        if action_mask[action] != 0 and (chosen < 0 or logits[action] > logits[chosen]):
            chosen = action
    return chosen


@entry
def _sample_rows(logits, action_masks, draws, actions, log_probs):
    """``sample_action`` of every row; returns the first without an action, or -1."""
    for row in range(len(logits)):
        actions[row], log_probs[row] = sample_action(logits[row], action_masks[row], draws[row])
        if actions[row] < 0:
            return row
    return -1


@entry
def _best_of_rows(logits, action_masks, actions):
    """``best_action`` of every row; returns the first without an action, or -1."""
    for row in range(len(logits)):
        actions[row] = best_action(logits[row], action_masks[row])
        if actions[row] < 0:
            return row
    return -1


def sample_actions(logits, action_masks, draws, actions, log_probs) -> None:
    """``sample_action`` of every row.

    Args:
        logits: (N, A) float32.
        action_masks: (N, A) int8.
        draws: (N,) float64 uniform in [0, 1).
        actions: (N,) int32 and log_probs: (N,) float32 are written.

    Raises:
        NoLegalActionError: Naming the first row without a legal action.
        ValueError: Naming the first row whose logits give no probabilities.
    """
    row = _sample_rows(logits, action_masks, draws, actions, log_probs)
    if row >= 0 and action_masks[row].any():
        raise ValueError(f"row {row} has no probabilities: what the network gave is not finite")
    if row >= 0:
        raise NoLegalActionError(row)


def best_actions(logits, action_masks, actions) -> None:
    """Write the legal action of the largest logit of each row, the lowest number among equals, into actions (N,) int32.

    Raises:
        NoLegalActionError: Naming the first row without a legal action.
    """
    row = _best_of_rows(logits, action_masks, actions)
    if row >= 0:
        raise NoLegalActionError(row)

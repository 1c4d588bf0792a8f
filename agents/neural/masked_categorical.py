"""The policy's distribution: a categorical over the legal actions alone.

``sample_actions`` draws from it with one uniform number a row, at the speed of compiled code; the functions
above it are the same distribution in torch, for the gradient.
"""

import math

import numpy as np
import torch

from hf_env.engine.jit import entry

# Added to the logits of illegal actions: any lower than it, its gradient in the entropy could overflow, and minus
# infinity would turn it into NaN; any nearer, logits could rival it.
_ILLEGAL = 1e30


def masked_log_probs(logits: torch.Tensor, action_masks: torch.Tensor) -> torch.Tensor:
    """Log probabilities (N, A) of the softmax over legal actions.

    logits: (N, A) float32, finite, up to 1e6 in size. action_masks: (N, A) bool or int8, at least one legal a row.
    An illegal action gets -1e30, so that its probability and its gradient are exactly 0.
    """
    return torch.log_softmax(logits + (action_masks.float() - 1.0) * _ILLEGAL, dim=-1)


def masked_entropy(log_probs: torch.Tensor) -> torch.Tensor:
    """Entropy (N,) in nats over the legal actions; log_probs as ``masked_log_probs`` returns them.

    An illegal action adds 0 * -1e30, which is 0.
    """
    # The softmax of log probabilities is their exponential, without exp's slow path far below 0 (20 times slower).
    return -(log_probs.softmax(-1) * log_probs).sum(-1)


def masked_probabilities(logits: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
    """Probabilities (N, A) float32 of the same distribution; an illegal action has exactly 0."""
    masked = np.where(action_masks != 0, logits.astype(np.float64), -np.inf)
    weights = np.exp(masked - masked.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


@entry
def sample_actions(logits, action_masks, draws, actions, log_probs):
    """Draw one legal action a row by inversion of the cumulative distribution.

    logits: (N, A) float32. action_masks: (N, A) int8. draws: (N,) float64 uniform in [0, 1).
    actions: (N,) int32 and log_probs: (N,) float32 are written.
    """
    num_rows, num_actions = logits.shape
    for row in range(num_rows):
        largest = -math.inf
        for action in range(num_actions):
            if action_masks[row, action] != 0 and logits[row, action] > largest:
                largest = float(logits[row, action])
        total = 0.0
        for action in range(num_actions):
            if action_masks[row, action] != 0:
                total += math.exp(float(logits[row, action]) - largest)
        # The strict comparison never stops at an action of probability 0; the last legal one with some is kept
        # for the case that rounding lets the sum fall short.
        threshold = draws[row] * total
        chosen = -1
        cumulated = 0.0
        for action in range(num_actions):
            if action_masks[row, action] != 0:
                weight = math.exp(float(logits[row, action]) - largest)
                if weight > 0.0:
                    chosen = action
                    cumulated += weight
                    if cumulated > threshold:
                        break
        actions[row] = chosen
        log_probs[row] = float(logits[row, chosen]) - largest - math.log(total)


@entry
def best_actions(logits, action_masks, actions):
    """Write the legal action of the largest logit of each row, the lowest number among equals."""
    num_rows, num_actions = logits.shape
    for row in range(num_rows):
        chosen = -1
        for action in range(num_actions):
            if action_masks[row, action] != 0 and (chosen < 0 or logits[row, action] > logits[row, chosen]):
                chosen = action
        actions[row] = chosen

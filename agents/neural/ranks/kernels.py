"""The inner loops of the networks and of PPO's loss, each one pass over its rows where PyTorch makes six to ten.

A network as small as ours spends most of its time not on products of matrices but on moving their results through memory
between one small operation and the next. These kernels do what stands between two products in one go, forwards and
backwards. agents/neural/ranks/fused.py makes a network of them, agents/neural/loss_statistics.py ties the loss's to autograd.
"""

import math
from typing import NamedTuple

import numpy as np

from hf_env.kernels.compile import numeric_entry, numeric_kernel

# As of torch.nn.LayerNorm.
NORM_EPSILON = 1e-5


class Norm(NamedTuple):
    """Weight and bias of a normalised layer, or their gradients; (H,) float32 each."""

    weight: np.ndarray
    bias: np.ndarray


class Normed(NamedTuple):
    """What a normalisation keeps for the way back.

    Attributes:
        values: (N, ..., H) float32, normalised, before weight and bias.
        deviations: (N, ...) float32, 1 over the standard deviation.
    """

    values: np.ndarray
    deviations: np.ndarray


class Pooled(NamedTuple):
    """The hidden units of all ranks and their mean, or the gradients of both.

    Attributes:
        ranks: (N, R, H) float32.
        mean: (N, H) float32, over the ranks.
    """

    ranks: np.ndarray
    mean: np.ndarray


@numeric_kernel
def take_columns(observations, places, rank_inputs, table):
    """Write the numbers of each rank, and those of the table times their scale.

    Args:
        observations: (N, F) int16.
        places: RankPlaces (agents/neural/ranks/arrays.py).
        rank_inputs: (N, R, C) float32, written.
        table: (N, G or more) float32, written in the first G columns.
    """
    num_ranks, per_rank = places.rank_columns.shape
    for row in range(len(observations)):
        for rank in range(num_ranks):
            for number in range(per_rank):
                rank_inputs[row, rank, number] = np.float32(observations[row, places.rank_columns[rank, number]])
        for number in range(len(places.other_columns)):
            table[row, number] = np.float32(observations[row, places.other_columns[number]]) * places.other_scale[number]


@numeric_kernel
def normalise(values):
    """Values (H,) float32 less their mean and over their standard deviation, in place; returns 1 over that deviation."""
    width = len(values)
    share, total = np.float32(1.0 / width), np.float32(0.0)
    for unit in range(width):
        total += values[unit]
    centre, squares = total * share, np.float32(0.0)
    for unit in range(width):
        values[unit] -= centre
        squares += values[unit] * values[unit]
    deviation = np.float32(1.0) / np.sqrt(squares * share + np.float32(NORM_EPSILON))
    for unit in range(width):
        values[unit] *= deviation
    return deviation


@numeric_kernel
def norm_relu_backward(gradient, normed, deviation, norm, norm_gradient):
    """Turn the gradient of relu(layer_norm(x)) into that of x, in place.

    Args:
        gradient: (H,) float32.
        normed: (H,) float32, as ``normalise`` left it.
        deviation: what ``normalise`` returned.
        norm: Norm.
        norm_gradient: Norm, added to.
    """
    width = len(gradient)
    share, total, product = np.float32(1.0 / width), np.float32(0.0), np.float32(0.0)
    for unit in range(width):
        value, off = gradient[unit], normed[unit]
        if off * norm.weight[unit] + norm.bias[unit] <= np.float32(0.0):
            value = np.float32(0.0)
        norm_gradient.weight[unit] += value * off
        norm_gradient.bias[unit] += value
        value *= norm.weight[unit]
        total += value
        product += value * off
        gradient[unit] = value
    total, product = total * share, product * share
    for unit in range(width):
        gradient[unit] = (gradient[unit] - total - normed[unit] * product) * deviation


@numeric_kernel
def rank_stage_forward(x, vector, message, residual, norm, normed, out):
    """Write out.ranks = residual + relu(layer_norm(x + vector + message)), and out.mean.

    Args:
        x: (N, R, H) float32, of the rows and ranks.
        vector: (R, H) float32, of the ranks alone.
        message: (N, H) float32, of the rows alone; empty for none.
        residual: (N, R, H) float32; empty for none.
        norm: Norm.
        normed: Normed, written for the way back.
        out: Pooled, written.
    """
    num_rows, num_ranks, width = x.shape
    with_message, with_residual = len(message) > 0, len(residual) > 0
    rank_share = np.float32(1.0 / num_ranks)
    for row in range(num_rows):
        for unit in range(width):
            out.mean[row, unit] = np.float32(0.0)
        for rank in range(num_ranks):
            for unit in range(width):
                normed.values[row, rank, unit] = x[row, rank, unit] + vector[rank, unit]
                if with_message:
                    normed.values[row, rank, unit] += message[row, unit]
            normed.deviations[row, rank] = normalise(normed.values[row, rank])
            for unit in range(width):
                value = normed.values[row, rank, unit] * norm.weight[unit] + norm.bias[unit]
                # Written so that NaN stays NaN.
                if value < np.float32(0.0):
                    value = np.float32(0.0)
                if with_residual:
                    value += residual[row, rank, unit]
                out.ranks[row, rank, unit] = value
                out.mean[row, unit] += value * rank_share


@numeric_kernel
def rank_stage_backward(out_gradient, normed, norm, x_gradient, vector_gradient, message_gradient, residual_gradient, norm_gradient):
    """Write the gradients of ``rank_stage_forward``'s arguments; shapes as there.

    Args:
        out_gradient: Pooled.
        normed: Normed, as the way forward left it.
        norm: Norm.
        x_gradient: written.
        vector_gradient: added to.
        message_gradient: written; empty where there was no message.
        residual_gradient: written; empty where there was no residual.
        norm_gradient: Norm, added to.
    """
    num_rows, num_ranks, width = normed.values.shape
    with_message, with_residual = len(message_gradient) > 0, len(residual_gradient) > 0
    rank_share = np.float32(1.0 / num_ranks)
    for row in range(num_rows):
        if with_message:
            for unit in range(width):
                message_gradient[row, unit] = np.float32(0.0)
        for rank in range(num_ranks):
            for unit in range(width):
                gradient = out_gradient.ranks[row, rank, unit] + out_gradient.mean[row, unit] * rank_share
                x_gradient[row, rank, unit] = gradient
                if with_residual:
                    residual_gradient[row, rank, unit] = gradient
            norm_relu_backward(x_gradient[row, rank], normed.values[row, rank], normed.deviations[row, rank], norm, norm_gradient)
            for unit in range(width):
                vector_gradient[rank, unit] += x_gradient[row, rank, unit]
                if with_message:
                    message_gradient[row, unit] += x_gradient[row, rank, unit]


@numeric_kernel
def layer_forward(x, shift, norm, normed, out):
    """Write out = relu(layer_norm(x + shift)).

    Args:
        x: (N, B) float32.
        shift: (B,) float32, the layer's bias.
        norm: Norm.
        normed: Normed, written for the way back.
        out: (N, B) float32, written.
    """
    num_rows, width = x.shape
    for row in range(num_rows):
        for unit in range(width):
            normed.values[row, unit] = x[row, unit] + shift[unit]
        normed.deviations[row] = normalise(normed.values[row])
        for unit in range(width):
            value = normed.values[row, unit] * norm.weight[unit] + norm.bias[unit]
            if value < np.float32(0.0):
                value = np.float32(0.0)
            out[row, unit] = value


@numeric_kernel
def layer_backward(out_gradient, normed, norm, x_gradient, shift_gradient, norm_gradient):
    """Write the gradients of ``layer_forward``'s arguments; those of shift and norm are added to."""
    num_rows, width = normed.values.shape
    for row in range(num_rows):
        for unit in range(width):
            x_gradient[row, unit] = out_gradient[row, unit]
        norm_relu_backward(x_gradient[row], normed.values[row], normed.deviations[row], norm, norm_gradient)
        for unit in range(width):
            shift_gradient[unit] += x_gradient[row, unit]


class Choices(NamedTuple):
    """What was chosen in N positions.

    Attributes:
        masks: (N, A) int8, legal actions.
        actions: (N,) int32, legal.
        taught_actions: (N,) int32, legal; -1 where nothing was taught.
    """

    masks: np.ndarray
    actions: np.ndarray
    taught_actions: np.ndarray


class ChoiceStatistics(NamedTuple):
    """What PPO's loss needs of the softmax over the legal actions; float32.

    Attributes:
        probabilities: (N, A), 0 where illegal.
        log_totals: (N,), the logarithm of the sum of the exponentials.
        entropies: (N,), in nats.
        chosen: (N,), log probabilities of the actions.
        taught: (N,), of the taught actions; 0 where nothing was taught.
    """

    probabilities: np.ndarray
    log_totals: np.ndarray
    entropies: np.ndarray
    chosen: np.ndarray
    taught: np.ndarray


@numeric_entry
def choices_forward(logits, choices, statistics):
    """Write the ChoiceStatistics of logits (N, A) float32 and Choices.

    Returns:
        The first row without a legal action, with which it ends; -1 where there is none.
    """
    num_rows, num_actions = logits.shape
    action_masks, actions, taught_actions = choices
    probabilities, log_totals, entropies, chosen, taught = statistics
    for row in range(num_rows):
        largest = -math.inf
        for action in range(num_actions):
            # Written so that NaN counts, and makes all NaN that comes of this row.
            if action_masks[row, action] != 0 and not float(logits[row, action]) <= largest:
                largest = float(logits[row, action])
        total, weighted = 0.0, 0.0
        for action in range(num_actions):
            probabilities[row, action] = np.float32(0.0)
            if action_masks[row, action] != 0:
                below = float(logits[row, action]) - largest
                weight = math.exp(below)
                probabilities[row, action] = weight
                total += weight
                weighted += weight * below
        if total == 0.0:
            return row
        scale, logarithm = np.float32(1.0 / total), math.log(total)
        for action in range(num_actions):
            probabilities[row, action] *= scale
        log_totals[row] = largest + logarithm
        entropies[row] = logarithm - weighted / total
        chosen[row] = float(logits[row, actions[row]]) - largest - logarithm
        taught[row] = 0.0
        if taught_actions[row] >= 0:
            taught[row] = float(logits[row, taught_actions[row]]) - largest - logarithm
    return -1


@numeric_entry
def choices_backward(logits, choices, statistics, chosen_gradient, taught_gradient, entropy_gradient, logits_gradient):
    """Write the gradient of ``choices_forward``'s logits, exactly 0 where illegal.

    Args:
        logits: (N, A) float32.
        choices: Choices.
        statistics: ChoiceStatistics, as the way forward left them.
        chosen_gradient: (N,) float32.
        taught_gradient: (N,) float32.
        entropy_gradient: (N,) float32.
        logits_gradient: (N, A) float32, written.
    """
    num_rows, num_actions = logits.shape
    _, actions, taught_actions = choices
    probabilities, log_totals, entropies, _, _ = statistics
    for row in range(num_rows):
        taught = taught_gradient[row] if taught_actions[row] >= 0 else np.float32(0.0)
        both, of_entropy = chosen_gradient[row] + taught, entropy_gradient[row]
        offset = entropies[row] - log_totals[row]
        for action in range(num_actions):
            probability = probabilities[row, action]
            # Not computed where it is 0: an illegal action's logit may be anything.
            if probability == np.float32(0.0):
                logits_gradient[row, action] = np.float32(0.0)
            else:
                logits_gradient[row, action] = -probability * (both + of_entropy * (logits[row, action] + offset))
        logits_gradient[row, actions[row]] += chosen_gradient[row]
        if taught_actions[row] >= 0:
            logits_gradient[row, taught_actions[row]] += taught

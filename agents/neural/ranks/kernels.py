"""The inner loops of the networks and of PPO's loss, each one pass over its rows where PyTorch makes six to ten.

A network as small as ours spends most of its time not on products of matrices but on moving their results through memory
between one small operation and the next. These kernels do what stands between two products in one go, forwards and
backwards. agents/neural/ranks/fused.py makes a network of them, agents/neural/loss_statistics.py ties the loss's to autograd.
"""

import math

import numpy as np

from hf_env.kernels.compile import numeric_entry, numeric_kernel

# As of torch.nn.LayerNorm.
NORM_EPSILON = 1e-5


@numeric_kernel
def take_columns(observations, rank_columns, other_columns, other_scale, of_ranks, others):
    """Write the numbers of each rank, and those of the table times their scale.

    observations: (N, F) int16. rank_columns: (R, C) int64. other_columns: (G,) int64. other_scale: (G,) float32.
    Written: of_ranks (N, R, C) float32, others (N, G or more) float32, the first G of each row.
    """
    num_ranks, per_rank = rank_columns.shape
    for row in range(len(observations)):
        for rank in range(num_ranks):
            for number in range(per_rank):
                of_ranks[row, rank, number] = np.float32(observations[row, rank_columns[rank, number]])
        for number in range(len(other_columns)):
            others[row, number] = np.float32(observations[row, other_columns[number]]) * other_scale[number]


@numeric_kernel
def normalise(values):
    """values (H,) float32 less their mean and over their standard deviation, in place; returns 1 over that deviation."""
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
def norm_relu_backward(gradient, normed, deviation, weight, bias, weight_gradient, bias_gradient):
    """The gradient (H,) of relu(layer_norm(...)) becomes that of the normalisation's argument, in place.

    normed (H,), deviation: what ``normalise`` made. weight_gradient, bias_gradient: (H,), added to.
    """
    width = len(gradient)
    share, total, product = np.float32(1.0 / width), np.float32(0.0), np.float32(0.0)
    for unit in range(width):
        value, off = gradient[unit], normed[unit]
        if off * weight[unit] + bias[unit] <= np.float32(0.0):
            value = np.float32(0.0)
        weight_gradient[unit] += value * off
        bias_gradient[unit] += value
        value *= weight[unit]
        total += value
        product += value * off
        gradient[unit] = value
    total, product = total * share, product * share
    for unit in range(width):
        gradient[unit] = (gradient[unit] - total - normed[unit] * product) * deviation


@numeric_kernel
def rank_stage_forward(x, vector, rows, residual, weight, bias, normed, deviations, out, mean):
    """out = residual + relu(layer_norm(x + vector + rows)), and its mean over the ranks.

    x: (N, R, H). vector: (R, H). rows: (N, H), or empty for none. residual: (N, R, H), or empty for none. weight, bias:
    (H,), of the normalisation. Written, for the way back too: normed (N, R, H), deviations (N, R), which is 1 over the
    standard deviation, out (N, R, H), mean (N, H). All float32.
    """
    num_rows, num_ranks, width = x.shape
    with_rows, with_residual = len(rows) > 0, len(residual) > 0
    rank_share = np.float32(1.0 / num_ranks)
    for row in range(num_rows):
        for unit in range(width):
            mean[row, unit] = np.float32(0.0)
        for rank in range(num_ranks):
            for unit in range(width):
                normed[row, rank, unit] = x[row, rank, unit] + vector[rank, unit]
                if with_rows:
                    normed[row, rank, unit] += rows[row, unit]
            deviations[row, rank] = normalise(normed[row, rank])
            for unit in range(width):
                value = normed[row, rank, unit] * weight[unit] + bias[unit]
                # Written so that NaN stays NaN.
                if value < np.float32(0.0):
                    value = np.float32(0.0)
                if with_residual:
                    value += residual[row, rank, unit]
                out[row, rank, unit] = value
                mean[row, unit] += value * rank_share


@numeric_kernel
def rank_stage_backward(
    out_gradient, mean_gradient, normed, deviations, weight, bias,
    x_gradient, vector_gradient, rows_gradient, residual_gradient, weight_gradient, bias_gradient,
):  # fmt: skip
    """The gradients of ``rank_stage_forward``'s arguments from those of ``out`` and ``mean``; shapes as there.

    rows_gradient and residual_gradient are empty where there were none. vector_gradient, weight_gradient and bias_gradient
    are added to.
    """
    num_rows, num_ranks, width = normed.shape
    with_rows, with_residual = len(rows_gradient) > 0, len(residual_gradient) > 0
    rank_share = np.float32(1.0 / num_ranks)
    for row in range(num_rows):
        if with_rows:
            for unit in range(width):
                rows_gradient[row, unit] = np.float32(0.0)
        for rank in range(num_ranks):
            for unit in range(width):
                gradient = out_gradient[row, rank, unit] + mean_gradient[row, unit] * rank_share
                x_gradient[row, rank, unit] = gradient
                if with_residual:
                    residual_gradient[row, rank, unit] = gradient
            norm_relu_backward(
                x_gradient[row, rank], normed[row, rank], deviations[row, rank], weight, bias, weight_gradient, bias_gradient
            )
            for unit in range(width):
                vector_gradient[rank, unit] += x_gradient[row, rank, unit]
                if with_rows:
                    rows_gradient[row, unit] += x_gradient[row, rank, unit]


@numeric_kernel
def layer_forward(x, shift, weight, bias, normed, deviations, out):
    """out = relu(layer_norm(x + shift)), x: (N, B), shift: (B,); the rest as of ``rank_stage_forward``, without ranks."""
    num_rows, width = x.shape
    for row in range(num_rows):
        for unit in range(width):
            normed[row, unit] = x[row, unit] + shift[unit]
        deviations[row] = normalise(normed[row])
        for unit in range(width):
            value = normed[row, unit] * weight[unit] + bias[unit]
            if value < np.float32(0.0):
                value = np.float32(0.0)
            out[row, unit] = value


@numeric_kernel
def layer_backward(out_gradient, normed, deviations, weight, bias, x_gradient, shift_gradient, weight_gradient, bias_gradient):
    """The gradients of ``layer_forward``'s arguments; those of shift, weight and bias are added to."""
    num_rows, width = normed.shape
    for row in range(num_rows):
        for unit in range(width):
            x_gradient[row, unit] = out_gradient[row, unit]
        norm_relu_backward(x_gradient[row], normed[row], deviations[row], weight, bias, weight_gradient, bias_gradient)
        for unit in range(width):
            shift_gradient[unit] += x_gradient[row, unit]


@numeric_entry
def choices_forward(logits, action_masks, actions, taught_actions, probabilities, log_totals, chosen, taught, entropies):
    """Log probabilities of two choices a row, and the entropy, of the softmax over legal actions.

    logits: (N, A) float32. action_masks: (N, A) int8. actions, taught_actions: (N,) int32, legal ones; a taught action of
    -1 gives 0. Written, for the way back too: probabilities (N, A), log_totals (N,), the logarithm of the sum of the
    exponentials; and chosen, taught, entropies (N,); all float32.
    """
    num_rows, num_actions = logits.shape
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
        scale, logarithm = np.float32(1.0 / total), math.log(total)
        for action in range(num_actions):
            probabilities[row, action] *= scale
        log_totals[row] = largest + logarithm
        entropies[row] = logarithm - weighted / total
        chosen[row] = float(logits[row, actions[row]]) - largest - logarithm
        taught[row] = 0.0
        if taught_actions[row] >= 0:
            taught[row] = float(logits[row, taught_actions[row]]) - largest - logarithm


@numeric_entry
def choices_backward(
    logits, actions, taught_actions, probabilities, log_totals, entropies, chosen_gradient, taught_gradient, entropy_gradient,
    logits_gradient,
):  # fmt: skip
    """The gradient (N, A) float32 of ``choices_forward``'s logits from those of its three results; exactly 0 where illegal."""
    num_rows, num_actions = logits.shape
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

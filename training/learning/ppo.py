"""Proximal policy optimisation, written out (Schulman et al. 2017, equations 7 and 9).

The details that matter, in order of the code:
 1. Value targets are normalised with running statistics, and the value head is rescaled when these move, so that
    its outputs in units of reward stay what they were (PopArt: van Hasselt et al. 2016, equations 6 and 7).
 2. Advantages are normalised over the whole rollout: with 1. the scale of rewards drops out of every gradient.
 3. The update uses the same action mask as the rollout did, so that with unchanged weights every ratio is 1.
 4. Clipped surrogate; no clipping of the value loss; entropy over legal actions only.
 5. Rows with weight 0 (forced decisions, seats not to move) train the value alone.
 6. Gradients are shortened to a maximal norm; learning rate and entropy bonus fall linearly over the run.
 7. A minibatch's gradient is the sum of its blocks', and of the processes' (training/processes.py), each of which has
    a share of the rows.
 8. A tensor that is not finite stops the run by name, before it reaches the weights.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import torch

from agents.neural.base import PolicyValueNetwork
from agents.neural.loss_statistics import choice_statistics
from training.config import TrainConfig
from training.learning.batches import Batch, Losses, NonFiniteError, Shared, Totals, check_finite
from training.learning.forward import Forward
from training.learning.rollout import Rollout
from training.processes import Processes

_SMALLEST_STD = 1e-6


class ValueNormaliser:
    """Running mean and standard deviation of the value targets, each update's batch with equal weight.

    Args:
        decay: share of the past that is kept at an update; the first batch counts in full.
    """

    def __init__(self, decay: float) -> None:
        self.decay = decay
        self.weight, self.mean, self.mean_square = 0.0, 0.0, 0.0

    def update(self, returns: np.ndarray, *networks: PolicyValueNetwork) -> None:
        """Take in the returns (R,) and carry the networks' value heads over to the new unit."""
        keep, add = self.decay * self.weight, 1.0 - self.decay
        if self.weight == 0.0:
            keep, add = 0.0, 1.0
        self.weight = keep + add
        returns = returns.astype(np.float64)
        self.mean += (returns.mean() - self.mean) * add / self.weight
        self.mean_square += ((returns**2).mean() - self.mean_square) * add / self.weight
        for network in networks:
            self._rescale(network)

    def _rescale(self, network: PolicyValueNetwork) -> None:
        # A spread of 0 (nothing was paid at all) keeps the unit 1: dividing by it would only amplify rounding.
        std = max(self.mean_square - self.mean**2, 0.0) ** 0.5
        std = std if std > _SMALLEST_STD else 1.0
        old_mean, old_std = float(network.value_mean), float(network.value_std)
        with torch.no_grad():
            network.value_head.weight.mul_(old_std / std)
            network.value_head.bias.copy_((old_std * network.value_head.bias + old_mean - self.mean) / std)
            network.value_mean.fill_(self.mean)
            network.value_std.fill_(std)

    def state(self) -> dict[str, float]:
        """For the checkpoint."""
        return {"weight": self.weight, "mean": self.mean, "mean_square": self.mean_square}

    def load_state(self, state: dict[str, float]) -> None:
        """Inverse of ``state``."""
        self.weight, self.mean, self.mean_square = state["weight"], state["mean"], state["mean_square"]


class PpoLearner:
    """The network being trained, its optimiser and the unit of its values.

    Args:
        critic: a network for the values of training alone, that sees all cards too, or None.
        generator: NumPy's, of the order of minibatches; part of the run's exact state.
        processes: that learn together.
    """

    def __init__(
        self,
        network: PolicyValueNetwork,
        config: TrainConfig,
        generator: np.random.Generator,
        critic: PolicyValueNetwork | None = None,
        processes: Processes | None = None,
    ) -> None:
        self.network, self.config, self.generator, self.critic = network, config, generator, critic
        self.processes = processes or Processes()
        self.optimiser = torch.optim.Adam(
            [parameter for _, parameter in self.named_parameters()], lr=config.learning_rate, eps=1e-5, fused=True
        )
        self.normaliser = ValueNormaliser(config.value_decay)
        self.forward = Forward(config, (network, critic))

    def named_parameters(self) -> list[tuple[str, torch.nn.Parameter]]:
        """All that the optimiser moves: the network's parameters, and the critic's with "critic." before their names."""
        critic = self.critic.named_parameters(prefix="critic") if self.critic is not None else ()
        return [*self.network.named_parameters(), *critic]

    def learning_rate(self, progress: float) -> float:
        """Adam's step at ``progress`` 0 to 1 of the run."""
        share = 1.0 + (self.config.final_learning_rate_share - 1.0) * progress
        return self.config.learning_rate * share

    def entropy_bonus(self, progress: float) -> float:
        """Weight of the entropy at ``progress`` 0 to 1 of the run."""
        return self.config.entropy_coef_start + (self.config.entropy_coef_end - self.config.entropy_coef_start) * progress

    def prepare(self, rollout: Rollout, shared: Shared | None = None) -> Batch:
        """Move the values' unit to the rollouts' returns (detail 1) and normalise (1, 2).

        Raises:
            NonFiniteError: For advantages or returns that are not finite.
        """
        shared = shared or Shared.of(rollout, self.processes)
        self.normaliser.update(shared.returns, *(each for each in (self.network, self.critic) if each is not None))
        counted = shared.advantages.astype(np.float64)
        # Without a single choice in the rollout there is nothing to normalise, and no policy loss either.
        mean, std = (counted.mean(), counted.std()) if len(counted) else (0.0, 1.0)
        advantages = (rollout.advantages - mean) / max(std, 1e-12)
        returns = (rollout.returns - float(self.network.value_mean)) / float(self.network.value_std)
        device = self.network.observation_scale.device
        return Batch(
            observations=torch.from_numpy(rollout.observations).to(device),
            hidden=torch.from_numpy(rollout.hidden).to(device),
            action_masks=torch.from_numpy(rollout.action_masks).to(device),
            actions=torch.from_numpy(rollout.actions).to(device),
            teacher_actions=torch.from_numpy(rollout.teacher_actions).to(device),
            log_probs=torch.from_numpy(rollout.log_probs).to(device),
            advantages=torch.from_numpy(advantages.astype(np.float32)).to(device),
            returns=torch.from_numpy(returns.astype(np.float32)).to(device),
            policy_weights=torch.from_numpy(rollout.policy_weights).to(device),
        )

    def losses(self, rows: Batch, entropy_bonus: float, teacher_weight: float = 0.0, totals: Totals | None = None) -> Losses:
        """The loss of a minibatch (equations 7 and 9), with details 3 to 5.

        Args:
            teacher_weight: of the cross-entropy with the teacher's choices (Schmitt et al. 2018, equation 4).
            totals: of the minibatch of which ``rows`` are a part; the parts' losses add up to the minibatch's.
        """
        totals = totals or Totals.of(rows)
        logits, values = self.forward(self.network, rows.observations)
        chosen, towards, entropies = choice_statistics(logits, rows.action_masks, rows.actions, rows.teacher_actions)
        weights = rows.policy_weights
        # A row without weight has no old log probability; 0 in both places keeps its ratio at 1.
        log_ratio = torch.where(weights > 0, chosen - rows.log_probs, 0.0)
        ratio = log_ratio.exp()

        def mean(x: torch.Tensor) -> torch.Tensor:
            return (x * weights).sum() / totals.weight

        def squared_error(values: torch.Tensor) -> torch.Tensor:
            errors = values - rows.returns
            return errors.dot(errors)

        clipped = ratio.clamp(1.0 - self.config.clip_coef, 1.0 + self.config.clip_coef)
        policy_loss = -mean(torch.minimum(ratio * rows.advantages, clipped * rows.advantages))
        value_loss = 0.5 * squared_error(values) / totals.rows
        if self.critic is not None:
            _, judged = self.forward(self.critic, torch.cat([rows.observations, rows.hidden], 1))
            value_loss = value_loss + 0.5 * squared_error(judged) / totals.rows
        entropy = mean(entropies)
        teacher_loss = torch.zeros((), device=entropy.device)
        if teacher_weight > 0.0:
            taught = weights * (rows.teacher_actions >= 0)
            teacher_loss = -(towards * taught).sum() / totals.taught
        with torch.no_grad():
            # The estimator k3 of http://joschu.net/blog/kl-approx.html: unbiased and never negative.
            approximate_kl = mean(ratio - 1.0 - log_ratio)
            clip_fraction = mean(((ratio - 1.0).abs() > self.config.clip_coef).float())
        total = policy_loss + self.config.value_coef * value_loss - entropy_bonus * entropy
        total = total + teacher_weight * teacher_loss
        return Losses(total, policy_loss, value_loss, entropy, teacher_loss, approximate_kl, clip_fraction, ratio)

    def update(self, rollout: Rollout, progress: float) -> dict[str, float]:
        """Learn from one rollout; returns the metrics ``learning/...`` (training/run/metrics.py).

        Args:
            progress: 0 to 1 of the run.

        Raises:
            NonFiniteError: With the weights as they were before the bad step.
        """
        shared = Shared.of(rollout, self.processes)
        batch = self.prepare(rollout, shared)
        for group in self.optimiser.param_groups:
            group["lr"] = self.learning_rate(progress)
        entropy_bonus, teacher_weight = self.entropy_bonus(progress), self.config.teacher_share(progress)
        num_minibatches = max(1, round(shared.num_rows / self.config.minibatch_size))
        orders = [torch.from_numpy(self.generator.permutation(len(rollout))) for _ in range(self.config.update_epochs)]
        minibatches = [index for order in orders for index in order.tensor_split(num_minibatches)]
        reports, first_ratio_error = [], None
        for index, totals in zip(minibatches, Totals.of_each(batch, minibatches, self.processes), strict=True):
            losses, report = self._step(batch.rows(index.to(batch.returns.device)), entropy_bonus, teacher_weight, totals)
            if first_ratio_error is None:
                own = max([0.0, *(float((block.ratio.detach() - 1.0).abs().max()) for block in losses)])
                first_ratio_error = max(self.processes.gather(own))
            reports.append(report)
        policy, value, entropy, teacher, kl, clipped, norm = torch.stack(reports).mean(0).tolist()
        return {
            "learning/policy_loss": policy,
            "learning/value_loss": value,
            "learning/entropy": entropy,
            "learning/teacher_loss": teacher,
            "learning/teacher_weight": teacher_weight,
            "learning/approximate_kl": kl,
            "learning/clip_fraction": clipped,
            "learning/gradient_norm": norm,
            "learning/first_ratio_error": first_ratio_error,
            "learning/explained_variance": shared.explained_variance(),
            "learning/value_std": float(self.network.value_std),
            "learning/learning_rate": self.learning_rate(progress),
            "learning/entropy_bonus": entropy_bonus,
        }

    def _step(
        self, rows: Batch, entropy_bonus: float, teacher_weight: float = 0.0, totals: Totals | None = None
    ) -> tuple[list[Losses], torch.Tensor]:
        """One gradient step on a minibatch.

        Args:
            rows: this process's share of it, which may be empty where there are several processes.
            entropy_bonus: as of ``losses``.
            teacher_weight: as of ``losses``.
            totals: of the whole minibatch; None where this process has all of it.

        Returns:
            The losses of this process's blocks, and (7,) what is reported of the minibatch, with the gradient's norm last.

        Raises:
            NonFiniteError: before the weights are touched.
        """
        parameters = [parameter for _, parameter in self.named_parameters()]
        totals = totals or Totals.of(rows)
        losses, found = [], []
        for block in self.forward.blocks(len(rows.returns)):
            losses.append(self.losses(rows.rows(block), entropy_bonus, teacher_weight, totals))
            found.append(torch.autograd.grad(losses[-1].total, parameters, allow_unused=True))
        # Added one after another: the order decides how sums are rounded.
        gradients = [_sum([gradient for gradient in own if gradient is not None]) for own in zip(*found, strict=True)]
        report = torch.zeros(len(_TERMS), device=rows.returns.device)
        if losses:
            report = torch.stack([torch.stack([getattr(block, term).detach() for block in losses]).sum() for term in _TERMS])
        if self.processes.size > 1:
            gradients, report = self._add_up(gradients or [None] * len(parameters), report)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        norm = torch.nn.utils.get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None])
        # Before shortening: a norm that is not finite would spread to every gradient and hide where it arose.
        if not (torch.isfinite(report[0]) and torch.isfinite(norm)):
            self._name_the_culprit(losses)
        torch.nn.utils.clip_grads_with_norm_(parameters, self.config.max_grad_norm, norm)
        self.optimiser.step()
        return losses, torch.cat([report[1:], norm[None]])

    def _add_up(self, gradients: Sequence[torch.Tensor | None], report: torch.Tensor) -> tuple[list[torch.Tensor | None], torch.Tensor]:
        """The sums over all processes, in one call; a gradient that is missing counts as 0."""
        shapes = [parameter.shape for _, parameter in self.named_parameters()]
        own = [report.new_zeros(shape) if each is None else each for each, shape in zip(gradients, shapes, strict=True)]
        total = self.processes.add(torch.cat([report, *(each.ravel() for each in own)]))
        report, *flat = total.split([len(report), *(shape.numel() for shape in shapes)])
        return [each.view(shape) for each, shape in zip(flat, shapes, strict=True)], report

    def _name_the_culprit(self, losses: Sequence[Losses]) -> None:
        """Find where a loss stopped being finite.

        Raises:
            NonFiniteError: For the earliest tensor of the computation, in any process, that is not finite.
        """
        suspects = [(0, f"parameter {name}", parameter.detach()) for name, parameter in self.named_parameters()]
        if losses:
            for name in ("ratio", "policy", "value", "entropy", "teacher"):
                suspects.append((1, f"loss term {name}", torch.cat([getattr(block, name).detach().ravel() for block in losses])))
        suspects += [(2, f"gradient of {name}", each.grad) for name, each in self.named_parameters() if each.grad is not None]
        own = (3, "the gradient's norm is not finite although each gradient is: it overflows")
        for stage, name, tensor in reversed(suspects):
            try:
                check_finite(**{name: tensor})
            except NonFiniteError as error:
                own = (stage, str(error))
        found = self.processes.gather(own)
        rank = min(range(len(found)), key=lambda each: found[each][0])
        raise NonFiniteError(found[rank][1], rank)


# Of a minibatch's losses: the total, whose being finite is looked at, and what is reported.
_TERMS = ("total", "policy", "value", "entropy", "teacher", "approximate_kl", "clip_fraction")


def _sum(tensors: list[torch.Tensor]) -> torch.Tensor | None:
    return functools.reduce(torch.add, tensors) if tensors else None

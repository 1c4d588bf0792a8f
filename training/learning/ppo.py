"""Proximal policy optimisation, written out (Schulman et al. 2017, equations 7 and 9).

The details that matter, in order of the code:
 1. Value targets are normalised with running statistics, and the value head is rescaled when these move, so that
    its outputs in units of reward stay what they were (PopArt: van Hasselt et al. 2016, equations 6 and 7).
 2. Advantages are normalised over the whole rollout: with 1. the scale of rewards drops out of every gradient.
 3. The update uses the same action mask as the rollout did, so that with unchanged weights every ratio is 1.
 4. Clipped surrogate; no clipping of the value loss; entropy over legal actions only.
 5. Rows with weight 0 (forced decisions, seats not to move) train the value alone.
 6. Gradients are shortened to a maximal norm; learning rate and entropy bonus fall linearly over the run.
 7. A minibatch's gradient is the sum of its parts', worked on side by side (training/learning/shards.py).
 8. A tensor that is not finite stops the run by name, before it reaches the weights.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from agents.neural.base import PolicyValueNetwork
from agents.neural.loss_statistics import choice_statistics
from training.config import TrainConfig
from training.learning.forward import Forward
from training.learning.rollout import Rollout
from training.learning.shards import Parts

_SMALLEST_STD = 1e-6


class NonFiniteError(FloatingPointError):
    """A tensor of the update holds NaN or infinity; the message names it."""


def check_finite(**tensors: torch.Tensor | np.ndarray) -> None:
    """Raises NonFiniteError naming the first of ``tensors`` that holds NaN or infinity, and how many."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            tensor = torch.from_numpy(tensor)
        bad = int((~torch.isfinite(tensor)).sum())
        if bad:
            raise NonFiniteError(f"{name} holds {bad} of {tensor.numel()} values that are not finite")


class ValueNormaliser:
    """Running mean and standard deviation of the value targets, each update's batch with equal weight.

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


@dataclass(frozen=True)
class Batch:
    """A rollout's rows as tensors on the learner's device; advantages and returns are normalised."""

    observations: torch.Tensor
    hidden: torch.Tensor
    action_masks: torch.Tensor
    actions: torch.Tensor
    teacher_actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    policy_weights: torch.Tensor

    def rows(self, index: torch.Tensor | slice) -> Batch:
        """The rows of a minibatch, or of a part of it."""
        return Batch(**{name: tensor[index] for name, tensor in vars(self).items()})


@dataclass(frozen=True)
class Totals:
    """What a minibatch's means are divided by: rows, and () float32 sums of the rows' policy weights and of those taught."""

    rows: int
    weight: torch.Tensor
    taught: torch.Tensor

    @classmethod
    def of(cls, rows: Batch) -> Totals:
        """Of all rows of a minibatch."""
        taught = rows.policy_weights * (rows.teacher_actions >= 0)
        return cls(len(rows.returns), rows.policy_weights.sum().clamp_min(1.0), taught.sum().clamp_min(1.0))


@dataclass(frozen=True)
class Losses:
    """Loss of a minibatch, or a part's share of it, and what is reported of it; all but ``ratio`` () float32, ``ratio`` (R,)."""

    total: torch.Tensor
    policy: torch.Tensor
    value: torch.Tensor
    entropy: torch.Tensor
    teacher: torch.Tensor
    approximate_kl: torch.Tensor
    clip_fraction: torch.Tensor
    ratio: torch.Tensor


class PpoLearner:
    """The network being trained, its optimiser and the unit of its values.

    critic: a network for the values of training alone, that sees all cards too, or None.
    generator: NumPy's, of the order of minibatches; part of the run's exact state.
    """

    def __init__(
        self, network: PolicyValueNetwork, config: TrainConfig, generator: np.random.Generator, critic: PolicyValueNetwork | None = None
    ) -> None:
        self.network, self.config, self.generator, self.critic = network, config, generator, critic
        self.optimiser = torch.optim.Adam(
            [parameter for _, parameter in self.named_parameters()], lr=config.learning_rate, eps=1e-5, fused=True
        )
        self.normaliser = ValueNormaliser(config.value_decay)
        self.parts = Parts.of(config)
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

    def prepare(self, rollout: Rollout) -> Batch:
        """Move the values' unit to the rollout's returns (detail 1) and normalise (1, 2).

        Raises NonFiniteError for advantages or returns that are not finite.
        """
        check_finite(advantages=rollout.advantages, returns=rollout.returns, log_probs=rollout.log_probs)
        self.normaliser.update(rollout.returns, *(each for each in (self.network, self.critic) if each is not None))
        counted = rollout.advantages[rollout.policy_weights > 0].astype(np.float64)
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

        progress: 0 to 1 of the run. Raises NonFiniteError, with the weights as they were before the bad step.
        """
        batch = self.prepare(rollout)
        for group in self.optimiser.param_groups:
            group["lr"] = self.learning_rate(progress)
        entropy_bonus, teacher_weight = self.entropy_bonus(progress), self.config.teacher_share(progress)
        num_minibatches = max(1, round(len(rollout) / self.config.minibatch_size))
        reports, first_ratio_error = [], None
        for _ in range(self.config.update_epochs):
            order = torch.from_numpy(self.generator.permutation(len(rollout)))
            for index in order.tensor_split(num_minibatches):
                rows = batch.rows(index.to(batch.returns.device))
                losses, report = self._step(rows, entropy_bonus, teacher_weight)
                if first_ratio_error is None:
                    first_ratio_error = max(float((part.ratio.detach() - 1.0).abs().max()) for part in losses)
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
            "learning/explained_variance": self._explained_variance(rollout),
            "learning/value_std": float(self.network.value_std),
            "learning/learning_rate": self.learning_rate(progress),
            "learning/entropy_bonus": entropy_bonus,
        }

    def _step(self, rows: Batch, entropy_bonus: float, teacher_weight: float = 0.0) -> tuple[list[Losses], torch.Tensor]:
        """One gradient step on a minibatch; returns its parts' losses, and what is reported, with the gradient's norm last.

        Raises NonFiniteError before the weights are touched.
        """
        parameters = [parameter for _, parameter in self.named_parameters()]
        totals = Totals.of(rows)

        def gradients(part: slice) -> tuple[Losses, Sequence[torch.Tensor | None]]:
            losses = self.losses(rows.rows(part), entropy_bonus, teacher_weight, totals)
            return losses, torch.autograd.grad(losses.total, parameters, allow_unused=True)

        losses, parts = zip(*self.parts.run(gradients, totals.rows), strict=True)
        for parameter, own in zip(parameters, zip(*parts, strict=True), strict=True):
            given = [gradient for gradient in own if gradient is not None]
            # Added one after another: the order decides how sums are rounded.
            parameter.grad = functools.reduce(torch.add, given) if given else None
        norm = torch.nn.utils.get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None])
        # Before shortening: a norm that is not finite would spread to every gradient and hide where it arose.
        if not (all(torch.isfinite(part.total) for part in losses) and torch.isfinite(norm)):
            self._name_the_culprit(losses)
        torch.nn.utils.clip_grads_with_norm_(parameters, self.config.max_grad_norm, norm)
        self.optimiser.step()
        terms = ("policy", "value", "entropy", "teacher", "approximate_kl", "clip_fraction")
        sums = [torch.stack([getattr(part, term).detach() for part in losses]).sum() for term in terms]
        return list(losses), torch.stack([*sums, norm])

    def _name_the_culprit(self, losses: Sequence[Losses]) -> None:
        """Raises NonFiniteError for the earliest tensor of the computation that is not finite."""
        for name, parameter in self.named_parameters():
            check_finite(**{f"parameter {name}": parameter.detach()})
        for name in ("ratio", "policy", "value", "entropy", "teacher"):
            check_finite(**{f"loss term {name}": torch.cat([getattr(part, name).detach().ravel() for part in losses])})
        for name, parameter in self.named_parameters():
            if parameter.grad is not None:
                check_finite(**{f"gradient of {name}": parameter.grad})
        raise NonFiniteError("the gradient's norm is not finite although each gradient is: it overflows")

    @staticmethod
    def _explained_variance(rollout: Rollout) -> float:
        size = rollout.num_decisions
        variance = float(rollout.returns[:size].var()) if size else 0.0
        if variance == 0.0:
            return 0.0
        return 1.0 - float((rollout.returns[:size] - rollout.values[:size]).var()) / variance

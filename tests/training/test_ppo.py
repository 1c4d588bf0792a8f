"""The update's numerics: the same mask as in play, the scale of points, schedules, and the guard against NaN."""

import numpy as np
import pytest
import torch

import training.learning.ppo
from training.learning.ppo import NonFiniteError, ValueNormaliser, check_finite

from .fake_vector_game import FakeVectorGame
from .helpers import make_learner, small_config


def trained(config=None, games=None, rollouts=5):
    learner, collector = make_learner(config, games)
    for _ in range(rollouts):
        learner.update(collector.collect(learner.network), 0.0)
    return learner, collector


def test_with_unchanged_weights_the_first_ratio_is_one():
    learner, collector = trained()
    rollout = collector.collect(learner.network)
    batch = learner.prepare(rollout)
    ratio = learner.losses(batch, 0.0).ratio
    assert (ratio - 1).abs().max() < 1e-5
    assert learner.update(rollout, 0.0)["learning/first_ratio_error"] < 1e-5


def test_dropping_the_mask_in_the_update_is_noticed(monkeypatch):
    learner, collector = trained()
    rollout = collector.collect(learner.network)
    with_mask = training.learning.ppo.choice_statistics
    everything = lambda logits, masks, *rest: with_mask(logits, torch.ones_like(masks), *rest)  # noqa: E731
    monkeypatch.setattr(training.learning.ppo, "choice_statistics", everything)
    assert learner.update(rollout, 0.0)["learning/first_ratio_error"] > 1e-2


def policy_gradients(scale):
    """Gradients of the first update's policy loss, and of its whole loss, by parameter."""
    learner, collector = make_learner(games=FakeVectorGame(32, 0, scale=scale))
    batch = learner.prepare(collector.collect(learner.network))
    losses = learner.losses(batch, 0.01)
    parameters = dict(learner.network.named_parameters())
    gradients = []
    for loss in (losses.policy, losses.total):
        found = torch.autograd.grad(loss, parameters.values(), retain_graph=True, allow_unused=True)
        gradients.append({n: g for n, g in zip(parameters, found, strict=True) if g is not None})
    return gradients


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_the_scale_of_rewards_leaves_the_first_gradients_alone(scale):
    for plain, scaled in zip(policy_gradients(1.0), policy_gradients(scale), strict=True):
        assert plain.keys() == scaled.keys()
        for name, gradient in plain.items():
            assert (scaled[name] - gradient).norm() <= 0.01 * gradient.norm(), name


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_the_scale_of_rewards_leaves_the_learned_policy_alone(scale):
    plain, _ = trained(rollouts=3)
    scaled, _ = trained(games=FakeVectorGame(32, 0, scale=scale), rollouts=3)
    observations = torch.from_numpy(FakeVectorGame(32, 5).observations)
    with torch.no_grad():
        logits, values = plain.network(observations)
        scaled_logits, scaled_values = scaled.network(observations)
    torch.testing.assert_close(scaled_logits, logits, rtol=0.01, atol=0.01)
    expected = plain.network.denormalise(values) * scale
    torch.testing.assert_close(scaled.network.denormalise(scaled_values), expected, rtol=0.02, atol=0.002 * scale)


def test_moving_the_unit_of_values_keeps_their_outputs():
    learner, collector = trained()
    observations = torch.from_numpy(collector.games.observations)
    with torch.no_grad():
        before = learner.network.denormalise(learner.network(observations)[1])
        learner.normaliser.update(np.array([3.0, 50.0, -200.0], np.float32), learner.network)
        after = learner.network.denormalise(learner.network(observations)[1])
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-4)


def test_the_normaliser_forgets_at_its_rate_and_counts_the_first_batch_in_full():
    learner, _ = make_learner()
    normaliser = ValueNormaliser(0.75)
    normaliser.update(np.array([1.0, 3.0], np.float32), learner.network)
    assert float(learner.network.value_mean) == 2.0 and float(learner.network.value_std) == 1.0
    normaliser.update(np.array([6.0, 6.0], np.float32), learner.network)
    assert float(learner.network.value_mean) == pytest.approx(0.75 * 2 + 0.25 * 6)
    normaliser.update(np.zeros(4, np.float32), make_learner()[0].network)
    assert np.isfinite(normaliser.mean)


def test_nothing_paid_is_no_division_by_zero():
    learner, _ = trained(games=FakeVectorGame(32, 0, scale=0.0), rollouts=2)
    for parameter in learner.network.parameters():
        assert torch.isfinite(parameter).all()


def test_rows_without_weight_move_the_policy_head_not_at_all():
    learner, collector = make_learner()
    rollout = collector.collect(learner.network)
    rollout.policy_weights[:] = 0
    losses = learner.losses(learner.prepare(rollout), 0.01)
    losses.total.backward()
    assert (learner.network.policy_head.weight.grad == 0).all()
    assert (learner.network.value_head.weight.grad != 0).any()


def test_schedules_are_linear():
    learner, _ = make_learner(small_config(learning_rate=2e-3, final_learning_rate_share=0.5, entropy_coef_start=0.02))
    assert learner.learning_rate(0.0) == pytest.approx(2e-3) and learner.learning_rate(1.0) == pytest.approx(1e-3)
    assert learner.learning_rate(0.5) == pytest.approx(1.5e-3)
    assert learner.entropy_bonus(0.0) == 0.02 and learner.entropy_bonus(1.0) == 0.0


def test_the_gradient_is_shortened():
    learner, collector = make_learner(small_config(max_grad_norm=1e-3))
    norm = learner._step(learner.prepare(collector.collect(learner.network)), 0.01)[1][-1]
    kept = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in learner.network.parameters()]))
    assert norm > 1e-2 and kept == pytest.approx(1e-3, rel=1e-3)


def test_the_guard_names_the_tensor_and_spares_the_weights():
    learner, collector = trained(rollouts=1)
    rollout = collector.collect(learner.network)
    rollout.advantages[3] = np.nan
    with pytest.raises(NonFiniteError, match="advantages holds 1 of"):
        learner.update(rollout, 0.0)
    rollout = collector.collect(learner.network)
    with torch.no_grad():
        learner.network.hidden[1].weight[0, 0] = torch.inf
    with pytest.raises(NonFiniteError, match=r"parameter hidden\.1\.weight"):
        learner.update(rollout, 0.0)


def test_the_guard_names_a_gradient_before_it_reaches_the_weights():
    learner, collector = trained(rollouts=1)
    rollout = collector.collect(learner.network)
    before = {name: p.detach().clone() for name, p in learner.network.named_parameters()}
    learner.network.hidden[0].bias.register_hook(lambda gradient: gradient * torch.nan)
    with pytest.raises(NonFiniteError, match=r"gradient of hidden\.0\.bias"):
        learner.update(rollout, 0.0)
    for name, parameter in learner.network.named_parameters():
        if not name.startswith("value_head"):  # moved to the new unit of values, as it should be
            torch.testing.assert_close(parameter.detach(), before[name], rtol=0, atol=0)


def test_check_finite_counts():
    check_finite(a=torch.ones(3), b=np.zeros(2))
    with pytest.raises(NonFiniteError, match="b holds 2 of 3"):
        check_finite(a=torch.ones(3), b=torch.tensor([1.0, torch.inf, torch.nan]))

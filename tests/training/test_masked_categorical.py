"""The masked distribution: illegal actions do not exist for it, and nothing overflows."""

import numpy as np
import pytest
import torch

from agents.neural.loss_statistics import choice_statistics, plain_choice_statistics
from agents.neural.masked_categorical import (
    best_actions,
    masked_entropy,
    masked_log_probs,
    masked_probabilities,
    sample_actions,
)
from hf_env.policy_batch import NoLegalActionError

A = 127


def random_case(rows=64, scale=3.0, seed=0):
    generator = np.random.default_rng(seed)
    logits = (generator.standard_normal((rows, A)) * scale).astype(np.float32)
    masks = (generator.random((rows, A)) < 0.1).astype(np.int8)
    masks[np.arange(rows), generator.integers(0, A, rows)] = 1
    return logits, masks


def test_illegal_actions_have_probability_and_gradient_exactly_zero():
    logits, masks = random_case()
    x = torch.tensor(logits, requires_grad=True)
    legal = torch.from_numpy(masks) != 0
    log_probs = masked_log_probs(x, legal)
    assert (log_probs.exp()[~legal] == 0).all()
    torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(len(logits)))
    chosen = log_probs.gather(1, torch.from_numpy(masks.argmax(1))[:, None])
    (chosen.exp().sum() + masked_entropy(log_probs).sum()).backward()
    assert (x.grad[~legal] == 0).all()
    assert (x.grad[legal] != 0).any()


@pytest.mark.parametrize("num_legal", [1, 2, 40, A])
def test_entropy_counts_legal_actions_only(num_legal):
    legal = torch.zeros(1, A, dtype=torch.bool)
    legal[0, :num_legal] = True
    entropy = masked_entropy(masked_log_probs(torch.zeros(1, A), legal))
    torch.testing.assert_close(entropy, torch.log(torch.tensor([float(num_legal)])))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_all_is_finite_for_logits_up_to_ten_thousand(sign):
    logits, masks = random_case(seed=1)
    logits = np.clip(logits * 4000, -1e4, 1e4) * np.float32(sign)
    x = torch.tensor(logits, requires_grad=True)
    legal = torch.from_numpy(masks) != 0
    log_probs = masked_log_probs(x, legal)
    entropy = masked_entropy(log_probs)
    chosen = log_probs.gather(1, torch.from_numpy(masks.argmax(1))[:, None])
    (chosen.sum() + entropy.sum()).backward()
    for tensor in (log_probs, entropy, x.grad):
        assert torch.isfinite(tensor).all()
    probabilities = masked_probabilities(logits, masks)
    assert np.isfinite(probabilities).all() and (probabilities[masks == 0] == 0).all()


def test_samples_follow_the_distribution_and_report_its_log_probability():
    logits, masks = random_case(rows=1, seed=2)
    rows = 100_000
    draws = (np.arange(rows) + 0.5) / rows  # a grid: the counts are exact to one draw an action
    actions, log_probs = np.empty(rows, np.int32), np.empty(rows, np.float32)
    sample_actions(logits.repeat(rows, 0), masks.repeat(rows, 0), draws, actions, log_probs)
    expected = masked_probabilities(logits, masks)[0]
    np.testing.assert_allclose(np.bincount(actions, minlength=A) / rows, expected, atol=2e-5)
    torch_log_probs = masked_log_probs(torch.from_numpy(logits), torch.from_numpy(masks) != 0)[0]
    np.testing.assert_allclose(log_probs, torch_log_probs.numpy()[actions], atol=2e-6)


def test_extreme_draws_and_logits_give_legal_actions():
    logits, masks = random_case(scale=4000, seed=3)
    actions, log_probs = np.empty(len(logits), np.int32), np.empty(len(logits), np.float32)
    for draw in (0.0, 1.0 - 2.0**-53):
        sample_actions(logits, masks, np.full(len(logits), draw), actions, log_probs)
        assert masks[np.arange(len(logits)), actions].all()
        assert np.isfinite(log_probs).all()


def test_best_action_is_legal_and_largest():
    logits, masks = random_case(seed=4)
    actions = np.empty(len(logits), np.int32)
    best_actions(logits, masks, actions)
    np.testing.assert_array_equal(actions, np.where(masks != 0, logits, -np.inf).argmax(1))


def _sampled(logits, masks):
    sample_actions(logits, masks, np.full(len(logits), 0.5), np.empty(len(logits), np.int32), np.empty(len(logits), np.float32))


def _statistics(of):
    def call(logits, masks):
        nothing = torch.zeros(len(logits), dtype=torch.int32)
        of(torch.from_numpy(logits), torch.from_numpy(masks), nothing, nothing)

    return call


DISTRIBUTIONS = {
    "sample": _sampled,
    "argmax": lambda logits, masks: best_actions(logits, masks, np.empty(len(logits), np.int32)),
    "probabilities": masked_probabilities,
    "torch": lambda logits, masks: masked_log_probs(torch.from_numpy(logits), torch.from_numpy(masks)),
    "torch bool": lambda logits, masks: masked_log_probs(torch.from_numpy(logits), torch.from_numpy(masks) != 0),
    "loss": _statistics(choice_statistics),
    "plain loss": _statistics(plain_choice_statistics),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_row_without_a_legal_action_is_an_error_that_names_it(name):
    logits, masks = random_case(rows=8, seed=5)
    DISTRIBUTIONS[name](logits, masks)
    masks[5:7] = 0
    with pytest.raises(NoLegalActionError, match="row 5 has no legal action"):
        DISTRIBUTIONS[name](logits, masks)


def test_a_row_without_a_finite_logit_is_an_error_that_names_it():
    logits, masks = random_case(rows=8, seed=5)
    logits[3] = np.nan
    with pytest.raises(ValueError, match="row 3 has no probabilities"):
        _sampled(logits, masks)

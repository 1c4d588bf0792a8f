"""Going on from what another policy has learned."""

from __future__ import annotations

import torch

from agents.neural import NeuralPolicy
from agents.neural.base import PolicyValueNetwork
from agents.registry import load
from training.config import ConfigError


def load_initial(spec: str) -> PolicyValueNetwork:
    """The network of a policy to go on from.

    Args:
        spec: of ``agents.load``.

    Raises:
        ConfigError: Where it names none.
    """
    try:
        policy = load(spec)
    except ValueError as error:
        raise ConfigError(f"initial_policy: {error}") from None
    if not isinstance(policy, NeuralPolicy):
        raise ConfigError(f"initial_policy: {spec} is no network")
    return policy.network


def load_initial_weights(ours: PolicyValueNetwork, spec: str) -> None:
    """Give a network what a policy has learned.

    Raises:
        ConfigError: For one that is built otherwise or sees other numbers.
    """
    theirs = load_initial(spec)
    for name, value in ours.config.model_dump().items():
        if getattr(theirs.config, name) != value:
            raise ConfigError(f"initial_policy: {spec} has network.{name} = {getattr(theirs.config, name)!r}, the run {value!r}")
    if not torch.equal(theirs.observation_scale, ours.observation_scale):
        raise ConfigError(f"initial_policy: {spec} sees other numbers of the observation: it was trained under other rule sets")
    ours.load_state_dict(theirs.state_dict())

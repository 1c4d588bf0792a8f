"""Going on from what another policy has learned."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from agents.neural import NeuralPolicy
from agents.neural.base import PolicyValueNetwork
from agents.registry import PYTHON, SCRIPTED, SEARCH, load, parse_spec
from agents.shipped import chosen_spec
from hf_env.rules import RuleSet
from training.config import ConfigError


def chosen_initial(spec: str, rules: Sequence[RuleSet]) -> str:
    """The policy itself, or who plays for ``pretrained``: the shipped player that knows all these rule sets best.

    Raises:
        ConfigError: Where it names none, or none was made for this table.
    """
    try:
        parsed = parse_spec(spec)
        # Before it is loaded: a config that somebody else has written must not run a module that it names, inside a search neither.
        if parsed.name.startswith(PYTHON) or parsed.name in (*SCRIPTED, SEARCH):
            raise ConfigError(f"initial_policy: {spec} is no network: it must be pretrained, or the path of a run or checkpoint")
        return str(chosen_spec(parsed, *rules))
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"initial_policy: {error}") from None


def load_initial(spec: str, rules: Sequence[RuleSet]) -> PolicyValueNetwork:
    """The network of a policy to go on from.

    Args:
        spec: of ``agents.load``.
        rules: of the run.

    Raises:
        ConfigError: Where it names none.
    """
    try:
        policy = load(chosen_initial(spec, rules))
    except ValueError as error:
        raise ConfigError(f"initial_policy: {error}") from None
    if not isinstance(policy, NeuralPolicy):
        raise ConfigError(f"initial_policy: {spec} is no network")
    return policy.network


def load_initial_weights(ours: PolicyValueNetwork, spec: str, rules: Sequence[RuleSet]) -> None:
    """Give a network what a policy has learned.

    Args:
        spec, rules: as for ``load_initial``.

    Raises:
        ConfigError: For one that is built otherwise or sees other numbers.
    """
    spec = chosen_initial(spec, rules)
    theirs = load_initial(spec, rules)
    for name, value in ours.config.model_dump().items():
        if getattr(theirs.config, name) != value:
            raise ConfigError(f"initial_policy: {spec} has network.{name} = {getattr(theirs.config, name)!r}, the run {value!r}")
    if not torch.equal(theirs.observation_scale, ours.observation_scale):
        raise ConfigError(f"initial_policy: {spec} sees other numbers of the observation: it was trained under other rule sets")
    ours.load_state_dict(theirs.state_dict())

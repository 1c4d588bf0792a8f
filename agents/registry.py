"""Policies by name: ``load("greedy")``, ``load("pretrained:mode=argmax")``, ``load("runs/mine")``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from agents.play.judging import attempt, describe_error, message_of
from agents.policy import Policy, as_policy
from agents.scripted.table import PLAYER_IDS
from agents.shipped import FOLDER, NAME, PLAYERS, ChoosingPolicy, chooses
from agents.specs import PolicySpec, UnknownPolicyError
from hf_env.suggest import did_you_mean

SEARCH = "search"
SCRIPTED = tuple(PLAYER_IDS)
PYTHON = "python:"

# Options of search that are those of the policy inside it.
_OF_INNER = ("mode", "rules")


def parse_spec(text: str | Path | PolicySpec) -> PolicySpec:
    """Parse a policy's name, such as ``"greedy"``, ``"runs/mine:mode=argmax"`` or ``"search:policy=pretrained,rules=several"``.

    Args:
        text: the name as a user writes it; a spec is returned as it is.

    Returns:
        The spec. Nothing is looked up: see ``check_spec``.

    Raises:
        UnknownPolicyError: the name is empty, an option has no value, or an option is of a policy inside that is not named.
    """
    if isinstance(text, PolicySpec):
        return text
    text = str(text)
    # Only what follows the last colon, and only if it looks like options: a path may hold colons.
    name, colon, tail = text.rpartition(":")
    if not colon or "=" not in tail:
        name, tail = text, ""
    options = {}
    for part in filter(None, tail.split(",")):
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise UnknownPolicyError(f"option {part!r} in {text!r} is not of the form name=value")
        options[key.strip()] = value.strip()
    if not name:
        raise UnknownPolicyError(f"{text!r} names no policy")
    if name != SEARCH:
        return PolicySpec(name, options)
    of_inner = {key: options.pop(key) for key in list(options) if key in _OF_INNER}
    inner = options.pop("policy", None)
    if inner is None and of_inner:
        raise UnknownPolicyError(f"search: {next(iter(of_inner))} is an option of the policy inside; give policy too")
    return PolicySpec(name, options, None if inner is None else PolicySpec(inner, of_inner))


def known_policies() -> tuple[str, ...]:
    """Names of the policies that this installation has, without options."""
    return (*SCRIPTED, SEARCH, NAME)


def load(spec: Any) -> Policy:
    """Load a policy.

    Args:
        spec: a name of ``known_policies()`` (``"search:rollouts=200"``, ``"pretrained:mode=argmax"``); a path to a checkpoint or run folder
            (``"runs/mine:mode=argmax"``); ``"python:MODULE:NAME"`` for a policy, a class of policies or a function of your own
            (this runs the module); a PolicySpec; or already a policy or a function of (observations, action_masks).
            ``"pretrained"`` plays as the shipped player that knows the rules best, which its ``start`` is told;
            ``"pretrained:rules=several"`` is the one of that name.

    Returns:
        The policy.

    Raises:
        UnknownPolicyError: nothing has that name, or a module or class of your own fails.
        CheckpointError: the checkpoint is damaged.
    """
    if not isinstance(spec, str | Path | PolicySpec):
        return as_policy(spec)
    spec = parse_spec(spec)
    if chooses(spec):
        check_spec(spec)
        return ChoosingPolicy(spec, load)
    if spec.name in SCRIPTED or spec.name == SEARCH:
        return _package_of(spec).make(spec)
    if spec.name.startswith(PYTHON):
        return _load_python(spec.name, dict(spec.options))
    return _load_neural(spec)


def check_spec(spec: PolicySpec) -> None:
    """Check that a policy can be loaded, without loading it: its name, its options, and that a checkpoint's path is there.

    The module of ``python:MODULE:NAME`` is not run, so that only the form of such a name is checked.

    Args:
        spec: of ``parse_spec``.

    Raises:
        UnknownPolicyError: nothing has that name, or an option is unknown or out of its range.
        CheckpointError: the checkpoint has no JSON, or one of another format or version.
    """
    if spec.name in SCRIPTED or spec.name == SEARCH:
        _package_of(spec).check(spec)
    elif spec.name.startswith(PYTHON):
        _module_and_name(spec.name)
    else:
        _checked_info(spec)


def checkpoint_info(spec: PolicySpec) -> dict[str, Any] | None:
    """Read what a checkpoint says of itself, without its tensors; of a search, that of the policy inside.

    Args:
        spec: of ``parse_spec``; one that is chosen by the rules is to be chosen before (``agents.shipped.chosen_spec``).

    Returns:
        The values of its JSON (agents/neural/checkpoint.py); None where the spec is no checkpoint's.

    Raises:
        UnknownPolicyError: there is no such path.
        CheckpointError: the checkpoint has no JSON, or one of another format or version.
    """
    if spec.name == SEARCH and spec.inner is not None:
        return checkpoint_info(spec.inner)
    if spec.name in SCRIPTED or spec.name == SEARCH or spec.name.startswith(PYTHON):
        return None
    return _checked_info(spec)


def _package_of(spec: PolicySpec) -> Any:
    """The package that offers ``make(spec)`` and ``check(spec)`` for a scripted player or a search."""
    return importlib.import_module("agents.search" if spec.name == SEARCH else "agents.scripted")


def _checkpoint_path(spec: PolicySpec) -> tuple[Path, dict[str, str]]:
    """Where the checkpoint of a spec lies, and the options that are left.

    Raises:
        UnknownPolicyError: For rules that no shipped player was trained for, and for no path.
    """
    options = dict(spec.options)
    known = {"mode": "sample|argmax"}
    if spec.name == NAME:
        rules = options.pop("rules", PLAYERS[0])
        if rules not in PLAYERS:
            there = " and ".join(f"rules={name}" for name in PLAYERS)
            raise UnknownPolicyError(f"{NAME} has no rules={rules}; there is {there}{did_you_mean(rules, PLAYERS)}")
        path = FOLDER / rules
        known["rules"] = "|".join(PLAYERS)
    else:
        path = Path(spec.name)
    if not path.exists():
        names = known_policies()
        hint = did_you_mean(spec.name, names)
        raise UnknownPolicyError(f"{spec.name!r} is neither a known policy ({', '.join(names)}) nor a path to a checkpoint{hint}")
    if importlib.util.find_spec("torch") is None:
        raise UnknownPolicyError(f"{path} is a neural policy and needs PyTorch: pip install 'hf-env[train]'")
    unknown = sorted(set(options) - {"mode"})
    if unknown:
        hint = did_you_mean(unknown[0], known)
        there = ", ".join(f"{name}={values}" for name, values in known.items())
        raise UnknownPolicyError(f"a checkpoint has no option {unknown[0]!r}; it has {there}{hint}")
    return path, options


def _checked_info(spec: PolicySpec) -> dict[str, Any]:
    """The JSON of a checkpoint whose options are checked too."""
    path, options = _checkpoint_path(spec)
    from agents.neural.checkpoint import read_info
    from agents.neural.policy import check_mode

    try:
        check_mode(options.get("mode", "sample"))
    except ValueError as error:
        raise UnknownPolicyError(str(error)) from None
    return read_info(path)[1]


def _load_neural(spec: PolicySpec) -> Policy:
    path, options = _checkpoint_path(spec)
    from agents.neural import NeuralPolicy, load_policy

    network, info = load_policy(path)
    try:
        return NeuralPolicy(network, info=info, **options)
    except ValueError as error:
        raise UnknownPolicyError(str(error)) from None


def _module_and_name(name: str) -> tuple[str, str]:
    """The parts of ``python:MODULE:NAME``.

    Raises:
        UnknownPolicyError: For another form.
    """
    module_name, colon, attribute = name.removeprefix(PYTHON).partition(":")
    if not (module_name and colon and attribute):
        raise UnknownPolicyError(f"{name!r} is not of the form python:MODULE:NAME")
    return module_name, attribute


def _load_python(name: str, options: dict[str, str]) -> Policy:
    """The policy of ``python:MODULE:NAME``: that object of the module, or what it makes where it is a class."""
    module_name, attribute = _module_and_name(name)
    # As `python -m` does: a module beside the user is found, though the command's script lies elsewhere.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    found, error = attempt(lambda: getattr(importlib.import_module(module_name), attribute))
    if isinstance(error, (ImportError, AttributeError)):
        names = getattr(sys.modules.get(module_name), "__dict__", {})
        hint = did_you_mean(attribute, [each for each in names if not each.startswith("_") and each != attribute])
        raise UnknownPolicyError(f"{name!r} cannot be found: {message_of(error)}{hint}") from error
    if error is not None:
        raise UnknownPolicyError(f"{name!r} cannot be imported: {describe_error(error)}") from error
    if options and not isinstance(found, type):
        raise UnknownPolicyError(f"{name!r} is no class, so it has no options")
    policy, error = attempt(lambda: as_policy(found(**options) if isinstance(found, type) else found))
    if error is not None:
        made_with = f" with {options}" if options else ""
        raise UnknownPolicyError(f"{name!r} cannot be made{made_with}: {describe_error(error)}") from error
    return policy

"""Policies by name: ``load("greedy")``, ``load("pretrained:mode=argmax")``, ``load("runs/mine")``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from agents.play.answers import attempt, message_of, told
from agents.policy import Policy, as_policy
from agents.scripted.table import PLAYER_IDS

SCRIPTED = tuple(PLAYER_IDS)
PYTHON = "python:"
# A folder for each shipped policy, with its card; the first is what "pretrained" alone means.
PRETRAINED_FOLDER = Path(__file__).parent / "pretrained"
PRETRAINED = ("whitnack", "several")


class UnknownPolicyError(ValueError):
    """A spec that names no policy, or an option that it does not have; the message is one line for a user."""


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Name or path, and options, of a spec such as ``"search:rollouts=200,seed=1"``.

    Raises UnknownPolicyError for an empty name or an option without a value.
    """
    # Only what follows the last colon, and only if it looks like options: a path may hold colons.
    name, colon, tail = spec.rpartition(":")
    if not colon or "=" not in tail:
        name, tail = spec, ""
    options = {}
    for part in filter(None, tail.split(",")):
        key, equals, value = part.partition("=")
        if not (key and equals and value):
            raise UnknownPolicyError(f"option {part!r} in {spec!r} is not of the form name=value")
        options[key.strip()] = value.strip()
    if not name:
        raise UnknownPolicyError(f"{spec!r} names no policy")
    return name, options


def known_policies() -> tuple[str, ...]:
    """Names of the policies that this installation has, without options."""
    found = list(SCRIPTED)
    if importlib.util.find_spec("agents.search") is not None:
        found.append("search")
    if (PRETRAINED_FOLDER / PRETRAINED[0]).exists():
        found.append("pretrained")
    return tuple(found)


def load(spec: Any) -> Policy:
    """The policy that ``spec`` names.

    spec: a name of ``known_policies()`` (``"search:rollouts=200"``, ``"pretrained:mode=argmax"``,
    ``"pretrained:rules=several"`` for the one that knows several rule sets), a path to a
    checkpoint or run folder (both with ``:mode=sample`` or ``:mode=argmax``), ``"python:MODULE:NAME"`` for a policy, a
    class of policies or a function of your own (this runs the module), or already a policy or a function of
    (observations, action_masks).

    Raises UnknownPolicyError for what names no policy, and for a module or class of your own that fails;
    CheckpointError for a damaged checkpoint.
    """
    if isinstance(spec, Path):
        spec = str(spec)
    if not isinstance(spec, str):
        return as_policy(spec)
    name, options = parse_spec(spec)
    if name in SCRIPTED:
        return _load_from("agents.scripted", name, options)
    if name == "search":
        return _load_from("agents.search", name, options)
    if name.startswith(PYTHON):
        return _load_python(name, options)
    path = _pretrained(options) if name == "pretrained" else Path(name)
    if not path.exists():
        raise UnknownPolicyError(f"{name!r} is neither a known policy ({', '.join(known_policies())}) nor a path to a checkpoint")
    return _load_neural(path, options)


def _pretrained(options: dict[str, str]) -> Path:
    """The folder of the shipped policy that the options name; takes ``rules`` out of them."""
    rules = options.pop("rules", PRETRAINED[0])
    if rules not in PRETRAINED:
        raise UnknownPolicyError(f"pretrained has no rules={rules}; there is {' and '.join(f'rules={one}' for one in PRETRAINED)}")
    return PRETRAINED_FOLDER / rules


def _load_from(module_name: str, name: str, options: dict[str, str]) -> Policy:
    """A policy from a package that offers ``make(name, **options)``."""
    if importlib.util.find_spec(module_name) is None:
        raise UnknownPolicyError(f"the policy {name!r} is not part of this installation")
    try:
        return importlib.import_module(module_name).make(name, **options)
    except (TypeError, KeyError) as error:
        raise UnknownPolicyError(f"the policy {name!r} cannot be made with {options}: {error}") from None


def _load_python(name: str, options: dict[str, str]) -> Policy:
    """The policy of ``python:MODULE:NAME``: that object of the module, or what it makes where it is a class."""
    module_name, colon, attribute = name.removeprefix(PYTHON).partition(":")
    if not (module_name and colon and attribute):
        raise UnknownPolicyError(f"{name!r} is not of the form python:MODULE:NAME")
    # As `python -m` does: a module beside the user is found, though the command's script lies elsewhere.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    found, error = attempt(lambda: getattr(importlib.import_module(module_name), attribute))
    if isinstance(error, (ImportError, AttributeError)):
        raise UnknownPolicyError(f"{name!r} cannot be found: {message_of(error)}") from error
    if error is not None:
        raise UnknownPolicyError(f"{name!r} cannot be imported: {told(error)}") from error
    if options and not isinstance(found, type):
        raise UnknownPolicyError(f"{name!r} is no class, so it has no options")
    policy, error = attempt(lambda: as_policy(found(**options) if isinstance(found, type) else found))
    if error is not None:
        made_with = f" with {options}" if options else ""
        raise UnknownPolicyError(f"{name!r} cannot be made{made_with}: {told(error)}") from error
    return policy


def _load_neural(path: Path, options: dict[str, str]) -> Policy:
    if importlib.util.find_spec("torch") is None:
        raise UnknownPolicyError(f"{path} is a neural policy and needs PyTorch: pip install 'hf-env[train]'")
    from agents.neural import NeuralPolicy, load_policy

    unknown = set(options) - {"mode"}
    if unknown:
        raise UnknownPolicyError(f"a checkpoint has no option {sorted(unknown)[0]!r}; it has mode=sample|argmax")
    network, info = load_policy(path)
    try:
        return NeuralPolicy(network, info=info, **options)
    except ValueError as error:
        raise UnknownPolicyError(str(error)) from None

"""The exact state of a trainer as arrays and JSON values, and back: all that its next iteration depends on.

A test walks over every object of a trainer and fails where something that an iteration changes is in neither.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.neural.base import PolicyValueNetwork
from agents.neural.checkpoint import CheckpointError, check_tensors
from agents.neural.sections import first_difference, layout_sections
from hf_env.reading import as_model
from hf_env.rules.ruleset import flat
from hf_env.seeds import SEEDS_VERSION
from training.config import saved_settings
from training.league.league import Member
from training.run.checkpoints import as_like, load_member, read_checkpoint
from training.run.schema import RunValues

_logger = logging.getLogger(__name__)


def rank_state(trainer) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and JSON values of what each process of a run has for itself: its games, its line-ups and its streams."""
    league_arrays, league_values = trainer.league.state()
    arrays = {f"games/{key}": np.asarray(array) for key, array in trainer.games.state_dict().items()}
    arrays |= {f"league/{key}": array for key, array in league_arrays.items()}
    return arrays, {"minibatches": trainer.learner.generator.bit_generator.state, "league": league_values}


def trainer_state(trainer) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and JSON values of a ``training.trainer.Trainer`` between two iterations, all but its network's tensors.

    Those of other processes have ``rank1/`` and so on before their names, or lie in the list ``ranks``.
    """
    learner = trainer.learner
    (arrays, own), *others = trainer.processes.gather(rank_state(trainer))
    if learner.critic is not None:
        arrays |= {f"critic/{name}": tensor.detach().cpu().numpy() for name, tensor in learner.critic.state_dict().items()}
    for name, parameter in learner.named_parameters():
        for key, tensor in learner.optimiser.state[parameter].items():
            arrays[f"optimiser/{name}/{key}"] = tensor.detach().cpu().numpy()
    for rank, (theirs, _) in enumerate(others, 1):
        arrays |= {f"rank{rank}/{key}": array for key, array in theirs.items()}
    values = {
        "arrays": sorted(arrays),
        "seeds": SEEDS_VERSION,
        "config": trainer.config.fingerprint_values(),
        "rules": _rules(trainer),
        "sections": layout_sections(trainer.games.observation_layout),
        "iteration": trainer.iteration,
        "decisions": trainer.decisions,
        "seconds": trainer.seconds,
        "step_number": trainer.collector.step_number,
        "num_rollouts": trainer.collector.num_rollouts,
        "evaluations": trainer.evaluations,
        "pool_additions": trainer.pool_additions,
        "normaliser": learner.normaliser.state(),
        "strength": trainer.strength.state(),
    } | own  # fmt: skip
    if others:
        values["ranks"] = [theirs for _, theirs in others]
    return arrays, values


def _of_rank(arrays: dict[str, np.ndarray], values: dict[str, Any], rank: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A checkpoint's arrays and values as the process of that rank has them."""
    if rank == 0:
        return arrays, values
    prefix = f"rank{rank}/"
    own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    return arrays | own, values | values["ranks"][rank - 1]


def read_state(trainer) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
    """Network, arrays and values of the newest whole checkpoint of the trainer's run.

    Raises:
        CheckpointError: Where there is none, or naming the first difference where it is of a run with other settings, rules
            or observation.
    """
    found = read_checkpoint(trainer.run_dir)
    with _saying_what_is_wrong():
        values = found[2]
        as_model(values, RunValues, "its state")
        _check_fits(trainer, values)
        # A state of before names no version of the seeds.
        begun_with = values.get("seeds", 1)
        if begun_with != SEEDS_VERSION:
            _logger.warning(
                "%s was begun with seeds of version %s, this is version %s: it goes on with other cards, so not bit for bit",
                trainer.run_dir, begun_with, SEEDS_VERSION,
            )  # fmt: skip
        if "processes" not in values["config"]:
            _logger.warning("%s was begun before training had processes: it goes on with one, not bit for bit", trainer.run_dir)
    return found


def run_so_far(run_dir: Path) -> tuple[float, int]:
    """Seconds and decisions of the newest whole checkpoint of a run.

    Raises:
        CheckpointError: Where there is none, or it is of another version.
    """
    values = read_checkpoint(run_dir)[2]
    with _saying_what_is_wrong():
        said = as_model(values, RunValues, "its state")
    return said.seconds, said.decisions


def load_state(trainer, found: tuple[Any, dict[str, np.ndarray], dict[str, Any]]) -> float:
    """Take up what ``read_state`` found; returns the seconds that the run has taken.

    Raises:
        CheckpointError: For what is missing.
    """
    network, arrays, values = found
    with _saying_what_is_wrong():
        # An optimiser's moment that is not there would silently begin anew.
        for name in values["arrays"]:
            if name not in arrays:
                raise KeyError(name)
        _load(trainer, network, *_of_rank(arrays, values, trainer.processes.rank))
        return values["seconds"]


@contextmanager
def _saying_what_is_wrong() -> Iterator[None]:
    """Turns what a checkpoint of another version leads to into CheckpointError."""
    try:
        yield
    except KeyError as error:
        raise CheckpointError(f"the checkpoint lacks {error.args[0]!r}: it is of another version") from None
    except (TypeError, ValueError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"the checkpoint does not fit this version: {error}") from None


def _load(trainer, network, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> None:
    learner = trainer.learner
    template = trainer.games.state_dict()
    # Looked at before anything is taken up: what learns is compiled code, which checks no bounds.
    judged = {}
    if learner.critic is not None:
        judged = {name: _tensor(arrays[f"critic/{name}"], like) for name, like in learner.critic.state_dict().items()}
        _check_network(judged, learner.critic)
    _check_network(network.state_dict(), learner.network)
    moments = {name: _moments(arrays, name, parameter) for name, parameter in learner.named_parameters()}
    trainer.games.load_state_dict({k: as_like(arrays[f"games/{k}"], np.asarray(v)) for k, v in template.items()})
    learner.network.load_state_dict(network.state_dict())
    if learner.critic is not None:
        learner.critic.load_state_dict(judged)
    for name, parameter in learner.named_parameters():
        # "step" stays on the CPU, as the optimiser made it; the moments go where the parameter is.
        learner.optimiser.state[parameter] = {key: tensor.to(parameter.device) for key, tensor in moments[name].items()}
    learner.normaliser.load_state(values["normaliser"])
    learner.generator.bit_generator.state = values["minibatches"]
    members = [
        Member.from_bytes(
            member["number"],
            member["decisions"],
            load_member(trainer.run_dir, member["digest"]),
            trainer.config.network,
            trainer.games.num_actions,
            trainer.config.device,
        )
        for member in values["league"]["members"]
    ]
    league_arrays = {key.removeprefix("league/"): array for key, array in arrays.items() if key.startswith("league/")}
    trainer.league.load_state(league_arrays, values["league"], members)
    trainer.strength.load_state(values["strength"])
    trainer.iteration, trainer.decisions = values["iteration"], values["decisions"]
    trainer.evaluations, trainer.pool_additions = values["evaluations"], values["pool_additions"]
    trainer.collector.step_number, trainer.collector.num_rollouts = values["step_number"], values["num_rollouts"]


def _check_network(tensors: Mapping[str, torch.Tensor], ours: PolicyValueNetwork) -> None:
    """Check tensors of a network that reads the same numbers as ours.

    Raises:
        ValueError: Naming the first tensor that does not fit.
    """
    check_tensors(tensors, ours.state_dict())
    for name, own in ours.named_buffers():
        # The values' unit is learned.
        if name in tensors and name not in ("value_mean", "value_std") and not torch.equal(tensors[name].cpu(), own.cpu()):
            raise ValueError(f"it is of a network that reads other numbers of the observation: {name} differs")


def _moments(arrays: dict[str, np.ndarray], name: str, parameter: torch.Tensor) -> dict[str, torch.Tensor]:
    """What Adam keeps of a parameter; nothing where it has not moved it yet.

    Raises:
        ValueError: Where that does not fit the parameter.
    """
    prefix = f"optimiser/{name}/"
    moment = torch.empty_like(parameter, device="meta", requires_grad=False)
    expected = {"step": torch.zeros(()), "exp_avg": moment, "exp_avg_sq": moment}
    kept = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
    found = {key: _tensor(array, expected.get(key, moment)) for key, array in kept.items()}
    check_tensors(found, expected if found else {})
    if found and (found["step"] < 0 or (found["exp_avg_sq"] < 0).any()):
        raise ValueError(f"the optimiser's moments of {name} are below 0")
    return found


def _tensor(array: np.ndarray, like: torch.Tensor) -> torch.Tensor:
    """A tensor of a saved array; states of before hold single numbers as arrays of one."""
    return torch.from_numpy(np.array(array).reshape(like.shape if array.shape == (1,) and like.ndim == 0 else array.shape))


def _check_fits(trainer, values: dict[str, Any]) -> None:
    """Check that a checkpoint is of the trainer's run.

    Raises:
        CheckpointError: Naming the first setting, rule or section that differs.
    """
    if len(values.get("ranks", ())) != trainer.processes.size - 1:
        raise CheckpointError(f"the checkpoint is of {len(values.get('ranks', ())) + 1} processes, here are {trainer.processes.size}")
    begun_with = saved_settings(values["config"])
    for name, here in trainer.config.fingerprint_values().items():
        made_with = begun_with.get(name)
        if made_with != here:
            raise CheckpointError(f"the checkpoint was made with {name} = {_short(made_with)}, not {_short(here)}")
    if len(values["rules"]) != len(_rules(trainer)):
        raise CheckpointError(f"the checkpoint is of {len(values['rules'])} rule sets, here are {len(_rules(trainer))}")
    for saved, here in zip(values["rules"], _rules(trainer), strict=True):
        for option in {**here, **saved}:
            if saved.get(option) != here.get(option):
                was, now = saved.get(option), here.get(option)
                raise CheckpointError(f"the rules are not those of the checkpoint: {option} was {_short(was)}, here it is {_short(now)}")
    difference = first_difference(values["sections"], layout_sections(trainer.games.observation_layout))
    if difference:
        raise CheckpointError(f"the checkpoint was made for another observation: {difference}")


def _short(value: Any) -> str:
    """A value of JSON, or of a setting, of a line's length."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _rules(trainer) -> list[dict[str, Any]]:
    """Every option of each rule set, and its fingerprint, which changes with an option's meaning too."""
    sets = [{**flat(rules.resolved()), "fingerprint": rules.fingerprint} for rules in trainer.rules]
    return [{name: value for name, value in options.items() if name != "preset"} for options in json.loads(json.dumps(sets))]

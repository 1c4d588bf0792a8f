"""The exact state of a run on disk, between two rollouts: all that the next iteration depends on.

A run folder (training/run/folder.py) has a pointer to its newest checkpoint; each checkpoint is a policy
(agents/neural/checkpoint.py) with its state beside it. Frozen selves lie in the pool, each under the name of its
hash, and are written once. There are no open streams to keep: a rollout's end cuts and bootstraps every one of
them (training/learning/advantages.py).
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from agents.neural.checkpoint import (
    JSON_NAME,
    CheckpointError,
    as_checkpoint_errors,
    load_policy,
    read_json,
    read_model,
    read_verified,
    save_policy,
    sha256,
    values_sha256,
)
from agents.neural.schema import Pointer
from hf_env.files import PART, sync_folder, write_file, write_json
from hf_env.reading import as_model
from training.run.folder import STATE_JSON, STATE_TENSORS, RunFolder
from training.run.schema import NamedLeagues, StateFile

STATE_FORMAT = "hf-training-state/2"
# One more than needed, for the case that the newest is found damaged.
_KEPT = 2
_DIGEST = re.compile(r"[0-9a-f]{64}")
_logger = logging.getLogger(__name__)


def write_checkpoint(
    run_dir: Path, name: str, network, info: dict[str, Any], arrays: dict[str, np.ndarray], values: dict[str, Any]
) -> Path:
    """Write a checkpoint beside the others, point to it, and remove the oldest; returns its folder.

    Args:
        info: of the policy, as ``save_policy`` takes it.
        arrays: plain or structured arrays.
        values: JSON values.
    """
    run = RunFolder(run_dir)
    folder = run.checkpoint(name)
    part = folder.with_name(name + PART)
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    policy_digest = save_policy(part, network, info)
    data = safetensors.numpy.save({key: _plain(array) for key, array in arrays.items()})
    write_file(part / STATE_TENSORS, data)
    head = {
        "format": STATE_FORMAT,
        "sha256": sha256(data),
        "policy_sha256": policy_digest,
        "policy_json_sha256": sha256((part / JSON_NAME).read_bytes()),
        "values_sha256": values_sha256(values),
    }
    write_json(part / STATE_JSON, head | {"values": values})
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(part, folder)
    sync_folder(folder.parent)
    write_json(run.pointer, {"checkpoint": run.pointed(name)})
    _remove_old(run, folder)
    return folder


def read_checkpoint(run_dir: Path) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
    """Network, arrays and values of the newest checkpoint, or, where that is damaged, of the newest whole one.

    Structured arrays come back as bytes (N, itemsize) uint8: see ``as_like``.

    Raises:
        CheckpointError: Saying what is wrong with the newest, where none is whole.
    """
    run = RunFolder(run_dir)
    first_error = None
    for folder in _candidates(run):
        try:
            found = _read(run_dir, folder)
        except CheckpointError as error:
            first_error = first_error or error
            continue
        if first_error is not None:
            _logger.warning("%s; going on from %s", first_error, folder)
        return found
    raise first_error or CheckpointError(f"{run_dir} holds no checkpoint")


def _candidates(run: RunFolder) -> list[Path]:
    """Folders of checkpoints: the one that the pointer names, then the others, newest first."""
    folders = run.finished_checkpoints()[::-1]
    try:
        pointed = run.checkpoint(Path(read_model(run.pointer, Pointer).checkpoint).name)
    except CheckpointError:
        return folders
    return [pointed, *(folder for folder in folders if folder != pointed)]


def _read(run_dir: Path, folder: Path) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
    state = read_json(folder / STATE_JSON)
    if not isinstance(state, dict) or state.get("format") != STATE_FORMAT:
        found = state.get("format") if isinstance(state, dict) else None
        raise CheckpointError(f"{folder / STATE_JSON} is of the format {found!r}, this version reads {STATE_FORMAT!r}")
    with as_checkpoint_errors():
        said = as_model(state, StateFile, str(folder / STATE_JSON))
        members = as_model(said.values, NamedLeagues, str(folder / STATE_JSON)).digests()
    values = said.values
    if values_sha256(values) != said.values_sha256:
        raise CheckpointError(f"{folder / STATE_JSON} is damaged: its values do not have the SHA-256 that it names")
    network, info = load_policy(folder)
    read_verified(folder / JSON_NAME, said.policy_json_sha256)
    if info["sha256"] != said.policy_sha256:
        raise CheckpointError(f"the policy in {folder} is not the one that its state was saved with")
    data = read_verified(folder / STATE_TENSORS, said.sha256)
    try:
        arrays = safetensors.numpy.load(data)
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{folder / STATE_TENSORS} cannot be read: {reason}") from None
    for digest in members:
        load_member(run_dir, digest)
    return network, arrays, values


def as_like(array: np.ndarray, template: np.ndarray) -> np.ndarray:
    """Inverse of storing a structured array as bytes: ``array`` with the template's dtype and shape.

    Raises:
        CheckpointError: Where it does not fit, as when the engine's record has changed.
    """
    if template.dtype.names is None:
        if array.dtype != template.dtype or array.shape != template.shape:
            found, kept = (f"{list(each.shape)} of {each.dtype}" for each in (array, template))
            raise CheckpointError(f"a saved array is {found}, this version keeps {kept}")
        return array
    if array.dtype != np.uint8 or array.shape != (*template.shape, template.dtype.itemsize):
        raise CheckpointError("the games in progress were saved by a version with another record")
    return np.ascontiguousarray(array).view(template.dtype).reshape(array.shape[:-1])


def _plain(array: np.ndarray) -> np.ndarray:
    array = np.asarray(array, order="C")
    if array.dtype.names is None:
        return array
    return array.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def save_member(run_dir: Path, digest: str, data: bytes) -> None:
    """Write a frozen self's tensors under the name of their hash, unless they are there."""
    path = RunFolder(run_dir).member(digest)
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        write_file(path, data)


def load_member(run_dir: Path, digest: str) -> bytes:
    """A frozen self's tensors.

    Raises:
        CheckpointError: Where they are missing or not those of the hash.
    """
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise CheckpointError(f"{digest!r} is no SHA-256 of a frozen self")
    return read_verified(RunFolder(run_dir).member(digest), digest)


def _remove_old(run: RunFolder, written: Path) -> None:
    """Keep the newest checkpoints, that which was just written among them; what a killed process left half written goes.

    Frozen selves stay, for the strength curve.
    """
    others = [folder for folder in run.finished_checkpoints() if folder != written]
    for folder in (*run.unfinished_checkpoints(), *others[: len(others) + 1 - _KEPT]):
        shutil.rmtree(folder)

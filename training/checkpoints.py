"""The exact state of a run on disk, between two rollouts: all that the next iteration depends on.

A run folder holds ``latest.json``, which points into ``checkpoints/``; each checkpoint there is a policy
(agents/neural/checkpoint.py) with ``state.safetensors`` and ``state.json`` beside it. Frozen selves lie in
``pool/``, each under the name of its hash, and are written once. There are no open streams to keep: a rollout's
end cuts and bootstraps every one of them (training/advantages.py).
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from agents.neural.checkpoint import (
    POINTER_NAME,
    CheckpointError,
    load_policy,
    read_json,
    read_verified,
    save_policy,
    sha256,
    write_file,
    write_json,
)

STATE_FORMAT = "hf-training-state/1"
STATE_TENSORS = "state.safetensors"
STATE_JSON = "state.json"
# One more than needed, for the case that the newest is found damaged.
_KEPT = 2


def write_checkpoint(
    run_dir: Path, name: str, network, info: dict[str, Any], arrays: dict[str, np.ndarray], values: dict[str, Any]
) -> Path:
    """Write a checkpoint beside the others, point to it, and remove the oldest; returns its folder.

    info: of the policy, as ``save_policy`` takes it. arrays: plain or structured arrays. values: JSON values.
    """
    folder = run_dir / "checkpoints" / name
    part = folder.with_name(name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    policy_digest = save_policy(part, network, info)
    data = safetensors.numpy.save({key: _plain(array) for key, array in arrays.items()})
    write_file(part / STATE_TENSORS, data)
    head = {"format": STATE_FORMAT, "sha256": sha256(data), "policy_sha256": policy_digest}
    write_json(part / STATE_JSON, head | values)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(part, folder)
    write_json(run_dir / POINTER_NAME, {"checkpoint": f"checkpoints/{name}"})
    _remove_old(run_dir)
    return folder


def read_checkpoint(run_dir: Path) -> tuple[Any, dict[str, np.ndarray], dict[str, Any]]:
    """The newest checkpoint's network, arrays and values.

    Structured arrays come back as bytes (N, itemsize) uint8: see ``as_like``. Raises CheckpointError where
    anything is missing or damaged.
    """
    pointer = run_dir / POINTER_NAME
    if not pointer.is_file():
        raise CheckpointError(f"{run_dir} holds no checkpoint: {POINTER_NAME} is not there")
    folder = run_dir / str(read_json(pointer).get("checkpoint"))
    values = read_json(folder / STATE_JSON)
    if values.get("format") != STATE_FORMAT:
        raise CheckpointError(f"{folder / STATE_JSON} is not of the format {STATE_FORMAT}")
    network, info = load_policy(folder)
    if info["sha256"] != values.get("policy_sha256"):
        raise CheckpointError(f"the policy in {folder} is not the one that its state was saved with")
    data = read_verified(folder / STATE_TENSORS, values.get("sha256", ""))
    try:
        arrays = safetensors.numpy.load(data)
    except safetensors.SafetensorError as error:
        raise CheckpointError(f"{folder / STATE_TENSORS} cannot be read: {error}") from None
    return network, arrays, values


def as_like(array: np.ndarray, template: np.ndarray) -> np.ndarray:
    """Inverse of storing a structured array as bytes: ``array`` with the template's dtype and shape.

    Raises CheckpointError where it does not fit, as when the engine's record has changed.
    """
    if template.dtype.names is None:
        if array.dtype != template.dtype:
            raise CheckpointError(f"a saved array has dtype {array.dtype}, this version keeps {template.dtype}")
        return array
    if array.dtype != np.uint8 or array.shape[-1] != template.dtype.itemsize:
        raise CheckpointError("the games in progress were saved by a version with another record")
    return np.ascontiguousarray(array).view(template.dtype).reshape(array.shape[:-1])


def _plain(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    if array.dtype.names is None:
        return array
    return array.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def save_member(run_dir: Path, digest: str, data: bytes) -> None:
    """Write a frozen self's tensors under the name of their hash, unless they are there."""
    folder = run_dir / "pool"
    folder.mkdir(exist_ok=True)
    path = folder / f"{digest}.safetensors"
    if not path.exists():
        write_file(path, data)


def load_member(run_dir: Path, digest: str) -> bytes:
    """A frozen self's tensors. Raises CheckpointError where they are missing or not those of the hash."""
    return read_verified(run_dir / "pool" / f"{digest}.safetensors", digest)


def _remove_old(run_dir: Path) -> None:
    """Keep the newest checkpoints and the frozen selves that they name."""
    folders = sorted(path for path in (run_dir / "checkpoints").iterdir() if path.is_dir())
    for folder in folders[:-_KEPT]:
        shutil.rmtree(folder)
    named = set()
    for folder in folders[-_KEPT:]:
        try:
            state = json.loads((folder / STATE_JSON).read_text())
        except (OSError, ValueError):
            continue
        named |= {member["digest"] for member in state.get("pool", {}).get("members", [])}
    for path in (run_dir / "pool").glob("*.safetensors"):
        if path.stem not in named:
            path.unlink()

"""A policy on disk: tensors as safetensors with JSON beside them. Nothing that is loaded can run code.

``policy.safetensors`` holds the network's tensors, the observation's scale and the value's unit among them.
``policy.json`` holds the format, the network's config, the table (seats, sides, rules and their fingerprints), the
observation's sections when it was trained and those among them that the network reads (options are sections too), the
versions of observation, actions and seeds, the lineage, and the SHA-256 of the tensors' file and of the other values.
What both say is checked (agents/neural/schema.py), and each tensor's shape, type and range, before a network is built.

It loads wherever the sections that it reads exist, whatever others have come between them. A version is raised only when
what a name says gets another meaning.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from agents.neural.base import NetworkConfig, PolicyValueNetwork
from agents.neural.devices import usable_device
from agents.neural.factory import MAX_NETWORK_BYTES, make_network, tensors_of
from agents.neural.schema import Pointer, PolicyFile
from agents.neural.sections import sections_read
from hf_env import reading
from hf_env.actions import ACTIONS, ACTIONS_VERSION
from hf_env.files import UnreadableError, read_file, write_file, write_json
from hf_env.observation.layout import LAYOUT_VERSION
from hf_env.seeds import SEEDS_VERSION

POLICY_FORMAT = "hf-policy/1"
TENSORS_NAME = "policy.safetensors"
JSON_NAME = "policy.json"
# A run folder's pointer to its newest checkpoint; training/run/checkpoints.py writes it.
POINTER_NAME = "latest.json"


# What the numbers that a network reads and writes mean; a policy of other versions would play nonsense.
VERSIONS = {"observation": LAYOUT_VERSION, "actions": ACTIONS_VERSION}


class CheckpointError(ValueError):
    """A checkpoint is missing, damaged, or made for something else; the message is one line for a user."""


def sha256(data: bytes) -> str:
    """Hexadecimal SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def values_sha256(values: Any) -> str:
    """SHA-256 of JSON values, whatever their order and spacing in a file."""
    return sha256(json.dumps(values, sort_keys=True).encode())


@contextmanager
def as_checkpoint_errors() -> Iterator[None]:
    """Files that cannot be read are checkpoints that cannot."""
    try:
        yield
    except CheckpointError:
        raise
    except UnreadableError as error:
        raise CheckpointError(str(error)) from None


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises:
        CheckpointError: Where the file is missing or damaged.
    """
    with as_checkpoint_errors():
        return reading.read_json(path)


def read_model(path: Path, model: type[reading.Model]) -> reading.Model:
    """Read JSON as a model.

    Raises:
        CheckpointError: Where the file is missing or damaged, or holds something else.
    """
    with as_checkpoint_errors():
        return reading.read_model(path, model)


def read_verified(path: Path, expected_sha256: str) -> bytes:
    """Bytes of a file.

    Raises:
        CheckpointError: Where it is missing or its SHA-256 is not the expected one.
    """
    try:
        with as_checkpoint_errors():
            data = read_file(path, MAX_NETWORK_BYTES, "file of tensors")
    except FileNotFoundError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    if sha256(data) != expected_sha256:
        raise CheckpointError(f"{path} is damaged: its SHA-256 is not the one in the JSON beside it")
    return data


def network_bytes(network: PolicyValueNetwork) -> bytes:
    """The network's tensors in safetensors form; equal tensors give equal bytes."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    return safetensors.torch.save(tensors)


def network_from_bytes(data: bytes, config: NetworkConfig, num_actions: int) -> PolicyValueNetwork:
    """The network of ``num_actions`` whose tensors are ``data``.

    Raises:
        CheckpointError: Where they do not fit ``config``.
    """
    try:
        tensors = safetensors.torch.load(data)
        scale = tensors["observation_scale"]
        columns = [tensors[name] for name in ("rank_columns", "other_columns")] if config.kind == "ranks" else None
        if scale.ndim != 1 or any(each.dtype != torch.int64 for each in columns or ()):
            raise ValueError("the columns that it reads are no list of whole numbers")
        check_tensors(tensors, tensors_of(config, scale, num_actions, columns))
        network = make_network(config, scale, num_actions, columns)
        network.load_state_dict(tensors)
    except (safetensors.SafetensorError, KeyError, IndexError, RuntimeError, TypeError, ValueError) as error:
        first_line = [*str(error).strip().splitlines(), type(error).__name__][0]
        raise CheckpointError(f"the tensors do not fit the network in the JSON beside them: {first_line}") from None
    return network


def check_tensors(tensors: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]) -> None:
    """Check tensors from a file: their names, shapes and types are those expected, and their numbers finite.

    Args:
        tensors: from anywhere.
        expected: whose own numbers are not looked at.

    Raises:
        ValueError: Naming the first that is missing, too many or different.
    """
    odd = sorted(tensors.keys() ^ expected.keys())
    if odd:
        raise ValueError(f"{odd[0]!r} is {'missing' if odd[0] in expected else 'no tensor of it'}")
    for name, own in expected.items():
        found = tensors[name]
        if found.shape != own.shape or found.dtype != own.dtype:
            raise ValueError(f"{name} is {list(found.shape)} of {found.dtype}, not {list(own.shape)} of {own.dtype}")
        if found.is_floating_point() and not torch.isfinite(found).all():
            raise ValueError(f"{name} holds numbers that are not finite")
    if "value_std" in expected and not tensors["value_std"] > 0:
        raise ValueError("value_std is not above 0")


def save_policy(folder: Path | str, network: PolicyValueNetwork, info: dict[str, Any]) -> str:
    """Write a policy's two files.

    Args:
        folder: made if missing.
        info: JSON values: num_seats, num_sides, sections, rules, rules_names, rules_fingerprints, value_of (the reward and
            shaping that the value is of), lineage. The versions are added, and ``reads``, the sections that the network reads.

    Returns:
        The tensors' SHA-256.

    Raises:
        ValueError: Where the sections are not as long as the network's observation.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    data = network_bytes(network)
    digest = sha256(data)
    head = {"format": POLICY_FORMAT, "versions": VERSIONS | {"seeds": SEEDS_VERSION}, "network": network.config.model_dump()}
    shape = {"observation_width": len(network.observation_scale), "num_actions": network.num_actions}
    if "sections" in info:
        info = info | {"reads": sections_read(info["sections"], network.observation_scale.cpu().numpy())}
    write_file(folder / TENSORS_NAME, data)
    # The JSON comes last: until it is renamed, its old checksum refuses the new tensors.
    values = head | shape | info | {"sha256": digest}
    write_json(folder / JSON_NAME, values | {"json_sha256": values_sha256(values)})
    return digest


def find_policy(path: Path | str) -> Path:
    """The folder of a policy's two files, from that folder, either file, a checkpoint, or a run folder.

    Raises:
        CheckpointError: Where there is none.
    """
    path = Path(path)
    folder = path.parent if path.name in (TENSORS_NAME, JSON_NAME) else path
    if (folder / JSON_NAME).is_file():
        return folder
    if (folder / POINTER_NAME).is_file():
        return folder / read_model(folder / POINTER_NAME, Pointer).checkpoint
    raise CheckpointError(f"{path} holds no policy: neither {JSON_NAME} nor {POINTER_NAME} is there")


def read_info(path: Path | str) -> tuple[Path, dict[str, Any]]:
    """The folder of a policy on disk and its JSON, without its tensors.

    Args:
        path: as in ``find_policy``.

    Raises:
        CheckpointError: Where it is missing, or of another format or version.
    """
    folder = find_policy(path)
    info = read_json(folder / JSON_NAME)
    if not isinstance(info, dict) or info.get("format") != POLICY_FORMAT:
        raise CheckpointError(f"{folder / JSON_NAME} is not of the format {POLICY_FORMAT}")
    with as_checkpoint_errors():
        said = reading.as_model(info, PolicyFile, str(folder / JSON_NAME))
    # A file of before has no checksum of its own.
    if said.json_sha256 not in (None, values_sha256({name: value for name, value in info.items() if name != "json_sha256"})):
        raise CheckpointError(f"{folder / JSON_NAME} is damaged: its values do not have the SHA-256 that it names")
    for name, version in VERSIONS.items():
        if said.versions.get(name) != version:
            found = said.versions.get(name)
            raise CheckpointError(f"{folder} was made for version {found} of the {name}, this is version {version}")
    return folder, info


def load_policy(path: Path | str, device: str = "cpu") -> tuple[PolicyValueNetwork, dict[str, Any]]:
    """The network of a policy on disk, and its JSON.

    Args:
        path: as in ``find_policy``.

    Raises:
        CheckpointError: Where it is missing, damaged, or of another format or version.
        ValueError: For a device that this machine lacks.
    """
    folder, info = read_info(path)
    data = read_verified(folder / TENSORS_NAME, info["sha256"])
    try:
        config = NetworkConfig(**info["network"])
        if info["num_actions"] != len(ACTIONS):
            raise ValueError(f"num_actions is {info['num_actions']}, the game has {len(ACTIONS)}")
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{folder / JSON_NAME} does not describe a known network: {error}") from None
    network = network_from_bytes(data, config, info["num_actions"])
    if len(network.observation_scale) != info["observation_width"]:
        width = len(network.observation_scale)
        raise CheckpointError(f"{folder / JSON_NAME} says observation_width = {info['observation_width']}, and its tensors have {width}")
    network = network.to(usable_device(device))
    network.requires_grad_(False)
    return network, info

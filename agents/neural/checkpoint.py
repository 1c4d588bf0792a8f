"""A policy on disk: tensors as safetensors with JSON beside them. Nothing that is loaded can run code.

``policy.safetensors`` holds the network's tensors, the observation's scale and the value's unit among them.
``policy.json`` holds the format, the network's config, the table (seats, sides, rules and their fingerprints), the
observation's sections when it was trained and those among them that the network reads (options are sections too), the
versions of observation, actions and seeds, the lineage, and the SHA-256 of the tensors' file.

It loads wherever the sections that it reads exist, whatever others have come between them. A version is raised only when
what a name says gets another meaning.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch

from agents.neural.base import NetworkConfig, PolicyValueNetwork
from agents.neural.devices import usable_device
from agents.neural.factory import make_network
from agents.neural.sections import sections_read
from hf_env.actions import ACTIONS_VERSION
from hf_env.files import write_file, write_json
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


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises:
        CheckpointError: Where the file is missing or damaged.
    """
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise CheckpointError(f"{path} is no JSON: {error}") from None


def read_verified(path: Path, expected_sha256: str) -> bytes:
    """Bytes of a file.

    Raises:
        CheckpointError: Where it is missing or its SHA-256 is not the expected one.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
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
        columns = [tensors[name] for name in ("rank_columns", "other_columns")] if config.kind == "ranks" else None
        network = make_network(config, tensors["observation_scale"], num_actions, columns)
        network.load_state_dict(tensors)
    except (safetensors.SafetensorError, KeyError, IndexError, RuntimeError, TypeError, ValueError) as error:
        first_line = str(error).strip().splitlines()[0]
        raise CheckpointError(f"the tensors do not fit the network in the JSON beside them: {first_line}") from None
    return network


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
    write_json(folder / JSON_NAME, head | shape | info | {"sha256": digest})
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
        return folder / str(read_json(folder / POINTER_NAME).get("checkpoint"))
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
    for name, version in VERSIONS.items():
        if info.get("versions", {}).get(name) != version:
            found = info.get("versions", {}).get(name)
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
    data = read_verified(folder / TENSORS_NAME, info.get("sha256", ""))
    try:
        config, num_actions = NetworkConfig(**info["network"]), int(info["num_actions"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{folder / JSON_NAME} does not describe a known network: {error}") from None
    network = network_from_bytes(data, config, num_actions).to(usable_device(device))
    network.requires_grad_(False)
    return network, info

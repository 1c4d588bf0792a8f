"""Everything that an object holds, as a flat table: path -> bytes. Finds state that a checkpoint forgot."""

import dataclasses
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, SimpleNamespace

import numpy as np
import torch

_OPAQUE = (FunctionType, MethodType, BuiltinFunctionType, ModuleType, type, PurePath, torch.device, torch.dtype, np.dtype)


def walk(root):
    """{path: bytes} of all numbers, texts, arrays, tensors and generators reachable from ``root``."""
    found, seen, alive = {}, set(), []

    def visit(thing, path):
        if isinstance(thing, np.generic):
            found[path] = repr(thing.item()).encode()
        elif thing is None or isinstance(thing, (bool, int, float, complex, str, bytes)):
            found[path] = repr(thing).encode()
        elif isinstance(thing, _OPAQUE) or callable(getattr(thing, "__func__", None)):
            return
        elif isinstance(thing, np.ndarray):
            found[path] = thing.tobytes()
        elif isinstance(thing, torch.Tensor):
            found[path] = thing.detach().cpu().numpy().tobytes()
        elif id(thing) not in seen:
            seen.add(id(thing))
            alive.append(thing)  # so that no other object gets its id
            inside(thing, path)

    def inside(thing, path):
        if isinstance(thing, np.random.Generator):
            found[path] = repr(thing.bit_generator.state).encode()
        elif isinstance(thing, torch.optim.Optimizer):
            for number, parameter in enumerate(thing.param_groups[0]["params"]):
                visit(dict(sorted(thing.state.get(parameter, {}).items())), f"{path}.state[{number}]")
        elif isinstance(thing, dict):
            found[path + ".keys"] = repr([key for key in thing if isinstance(key, (str, int, tuple))]).encode()
            for key, value in list(thing.items()):
                visit(value, f"{path}[{key!r}]" if isinstance(key, (str, int, tuple)) else f"{path}[{type(key).__name__}]")
        elif isinstance(thing, (list, tuple, set, frozenset)):
            found[path + ".length"] = str(len(thing)).encode()
            for number, value in enumerate(sorted(thing, key=repr) if isinstance(thing, (set, frozenset)) else thing):
                visit(value, f"{path}[{number}]")
        elif isinstance(thing, SimpleNamespace) or dataclasses.is_dataclass(thing) or hasattr(thing, "__dict__"):
            for name, value in vars(thing).items():
                visit(value, f"{path}.{name}")

    visit(root, "")
    return found


def differences(one, other):
    """Paths whose values differ between two tables, or that only one has."""
    return {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}

"""Ways of spoiling bytes, JSON values and arrays, each by a generator alone."""

import copy
import json
import math
import random

import numpy as np

# Values of other kinds and sizes than any file of this project holds.
ODD_VALUES = (
    None, True, False, 0, 1, -1, 5, 255, 256, 65_536, -(1 << 31), 1 << 31, (1 << 63) - 1, 1 << 63, -(1 << 63), 10**30, 10**400,
    0.5, -0.0, 1e308, -1e308, math.nan, math.inf, -math.inf, "", "x", "5", "\x00", "\ud800", "ä", "a" * 5_000, "../../etc", "/dev/zero",
    "python:os:abort", "none", [], {}, [[]], [{}], {"": 0}, [None] * 50, list(range(3)), {"a": {"b": {"c": []}}},
)  # fmt: skip

_INNER = (b"null", b"5", b'"', b"{", b"]", b"1e999", b"9" * 5_000, b"\n", b"-", b"\\u0000")


def spoil_bytes(data, rng):
    """Bytes of a file that something has happened to: (what, bytes)."""
    data = bytearray(data)
    at = rng.randrange(len(data)) if data else 0
    ways = {
        "a bit": lambda: data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :],
        "some bytes": lambda: bytes(rng.randrange(256) if rng.random() < 0.02 else byte for byte in data),
        "a byte": lambda: data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
        "cut": lambda: data[:at],
        "a piece lost": lambda: data[:at] + data[at + rng.randrange(1, 200) :],
        "a piece twice": lambda: data[: at + 50] + data[at:],
        "zeros at the end": lambda: data + bytes(300),
        "zeros": lambda: bytes(len(data)),
        "rubbish": lambda: rng.randbytes(rng.randrange(1, 3_000)),
        "empty": lambda: b"",
        "no UTF-8": lambda: data[:at] + b"\xff\xfe\x80" + data[at:],
        "an inner text": lambda: data[:at] + rng.choice(_INNER) + data[at:],
        "nesting": lambda: b"[" * 100_000,
        "nesting that ends": lambda: b'{"a":' * 900 + b"1" + b"}" * 900,
        "a lone number": lambda: b"5\n",
        "a long line": lambda: b"a" * 3_000_000,
        "turned round": lambda: data[::-1],
    }  # fmt: skip
    what = rng.choice([*ways])
    return what, bytes(ways[what]() if data else b"\x00")


def places(value, path=()):
    """Paths of all values within a value of JSON."""
    found = [path]
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += places(value[key], (*path, key))
    return found


def spoil_json(value, rng, top=True):
    """A value of JSON with another kind, number or name somewhere in it: (what, value)."""
    value = copy.deepcopy(value)
    # As often in the large lists as in the small tables that hold them.
    path, inner = [], value
    while isinstance(inner, dict | list) and inner and (rng.random() < 0.75 or not (path or top)):
        key = rng.choice([*inner]) if isinstance(inner, dict) else rng.randrange(len(inner))
        path.append(key)
        inner = inner[key]
    if not path:
        return "another value", odd_value(rng)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    last, old = path[-1], inner
    ways = {
        "another value": lambda: holder.__setitem__(last, odd_value(rng)),
        "another number": lambda: holder.__setitem__(last, nearby(old, rng)),
        "gone": lambda: holder.pop(last),
        "one more": lambda: holder.update({"more": 1}) if isinstance(holder, dict) else holder.append(old),
        "another name": lambda: holder.update({str(last) + "x": holder.pop(last)}) if isinstance(holder, dict) else holder.reverse(),
        "in a list": lambda: holder.__setitem__(last, [old]),
        "deep": lambda: holder.__setitem__(last, nested(old, rng.choice([5, 40, 200]))),
    }
    what = rng.choice([*ways])
    ways[what]()
    return f"{what} at {'.'.join(map(str, path))[:60]}", value


def odd_value(rng):
    """One of the odd values."""
    return copy.deepcopy(rng.choice(ODD_VALUES))


def nearby(value, rng):
    """A number near another, or a text with another letter; else an odd value."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return odd_value(rng)
    if isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        return value[:at] + rng.choice(["", "x", "0", "é", " "]) + value[at + 1 :]
    return rng.choice([value + 1, value - 1, -value, value * 1_000_003, float(value) if abs(value) < 1e300 else 0.0, str(value)[:50]])


def nested(value, depth):
    """A value in so many lists."""
    for _ in range(depth):
        value = [value]
    return value


def as_json(value):
    """Bytes of JSON, odd values too."""
    return json.dumps(value).encode()


def spoil_array(array, rng):
    """An array with other numbers, another shape or another type: (what, array)."""
    random = np.random.default_rng(rng.randrange(1 << 60))
    array = np.array(array)
    flat = array.reshape(-1)
    info = np.finfo(array.dtype) if array.dtype.kind == "f" else np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
    extremes = [info.min, info.max, 0, 1] if info is not None else [0, 1]
    extremes += [np.nan, np.inf, -np.inf, 3e38, 1e-40] if array.dtype.kind == "f" else []
    extremes += [-1, 12, 127, 128, 20_000] if array.dtype.kind == "i" else []

    def put(value, places):
        with np.errstate(all="ignore"):
            flat[places] = np.asarray(value).astype(array.dtype)
        return array

    def noise(places):
        flat.view(np.uint8)[places] = random.integers(0, 256, len(places))
        return array

    size = max(flat.nbytes, 1)
    ways = {
        "all one extreme": lambda: put(rng.choice(extremes), slice(None)),
        "an extreme": lambda: put(rng.choice(extremes), random.integers(0, max(len(flat), 1), 1) if len(flat) else []),
        "some extremes": lambda: put(rng.choice(extremes), random.integers(0, max(len(flat), 1), 20) if len(flat) else []),
        "random bytes": lambda: noise(np.arange(flat.nbytes)),
        "a byte": lambda: noise(random.integers(0, size, 1) if flat.nbytes else np.arange(0)),
        "some bytes": lambda: noise(random.integers(0, size, 20) if flat.nbytes else np.arange(0)),
        "shuffled": lambda: random.permutation(flat).reshape(array.shape),
        "fewer rows": lambda: array[: len(array) // 2] if array.ndim else np.zeros(3, array.dtype),
        "more rows": lambda: np.concatenate([array, array, array]) if array.ndim else np.zeros(3, array.dtype),
        "many rows": lambda: np.resize(array, (20_000, *array.shape[1:])) if array.ndim and array.size < 10_000 else array[..., None],
        "flat": lambda: flat,
        "an axis more": lambda: array[None],
        "transposed": lambda: np.ascontiguousarray(array.T),
        "nothing": lambda: np.zeros((0, *array.shape[1:]), array.dtype),
        "another type": lambda: array.astype(rng.choice(["f4", "f8", "i8", "i4", "u1", "i2"])),
        "as other numbers": lambda: flat.view(np.uint8) if rng.random() < 0.5 else array.astype("f8").view("i8"),
    }  # fmt: skip
    what = rng.choice([*ways])
    with np.errstate(all="ignore"):
        return what, ways[what]()


class Harmless(random.Random):
    """A generator by which nothing is spoiled."""


def keeps_harm_away(rng) -> bool:
    return isinstance(rng, Harmless)

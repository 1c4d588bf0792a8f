"""Where networks may live: PyTorch's names of devices that can do what the networks need."""

from __future__ import annotations

import re

import torch

from hf_env.rules.errors import shown

# "meta" computes nothing, and Apple's "mps" has no float64, in which a network keeps the unit of its values.
DEVICE_PATTERN = r"^(cpu|(cuda|xpu)(:[0-9]{1,3})?)$"
DEVICE_WORDS = '"cpu", or PyTorch\'s name of a GPU that this machine has, such as "cuda", "cuda:1" or "xpu"'
_LONGEST_REASON = 120


def usable_device(name: str) -> torch.device:
    """The device of that name.

    Args:
        name: As PyTorch names it.

    Returns:
        The device, on which a tensor was just made.

    Raises:
        ValueError: One line, for a name of another form and for a device that this machine lacks.
    """
    if not isinstance(name, str) or not re.fullmatch(DEVICE_PATTERN, name):
        raise ValueError(f"{shown(name)} is not allowed: it must be {DEVICE_WORDS}")
    try:
        torch.zeros(1, dtype=torch.float64, device=name)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        cut = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} ..."
        raise ValueError(f"{shown(name)} cannot be used here: {cut}") from None
    return torch.device(name)

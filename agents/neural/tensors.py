"""Where PyTorch's tensors meet compiled kernels."""

from __future__ import annotations

import numpy as np
import torch

from hf_env.kernels.compile import INTERPRETED


def runs_compiled(tensor: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether kernels may take this tensor in place of PyTorch's own operations: on the CPU, of this type.

    torch.compile fuses PyTorch's operations, and cannot look into ours.
    """
    return not INTERPRETED and not torch.compiler.is_compiling() and tensor.device.type == "cpu" and tensor.dtype == dtype


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """The tensor's numbers as a contiguous array, the same memory where it is contiguous; autograd does not follow."""
    return tensor.detach().contiguous().numpy()

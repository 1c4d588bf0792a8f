"""The number of threads is measured and left within what the process may use."""

import numpy as np
import torch

from agents.neural import NetworkConfig, build_network

from hf_env.threads import available_cores
from training.threads import fastest_threads



def small_network():
    """A network and rows to measure it on."""
    observations = torch.ones((3, 12), dtype=torch.int16)
    return build_network(NetworkConfig("mlp", width=8, ignored=()), np.ones(12, np.float32), 127, seed=1), observations


def test_chosen_threads_are_available_and_set() -> None:
    threads = fastest_threads(*small_network())
    assert 1 <= threads <= available_cores()
    assert torch.get_num_threads() == threads


def test_measuring_draws_no_random_number() -> None:
    measured = small_network()
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    fastest_threads(*measured)
    assert torch.rand(1) == expected

"""The number of threads is measured and left within what the process may use."""

import torch

from hf_env.threads import available_cores
from training.threads import fastest_threads


def test_chosen_threads_are_available_and_set() -> None:
    threads = fastest_threads(width_in=64, width=32)
    assert 1 <= threads <= available_cores()
    assert torch.get_num_threads() == threads


def test_measuring_draws_no_random_number() -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    fastest_threads(width_in=64, width=32)
    assert torch.rand(1) == expected

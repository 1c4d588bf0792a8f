"""Whole rows of counts, and actions as bits, say the same as a loop over them."""

import itertools

import numpy as np
import pytest

from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.lay_downs import legal_bits, nth_legal, write_actions
from hf_env.kernels.compile import entry
from hf_env.kernels.lanes import at_least, count_bits, lanes, lowest_bit, minus, plus, put_lanes, read_bits, times, write_bits


@entry
def reckon(x, y, factor, out):
    """out[0:11], out[20:34] and out[40:55] = x + y, x - y and x * factor, of the first 11, 14 and 15 counts."""
    put_lanes(out, 0, plus(lanes(x), lanes(y)), 11)
    put_lanes(out, 20, minus(lanes(x), lanes(y)), 14)
    put_lanes(out, 40, times(lanes(x), factor), 15)


@entry
def find_at_least(x, threshold, count):
    return at_least(lanes(x), threshold, count)


@entry
def spread_and_collect(bits, flags, at):
    """Write the bits into flags and read them again; with their number and the lowest."""
    write_bits(flags, at, bits)
    return read_bits(flags, at), count_bits(bits), lowest_bit(bits)


@entry
def all_legal(mask, out):
    """Write the legal actions into out one by one; their number."""
    low, high = legal_bits(mask)
    number = count_bits(low) + count_bits(high)
    for n in range(number):
        out[n] = nth_legal(low, high, n)
    return number


@entry
def mark(mask, first, second, third):
    write_actions(mask, first, second, third)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_rows_are_reckoned_lane_by_lane_and_written_no_further(rng):
    for _ in range(50):
        x, y = rng.integers(-300, 300, (2, 16)).astype(np.int16)
        out = np.full(60, 77, np.int16)
        reckon(x, y, 3, out)
        expected = np.full(60, 77, np.int16)
        expected[:11], expected[20:34], expected[40:55] = (x + y)[:11], (x - y)[:14], (x * 3)[:15]
        assert np.array_equal(out, expected)


def test_at_least_is_a_bit_a_lane(rng):
    for count in (1, 11, 12, 14, 15, 16):
        x = rng.integers(-3, 4, 16).astype(np.int16)
        for threshold in (-3, 0, 1, 3, 4):
            assert find_at_least(x, threshold, count) == sum(1 << i for i in range(count) if x[i] >= threshold)


def test_bits_and_flags_are_one_another(rng):
    for bits in [0, 1, -1, 1 << 62, -(1 << 63), *rng.integers(-(2**63), 2**63 - 1, 50).tolist()]:
        flags = np.full(70, 5, np.int8)
        read, number, lowest = spread_and_collect(bits, flags, 3)
        wanted = [bits >> i & 1 for i in range(64)]
        assert flags.tolist() == [5, 5, 5, *wanted, 5, 5, 5]
        assert read % 2**64 == bits % 2**64 and number == sum(wanted)
        assert lowest == (wanted.index(1) if bits else 64)


def test_the_nth_legal_action_is_that_of_a_list(rng):
    out = np.zeros(NUM_ACTIONS, np.int64)
    for share in (0.01, 0.1, 0.5, 0.9, 1.0):
        for _ in range(40):
            mask = (rng.random(NUM_ACTIONS) < share).astype(np.int8)
            assert out[: all_legal(mask, out)].tolist() == np.flatnonzero(mask).tolist()


def test_actions_of_three_integers_fill_the_mask(rng):
    ends = [0, 41, 75, NUM_ACTIONS]
    for _ in range(50):
        wanted = rng.integers(0, 2, NUM_ACTIONS)
        parts = [sum(1 << i for i, bit in enumerate(wanted[low:high]) if bit) for low, high in itertools.pairwise(ends)]
        mask = rng.integers(0, 2, NUM_ACTIONS).astype(np.int8)
        mark(mask, *parts)
        assert np.array_equal(mask, wanted)

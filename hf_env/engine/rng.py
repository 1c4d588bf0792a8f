"""Counter-based random numbers: every number is a function of the seed and of what it is for.

SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"). No generator has global
state: NumPy's inside compiled code would ignore outside seeds.
"""

import numpy as np

from hf_env.engine.jit import wrapping_kernel

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S33 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(33)
_S11 = np.uint64(11)

# What a stream is for; two purposes never share numbers.
FOR_DEALER, FOR_DECK, FOR_RESHUFFLE, FOR_DEAL_NUMBER, FOR_RULES, FOR_GAME, FOR_POLICY, FOR_SHUFFLE_HIDDEN = 1, 2, 3, 4, 5, 6, 7, 8
FOR_ACTION = 9


@wrapping_kernel
def mix(x):
    """One uint64 scrambled: a bijection of 64 bits in which every input bit reaches every output bit."""
    z = np.uint64(x)
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@wrapping_kernel
def combine(state, value):
    """uint64 state that depends on `state` and on the integer `value`."""
    return mix(np.uint64(state) * _M1 + np.uint64(value) * GAMMA + GAMMA)


@wrapping_kernel
def stream(seed, purpose, a, b):
    """uint64 start of the stream of numbers for (seed, purpose, a, b)."""
    state = combine(np.uint64(0), seed)
    state = combine(state, purpose)
    state = combine(state, a)
    return combine(state, b)


@wrapping_kernel
def advance(state):
    """The stream's next state."""
    return np.uint64(state) + GAMMA


@wrapping_kernel
def below(state, n):
    """Integer in 0..n-1 from a stream's state, for n up to 2**31; the bias is below n / 2**31."""
    return np.int64(((mix(state) >> _S33) * np.uint64(n)) >> _S31)


@wrapping_kernel
def uniform(state):
    """float64 in [0, 1) with 53 random bits from a stream's state."""
    return np.float64(mix(state) >> _S11) * (1.0 / 9007199254740992.0)


@wrapping_kernel
def shuffle(cards, n, state):
    """Shuffle cards[:n] in place (Fisher and Yates); returns the stream's next state."""
    s = np.uint64(state)
    for i in range(n - 1, 0, -1):
        s = s + GAMMA
        j = np.int64(((mix(s) >> _S33) * np.uint64(i + 1)) >> _S31)
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card
    return s

"""Counter-based random numbers: every number is a function of the seed and of what it is for.

A stream begins at a root: BLAKE2b (RFC 7693) of the seed, the purpose and two numbers. The hash is one way, so no
number of one stream tells anything of the seed or of another stream. ``hf_env.seeds`` makes the same roots in Python.
From its root a stream goes on by SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
generators"). No generator has global state: NumPy's inside compiled code would ignore outside seeds.
"""

import numpy as np

from hf_env.engine.purposes import DIGEST_BYTES, PERSON, WORD_BYTES
from hf_env.kernels.compile import entry, wrapping_kernel

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S33 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(33)
_S11 = np.uint64(11)

_ROUNDS = 12
_PERSON = np.frombuffer(PERSON.ljust(16, b"\0"), np.uint64)
# RFC 7693, 2.6: the square roots of the first primes.
_IV = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    np.uint64,
)  # fmt: skip
# RFC 7693, 2.5: the parameter block's first word: digest length, no key, fanout and depth 1.
_H = _IV ^ np.array([0x01010000 | DIGEST_BYTES, 0, 0, 0, 0, 0, _PERSON[0], _PERSON[1]], np.uint64)
_H0, _H1, _H2, _H3, _H4, _H5, _H6, _H7 = _H
_IV0, _IV1, _IV2, _IV3, _IV4, _IV5, _IV6, _IV7 = _IV
_ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
_MESSAGE_BYTES = np.uint64(4 * WORD_BYTES)
# RFC 7693, 2.7: which word of the message goes where in each round.
_SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    np.int64,
)
assert _SIGMA.shape == (_ROUNDS, 16)
_S32, _S24, _S16, _S63, _S40, _S48, _S1 = (np.uint64(bits) for bits in (32, 24, 16, 63, 40, 48, 1))


@wrapping_kernel
def _quarter(a, b, c, d, x, y):
    """BLAKE2b's mixing of four words of its state with two of the message. Source: RFC 7693, 3.1."""
    a = a + b + x
    d = d ^ a
    d = (d >> _S32) | (d << _S32)
    c = c + d
    b = b ^ c
    b = (b >> _S24) | (b << _S40)
    a = a + b + y
    d = d ^ a
    d = (d >> _S16) | (d << _S48)
    c = c + d
    b = b ^ c
    b = (b >> _S63) | (b << _S1)
    return a, b, c, d


@wrapping_kernel
def stream(seed, purpose, a, b):
    """uint64 root of the stream of numbers for (seed, purpose, a, b): BLAKE2b of 32 bytes, 8 bytes of digest.

    Source: RFC 7693, 3.2, for a message of one block. A test compares it with ``hashlib``.
    """
    zero = np.uint64(0)
    m = (
        np.uint64(seed), np.uint64(purpose), np.uint64(a), np.uint64(b), zero, zero, zero, zero,
        zero, zero, zero, zero, zero, zero, zero, zero,
    )  # fmt: skip
    v0, v1, v2, v3, v4, v5, v6, v7 = _H0, _H1, _H2, _H3, _H4, _H5, _H6, _H7
    v8, v9, v10, v11, v13, v15 = _IV0, _IV1, _IV2, _IV3, _IV5, _IV7
    # The bytes so far, and that this block is the last.
    v12, v14 = _IV4 ^ _MESSAGE_BYTES, _IV6 ^ _ALL_BITS
    for i in range(_ROUNDS):
        s = _SIGMA[i]
        v0, v4, v8, v12 = _quarter(v0, v4, v8, v12, m[s[0]], m[s[1]])
        v1, v5, v9, v13 = _quarter(v1, v5, v9, v13, m[s[2]], m[s[3]])
        v2, v6, v10, v14 = _quarter(v2, v6, v10, v14, m[s[4]], m[s[5]])
        v3, v7, v11, v15 = _quarter(v3, v7, v11, v15, m[s[6]], m[s[7]])
        v0, v5, v10, v15 = _quarter(v0, v5, v10, v15, m[s[8]], m[s[9]])
        v1, v6, v11, v12 = _quarter(v1, v6, v11, v12, m[s[10]], m[s[11]])
        v2, v7, v8, v13 = _quarter(v2, v7, v8, v13, m[s[12]], m[s[13]])
        v3, v4, v9, v14 = _quarter(v3, v4, v9, v14, m[s[14]], m[s[15]])
    return _H0 ^ v0 ^ v8


@entry
def write_seeds(seed, purpose, first, out):
    """out[i] = the seed (63 bits, int64) of item first + i of (seed, purpose).

    Args:
        out: (N,) int64.
    """
    for i in range(out.shape[0]):
        out[i] = np.int64(stream(seed, purpose, first + i, 0) >> _S1)


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

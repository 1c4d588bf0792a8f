"""Seeds that grow from a seed: of cards, of players' keys, of all else that is random.

Each purpose has a root of its own: BLAKE2b (RFC 7693) of the seed, the purpose and the numbers that name the use. The
hash is one way: who holds one root learns nothing of the seed or of another purpose. Two seeds, and two purposes, give
unrelated samples. Hidden is only what cannot be guessed: whoever tries all small seeds finds a small one by the cards
of its own hand. The engine makes the roots of its streams in the same way (``hf_env.engine.rng``).
"""

from __future__ import annotations

import hashlib
import struct

import numpy as np

from hf_env.engine.purposes import DIGEST_BYTES, PERSON

# Changes when a seed comes to mean other cards or other keys. It stands in records, reports, checkpoints and goldens.
# 1 (to November 2026): neighbouring seeds shared their cards, and a policy's keys told the seed of the cards.
SEEDS_VERSION = 2
MAX_SEED = 2**63 - 1

# Purposes, from 20 on; the engine's own (hf_env/engine/rng.py) end before.
# A player's root in a match, from which the keys of all its decisions grow; it is what Policy.start gets as its seed.
FOR_PLAYER = 20
# A seat's root in one game, from its player's root.
FOR_SEAT = 21
# The game seeds of an evaluation, a tournament or a cross-play: the same for whoever plays, so that results compare.
FOR_EVALUATION = 22
# Of a training run: its games, its players' keys, what measures it on the way, what measures it at its end, its first
# weights, its critic's, its minibatches, its line-ups.
FOR_TRAINING_GAMES, FOR_TRAINING_KEYS, FOR_MEASUREMENT, FOR_FINAL, FOR_WEIGHTS, FOR_CRITIC, FOR_MINIBATCHES, FOR_LINEUPS = range(23, 31)
# Resampling of ratings; studies: of search's choices, of tuned weights.
FOR_RESAMPLING, FOR_SEARCH_STUDY, FOR_TUNING = 31, 32, 33


def grow(seed: int, purpose: int, *numbers: int) -> int:
    """A root of 64 bits (0..2**64 - 1) for one use of a seed.

    Args:
        seed: 0..2**64 - 1.
        purpose: one of this module's or the engine's.
        numbers: 0..2**64 - 1 each, which name the use.

    Raises:
        ValueError: For a number out of range.
    """
    words = (int(seed), purpose, *map(int, numbers))
    try:
        message = struct.pack(f"<{len(words)}Q", *words)
    except struct.error:
        raise ValueError(f"seeds and their numbers are from 0 to 2**64 - 1, not {words}") from None
    return int.from_bytes(hashlib.blake2b(message, digest_size=DIGEST_BYTES, person=PERSON).digest(), "little")


def grow_seed(seed: int, purpose: int, *numbers: int) -> int:
    """As ``grow``, a seed (0..2**63 - 1) of its own."""
    return grow(seed, purpose, *numbers) >> 1


def grow_seeds(seed: int, purpose: int, first: int, count: int) -> np.ndarray:
    """Seeds (count,) int64 of the items from number ``first``: a function of seed, purpose and number only."""
    from hf_env.engine.rng import write_seeds

    seeds = np.empty(count, np.int64)
    write_seeds(np.int64(seed), np.int64(purpose), np.int64(first), seeds)
    return seeds


def generator(seed: int, purpose: int, *numbers: int) -> np.random.Generator:
    """NumPy's generator for one use of a seed."""
    return np.random.default_rng(grow(seed, purpose, *numbers))

"""The player `random`: uniform over the legal actions."""

from hf_env.engine.lay_downs import legal_bits, nth_legal
from hf_env.engine.rng import below
from hf_env.kernels.compile import kernel
from hf_env.kernels.lanes import count_bits


@kernel
def choose_random(g, r, seat, mask, key, work):
    """A legal action drawn by the key; each has the same chance. See agents.scripted.dispatch for the arguments."""
    low, high = legal_bits(mask)
    return nth_legal(low, high, below(key, count_bits(low) + count_bits(high)))

"""The player `random`: uniform over the legal actions."""

from hf_env.engine.action_ids import NUM_ACTIONS
from hf_env.engine.jit import kernel
from hf_env.engine.rng import below


@kernel
def choose_random(g, r, seat, mask, key):
    """A legal action drawn by the key; each has the same chance."""
    legal = 0
    for action in range(NUM_ACTIONS):
        legal += int(mask[action])
    left = below(key, legal)
    for action in range(NUM_ACTIONS):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1

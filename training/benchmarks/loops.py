"""The loop of an AEC environment that is measured, the same for ours and for PettingZoo's own games."""

from __future__ import annotations

import random
from typing import Any

# Decisions between two looks at the clock.
CHUNK = 64


class AecPlay:
    """Random legal play through ``last()`` and ``step()``.

    Args:
        env: an AEC environment with the mask in its observation.

    Attributes:
        decisions, games: made and ended so far.
    """

    def __init__(self, env: Any, seed: int) -> None:
        self.env = env
        self._random = random.Random(seed).random
        self.decisions = self.games = 0
        env.reset(seed=seed)

    def chunk(self) -> int:
        """Make CHUNK decisions; their number. A game that ends is followed by the next."""
        env, draw = self.env, self._random
        last, step = env.last, env.step
        made = 0
        while made < CHUNK:
            observation, _, terminated, truncated, _ = last()
            if terminated or truncated:
                self.games += 1
                env.reset()
                continue
            legal = observation["action_mask"].nonzero()[0]
            step(int(legal[int(draw() * len(legal))]))
            made += 1
        self.decisions += made
        return made

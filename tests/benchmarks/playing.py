"""Random play whose choices depend on the slot alone, reduced to checksums: to compare numbers of games, threads, and ways of running."""

import zlib

from hf_env import VectorGame

BUFFERS = (
    "observations", "action_masks", "seats", "rewards", "terminated", "truncated", "deal_ended", "deal_scores", "end_reasons",
    "final_observations", "game_seeds", "game_numbers", "decisions", "games", "ended",
)  # fmt: skip


def checksums(num_games: int, steps: int, slots: int, rules="mini", every: int = 1, **arguments) -> list[int]:
    """One number for each step, or for the last of every so many: of all buffers and states of the first so many slots."""
    vec = VectorGame(num_games, rules, 11, shaping="full", **arguments)
    found = []
    for step in range(steps):
        vec.step(vec.random_actions())
        if step % every != every - 1:
            continue
        value = 0
        for name in BUFFERS:
            rows = getattr(vec, name)[:slots]
            # A record's named fields: no padding lies between them.
            value = zlib.crc32(rows.tobytes(), value)
        found.append(value)
    return found

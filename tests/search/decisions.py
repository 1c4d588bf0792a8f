"""Decisions that games reach, as the batches that a policy gets."""

import numpy as np

from agents.policy import PolicyBatch, SeatViews
from agents.scripted.playout import Table, write_masks
from hf_env.engine.action_ids import NUM_ACTIONS


def reached(rules, count, seed=0, noise=0.1, players=("greedy", "greedy", "random")):
    """(count,) records of decisions spread over deals of these players in turn, noisy so that all phases are met."""
    table = Table(rules, [players[seat % len(players)] for seat in range(rules.players)], max(4, count // 6), seed, noise)
    rng = np.random.default_rng([3, seed])
    found = []
    made = 0
    while True:
        table.play(made)
        made += int(rng.integers(1, 20))
        masks, _ = table.masks()
        live = np.flatnonzero(masks.any(1))
        if not len(live):
            break
        found.append(table.games[live].copy())
    games = np.concatenate(found)
    return games[np.sort(rng.choice(len(games), min(count, len(games)), replace=False))]


def batch_of(games, rules, keys=None):
    """The batch of the decisions that stand in these records. keys: (N,) uint64; by default the row numbers."""
    records = rules.to_record()
    masks = np.empty((len(games), NUM_ACTIONS), np.int8)
    seats = np.empty(len(games), np.int32)
    write_masks(games, records, masks, seats)
    views = SeatViews.of(games, records, np.arange(len(games)), seats)
    return PolicyBatch(
        observations=np.zeros((len(games), 1), np.int16), action_masks=masks, games=np.arange(len(games)), seats=seats,
        game_starts=np.zeros(len(games), bool), keys=np.arange(len(games), dtype=np.uint64) if keys is None else keys,
        make_views=lambda: views,
    )  # fmt: skip


def row_of(batch, row):
    """The batch of one of its rows alone."""
    return batch.rows(slice(row, row + 1))

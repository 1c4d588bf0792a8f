"""A network that treats the ranks alike: weights shared over the 11 ranks of melds, a body for the whole table.

Whatever a player learns of fives is nearly true of sevens: a rank differs from another by its cards' points and by what
has become of its cards. So every rank has the same small network over the numbers that concern it (cards held, melded,
discarded, known elsewhere), plus a vector of its own; the body sees the table and what the ranks have in common; and
each rank then reads the body before it rates the actions of its rank. Weights shared over the members of a set and
pooled to a summary: Zaheer et al. 2017 (Deep Sets), section 3.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from torch import nn

from agents.neural.base import NetworkConfig, PolicyValueNetwork
from agents.neural.ranks.fused import run_fused, runs_fused
from hf_env.engine.action_ids import ADD, ADD_JOKER, ADD_TWO, DISCARD, MELD, NUM_ACTIONS, NUM_PATTERNS
from hf_env.engine.cards import NUM_NATURALS
from hf_env.observation.layout import ObservationLayout

# Sections whose last axis starts with the ranks 4..A.
RANK_SECTIONS = (
    "hand", "unseen", "known", "recent_discards", "meld_naturals", "meld_twos", "meld_jokers", "clean_books", "dirty_books",
    "discard_kinds", "discard_top", "take_cards", "owed",
)  # fmt: skip


def rank_actions() -> np.ndarray:
    """(ranks, 10) int64: the actions of each rank: starts, additions, discard."""
    ranks = np.arange(NUM_NATURALS)[:, None]
    starts = MELD + NUM_PATTERNS * ranks + np.arange(NUM_PATTERNS)
    return np.concatenate([starts, ADD + ranks, ADD_TWO + ranks, ADD_JOKER + ranks, DISCARD + ranks], axis=1)


_PLACES = rank_actions(), np.setdiff1d(np.arange(NUM_ACTIONS), rank_actions())


def split_columns(layout: ObservationLayout, observation_scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the observation that concern one rank each, (ranks, F) int64, and the others, (G,) int64.

    Columns whose scale is 0 are left out; a rank's all together, as a section is seen or not.
    """
    of_ranks, others = [], []
    for section in layout.sections:
        columns = np.arange(section.slice.start, section.slice.stop)
        if not observation_scale[columns].any():
            continue
        if section.name in RANK_SECTIONS:
            columns = columns.reshape(-1, section.shape[-1])
            of_ranks.append(columns[:, :NUM_NATURALS].T)
            columns = columns[:, NUM_NATURALS:].ravel()
        others.append(columns)
    return np.concatenate(of_ranks, axis=1), np.concatenate(others)


def _as_numpy(columns):
    return columns.numpy() if torch.is_tensor(columns) else columns


class RankNetwork(PolicyValueNetwork):
    """Shared weights over the ranks, and a body for the table.

    Args:
        config: its ``rank_width`` is the units of a rank; ``width`` and ``depth`` are of the body.
        observation_scale: (F,) float32.
        num_actions: must be the game's.
        rank_columns: (ranks, F) int64, as of ``split_columns``.
        other_columns: (G,) int64, as of ``split_columns``.

    Raises:
        ValueError: For another number of actions, or columns that the observation has not.
    """

    rank_columns: torch.Tensor
    other_columns: torch.Tensor
    _order: torch.Tensor

    def __init__(self, config: NetworkConfig, observation_scale: torch.Tensor, num_actions: int, rank_columns, other_columns) -> None:
        super().__init__(config, observation_scale, num_actions)
        if num_actions != NUM_ACTIONS:
            raise ValueError(f"a network of kind 'ranks' has {NUM_ACTIONS} actions, not {num_actions}")
        rank_columns, other_columns = (np.array(_as_numpy(columns), np.int64) for columns in (rank_columns, other_columns))
        # Compiled passes read by them, and look at no bounds.
        if rank_columns.ndim != 2 or len(rank_columns) != NUM_NATURALS or other_columns.ndim != 1:
            raise ValueError(f"the columns of the ranks must be {NUM_NATURALS} rows, those of the table one")
        columns = np.concatenate([rank_columns.ravel(), other_columns])
        if len(columns) == 0 or columns.min() < 0 or columns.max() >= len(observation_scale):
            raise ValueError("the columns of the ranks lie outside the observation")
        self.register_buffer("rank_columns", torch.from_numpy(rank_columns))
        self.register_buffer("other_columns", torch.from_numpy(other_columns))
        own, body = config.rank_width, config.width
        per_rank, others = self.rank_columns.shape[1], len(self.other_columns)
        actions, rest = self.action_places()
        # Where each action's logit lies behind those of the ranks and of the rest.
        order = torch.from_numpy(np.argsort(np.concatenate([actions.ravel(), rest])))
        self.register_buffer("_order", order, persistent=False)
        self.rank_in = nn.Linear(per_rank, own, bias=False)
        self.rank_vector = nn.Parameter(torch.zeros(NUM_NATURALS, own))
        widths = [others + own] + [body] * config.depth
        self.body = nn.ModuleList(nn.Linear(i, o) for i, o in itertools.pairwise(widths))
        self.body_to_rank = nn.Linear(widths[-1], own)
        self.rank_to_rank = nn.Linear(own, own, bias=False)
        self.second_rank_vector = nn.Parameter(torch.zeros(NUM_NATURALS, own))
        self.norms = nn.ModuleList(
            nn.LayerNorm(width) if config.layer_norm else nn.Identity() for width in (own, own, *[body] * config.depth)
        )
        self.rank_head = nn.Linear(own, actions.shape[1])
        self.rank_bias = nn.Parameter(torch.zeros(NUM_NATURALS, actions.shape[1]))
        self.policy_head = nn.Linear(widths[-1] + own, len(rest))
        self.value_head = nn.Linear(widths[-1] + own, 1)

    def action_places(self) -> tuple[np.ndarray, np.ndarray]:
        """The actions of each rank, (ranks, 10) int64, and those of no rank, (K,) int64, in the order of the two heads."""
        return _PLACES

    def initialise(self) -> None:
        """As of the base class."""
        for layer in (self.rank_in, self.rank_to_rank, self.body_to_rank, *self.body):
            nn.init.orthogonal_(layer.weight, math.sqrt(2.0))
        for layer in (self.rank_head, self.policy_head):
            nn.init.orthogonal_(layer.weight, 0.01)
        nn.init.zeros_(self.value_head.weight)
        for layer in (self.body_to_rank, *self.body, self.rank_head, self.policy_head, self.value_head):
            nn.init.zeros_(layer.bias)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As of the base class: in compiled passes where ``runs_fused`` allows it, else in PyTorch's operations."""
        if runs_fused(self, observations):
            return run_fused(self, observations)
        return self.run_plain(observations)

    def run_plain(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As ``forward``, in PyTorch's operations on every device."""
        num_rows, scale = len(observations), self.observation_scale
        of_ranks = observations.index_select(1, self.rank_columns.ravel()).float().view(num_rows * NUM_NATURALS, -1)
        table = observations.index_select(1, self.other_columns).float() * scale[self.other_columns]
        # Scaling the weights costs less than scaling every number of every rank; a section's scale is one for all ranks.
        ranks = nn.functional.linear(of_ranks, self.rank_in.weight * scale[self.rank_columns[0]])
        ranks = torch.relu(self.norms[0](ranks.view(num_rows, NUM_NATURALS, -1) + self.rank_vector))
        body = torch.cat([table, ranks.mean(1)], 1)
        for layer, norm in zip(self.body, list(self.norms)[2:], strict=True):
            body = torch.relu(norm(layer(body)))
        x = self.rank_to_rank(ranks) + self.second_rank_vector + self.body_to_rank(body)[:, None]
        ranks = ranks + torch.relu(self.norms[1](x))
        summary = torch.cat([body, ranks.mean(1)], 1)
        rank_logits = (self.rank_head(ranks) + self.rank_bias).reshape(num_rows, -1)
        logits = torch.cat([rank_logits, self.policy_head(summary)], 1).index_select(1, self._order)
        return logits, self.value_head(summary).squeeze(-1)

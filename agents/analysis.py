"""A position as a policy sees it: each move with its probability and its points, and why the others are illegal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.play.schedule import policy_name
from agents.policy import PolicyBatch, player_seed
from agents.registry import load
from agents.shipped import ChoosingPolicy
from hf_env.actions import ACTIONS
from hf_env.engine.rewards import POINTS_PER_REWARD

_COLUMNS = ("move", "probability", "points")


@dataclass(frozen=True)
class Move:
    """One action.

    Attributes:
        label: its name.
        probability: of its playing it, as its ``evaluate`` tells (of ``search`` the share of the playouts).
        points: what it expects of it, as ``Analysis.points``; None where it does not say.
        reason: why it is illegal; empty for a legal one.
    """

    action: int
    label: str
    probability: float
    points: float | None
    reason: str


@dataclass(frozen=True)
class Analysis:
    """What a policy makes of a position.

    Attributes:
        seat: who is to decide.
        chosen: label of the action that it takes.
        points: what it expects for its side, as a score difference; None where it has no values. Of ``search`` that is the
            whole deal's, of a learned policy its value x 1,000: the reward that it expects from here on (with shaping
            "full": the change from what lies and is held now).
        legal: the legal moves, the most probable first.
        illegal: the other actions, in the order of their ids.
    """

    policy: str
    seat: int
    chosen: str
    points: float | None
    legal: tuple[Move, ...]
    illegal: tuple[Move, ...]

    def __str__(self) -> str:
        head = f"{self.policy}, seat {self.seat}: {self.chosen}{_told(self.points, ', expecting {:+,.0f} points')}"
        return "\n".join([head, *self.rows(self.legal)])

    def rows(self, moves: Sequence[Move]) -> list[str]:
        """Lines of a table of some of the moves; without points where none has any."""
        columns = _COLUMNS if any(move.points is not None for move in moves) else _COLUMNS[:2]
        rows = [columns, *((move.label, f"{move.probability:.1%}", _told(move.points, "{:+,.0f}")) for move in moves)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
        return ["  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1 : len(columns)], widths[1:])]).rstrip() for row in rows]


def analyse(policy: Any, env: Any, seed: int = 0) -> Analysis:
    """Ask a policy about the decision at hand of a PettingZoo environment; nothing is played.

    Args:
        policy: as for ``agents.load``. One that tells no probabilities, as a scripted player, plays its choice with
            probability 1. Only ``search`` tells the points of single moves.
        seed: of the policy's randomness.

    Raises:
        UnknownPolicyError: For a spec that names no policy.
        RuntimeError: When nobody is to decide.
    """
    loaded = load(policy)
    table, batch = env.unwrapped, env.unwrapped.decision(seed)
    if isinstance(loaded, ChoosingPolicy):
        loaded = loaded.player_for(table.rules)
    if hasattr(loaded, "start"):
        loaded.start(1, table.rules, player_seed(seed, int(batch.seats[0])))
    return judge(loaded, batch, policy_name(policy), table.why_illegal)


def judge(policy: Any, batch: PolicyBatch, name: str, why_illegal: Callable[[int], str] = lambda action: "illegal") -> Analysis:
    """What a policy makes of a decision.

    Args:
        policy: with ``act``, and started.
        batch: of one row.
        name: of the policy.
        why_illegal: the reason of an action.
    """
    found = policy.search(batch, forced_too=True) if hasattr(policy, "search") else None
    chosen = int(policy.act(batch)[0] if found is None else found.actions[0])
    means = np.full(len(ACTIONS), np.nan) if found is None else found.means[0]
    probabilities, points = np.eye(len(ACTIONS))[chosen], None
    evaluation = None
    if found is not None:
        evaluation = found.evaluation()
    elif hasattr(policy, "evaluate"):
        evaluation = policy.evaluate(batch)
    if evaluation is not None:
        probabilities, points = evaluation[0][0], float(evaluation[1][0]) * POINTS_PER_REWARD

    def move(action: int) -> Move:
        mean = float(means[action]) if np.isfinite(means[action]) else None
        reason = "" if batch.action_masks[0, action] else why_illegal(action)
        return Move(action, ACTIONS.label(action), float(probabilities[action]), mean, reason)

    moves = [move(action) for action in range(len(ACTIONS))]
    legal = sorted((found for found in moves if not found.reason), key=lambda found: (-found.probability, found.action != chosen))
    return Analysis(
        name, int(batch.seats[0]), ACTIONS.label(chosen), points, tuple(legal), tuple(found for found in moves if found.reason)
    )  # fmt: skip


def _told(number: float | None, form: str) -> str:
    return "" if number is None else form.format(number)

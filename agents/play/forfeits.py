"""Games that end because a policy failed in them, and who decides so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Forfeit:
    """A policy failed in a game, which ends with it.

    game: index of the game. policy: index of the policy. seat, deal (from 1), decision (of all seats of the game, from
    0): where. kind: a key of ``agents.play.answers.FAULTS``. reason: one line that names the policy and what was wrong. deals:
    for how many deals the game counts: as many as the rules have, or, in a game to a target, as were begun.
    """

    game: int
    policy: int
    seat: int
    deal: int
    decision: int
    kind: str
    reason: str
    deals: int = 0


@dataclass(frozen=True)
class Asked:
    """A policy is about to be asked for decisions: its index, the games (n,) and their numbers of decisions (n,).

    Before the first of them it is asked to start, with the decision -1 of its first game.
    """

    policy: int
    games: np.ndarray
    decisions: np.ndarray


@dataclass
class Judge:
    """What happens to policies that fail. Without a judge, a failure ends the match with PolicyError.

    points: score of each deal of a forfeited game for the sides in which the policy sits that failed; the others get 0.
    None: a failure ends the match, as without a judge; only `singly` and `on_ask` count.
    known: forfeits that are known beforehand, as of a policy that did not return: that game is played up to that
    decision, at which the policy is not asked; with the decision -1, it forfeits before its first one. singly: indices of
    the policies that are asked for one decision at a time. on_ask: called with an Asked before a policy is asked, and
    with None after it has answered.
    """

    points: int | None
    known: Sequence[Forfeit] = ()
    singly: frozenset[int] = frozenset()
    on_ask: Callable[[Asked | None], None] | None = None

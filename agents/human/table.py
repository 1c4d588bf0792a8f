"""One game at a table of policies, persons among them, with what persons and records need to hear of it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from agents.policy import DecisionCounter, PolicyBatch, SeatViews, as_policy, player_seed
from agents.seating import PolicyError, UnfitPolicyError, policy_name
from hf_env.actions import ACTIONS
from hf_env.engine.access import GameAccess
from hf_env.reasons import why_illegal
from hf_env.records import GameRecorder
from hf_env.rules import RuleSet
from hf_env.vector_game import VectorGame

_ROW = np.zeros(1, np.int64)


class _Table:
    """A game as policies see it: the engine's record in the buffers of a VectorGame of one."""

    def __init__(self, rules: RuleSet, players: Sequence[int]) -> None:
        """players: for each seat the seed that its player's ``start`` gets."""
        self._vec = VectorGame(1, rules, 0, autoreset="DISABLED")
        self.access = GameAccess(self._vec.rule_records, self._vec.games)
        self._counter = DecisionCounter(1, rules.players)
        self._counter.start(0, players, 0)

    def views(self, seat: int) -> SeatViews:
        """The game as a seat may know it."""
        return SeatViews.of(self._vec.games, self._vec.rule_records, _ROW, np.full(1, seat, np.int32))

    def batch(self) -> PolicyBatch:
        """The decision that is to be made now."""
        self._vec.refresh()
        return PolicyBatch.of(self._vec, _ROW, *self._counter.next(_ROW, self._vec.seats))


def play_at_table(
    policies: Sequence[Any],
    rules: RuleSet,
    seed: int,
    *,
    recorder: GameRecorder | None = None,
    names: Sequence[str] | None = None,
    on_deal_over: Callable[[SeatViews], None] | None = None,
    view_seat: int = 0,
) -> np.ndarray:
    """Play one game to its end; returns its record, (1,) GAME_DTYPE.

    policies: one a seat, objects with ``act`` or functions; the same object may sit in several. seed: of the cards, and
    of the policies' keys. recorder: is told the game, and has what was played also when a policy raises. names: of
    the seats, for record and messages. on_deal_over: called after each deal with what `view_seat` may know.

    What a policy raises by itself passes through. Raises PolicyError for an answer that is no legal action,
    UnfitPolicyError for a policy that refuses the rules.
    """
    names = [policy_name(policy) for policy in policies] if names is None else list(names)
    policies = [as_policy(policy) for policy in policies]
    # The same object in several seats is one player.
    first = [next(seat for seat, other in enumerate(policies) if other is policy) for policy in policies]
    players = [player_seed(seed, seat) for seat in first]
    table = _Table(rules, players)
    for seat in sorted(set(first)):
        _start(policies[seat], names[seat], rules, players[seat])
    if recorder is not None:
        recorder.start(rules, seed, names)
    access = table.access
    access.start(seed)
    while True:
        if recorder is not None:
            recorder.deal(access.games, 0)
        while not access.is_over:
            batch = table.batch()
            seat = int(batch.seats[0])
            action = _checked(policies[seat].act(batch), access, f"policy {names[seat]!r} in seat {seat}")
            access.play(action)
            if recorder is not None:
                recorder.action(access.games, 0, action)
        if on_deal_over is not None:
            on_deal_over(table.views(view_seat))
        if access.game["game_over"]:
            return access.games.copy()
        access.next_deal()


def _start(policy: Any, name: str, rules: RuleSet, seed: int) -> None:
    """Tell a policy of the game. Raises UnfitPolicyError where it refuses the rules."""
    try:
        if hasattr(policy, "start"):
            policy.start(1, rules.model_copy(deep=True), seed)
    except ValueError as error:
        raise UnfitPolicyError(f"policy {name!r} cannot play here: {error}") from error


def _checked(answer: Any, access: GameAccess, who: str) -> int:
    """The one action that a policy has answered. Raises PolicyError for anything but a legal one."""
    answer = np.asarray(answer)
    if answer.shape != (1,) or answer.dtype.kind not in "iu":
        raise PolicyError(f"{who} returned {answer.dtype} of shape {answer.shape}; it must return one integer")
    action = int(answer[0])
    if not 0 <= action < len(ACTIONS):
        raise PolicyError(f"{who} returned {action}; actions are 0 to {len(ACTIONS) - 1}")
    if action not in access.legal():
        reason = why_illegal(access.games, 0, access.rules, action)
        raise PolicyError(f"{who} chose {ACTIONS.label(action)!r}, which is illegal: {reason}")
    return action

"""Asking policies and judging what they answer: a legal action a row, or a fault that is named and may cost the game."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.policy import Policy, PolicyBatch
from hf_env.actions import ACTIONS
from hf_env.explanations import why_illegal
from hf_env.rules import RuleSet

# How a policy can fail, and what a reader is told of it.
FAULTS = {
    "illegal": "an illegal action",
    "answer": "no array of one whole number a row",
    "exception": "an exception",
    "time": "no answer in time",
    "died": "its process died",
}


class PolicyError(RuntimeError):
    """A policy that failed or answered rubbish; one line that names it, the seat, the game and what was wrong."""


class UnfitPolicyError(ValueError):
    """A policy that refuses this table, such as one made for another number of seats; one line that names it."""


@dataclass(frozen=True)
class Fault:
    """What was wrong with a row's answer.

    Attributes:
        kind: a key of FAULTS.
        what: follows the policy's name in a sentence.
        action: the answer of an illegal row, else None.
        error: the exception, else None.
    """

    kind: str
    what: str
    action: int | None = None
    error: BaseException | None = None


@dataclass(frozen=True)
class Forfeit:
    """A policy failed in a game, which ends with it.

    Attributes:
        game: index of the game.
        policy: index of the policy.
        seat, deal (from 1), decision (of all seats of the game, from 0): where.
        kind: a key of ``agents.play.judging.FAULTS``.
        reason: one line that names the policy and what was wrong.
        deals: for how many deals the game counts: as many as the rules have, or, in a game to a target, as were begun.
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
class DecisionRequest:
    """A policy is about to be asked for decisions: its index, the games (n,) and their numbers of decisions (n,).

    Before the first of them it is asked to start, with the decision -1 of its first game.
    """

    policy: int
    games: np.ndarray
    decisions: np.ndarray


@dataclass
class Judge:
    """What happens to policies that fail. Without a judge, a failure ends the match with PolicyError.

    Attributes:
        points: score of each deal of a forfeited game for the sides in which the policy sits that failed; the others get 0.
            None: a failure ends the match, as without a judge; only `singly` and `on_ask` count.
        known: forfeits that are known beforehand, as of a policy that did not return: that game is played up to that
            decision, at which the policy is not asked; with the decision -1, it forfeits before its first one.
        singly: indices of the policies that are asked for one decision at a time.
        on_ask: called with an DecisionRequest before a policy is asked, and with None after it has answered.
    """

    points: int | None
    known: Sequence[Forfeit] = ()
    singly: frozenset[int] = frozenset()
    on_ask: Callable[[DecisionRequest | None], None] | None = None


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, BaseException | None]:
    """What a function of a policy's author returns, and None; or None, and what it raised: an exit and the like too.

    An interruption passes through, except where interruptions are ignored: nobody but the policy can have raised it there.
    A process that the function has forked ends here, or it would play on beside this one.
    """
    process = os.getpid()
    try:
        return function(*arguments), None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            raise
        return None, error
    finally:
        if os.getpid() != process:
            os._exit(0)


def describe_error(error: BaseException) -> str:
    """An exception on one line: its class, and its message where it has one."""
    message = message_of(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def message_of(error: BaseException) -> str:
    """An exception's message on one line, empty where it has none."""
    text, _ = attempt(str, error)  # the class may be the author's own, and its message may fail as well
    return " ".join((text or "").split())


def start_policy(policy: Any, name: str, num_games: int, rules: Sequence[RuleSet], seed: int) -> PolicyError | None:
    """Tell a policy of the match that begins, where it wants to hear of it.

    Args:
        policy: asked for its ``start``, which it may lack.
        name: of the policy, for messages.
        num_games: how many games the match has.
        rules: of the table, of which each game draws one; the policy gets a copy, of a single one not in a tuple.
        seed: of the policy's own keys, 0..2**63 - 1.

    Returns:
        What the policy has failed with, to be raised or counted by the caller; None where all went well.

    Raises:
        UnfitPolicyError: the policy refuses this table.
    """
    start = getattr(policy, "start", None)
    if start is None:
        return None
    copies = tuple(each.model_copy(deep=True) for each in rules)
    _, error = attempt(start, num_games, copies if len(copies) > 1 else copies[0], seed)
    if error is None:
        return None
    if isinstance(error, ValueError):
        raise UnfitPolicyError(f"policy {name!r} cannot play here: {message_of(error)}") from error
    failure = PolicyError(f"policy {name!r} failed in start: {describe_error(error)}")
    failure.__cause__ = error
    return failure


def ask(policy: Policy, batch: PolicyBatch, legal: np.ndarray) -> tuple[np.ndarray, dict[int, Fault]]:
    """Actions (N,) int64 of a policy, and the faults by row; a row with a fault has no meaningful action.

    Args:
        legal: (N, A) int8, the engine's masks, which judge: the policy may have written into those of the batch. A fault of
            the whole answer, such as an exception or a wrong shape, is given to every row.
    """
    answer, error = attempt(policy.act, batch)
    if error is not None:
        return _all(len(legal), Fault("exception", f"failed in act: {describe_error(error)}", error=error))
    # Arrays of an author's own may run code of the author's.
    actions, error = attempt(np.asarray, answer)
    if error is not None:
        return _all(
            len(legal), Fault("answer", f"returned a {type(answer).__name__}, which is no array: {describe_error(error)}", error=error)
        )
    if actions.shape != (len(legal),) or actions.dtype.kind not in "iu":
        nan = ", not a number among them" if actions.dtype.kind == "f" and np.isnan(actions).any() else ""
        what = f"returned {actions.dtype} of shape {actions.shape}{nan}"
        return _all(len(legal), Fault("answer", f"{what}; it must return {len(legal)} integers, an action for each row"))
    in_range = (actions >= 0) & (actions < legal.shape[1])
    known = np.where(in_range, actions, 0).astype(np.int64)
    wrong = np.flatnonzero(~in_range | (legal[np.arange(len(known)), known] == 0))
    return known, {int(row): _illegal(int(actions[row]), bool(in_range[row])) for row in wrong}


def _all(rows: int, fault: Fault) -> tuple[np.ndarray, dict[int, Fault]]:
    return np.zeros(rows, np.int64), dict.fromkeys(range(rows), fault)


def _illegal(action: int, in_range: bool) -> Fault:
    if not in_range:
        return Fault("illegal", f"returned {action}; actions are 0 to {len(ACTIONS) - 1}", action)
    return Fault("illegal", f"chose {ACTIONS.label(action)!r}, which is illegal", action)


def describe_fault(fault: Fault, who: str, games: np.ndarray, slot: int, rules: np.ndarray) -> str:
    """A fault as one line; of an illegal action it says why that is illegal.

    Args:
        fault: of the row.
        who: the policy and, where it matters, its place.
        games: (N,) GAME_DTYPE, the engine's own records.
        slot: the row's game among them.
        rules: (R,) RULES_DTYPE.

    Returns:
        The line.
    """
    if fault.action is None or not 0 <= fault.action < len(ACTIONS):
        return f"{who} {fault.what}"
    return f"{who} {fault.what}: {why_illegal(games, slot, rules, fault.action)}"

"""Asking policies and judging what they answer: a legal action a row, or a fault that is named."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.policy import Policy, PolicyBatch
from hf_env.actions import ACTIONS

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
    """What was wrong with a row's answer. kind: a key of FAULTS. what: follows the policy's name in a sentence.

    action: the answer of an illegal row, else None. error: the exception, else None.
    """

    kind: str
    what: str
    action: int | None = None
    error: BaseException | None = None


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


def told(error: BaseException) -> str:
    """An exception on one line: its class, and its message where it has one."""
    message = message_of(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def message_of(error: BaseException) -> str:
    """An exception's message on one line, empty where it has none."""
    text, _ = attempt(str, error)  # the class may be the author's own, and its message may fail as well
    return " ".join((text or "").split())


def ask(policy: Policy, batch: PolicyBatch, legal: np.ndarray) -> tuple[np.ndarray, dict[int, Fault]]:
    """Actions (N,) int64 of a policy, and the faults by row; a row with a fault has no meaningful action.

    legal: (N, A) int8, the engine's masks, which judge: the policy may have written into those of the batch.
    A fault of the whole answer, such as an exception or a wrong shape, is given to every row.
    """
    answer, error = attempt(policy.act, batch)
    if error is not None:
        return _all(len(legal), Fault("exception", f"failed in act: {told(error)}", error=error))
    # Arrays of an author's own may run code of the author's.
    actions, error = attempt(np.asarray, answer)
    if error is not None:
        return _all(len(legal), Fault("answer", f"returned a {type(answer).__name__}, which is no array: {told(error)}", error=error))
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

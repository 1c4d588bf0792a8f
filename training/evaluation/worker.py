"""A process that plays blocks of games for the process that started it, and says whom it is waiting for."""

from __future__ import annotations

import contextlib
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.catalogue import PYTHON
from agents.policy import UntrainedRulesWarning
from agents.seating import Asked, Forfeit, Judge, PolicyError, UnfitPolicyError
from hf_env.rules import RuleSet
from training.evaluation.matches import Match, Part, play_part
from training.evaluation.store import Block

_SECONDS_BETWEEN_REPORTS = 0.2
# So often a policy of this project is asked in a new process before its time counts: it may have kernels to compile, for
# minutes on a new machine, and a process that is ended while it compiles would begin anew.
_UNTIMED_ASKS = 20


@dataclass(frozen=True)
class Series:
    """What a process needs to know to play any block of a series.

    specs: of ``agents.load``, or policies that can be pickled. fingerprints: of the policies, to be found again in every
    process. forfeit_points: see ``Judge``; None: a policy that fails ends the series.
    """

    matches: tuple[Match, ...]
    specs: tuple[Any, ...]
    names: tuple[str, ...]
    fingerprints: tuple[str | None, ...]
    rules: tuple[RuleSet, ...]
    seed: int
    forfeit_points: int | None


@dataclass(frozen=True)
class Order:
    """A block to play. draft: file for the records. known, singly: see ``Judge``."""

    block: Block
    draft: Path | None
    known: tuple[Forfeit, ...] = ()
    singly: frozenset[int] = frozenset()


class Watch:
    """A few numbers in shared memory: who was asked for a decision, and when.

    memory: 5 doubles. untimed: by policy how often it is still asked without a limit.
    """

    START, POLICY, ROWS, GAME, DECISION = range(5)

    def __init__(self, memory, untimed: dict[int, int] | None = None) -> None:
        self.memory, self.untimed = memory, untimed or {}

    def note(self, asked: Asked | None) -> None:
        """A policy is asked now, or (None) has answered."""
        self.memory[self.START] = 0.0
        if asked is not None and self.untimed.get(asked.policy, 0) > 0:
            self.untimed[asked.policy] -= 1
        elif asked is not None:
            self.memory[self.POLICY] = asked.policy
            self.memory[self.ROWS] = len(asked.games)
            self.memory[self.GAME] = asked.games[0]
            self.memory[self.DECISION] = asked.decisions[0]
            # Last, so that a reader who sees it sees the rest.
            self.memory[self.START] = time.monotonic()

    def read(self) -> tuple[float, int, int, int, int] | None:
        """(when asked, policy, rows, first game, its decision) of who is asked now; None where nobody is."""
        start = self.memory[self.START]
        values = [int(self.memory[i]) for i in (self.POLICY, self.ROWS, self.GAME, self.DECISION)]
        return (start, *values) if start and start == self.memory[self.START] else None


def fingerprint(policy: Any) -> str | None:
    """What tells a learned policy's tensors from others: their SHA-256. None for other policies."""
    network = getattr(policy, "network", None)
    if network is None:
        return None
    from agents.neural.checkpoint import network_bytes, sha256

    return sha256(network_bytes(network))


def load_policies(specs: Sequence[Any], names: Sequence[str], expected: Sequence[str | None]) -> list[Any]:
    """The series' policies. Raises PolicyError where a checkpoint is not the one that the series began with."""
    from agents import load

    policies = [load(spec) for spec in specs]
    for policy, name, digest in zip(policies, names, expected, strict=True):
        if fingerprint(policy) != digest:
            raise PolicyError(f"the checkpoint {name!r} has changed since the matches began; name one that stays as it is")
    return policies


def work(connection, memory, pickled: bytes) -> None:
    """Play the orders that come through the connection until None comes or it closes. pickled: the Series.

    Sends ("deals", number finished of this block), ("done", GameResults), or ("unfit" | "policy" | "failed", one line).
    """
    # The process that started this one decides what an interruption means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # This one was told where the series began.
    warnings.simplefilter("ignore", UntrainedRulesWarning)
    series: Series = pickle.loads(pickled)
    own = [isinstance(spec, str) and not spec.startswith(PYTHON) for spec in series.specs]
    watch = Watch(memory, {policy: _UNTIMED_ASKS for policy, is_own in enumerate(own) if is_own})
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            policies = load_policies(series.specs, series.names, series.fingerprints)
            if "torch" in sys.modules:
                # The processes share the cores already; and sums in threads would make results depend on their number.
                sys.modules["torch"].set_num_threads(1)
            while (order := connection.recv()) is not None:
                connection.send(("done", _play(series, policies, order, watch, connection).results))
        except UnfitPolicyError as error:
            connection.send(("unfit", str(error)))
        except PolicyError as error:
            connection.send(("policy", str(error)))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            connection.send(("failed", f"{type(error).__name__}: {error}"))


def _play(series: Series, policies: Sequence[Any], order: Order, watch: Watch, connection) -> Part:
    from hf_env.records import line, open_file

    block = order.block
    judge = None
    if series.forfeit_points is not None:
        judge = Judge(series.forfeit_points, order.known, order.singly, watch.note)
    latest = 0.0

    def report(done: int) -> None:
        nonlocal latest
        if time.monotonic() - latest > _SECONDS_BETWEEN_REPORTS:
            latest = time.monotonic()
            connection.send(("deals", done))

    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open_file(order.draft, "w")) if order.draft is not None else None
        write = None if file is None else lambda record: file.write(line(record))
        return play_part(
            series.matches[block.match], policies, series.names, series.rules, series.seed, block.first, block.count,
            judge=judge, on_progress=report, on_record=write,
        )  # fmt: skip

"""A process that plays blocks of games for the process that started it, and says whom it is waiting for."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from agents.play.games import DecisionRequest, Forfeit, Judge, PolicyError, UnfitPolicyError
from agents.play.judging import describe_error, message_of
from agents.policy import UntrainedRulesWarning
from agents.registry import PYTHON, PolicySpec, UnknownPolicyError, load
from agents.shipped import ChoosingPolicy
from hf_env.rules import RuleSet
from training.evaluation.matches import ClusterBatch, Match, play_clusters
from training.evaluation.store import Block

_SECONDS_BETWEEN_REPORTS = 0.2
# So often a policy of this project is asked in a new process before its time counts: it may have kernels to compile, for
# minutes on a new machine, and a process that is ended while it compiles would begin anew.
_UNTIMED_ASKS = 20
# The "decision" of a policy that is being loaded: before the start, which is -1.
LOADING = -2
# Exit code of a process that a policy has cut off.
CUT_OFF = 71
# What a process may report of policies, by the name under which it is sent.
ERRORS: dict[str, type[Exception]] = {"unknown": UnknownPolicyError, "unfit": UnfitPolicyError, "policy": PolicyError}


@dataclass(frozen=True)
class Series:
    """What a process needs to know to play any block of a series.

    Attributes:
        specs: PolicySpecs, or policies that can be pickled.
        fingerprints: of the policies, to be found again in every process.
        forfeit_points: see ``Judge``; None: a policy that fails ends the series.
    """

    matches: tuple[Match, ...]
    specs: tuple[Any, ...]
    names: tuple[str, ...]
    fingerprints: tuple[str | None, ...]
    rules: tuple[RuleSet, ...]
    seed: int
    forfeit_points: int | None


@dataclass(frozen=True)
class BlockOrder:
    """A block to play.

    Attributes:
        draft: file for the records.
        known, singly: see ``Judge``.
    """

    block: Block
    draft: Path | None
    known: tuple[Forfeit, ...] = ()
    singly: frozenset[int] = frozenset()


@dataclass(frozen=True)
class LastRequest:
    """Whom a process asked last.

    Attributes:
        since: when, inf where its time does not count; None: it has answered.
        rows: decisions at once.
        game, decision: of the first of them.
    """

    since: float | None
    policy: int
    rows: int
    game: int
    decision: int


class AnswerClock:
    """A few numbers in shared memory: who was asked for a decision, and when.

    Args:
        memory: 5 doubles, zero at first.
        untimed: by policy how often it is still asked without a limit.
    """

    START, POLICY, ROWS, GAME, DECISION = range(5)

    def __init__(self, memory, untimed: dict[int, int] | None = None) -> None:
        self.memory, self.untimed = memory, untimed or {}

    def note(self, asked: DecisionRequest | None) -> None:
        """A policy is asked now, or (None) has answered."""
        self.memory[self.START] = 0.0
        if asked is None:
            return
        self.memory[self.POLICY] = asked.policy
        self.memory[self.ROWS] = len(asked.games)
        self.memory[self.GAME] = asked.games[0]
        self.memory[self.DECISION] = asked.decisions[0]
        is_untimed = self.untimed.get(asked.policy, 0) > 0
        if is_untimed:
            self.untimed[asked.policy] -= 1
        # Last, so that a reader who sees it sees the rest.
        self.memory[self.START] = math.inf if is_untimed else time.monotonic()

    def note_loading(self, policy: int) -> None:
        """A policy is being loaded now, in its own time."""
        for place, value in ((self.POLICY, policy), (self.ROWS, 1), (self.GAME, 0), (self.DECISION, LOADING), (self.START, math.inf)):
            self.memory[place] = value

    def read(self) -> LastRequest | None:
        """Who was asked last; None where nobody ever was, or where just now another one is asked."""
        start = self.memory[self.START]
        values = [int(self.memory[i]) for i in (self.POLICY, self.ROWS, self.GAME, self.DECISION)]
        if start != self.memory[self.START] or values[1] == 0:
            return None
        return LastRequest(start or None, *values)


def joined(digests: Iterable[str | None]) -> str | None:
    """The SHA-256s of the tensors that play under the rule sets of a match, each once; None where there are none."""
    return "+".join(dict.fromkeys(filter(None, digests))) or None


def fingerprint(spec: Any, policy: Any, rules: Sequence[RuleSet]) -> str | None:
    """What tells a learned policy's tensors from others: their SHA-256, as a checkpoint's JSON has it. None for other policies.

    Args:
        spec: what the policy was loaded from.
        rules: of the match, by which a policy may choose who plays.
    """
    if isinstance(policy, ChoosingPolicy):
        return joined(fingerprint(policy.spec, policy.player_for(each), rules) for each in rules)
    if isinstance(spec, PolicySpec) and not spec.name.startswith(PYTHON):
        return getattr(policy, "info", {}).get("sha256")
    network = getattr(policy, "network", None)
    if network is None:
        return None
    from agents.neural.checkpoint import network_bytes, sha256

    return sha256(network_bytes(network))


def load_policies(
    specs: Sequence[Any],
    names: Sequence[str],
    expected: Sequence[str | None],
    rules: Sequence[RuleSet],
    on_load: Callable[[int], None] = lambda number: None,
) -> list[Any]:
    """The series' policies.

    Args:
        expected: the ``fingerprint`` of each.
        rules: of the series.
        on_load: called with the number of each before it is loaded.

    Raises:
        PolicyError: Where a checkpoint is not the one that the series began with.
    """
    policies = []
    for number, (spec, name, digest) in enumerate(zip(specs, names, expected, strict=True)):
        on_load(number)
        try:
            policies.append(load(spec))
        except ValueError as error:  # a checkpoint that is damaged
            raise UnknownPolicyError(str(error)) from error
        if fingerprint(spec, policies[-1], rules) != digest:
            raise PolicyError(f"the checkpoint {name!r} has changed since the matches began; name one that stays as it is")
    return policies


def work(connection, output, memory, pickled: bytes) -> None:
    """Play the orders that come through the connection until None comes or it closes.

    Sends ("deals", number finished of this block), ("done", GameResults), or (a key of ERRORS, one line).

    Args:
        pickled: the Series.
        output: where what is printed goes.
    """
    # The process that started this one decides what an interruption means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # This one was told where the series began.
    warnings.simplefilter("ignore", UntrainedRulesWarning)
    _keep_output_apart(output)
    with contextlib.suppress(OSError):  # who started this one has gone
        try:
            _work(connection, memory, pickled)
        except EOFError:
            pass
        except Exception as error:
            kinds = [kind for kind, error_class in ERRORS.items() if isinstance(error, error_class)]
            connection.send((kinds[0], message_of(error)) if kinds else ("failed", describe_error(error)))
        except BaseException:  # left behind by a policy, as an exit in a handler of signals
            os._exit(1)


def _work(connection, memory, pickled: bytes) -> None:
    series: Series = pickle.loads(pickled)
    own = [isinstance(spec, PolicySpec) and not spec.name.startswith(PYTHON) for spec in series.specs]
    watch = AnswerClock(memory, {policy: _UNTIMED_ASKS for policy, is_own in enumerate(own) if is_own})
    policies = load_policies(series.specs, series.names, series.fingerprints, series.rules, watch.note_loading)
    watch.note(None)
    if "torch" in sys.modules:
        # The processes share the cores already; and sums in threads would make results depend on their number.
        sys.modules["torch"].set_num_threads(1)
    while (order := connection.recv()) is not None:
        connection.send(("done", _play(series, policies, order, watch, connection).results))


def _keep_output_apart(output) -> None:
    """What policies print goes to `output`, and they read nothing.

    So no process that a policy leaves behind holds the command's own streams, whose reader would wait for its end.
    """
    for number in (1, 2):
        os.dup2(output.fileno(), number)
    output.close()
    sys.stdout = sys.stderr
    with open(os.devnull, "r+b", buffering=0) as nothing:
        os.dup2(nothing.fileno(), 0)
        # multiprocessing's helper has the command's streams, and lives as long as anybody holds the pipe to it.
        helper = resource_tracker.getfd() if sys.platform != "win32" else None
        if helper is not None:
            os.dup2(nothing.fileno(), helper, inheritable=False)


def _fill_standard_streams() -> None:
    """Open what a policy has closed of stdin, stdout and stderr: else a file of ours would take its number, and its prints."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


class _Descriptors:
    """The connection and the file of records: a policy may close them, or put something else in their place."""

    def __init__(self, *numbers: int) -> None:
        self.found = {number: self._identity(number) for number in numbers}

    def are_there(self) -> bool:
        """Whether each still is what it was."""
        return all(self._identity(number) == before for number, before in self.found.items())

    @staticmethod
    def _identity(number: int) -> tuple[int, int] | None:
        try:
            found = os.fstat(number)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _play(series: Series, policies: Sequence[Any], order: BlockOrder, watch: AnswerClock, connection) -> ClusterBatch:
    from hf_env.records import line, open_file

    block = order.block
    _fill_standard_streams()
    latest = 0.0

    def report(done: int) -> None:
        nonlocal latest
        if time.monotonic() - latest > _SECONDS_BETWEEN_REPORTS:
            latest = time.monotonic()
            connection.send(("deals", done))

    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open_file(order.draft, "w")) if order.draft is not None else None
        write = None if file is None else lambda record: file.write(line(record))
        descriptors = _Descriptors(connection.fileno(), *([] if file is None else [file.fileno()]))

        def note(asked: DecisionRequest | None) -> None:
            if asked is None and not descriptors.are_there():
                os._exit(CUT_OFF)  # while it still reads as the policy's turn
            watch.note(asked)

        return play_clusters(
            series.matches[block.match], policies, series.names, series.rules, series.seed, block.first, block.count,
            judge=Judge(series.forfeit_points, order.known, order.singly, note), on_progress=report, on_record=write,
        )  # fmt: skip

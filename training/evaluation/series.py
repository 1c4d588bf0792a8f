"""Series of matches spread over processes: who plays which block, who is waited for too long, what is kept.

What comes out does not depend on the number of processes: a block is a function of the series and its number.
"""

from __future__ import annotations

import codecs
import contextlib
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait

import cloudpickle

from agents.play.games import Forfeit
from agents.play.judging import PolicyError
from training.evaluation.matches import ClusterBatch, next_clusters
from training.evaluation.store import Block, Store
from training.evaluation.worker import CUT_OFF, ERRORS, LOADING, AnswerClock, BlockOrder, LastRequest, Series, work

# Small, so that little is lost when a series is broken off or a policy does not return; and large enough for batches.
GAMES_A_BLOCK = 32
# A policy that so often in one block did not return is not asked again in that block.
MAX_SILENCES = 3
DEFAULT_LIMIT_SECONDS = 60.0
# Points a deal: more than any way of playing on could lose, so that nobody gains by failing.
DEFAULT_FORFEIT_POINTS = -10_000
_LOOK_SECONDS = 0.1
# As much as a pipe holds.
_PRINTED_AT_ONCE = 65_536
# A process whose connection is closed ends by itself, and its exit code tells how.
_PATIENCE_SECONDS = 1.0


@dataclass
class _Progress:
    """A match on its way: its finished parts, and the blocks that are still out."""

    parts: dict[int, ClusterBatch] = field(default_factory=dict)
    open_blocks: int = 0
    planned: int = 0

    @property
    def deals(self) -> int:
        return sum(len(part.results.deal_games) for part in self.parts.values())


class _Worker:
    """One process, and what it is playing."""

    def __init__(self, series: Series) -> None:
        context = multiprocessing.get_context("spawn")
        self.memory = context.RawArray("d", 5)
        self.connection, other = context.Pipe()
        self.printed, output = context.Pipe(duplex=False)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # By value, which pickle does not: policies defined in a notebook or a script can then be played in processes too.
        data = cloudpickle.dumps(series)
        self.process = context.Process(target=work, args=(other, output, self.memory, data), daemon=True)
        # A new process begins with its starter's signals: an interruption must not reach it while it imports.
        in_main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main else None
        try:
            self.process.start()
        finally:
            if in_main:
                signal.signal(signal.SIGINT, before)
        other.close()
        output.close()
        self.order: BlockOrder | None = None
        self.deals = 0

    def give(self, order: BlockOrder) -> None:
        self.order, self.deals = order, 0
        with contextlib.suppress(OSError):  # it has ended, as the next look at it will find
            self.connection.send(order)

    @property
    def channels(self) -> list[Connection]:
        """What it may be heard through."""
        return [self.connection] if self.printed.closed else [self.connection, self.printed]

    def pass_on(self) -> None:
        """Write to stderr what has been printed in the process, at most some of it."""
        data = os.read(self.printed.fileno(), _PRINTED_AT_ONCE)
        if not data:
            self.printed.close()
        with contextlib.suppress(OSError, ValueError):  # stderr is closed
            sys.stderr.write(self._decoder.decode(data))
            sys.stderr.flush()

    def is_gone(self) -> bool:
        """Whether it has ended with nothing left to be read.

        The connection alone does not tell: a process that a policy has forked may hold it open.
        """
        return self.process.exitcode is not None and not self.connection.poll()

    def end(self, patience_seconds: float = 0.0) -> int:
        """End the process, at once or after so many seconds; returns its exit code."""
        deadline = time.monotonic() + patience_seconds
        while self.process.exitcode is None and time.monotonic() < deadline:
            time.sleep(0.01)
        self.process.kill()
        self.process.join()
        self.connection.close()
        if not self.printed.closed and self.printed.poll():
            self.pass_on()
        self.printed.close()
        code = self.process.exitcode
        assert code is not None  # it was joined
        return code


def play_series(
    series: Series,
    deals: Sequence[int],
    *,
    processes: int,
    store: Store | None = None,
    limit_seconds: float = DEFAULT_LIMIT_SECONDS,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[list[ClusterBatch]]:
    """Play all matches, each of at least as many deals as it has in `deals`; returns the parts of each in the order of their clusters.

    Args:
        processes: how many play, 1 or more; no effect on the results.
        store: where finished blocks are kept and looked for.
        limit_seconds: how long a policy may take for one decision; 0: as long as it likes.
        on_progress: called with deals finished and deals in all.

    Raises:
        UnfitPolicyError, UnknownPolicyError: As their messages say.
        PolicyError: For a policy that a process cannot load, for a checkpoint that has changed, and, without forfeits, for
            one that fails.
        RuntimeError: For what else goes wrong in a process, KeyboardInterrupt after ending the processes.
    """
    return _Run(series, deals, processes, store, limit_seconds, on_progress).play()


class _Run:
    """The state of one play_series call."""

    def __init__(self, series, deals, processes, store, limit_seconds, on_progress) -> None:
        self.series, self.deals, self.store = series, deals, store
        self.processes, self.limit, self.on_progress = processes, limit_seconds or math.inf, on_progress
        self.matches = [_Progress() for _ in series.matches]
        self.waiting: deque[BlockOrder] = deque()
        self.workers: list[_Worker] = []
        self.singly: frozenset[int] = frozenset()
        self.unasked_ends = 0

    def play(self) -> list[list[ClusterBatch]]:
        for number in range(len(self.matches)):
            self._plan(number)
        try:
            while self.waiting or any(worker.order for worker in self.workers):
                self._hand_out()
                self._listen()
                self._report()
        finally:
            for worker in self.workers:
                worker.end()
        return [[match.parts[first] for first in sorted(match.parts)] for match in self.matches]

    def _plan(self, number: int) -> None:
        """Put the match's next blocks into the queue, once all that were planned are finished; kept ones are taken over."""
        match, progress = self.series.matches[number], self.matches[number]
        while progress.open_blocks == 0:
            count = next_clusters(progress.planned, progress.deals, self.deals[number], match.num_rotations, self.series.rules)
            if count == 0:
                return
            size = max(1, GAMES_A_BLOCK // match.num_rotations)
            for first in range(progress.planned, progress.planned + count, size):
                block = Block(number, first, min(size, progress.planned + count - first))
                kept = self.store.load(block, self.series.matches, self.series.rules[0].num_sides) if self.store is not None else None
                if kept is not None:
                    progress.parts[first] = kept
                    continue
                progress.open_blocks += 1
                self.waiting.append(BlockOrder(block, self.store.record_draft(block) if self.store is not None else None))
            progress.planned += count

    def _hand_out(self) -> None:
        idle = [worker for worker in self.workers if worker.order is None]
        while self.waiting and (idle or len(self.workers) < self.processes):
            if not idle:
                idle.append(_Worker(self.series))
                self.workers.append(idle[-1])
            idle.pop().give(replace(self.waiting.popleft(), singly=self.singly))

    def _listen(self) -> None:
        """Take in what the workers say, and see who of them is silent or gone."""
        ready = wait([channel for worker in self.workers for channel in worker.channels], timeout=_LOOK_SECONDS)
        for worker in self.workers:
            if worker.printed in ready:
                worker.pass_on()
        for worker in [worker for worker in self.workers if worker.connection in ready]:
            try:
                kind, value = worker.connection.recv()
            except Exception:  # closed, or a policy has written into it
                self._replace(worker, worker.end(_PATIENCE_SECONDS), AnswerClock(worker.memory).read())
                continue
            self._take_in(worker, kind, value)
        for worker in list(self.workers):
            if worker.is_gone():
                self._replace(worker, worker.end(), AnswerClock(worker.memory).read())
                continue
            asked = AnswerClock(worker.memory).read() if worker.order is not None else None
            if asked and asked.since and time.monotonic() - asked.since > self.limit and not worker.connection.poll():
                worker.end()
                self._replace(worker, None, asked)

    def _take_in(self, worker: _Worker, kind: str, value) -> None:
        if kind == "deals":
            worker.deals = value
            return
        if kind != "done":
            raise ERRORS.get(kind, RuntimeError)(value)
        assert worker.order is not None  # who is done had something to do
        block = worker.order.block
        worker.order, worker.deals = None, 0
        part = ClusterBatch(self.series.matches[block.match], block.first, block.count, value)
        if self.store is not None:
            self.store.save(block, part)
        progress = self.matches[block.match]
        progress.parts[block.first] = part
        progress.open_blocks -= 1
        self._plan(block.match)

    def _replace(self, worker: _Worker, code: int | None, asked: LastRequest | None) -> None:
        """Have the block of a process that is gone, with this exit code, or silent (None), played again.

        The decision that never came is left out.
        """
        order, is_late = worker.order, code is None
        self.workers.remove(worker)
        if order is None:
            return
        if asked is None or asked.since is None:
            self._excuse(asked, code)
        elif asked.decision == LOADING:
            raise PolicyError(f"policy {self.series.names[asked.policy]!r} ended the process that loaded it{_how(code)}")
        elif asked.rows > 1 and (is_late or self.series.forfeit_points is not None):
            # Which of the decisions it was is not known; and some policies are only slow with many at once.
            self.singly |= {asked.policy}
        else:
            what = f"did not answer within {self.limit:g} s" if is_late else f"ended the process that asked it{_how(code)}"
            reason = f"policy {self.series.names[asked.policy]!r} {what}"
            if self.series.forfeit_points is None:
                raise PolicyError(reason)
            order = replace(order, known=order.known + self._forfeits(order, "time" if is_late else "died", asked, reason))
        self.waiting.appendleft(order)

    def _excuse(self, asked: LastRequest | None, code: int | None) -> None:
        """A process has ended while it asked nobody.

        Raises:
            RuntimeError: Where that is no accident.
        """
        self.unasked_ends += 1
        if asked is None:
            raise RuntimeError(f"a process ended before it played{_how(code)}")
        if self.unasked_ends > MAX_SILENCES:
            last = self.series.names[asked.policy]
            raise RuntimeError(f"processes end while they ask no policy{_how(code)}; the last that was asked is {last!r}")

    def _forfeits(self, order: BlockOrder, kind: str, asked: LastRequest, reason: str) -> tuple[Forfeit, ...]:
        """The forfeit of a decision that never came; after MAX_SILENCES in a block, of all the policy's games in it."""
        policy, game, decision = asked.policy, asked.game, asked.decision
        forfeits = (Forfeit(game, policy, -1, 0, decision, kind, reason),)
        if sum(forfeit.policy == policy for forfeit in order.known) + 1 < MAX_SILENCES:
            return forfeits
        match = self.series.matches[order.block.match]
        known = {forfeit.game for forfeit in (*order.known, *forfeits)}
        games = range(order.block.count * match.num_rotations)
        seated = [other for other in games if other not in known and policy in match.lineups[other % match.num_rotations]]
        reason = f"{reason} in {MAX_SILENCES} games and was not asked in this one"
        return forfeits + tuple(Forfeit(other, policy, -1, 0, -1, kind, reason) for other in seated)

    def _report(self) -> None:
        if self.on_progress is None:
            return
        finished = [match.deals for match in self.matches]
        done = sum(finished) + sum(worker.deals for worker in self.workers)
        self.on_progress(done, max(done, sum(map(max, self.deals, finished))))


def _how(code: int | None) -> str:
    """How a process ended, in brackets."""
    if code is None:
        return ""
    if code == CUT_OFF:
        return " (it closed the connection or a file of it)"
    return f" (signal {-code})" if code < 0 else f" (exit code {code})"

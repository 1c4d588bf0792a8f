"""Which measurements a run of ``handfoot bench`` makes, in order."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

from hf_env.vector.threads import available_cores
from training.benchmarks.rows import Row
from training.benchmarks.vector import GAMES


class Suite:
    """The measurements of some sections.

    Args:
        rules: RuleSets; a section that plays one takes the first.
        sizes: of VectorGame, () for GAMES.
        threads: None for 2, or 1 on one core.
        sections: keys of report.TITLES.

    Attributes:
        rows, missing: what was measured, and what was not and why.
    """

    def __init__(self, rules: list, seed: int, seconds: float, sizes: tuple[int, ...], threads: int | None, sections: list[str]) -> None:
        self.rules, self.seed, self.seconds = rules, seed, seconds
        self.sizes = sizes or GAMES
        self.threads = threads or min(2, available_cores())
        self.sections = sections
        self.rows: list[Row] = []
        self.missing: dict[str, str] = {}

    def settings(self) -> dict[str, Any]:
        """What was asked for, as JSON holds it."""
        return {
            "rules": [rule_set.name for rule_set in self.rules], "seed": self.seed, "seconds": self.seconds, "games": list(self.sizes),
            "threads": self.threads, "sections": self.sections,
        }  # fmt: skip

    def run(self, on_progress: Callable[[float, float], None]) -> None:
        """Measure; on_progress is called with the steps done and in all.

        Raises:
            BenchmarkError: Where what was played is not what it should be.
        """
        steps = self._steps()
        for number, step in enumerate(steps):
            on_progress(number, len(steps))
            self.rows += step()
        on_progress(len(steps), len(steps))

    def _steps(self) -> list[Callable[[], list[Row]]]:
        makers = {
            "vector": self._vector, "profile": self._profile, "threads": self._threads, "aec": self._aec,
            "players": self._players, "copies": self._copies, "memory": self._memory, "start": self._start,
            "peers": self._peers, "training": self._training,
        }  # fmt: skip
        return [step for section in self.sections for step in makers[section]()]

    def _vector(self):
        from training.benchmarks.vector import vector_rows

        return [lambda size=size: vector_rows(size, self.rules, self.seed, self.seconds, self.threads) for size in self.sizes]

    def _profile(self):
        from training.benchmarks.profile import profile_rows

        size = min(self.sizes, key=lambda one: abs(one - 1024))
        return [lambda: profile_rows(size, self.rules, self.seed, self.seconds)]

    def _threads(self):
        from training.benchmarks.vector import thread_rows

        if self.threads < 2:
            self.missing["threads"] = "one thread"
            return []
        tables = [tomllib.loads(rule_set.to_toml()) for rule_set in self.rules]
        size = max(self.sizes)
        if size < self.threads:
            self.missing["threads"] = f"{size} games for {self.threads} threads"
            return []
        return [lambda: thread_rows(size, tables, self.seed, self.seconds, self.threads)]

    def _aec(self):
        from training.benchmarks.single import aec_row

        return [lambda: [aec_row(self.rules, self.seed, self.seconds)]]

    def _players(self):
        from training.benchmarks.single import player_rows

        return [lambda: player_rows(self.rules[0], self.seed, self.seconds)]

    def _copies(self):
        from training.benchmarks.single import copy_rows

        return [lambda: copy_rows(self.rules, self.seed, self.seconds / 4)]

    def _memory(self):
        from training.benchmarks.single import memory_rows

        return [lambda: memory_rows(self.rules)]

    def _start(self):
        from training.benchmarks.start import start_rows

        return [start_rows]

    def _peers(self):
        from training.benchmarks.peers import peer_steps

        return peer_steps(self.seed, self.seconds, self.missing)

    def _training(self):
        from training.benchmarks.learning import learning_steps

        return learning_steps(self.seed, self.seconds, self.missing)

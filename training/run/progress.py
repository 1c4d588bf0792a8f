"""What a run shows while it runs: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from training.run.metrics import STRENGTH, STRENGTH_INTERVAL

_SECONDS_BETWEEN_LINES = 15.0


class ProgressDisplay:
    """A context manager; ``update`` after every iteration.

    Args:
        shown: False shows nothing.
    """

    def __init__(self, shown: bool = True, console: Console | None = None) -> None:
        self.shown = shown
        self._console = console or Console(stderr=True)
        self._latest: dict[str, float] = {}
        self._live: Live | None = None
        self._last_line = 0.0

    def __enter__(self) -> ProgressDisplay:
        if self.shown and self._console.is_terminal:
            self._bar = Progress(TextColumn("training"), BarColumn(None), TaskProgressColumn(), TimeElapsedColumn(), expand=True)
            self._task = self._bar.add_task("training", total=1.0)
            self._live = Live(self._render(), console=self._console, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(self, *_) -> None:
        if self._live is not None:
            self._live.update(self._render())
            self._live.stop()

    def update(self, progress: float, metrics: dict[str, float]) -> None:
        """Show the metrics of an iteration; values that it lacks keep their last state."""
        self._latest |= metrics
        if not self.shown:
            return
        if self._live is not None:
            self._bar.update(self._task, completed=progress)
            self._live.update(self._render())
        elif time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES or progress >= 1.0:
            self._last_line = time.monotonic()
            self._console.print(f"{progress:4.0%}  " + "  ".join(f"{k} {v}" for k, v in self._facts()), soft_wrap=True)

    def _render(self) -> Table:
        table = Table.grid(expand=True)
        table.add_row(self._bar)
        facts = Table.grid(padding=(0, 2))
        for key, value in self._facts():
            facts.add_row(key, value)
        table.add_row(facts)
        return table

    def _facts(self) -> list[tuple[str, str]]:
        """What is worth a line, in words."""
        m = self._latest
        if not m:
            return []
        share = [f"{m[f'speed/{part}_share']:.0%} {part}" for part in ("engine", "inference", "learning")]
        facts = [
            ("decisions", f"{m['run/decisions']:,.0f}, {m['speed/decisions_per_second']:,.0f} a second"),
            ("time", ", ".join(share)),
            ("entropy", f"{m['learning/entropy']:.3f}"),
        ]
        if "play/points_a_deal" in m:
            facts.append(("a deal", f"{m['play/points_a_deal']:,.0f} points, {m['play/gone_out_share']:.0%} gone out"))
        for name, value in m.items():
            if name.startswith(STRENGTH):
                anchor = name.removeprefix(STRENGTH)
                half = m[STRENGTH_INTERVAL + anchor]
                facts.append((f"against {anchor}", f"{value:+,.0f} ± {half:,.0f} points a deal"))
        return facts

"""No preset is much slower than whitnack: VectorGame with masks and observations, random legal actions by the engine.

The presets take turns with whitnack in one run, and each counts by the best of its repeats, so that what else the
machine does in between spoils neither. Run with ``-s`` to see the table.
"""

import time

import pytest

from hf_env import VectorGame, list_rules

NUM_GAMES = 256
WARM_UP_STEPS = 1_200  # the games are then spread over their whole length, in later deals too
STEPS = 150
REPEATS = 7
LEAST_SHARE = 0.6


class Table:
    """Games of one preset; `best`: the most decisions a second that `measure` has seen."""

    def __init__(self, rules: str) -> None:
        self.games = VectorGame(NUM_GAMES, rules, seed=1)
        self.best = 0.0

    def seconds(self, steps: int) -> float:
        """Play so many steps; the time of the steps alone, without choosing the actions."""
        taken = 0.0
        for _ in range(steps):
            actions = self.games.random_actions()
            begun = time.perf_counter()
            self.games.step(actions)
            taken += time.perf_counter() - begun
        return taken

    def measure(self) -> None:
        """Play on and note the speed."""
        self.best = max(self.best, STEPS * NUM_GAMES / self.seconds(STEPS))


@pytest.mark.long
def test_every_preset_has_60_percent_of_the_speed_of_whitnack() -> None:
    tables = {name: Table(name) for name in list_rules()}
    for table in tables.values():
        table.seconds(WARM_UP_STEPS)
    for _ in range(REPEATS):
        for table in tables.values():
            table.measure()
    share = {name: table.best / tables["whitnack"].best for name, table in tables.items()}
    rows = [f"{name:16} {tables[name].best:12,.0f} a second {share[name]:6.0%} of whitnack" for name in tables]
    print("\n" + "\n".join(rows))
    assert min(share.values()) >= LEAST_SHARE, "\n".join(rows)

"""A tiny run in a process of its own, to be killed: ``python -m tests.training.resume_run RUN UPDATES [PROCESSES]``.

Begins the run in the folder RUN, or continues the one that is there, until UPDATES are made, saving after each.
"""

import sys
from pathlib import Path

from agents.neural import NetworkConfig
from training.config import TrainConfig
from training.run.folder import RunFolder
from training.sessions import resume, train

NUM_GAMES, STEPS = 8, 32
DECISIONS_AN_UPDATE = NUM_GAMES * STEPS
# What the schedules run to, wherever a process is told to stop.
UPDATES = 20


def tiny_config(updates=UPDATES, **changes):
    """A league of past selves and scripted players on the small game, a new member every other update."""
    base = TrainConfig(
        rules={"preset": "mini", "deals": 2}, num_games=NUM_GAMES, rollout_steps=STEPS, minibatch_size=32, update_epochs=2,
        time_budget_seconds=None, decisions_budget=updates * DECISIONS_AN_UPDATE, processes=1,
        network=NetworkConfig(width=16, rank_width=8), seats=("learner", "pool:opponents"),
        pools={"opponents": {"learner": 1, "past": 3, "expert": 1, "greedy:noise=0.1": 1}},
        pool_size=10, pool_interval=2 / updates, num_evaluations=0, checkpoint_seconds=0.0, seed=3,
    )  # fmt: skip
    return base.replace(**changes)


def main(run_dir: Path, updates: int, processes: int = 1) -> None:
    """Train until the run has made so many updates in all of its processes, and save."""
    made = [0]

    def should_stop() -> bool:
        from training.run.report import read_log

        made[0] = len(read_log(run_dir))
        return made[0] >= updates

    if RunFolder(run_dir).config.exists():
        resume(run_dir, show_progress=False, should_stop=should_stop)
    else:
        train(tiny_config(processes=processes), run_dir, show_progress=False, should_stop=should_stop)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))

"""A partner for `greedy`, trained by sb3-contrib's MaskablePPO as it comes: the Gymnasium form with a learner from elsewhere.

    pip install '.[sb3]'
    python -m training.clients.maskable_ppo --minutes 3

The learner sits in seat 0, `greedy` in seat 2 opposite, `greedy` in seats 1 and 3 too. Afterwards the trained policy and
`random` play seat 0 of the same games, and the script says how many points a deal the training was worth.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import hf_env  # noqa: F401  (registers HandAndFoot-v0)
from agents.policy import PolicyBatch
from hf_env import ACTIONS, ObservationLayout, RuleSet, load_rules
from training.cli.extras import require_extra
from training.evaluation.matches import Match, match_totals, play_clusters
from training.evaluation.statistics import Interval, combined_interval

if __name__ == "__main__":
    require_extra("this script needs", "sb3", "sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

RULES = "whitnack"
LEARNER, PARTNER, OPPONENTS = 0, "greedy", "greedy"
SEATS = {1: OPPONENTS, 2: PARTNER, 3: OPPONENTS}
TABLES = 256  # a step of many tables asks each scripted seat once for all of them
# Undiscounted, as points are. Shaping pays what a deal brings as it comes on the table; the sum is the same. The rest is
# for a run of three minutes: small rollouts and large steps.
SETTINGS: dict[str, Any] = dict(
    gamma=1.0, gae_lambda=0.95, n_steps=32, batch_size=1024, n_epochs=4, learning_rate=1e-3, ent_coef=0.01, device="cpu"
)


class Tables(VecEnv):
    """Gymnasium's vector form of the game as Stable-Baselines3 wants it: what it calls a VecEnv.

    Stable-Baselines3 asks for the same things under other names: one space for all tables, an ended game's last
    observation as ``terminal_observation``, infos as a list, masks by ``env_method("action_masks")``.
    """

    def __init__(self, num_tables: int, **arguments: Any) -> None:
        """Make the tables.

        Args:
            arguments: as of ``hf_env.envs.gymnasium_vector.HandAndFootSeatVectorEnv``.
        """
        made = gymnasium.make_vec("HandAndFoot-v0", num_envs=num_tables, vectorization_mode="vector_entry_point", **arguments)
        self.tables: Any = made.unwrapped
        super().__init__(num_tables, self.tables.single_observation_space, spaces.Discrete(len(ACTIONS)))

    def reset(self) -> np.ndarray:
        """Start all tables: from `seed()` if it was called, else from the system's entropy."""
        observations, _ = self.tables.reset(seed=self._seeds)
        self._reset_seeds()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions (N,) for `step_wait`."""
        self._actions = actions

    def step_wait(self):
        """Observations (N, F), rewards (N,) float32, ends (N,) bool, infos; an ended table has begun its next game."""
        observations, rewards, terminated, truncated, info = self.tables.step(self._actions)
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for slot in np.flatnonzero(ended):
            infos[slot] = {
                "terminal_observation": info["final_obs"][slot],
                "TimeLimit.truncated": bool(truncated[slot] and not terminated[slot]),
                "deal_results": info["final_info"]["deal_results"][slot],
            }
        return observations, rewards.astype(np.float32), ended, infos

    def env_method(self, method_name: str, *arguments, indices=None, **named) -> list[Any]:
        """What a method of the tables returns, one entry a table."""
        return [getattr(self.tables, method_name)(*arguments, **named)[slot] for slot in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices=None) -> list[Any]:
        """An attribute of the tables, the same for each."""
        return [getattr(self.tables, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices=None) -> None:
        """Nothing is set from outside."""
        raise AttributeError(f"{attr_name} cannot be set")

    def env_is_wrapped(self, wrapper_class, indices=None) -> list[bool]:
        """False: there are no wrappers."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Close the tables."""
        self.tables.close()


class Budget(BaseCallback):
    """Ends ``learn`` after so many seconds; tells how it goes after each rollout."""

    def __init__(self, seconds: float, report: Callable[[str], None] | None) -> None:
        super().__init__()
        self._ends, self._report = time.monotonic() + seconds, report

    def _on_step(self) -> bool:
        return time.monotonic() < self._ends

    def _on_rollout_end(self) -> None:
        returns = [episode["r"] for episode in self.model.ep_info_buffer or ()]
        if self._report is not None and returns:
            self._report(f"{self.num_timesteps:,} decisions; mean return of the last {len(returns)} games {np.mean(returns):+.2f}")


class Trained:
    """The trained policy as a player of this project (agents/policy.py): its likeliest legal action."""

    def __init__(self, model: MaskablePPO, rules: RuleSet) -> None:
        self._model, self._scale = model, ObservationLayout(rules).scales()

    def act(self, batch: PolicyBatch) -> np.ndarray:
        """Actions (N,) of the rows of a batch; the observations are scaled as the Gymnasium form scales them."""
        observations = batch.observations * self._scale
        return self._model.predict(observations, action_masks=batch.action_masks.astype(bool), deterministic=True)[0]


def make_tables(num_tables: int = TABLES, rules: RuleSet | str = RULES) -> VecMonitor:
    """The learner's tables; VecMonitor adds up what it is paid: an ended game's info has the return in ``episode``."""
    return VecMonitor(Tables(num_tables, rules=rules, seat=LEARNER, seats=SEATS, shaping="table"))


def train(
    seed: int, seconds: float = math.inf, decisions: int = sys.maxsize, rules: RuleSet | str = RULES,
    report: Callable[[str], None] | None = None,
) -> MaskablePPO:  # fmt: skip
    """Train until so many seconds have passed, or so many decisions of the learner were made, whichever comes first."""
    tables = make_tables(rules=rules)
    torch.set_num_threads(1)  # with so small a network PyTorch's threads wait for each other more than they gain
    model = MaskablePPO("MlpPolicy", tables, seed=seed, **SETTINGS)
    return model.learn(decisions, callback=Budget(seconds, report))


def worth(player: Any, deals: int, seed: int, rules: RuleSet | str = RULES) -> Interval:
    """Points a deal that side 0 makes more with `player` in seat 0 than with `random` there, on the same cards.

    Args:
        deals: in all, both seatings counted. A cluster of the interval is a game seed, as in all evaluations of this
            project.
    """
    from agents import load

    rule_set = load_rules(rules) if isinstance(rules, str) else rules
    names = ("trained", "random", PARTNER)
    lineups = tuple((learner, 2, 2, 2) for learner in (0, 1))
    match = Match("seat 0", lineups, sides=(0, 0))
    clusters = max(1, round(deals / 2 / rule_set.deals))
    part = play_clusters(match, [load(player), load("random"), load(PARTNER)], names, [rule_set], seed, 0, clusters)
    table = match_totals([part])
    return combined_interval([1, -1], table.differences.T, table.deals.T)


def main(arguments: list[str] | None = None) -> None:
    """Train, save, measure, print."""
    parser = argparse.ArgumentParser(description="Train a partner for greedy with sb3-contrib's MaskablePPO.")
    parser.add_argument("--minutes", type=float, default=3.0, help="time of training (default 3)")
    parser.add_argument("--deals", type=int, default=2000, help="deals of the comparison with random (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="of training and cards (default 0)")
    parser.add_argument("--out", type=Path, help="save the model to this .zip")
    options = parser.parse_args(arguments)
    model = train(options.seed, 60 * options.minutes, report=print)
    if options.out is not None:
        model.save(options.out)
    gain = worth(Trained(model, load_rules(RULES)), options.deals, options.seed)
    print(
        f"with the trained partner greedy's side makes {gain.mean:+.0f} points a deal more than with random in that seat "
        f"(95 % interval {gain.low:+.0f} to {gain.high:+.0f}; {gain.num_clusters:,} game seeds; {model.num_timesteps:,} decisions)"
    )


if __name__ == "__main__":
    main()

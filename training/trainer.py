"""One iteration of training after the other: play, learn, log, now and then freeze a self, measure, and save."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from agents.neural import NeuralPolicy, build_network
from agents.neural.checkpoint import CheckpointError, network_bytes, sha256
from agents.neural.sections import layout_sections
from hf_env import VectorGame
from hf_env.files import write_json
from hf_env.seeds import FOR_CRITIC, FOR_LINEUPS, FOR_MINIBATCHES, FOR_TRAINING_GAMES, FOR_WEIGHTS, generator, grow_seed
from hf_env.vector.threads import even_blocks
from training.config import ConfigError, TrainConfig
from training.league.league import League
from training.league.lineups import LineupError, make_lineup
from training.learning.critic import build_critic
from training.learning.initial import load_initial_weights
from training.learning.ppo import PpoLearner
from training.learning.rollout import Collector, Rollout, RolloutStats
from training.learning.visible import visible_scale
from training.processes import Processes
from training.run import metrics as names
from training.run.checkpoints import save_member, write_checkpoint
from training.run.folder import RunFolder
from training.run.guards import FAILURES, StrengthMonitor, check_divergence, save_failure
from training.run.report import RunLog
from training.run.state import load_state, rank_state, read_state, trainer_state

_logger = logging.getLogger(__name__)
# Measures a policy: anchor's name -> (points a deal more than the anchor, half the 95 % interval).
EvaluateFn = Callable[[NeuralPolicy], Mapping[str, tuple[float, float]]]


class Trainer:
    """A run: its games, its learner, its league and its log.

    Of several processes each has one, with games of its own; that of rank 0 leads, measures and writes.

    Args:
        games: a VectorGame with SAME_STEP autoreset.
        evaluate_fn: called ``num_evaluations`` times on the way.
        processes: that learn together; None: this one alone.
    """

    def __init__(
        self, config: TrainConfig, run_dir: Path, games, evaluate_fn: EvaluateFn | None = None, processes: Processes | None = None
    ) -> None:
        self.processes = processes = processes or Processes()
        self.config, self.run_dir, self.games, self.evaluate_fn = config, run_dir, games, evaluate_fn
        self.rules = list(config.rules)
        scale = visible_scale(games, config.network.ignored, self.rules)
        weights_seed = grow_seed(config.seed, FOR_WEIGHTS)
        network = build_network(config.network, scale, games.num_actions, weights_seed, games.observation_layout)
        critic = None
        if config.critic == "all_cards":
            critic_seed = grow_seed(config.seed, FOR_CRITIC)
            critic = build_critic(config.network, scale, games.observation_layout, games.num_actions, games.num_seats, critic_seed)
            critic.to(config.device)
        self.learner = PpoLearner(
            network.to(config.device), config, generator(config.seed, FOR_MINIBATCHES, *processes.numbers), critic, processes
        )
        if config.device == "cpu":
            # Other cores are other processes'.
            torch.set_num_threads(1)
        try:
            lineup = make_lineup(config.seats, config.pools, games.num_seats, games.num_sides)
        except LineupError as error:
            raise ConfigError(str(error)) from None
        draws = generator(config.seed, FOR_LINEUPS, *processes.numbers)
        self.league = League(lineup, config.pool_size, config.hardness, games.num_games, games.num_sides, draws, processes)
        self.collector = Collector(games, self.league, config, critic, self.learner.forward, processes.numbers)
        self.strength = StrengthMonitor()
        self.log = RunLog(run_dir)
        self.iteration = self.decisions = 0
        self.pool_additions = self.evaluations = 0
        self._seconds_before, self._started = 0.0, time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall time of the run so far, earlier parts of a resumed run included."""
        return self._seconds_before + time.perf_counter() - self._started

    @property
    def progress(self) -> float:
        """How far the run is, 0 to 1."""
        return self.config.progress(self.seconds, self.decisions)

    def policy(self, mode: str = "argmax") -> NeuralPolicy:
        """The learner's present policy; it changes with the learner.

        It is measured by its likeliest actions: the chance that it needs for learning only costs it points.

        Args:
            mode: "argmax" or "sample".
        """
        return NeuralPolicy(self.learner.network, info=self._info(), mode=mode)

    def _tell(self, task: str, argument: Any = None) -> None:
        """Have the other processes do a task of ``do_as_told``, which this one goes on to do itself."""
        self.processes.first((task, argument))

    def do_as_told(self) -> None:
        """Do one task of rank 0's, as another process."""
        task, argument = self.processes.first(("", None))
        tasks: dict[str, Callable[[Any], Any]] = {
            "play_and_learn": self._play_and_learn, "give_state": self._give_state, "load": self._load, "weights": self._take_weights
        }  # fmt: skip
        tasks[task](argument)

    def iterate(self) -> dict[str, float]:
        """One rollout and one update; returns their metrics, which are also logged."""
        progress = self.progress
        self._tell("play_and_learn", progress)
        values, lineups = self._play_and_learn(progress)
        values |= self._evaluate_if_due()
        values |= {
            "run/anchors_fallen": float(len(self.strength.fallen)),
            "run/decisions": float(self.decisions),
            "run/seconds": self.seconds,
            "run/iteration": float(self.iteration),
        }
        self.log.write(values, lineups)
        return values

    def _play_and_learn(self, progress: float) -> tuple[dict[str, float], list[dict[str, Any]]]:
        """What all processes do of an iteration: the metrics of play, learning and league, and the line-ups of finished games."""
        started = time.perf_counter()
        self._freeze_if_due(progress)
        rollout = self.collector.collect(self.learner.network, self.config.teacher_share(progress) > 0.0)
        collected = time.perf_counter()
        values = self._learn(rollout, progress)
        learned = time.perf_counter()
        stats = RolloutStats.total(self.processes.gather(rollout.stats))
        self.iteration += 1
        self.decisions += stats.decisions
        values |= names.play_metrics(stats)
        values |= names.speed_metrics(stats, learned - collected, learned - started)
        lineups = self.league.take_finished()
        return values | names.league_metrics(self.league, lineups), lineups

    def _learn(self, rollout: Rollout, progress: float) -> dict[str, float]:
        """The update; where it breaks down, its batch is saved and the error names the folder."""
        try:
            values = self.learner.update(rollout, progress)
            check_divergence(values, self.config.max_kl)
        except FAILURES as error:
            number = self.iteration + 1
            rollout = self.processes.first(rollout, getattr(error, "rank", 0))
            if self.processes.rank:
                raise
            folder = save_failure(self.run_dir, number, rollout, self.learner.network, self._info(), error)
            raise type(error)(f"update {number}: {error}; the batch is kept in {folder}") from None
        return values

    def _freeze_if_due(self, progress: float) -> None:
        if self.config.pool_size and progress >= (self.pool_additions + 1) * self.config.pool_interval:
            member = self.league.add(self.learner.network, self.decisions)
            if self.processes.rank == 0:
                save_member(self.run_dir, member.digest, member.data)
            self.pool_additions += 1

    def _evaluate_if_due(self) -> dict[str, float]:
        due = (self.evaluations + 1) / (self.config.num_evaluations + 1)
        if self.evaluate_fn is None or self.evaluations >= self.config.num_evaluations or self.progress < due:
            return {}
        self.evaluations += 1
        values = {}
        for anchor, (difference, half_interval) in self.evaluate_fn(self.policy()).items():
            values[names.STRENGTH + anchor] = float(difference)
            values[names.STRENGTH_INTERVAL + anchor] = float(half_interval)
        for fall in self.strength.add(values, self.decisions):
            _logger.warning(fall)
        return values

    def save(self) -> Path:
        """Write a checkpoint of the exact state, after making sure that no frozen self has changed; returns its folder.

        Raises:
            CheckpointError: For a member whose network is not the one that was frozen, or processes that differ.
        """
        self._tell("give_state")
        self._verify()
        arrays, values = trainer_state(self)
        write_json(RunFolder(self.run_dir).league, self.league.table())
        return write_checkpoint(self.run_dir, f"{self.iteration:08d}", self.learner.network, self._info(), arrays, values)

    def _give_state(self, _: None) -> None:
        """As another process than rank 0's: give what ``save`` writes of it."""
        self._verify()
        self.processes.gather(rank_state(self))

    def _verify(self) -> None:
        """Check frozen selves and the processes' networks.

        Raises:
            CheckpointError: For a self that has changed, or networks that are not the same to the bit.
        """
        for member in self.league.members.values():
            member.verify()
        if self.processes.size > 1 and len(set(self.processes.gather(sha256(network_bytes(self.learner.network))))) > 1:
            raise CheckpointError("the processes have come to learn different networks: nothing is saved")

    def restore(self) -> None:
        """Take up the exact state of the run folder's newest whole checkpoint (training/run/state.py).

        Raises:
            CheckpointError: Where there is none, or it is of a run with other settings, rules or observation.
        """
        found = read_state(self)
        self._tell("load", found)
        self._load(found)
        self.log.cut_after(self.iteration, self.decisions)

    def _load(self, found: Any) -> None:
        self._seconds_before, self._started = load_state(self, found), time.perf_counter()

    def begin_from(self, spec: str) -> None:
        """Give the network what a policy has learned.

        Raises:
            ConfigError: For one that does not fit.
        """
        load_initial_weights(self.learner.network, spec, self.rules)
        weights = self.learner.network.state_dict()
        self._tell("weights", weights)

    def _take_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        self.learner.network.load_state_dict(weights)

    def _info(self) -> dict[str, Any]:
        """What the policy's JSON says beside the network."""
        return {
            "num_seats": int(self.games.num_seats),
            "num_sides": int(self.games.num_sides),
            "sections": layout_sections(self.games.observation_layout),
            "rules": [rules.to_toml() for rules in self.rules],
            "rules_names": [rules.name for rules in self.rules],
            "rules_fingerprints": [rules.fingerprint for rules in self.rules],
            "value_of": {"reward": self.config.reward, "shaping": self.config.shaping},
            "lineage": {
                "seed": self.config.seed,
                "iteration": self.iteration,
                "decisions": self.decisions,
                "seconds": round(self.seconds, 1),
                "frozen": [self.league.members[number].digest for number in self.league.candidates],
            },
        }


def make_games(config: TrainConfig, rank: int = 0, size: int = 1):
    """The VectorGame of a config, or a process's share of it.

    Args:
        rank: of the process.
        size: of all processes.
    """
    share = even_blocks(config.num_games, size)[rank]
    seed = grow_seed(config.seed, FOR_TRAINING_GAMES, *Processes(rank, size).numbers)
    return VectorGame(
        share.stop - share.start, config.rules, seed, reward=config.reward, episode=config.episode, shaping=config.shaping,
        autoreset="SAME_STEP",
    )  # fmt: skip

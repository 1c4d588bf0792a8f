"""The training loop: play, learn, log, now and then freeze a self, measure, and save; stop on budget or signal."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.neural import NeuralPolicy, build_network
from agents.neural.base import PolicyValueNetwork
from agents.neural.checkpoint import read_json
from agents.neural.sections import layout_sections
from agents.registry import load
from hf_env import ObservationLayout, RuleSet, VectorGame
from hf_env.files import write_json
from hf_env.observation.layout import Section
from hf_env.rules.ruleset import flat
from hf_env.seeds import FOR_CRITIC, FOR_LINEUPS, FOR_MINIBATCHES, FOR_TRAINING_GAMES, FOR_WEIGHTS, generator, grow_seed
from training.config import ConfigError, TrainConfig
from training.league.league import League
from training.league.lineups import LineupError, make_lineup
from training.learning.critic import build_critic
from training.learning.ppo import PpoLearner
from training.learning.rollout import Collector, Rollout
from training.run import metrics as names
from training.run.checkpoints import save_member, write_checkpoint
from training.run.folder import RunFolder
from training.run.guards import FAILURES, StrengthMonitor, check_divergence, save_failure
from training.run.progress import ProgressDisplay
from training.run.report import RunLog, write_report
from training.run.state import restore_trainer, trainer_state

_logger = logging.getLogger(__name__)
# Measures a policy: anchor's name -> (points a deal more than the anchor, half the 95 % interval).
EvaluateFn = Callable[[NeuralPolicy], Mapping[str, tuple[float, float]]]


def visible_scale(games, ignored: tuple[str, ...], rules: Sequence[RuleSet] = ()) -> np.ndarray:
    """(F,) float32: the games' observation scale, 0 in the sections that the network is not to see.

    Left out beside the ignored ones: options that are the same in all deals of all the ``rules``.
    Raises ConfigError for a section that does not exist.
    """
    scale = np.array(games.observation_scale, np.float32)
    for name in ignored:
        names = [section.name for section in games.observation_layout.sections]
        if name not in names:
            raise ConfigError(f"network.ignored: the observation has no section {name!r}; it has {', '.join(names)}")
        scale[games.observation_layout[name].slice] = 0.0
    for section in constant_options(rules):
        scale[section.slice] = 0.0
    return scale


def constant_options(rules: Sequence[RuleSet]) -> list[Section]:
    """Sections of the observation with options that never change under these rules: they tell a network nothing."""
    if not rules:
        return []
    seen = []
    for rule_set in rules:
        games = VectorGame(1, rule_set, 0)
        for deal in range(1 + max([0, *(len(value) for value in flat(rule_set.resolved()).values() if isinstance(value, list | tuple))])):
            games.games["deal"] = deal
            seen.append(games.observe(np.zeros(1, np.int32))[0].copy())
    constant = (np.array(seen) == seen[0]).all(0)
    layout = ObservationLayout(rules[0])
    return [section for section in layout.sections if section.name.startswith("option_") and constant[section.slice].all()]


def load_initial(spec: str) -> PolicyValueNetwork:
    """The network of a policy to go on from. spec: of ``agents.load``. Raises ConfigError where it names none."""
    try:
        policy = load(spec)
    except ValueError as error:
        raise ConfigError(f"initial_policy: {error}") from None
    if not isinstance(policy, NeuralPolicy):
        raise ConfigError(f"initial_policy: {spec} is no network")
    return policy.network


def load_initial_weights(ours: PolicyValueNetwork, spec: str) -> None:
    """Give a network what a policy has learned. Raises ConfigError for one that is built otherwise or sees other numbers."""
    theirs = load_initial(spec)
    for name, value in ours.config.model_dump().items():
        if getattr(theirs.config, name) != value:
            raise ConfigError(f"initial_policy: {spec} has network.{name} = {getattr(theirs.config, name)!r}, the run {value!r}")
    if not torch.equal(theirs.observation_scale, ours.observation_scale):
        raise ConfigError(f"initial_policy: {spec} sees other numbers of the observation: it was trained under other rule sets")
    ours.load_state_dict(theirs.state_dict())


@dataclass(frozen=True)
class TrainResult:
    """How a run ended. stopped_by: "budget" or "signal". seconds: of all its parts together."""

    run_dir: Path
    checkpoint: Path
    decisions: int
    iterations: int
    seconds: float
    stopped_by: str


class Trainer:
    """A run: its games, its learner, its league and its log.

    games: a VectorGame with SAME_STEP autoreset. evaluate_fn: called ``num_evaluations`` times on the way.
    """

    def __init__(self, config: TrainConfig, run_dir: Path, games, evaluate_fn: EvaluateFn | None = None) -> None:
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
        self.learner = PpoLearner(network.to(config.device), config, generator(config.seed, FOR_MINIBATCHES), critic)
        if config.device == "cpu":
            # Threads take a part of the rows each (training/learning/shards.py), not a share of every operation.
            torch.set_num_threads(1)
        try:
            lineup = make_lineup(config.seats, config.pools, games.num_seats, games.num_sides)
        except LineupError as error:
            raise ConfigError(str(error)) from None
        draws = generator(config.seed, FOR_LINEUPS)
        self.league = League(lineup, config.pool_size, config.hardness, games.num_games, games.num_sides, draws)
        self.collector = Collector(games, self.league, config, critic, self.learner.forward)
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
        """The learner's present policy; it changes with the learner. mode: "argmax" or "sample".

        It is measured by its likeliest actions: the chance that it needs for learning only costs it points.
        """
        return NeuralPolicy(self.learner.network, info=self._info(), mode=mode)

    def iterate(self) -> dict[str, float]:
        """One rollout and one update; returns their metrics, which are also logged."""
        started = time.perf_counter()
        progress = self.progress
        self._freeze_if_due(progress)
        rollout = self.collector.collect(self.learner.network, self.config.teacher_share(progress) > 0.0)
        collected = time.perf_counter()
        values = self._learn(rollout, progress)
        learned = time.perf_counter()
        self.iteration += 1
        self.decisions += rollout.stats.decisions
        values |= names.play_metrics(rollout.stats)
        values |= names.speed_metrics(rollout.stats, learned - collected, learned - started)
        values |= self._evaluate_if_due()
        lineups = self.league.take_finished()
        values |= names.league_metrics(self.league, lineups)
        values |= {
            "run/anchors_fallen": float(len(self.strength.fallen)),
            "run/decisions": float(self.decisions),
            "run/seconds": self.seconds,
            "run/iteration": float(self.iteration),
        }
        self.log.write(values, lineups)
        return values

    def _learn(self, rollout: Rollout, progress: float) -> dict[str, float]:
        """The update; where it breaks down, its batch is saved and the error names the folder."""
        try:
            values = self.learner.update(rollout, progress)
            check_divergence(values, self.config.max_kl)
        except FAILURES as error:
            number = self.iteration + 1
            folder = save_failure(self.run_dir, number, rollout, self.learner.network, self._info(), error)
            raise type(error)(f"update {number}: {error}; the batch is kept in {folder}") from None
        return values

    def _freeze_if_due(self, progress: float) -> None:
        if self.config.pool_size and progress >= (self.pool_additions + 1) * self.config.pool_interval:
            member = self.league.add(self.learner.network, self.decisions)
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

        Raises CheckpointError for a member whose network is not the one that was frozen.
        """
        for member in self.league.members.values():
            member.verify()
        arrays, values = trainer_state(self)
        write_json(RunFolder(self.run_dir).league, self.league.table())
        return write_checkpoint(self.run_dir, f"{self.iteration:08d}", self.learner.network, self._info(), arrays, values)

    def restore(self) -> None:
        """Take up the exact state of the run folder's newest whole checkpoint (training/run/state.py).

        Raises CheckpointError where there is none, or it is of a run with other settings, rules or observation.
        """
        self._seconds_before, self._started = restore_trainer(self), time.perf_counter()
        self.log.cut_after(self.iteration, self.decisions)

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


def make_games(config: TrainConfig):
    """The VectorGame of a config."""
    return VectorGame(
        config.num_games, config.rules, grow_seed(config.seed, FOR_TRAINING_GAMES), reward=config.reward, episode=config.episode,
        shaping=config.shaping, autoreset="SAME_STEP",
    )  # fmt: skip


def train(
    config: TrainConfig,
    run_dir: Path | str,
    evaluate_fn: EvaluateFn | None = None,
    *,
    games=None,
    show_progress: bool = True,
    should_stop: Callable[[], bool] | None = None,
) -> TrainResult:
    """Train from the beginning in a new run folder.

    config: the settings. run_dir: the folder, made if missing. evaluate_fn: measures the policy against anchors, now and
    then: a function of the policy that gives {name: (points a deal ahead, half the 95 % interval)}. games: None makes them
    by the config. show_progress: a line on the terminal.
    should_stop: asked after every iteration. SIGINT and SIGTERM stop the run too, after the iteration at hand;
    what was learned is saved either way.

    Raises ConfigError where the folder already holds a run; NonFiniteError or DivergenceError where learning broke
    down (the last checkpoint stays, and the offending batch is kept).
    """
    run_dir = Path(run_dir)
    if RunFolder(run_dir).holds_run():
        raise ConfigError(f"{run_dir} already holds a run: resume it or choose another folder")
    run_dir.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(config, run_dir, games or make_games(config), evaluate_fn)
    if config.initial_policy is not None:
        load_initial_weights(trainer.learner.network, config.initial_policy)
    write_json(RunFolder(run_dir).config, config.to_json())
    # From here on there is always a checkpoint to resume, whenever the process is killed.
    trainer.save()
    return _run(trainer, show_progress, should_stop)


def resume(
    run_dir: Path | str,
    evaluate_fn: EvaluateFn | None = None,
    *,
    games=None,
    show_progress: bool = True,
    should_stop: Callable[[], bool] | None = None,
    **changes: Any,
) -> TrainResult:
    """Continue a run from its newest checkpoint, as if it had never stopped.

    run_dir: the run's folder. evaluate_fn, games, show_progress, should_stop: as for ``train``. changes: new values of
    settings that do not touch what was learned, such as a larger budget. A longer budget stretches the schedules.

    Raises CheckpointError or ConfigError as their messages say.
    """
    run_dir = Path(run_dir)
    config = TrainConfig.from_json(read_json(RunFolder(run_dir).config)).replace(**changes)
    trainer = Trainer(config, run_dir, games or make_games(config), evaluate_fn)
    trainer.restore()
    write_json(RunFolder(run_dir).config, config.to_json())
    return _run(trainer, show_progress, should_stop)


def _run(trainer: Trainer, show_progress: bool, should_stop: Callable[[], bool] | None) -> TrainResult:
    stopped_by = "budget"
    last_save = time.perf_counter()
    with _signals() as signalled, ProgressDisplay(show_progress) as display:
        while trainer.progress < 1.0:
            display.update(trainer.progress, trainer.iterate())
            if signalled.is_set() or (should_stop is not None and should_stop()):
                stopped_by = "signal"
                break
            if time.perf_counter() - last_save > trainer.config.checkpoint_seconds:
                trainer.save()
                last_save = time.perf_counter()
        folder = trainer.save()
        trainer.log.close()
    write_report(trainer.run_dir)
    return TrainResult(trainer.run_dir, folder, trainer.decisions, trainer.iteration, trainer.seconds, stopped_by)


@contextmanager
def _signals():
    """An event that SIGINT and SIGTERM set; a second signal acts as it would have without us."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def on_signal(number, frame) -> None:
        event.set()
        restore()

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield event
    finally:
        restore()

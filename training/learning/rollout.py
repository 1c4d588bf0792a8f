"""Playing: T decisions of each of N games, by the learner and the others of the league, gathered for one update.

Only decisions of the learner with a choice are kept, in rows side by side; a table says at which step of which
game each was made. Advantages come from one stream a seat (training/learning/advantages.py).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import torch

from agents.neural.base import PolicyValueNetwork
from agents.neural.masked_categorical import sample_actions
from agents.policy import decision_keys, uniforms
from agents.scripted.players import ScriptedPolicy
from hf_env.kernels.compile import entry
from hf_env.seeds import FOR_TRAINING_KEYS, grow
from training.config import TrainConfig
from training.league.league import LEARNER, League
from training.learning.advantages import Played, seat_advantages
from training.learning.critic import hidden_cards, num_hidden
from training.learning.forward import Forward

# hf_env.engine.state.END_OUT, as VectorGame.end_reasons reports it.
END_OUT = 1


@entry
def find_decisions(action_masks, seats, lineups, skip_forced, actions, learner_slots, forced, other_slots):
    """Sort the N games by who decides now; returns the numbers of learner slots and of other slots.

    Args:
        action_masks: (N, A) int8.
        seats: (N,) int32.
        lineups: (N, seats) int32.
        skip_forced: bool, whether the learner's decisions with one legal action are left out of the lists; others' are.
        actions: (N,) int32, written where only one is legal.
        learner_slots, other_slots: (N,) int64, written to the returned length.
        forced: (N,) bool, written.
    """
    num_games, num_actions = action_masks.shape
    num_learner, num_others = 0, 0
    for game in range(num_games):
        num_legal = 0
        for action in range(num_actions):
            if action_masks[game, action] != 0:
                num_legal += 1
                if num_legal > 1:
                    break
                actions[game] = action
        is_forced = num_legal == 1
        forced[game] = is_forced
        is_other = lineups[game, seats[game]] != LEARNER
        if is_other and not is_forced:
            other_slots[num_others] = game
            num_others += 1
        elif not is_other and not (is_forced and skip_forced):
            learner_slots[num_learner] = game
            num_learner += 1
    return num_learner, num_others


@dataclass
class RolloutStats:
    """Counts of one rollout; ``training/run/metrics.py`` says what becomes of them."""

    decisions: int = 0
    forced: int = 0
    deals: int = 0
    self_play_deals: int = 0
    deals_gone_out: int = 0
    self_play_points: float = 0.0
    league_deals: int = 0
    league_difference: float = 0.0
    learner_decisions: int = 0
    truncated_games: int = 0
    engine_seconds: float = 0.0
    inference_seconds: float = 0.0

    @classmethod
    def total(cls, found: Sequence[RolloutStats]) -> RolloutStats:
        """Of several processes side by side: sums of counts, means of times."""
        if len(found) == 1:
            return found[0]
        sums = {each.name: sum(getattr(stats, each.name) for stats in found) for each in fields(cls)}
        return cls(**{name: value / len(found) if name.endswith("_seconds") else value for name, value in sums.items()})


@dataclass
class Rollout:
    """One rollout, ready for an update: R rows, of which the first M are decisions.

    The rest are observations of seats at the rollout's start, most of them not to move: they train the value
    alone, because the value of just such observations ends every stream at a cut.

    Attributes:
        observations: (R, F) int16.
        hidden: (R, H) int16, the hidden cards (training/learning/critic.py), H = 0 without a critic that sees them.
        action_masks: (R, A) int8.
        actions: (R,) int32.
        log_probs: (R,) float32.
        teacher_actions: (R,) int32, -1 where there is no teacher.
        values, advantages, returns: (R,) float32 in units of reward.
        policy_weights: (R,) float32, 0 where the row has no part in the policy's loss.
    """

    observations: np.ndarray
    hidden: np.ndarray
    action_masks: np.ndarray
    actions: np.ndarray
    teacher_actions: np.ndarray
    log_probs: np.ndarray
    values: np.ndarray
    advantages: np.ndarray
    returns: np.ndarray
    policy_weights: np.ndarray
    num_decisions: int
    stats: RolloutStats = field(default_factory=RolloutStats)

    def __len__(self) -> int:
        return len(self.observations)


class Collector:
    """Plays ``games`` (a VectorGame) and keeps the arrays that a rollout is gathered in.

    Rollouts share these arrays: one is valid until the next is collected.

    Args:
        critic: the network of a critic that sees all cards, or None: the values are then the policy's network's own.
        forward: how networks are run, the learner's own; None: plainly.
        numbers: what the root of the sampling keys grows with beside the seed: the process's rank, if not 0. step_number:
            steps made so far, the count that sampling keys are made of; part of the run's exact state.
    """

    def __init__(
        self,
        games,
        league: League,
        config: TrainConfig,
        critic: PolicyValueNetwork | None = None,
        forward: Forward | None = None,
        numbers: tuple[int, ...] = (),
    ) -> None:
        self.games, self.league, self.config, self.critic = games, league, config, critic
        self.forward = forward or Forward(config)
        self._root = grow(config.seed, FOR_TRAINING_KEYS, *numbers)
        self.step_number = 0
        self.num_rollouts = 0
        steps, n, seats = config.rollout_steps, games.num_games, games.num_seats
        capacity = steps * n + n
        self._observations = np.zeros((capacity, games.observation_width), np.int16)
        self._hidden = np.zeros((capacity, num_hidden(seats) if critic is not None else 0), np.int16)
        self._action_masks = np.ones((capacity, games.num_actions), np.int8)
        self._actions, self._teacher_actions = np.zeros((2, capacity), np.int32)
        self._teacher = ScriptedPolicy(config.teacher) if config.teacher else None
        self._log_probs, self._values, self._advantages, self._weights = np.zeros((4, capacity), np.float32)
        self._rows = np.zeros((steps, n), np.int32)
        self._seats = np.zeros((steps, n), np.int32)
        self._rewards = np.zeros((steps, n, seats), np.float32)
        self._ended = np.zeros((steps, n), bool)
        self._end_values = np.zeros((steps, n, seats), np.float32)
        self._step_actions = np.zeros(n, np.int32)
        self._learner_slots, self._other_slots = np.zeros((2, n), np.int64)
        self._forced = np.zeros(n, bool)

    def collect(self, network: PolicyValueNetwork, with_teacher: bool = False) -> Rollout:
        """Play ``rollout_steps`` decisions of each game with ``network`` as the learner.

        Args:
            with_teacher: note what the teacher would have done, too.
        """
        stats = RolloutStats()
        entry_observations, entry_hidden, entry_games, entry_seats = self._entry_rows()
        self._end_values[:] = 0.0
        size = 0
        for step in range(self.config.rollout_steps):
            started = time.perf_counter()
            size = self._decide(step, size, network, stats, self._teacher if with_teacher else None)
            decided = time.perf_counter()
            self.games.step(self._step_actions)
            stepped = time.perf_counter()
            self._record(step, network, stats)
            stats.inference_seconds += decided - started
            stats.engine_seconds += stepped - decided
        started = time.perf_counter()
        entry_returns = self._advantages_of(size, network)
        rollout = self._gather(size, entry_observations, entry_hidden, entry_returns[entry_games, entry_seats], stats)
        stats.inference_seconds += time.perf_counter() - started
        self.num_rollouts += 1
        return rollout

    def _entry_rows(self):
        """Observations of one seat of each game before the first step, with their games and seats.

        One seat a game is enough to teach the value what a seat's wait looks like; they take turns. Another
        player's future is not the learner's to value.
        """
        games = np.arange(self.games.num_games)
        seats = ((games + self.num_rollouts) % self.games.num_seats).astype(np.int32)
        observations = self.games.observe(seats)
        learners = self.league.lineups[games, seats] == LEARNER
        games, seats, observations = games[learners], seats[learners], observations[learners].copy()
        return observations, self._hidden_cards(games, seats), games, seats

    def _hidden_cards(self, slots: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """What the critic sees more than those seats of those games, (N, H) int16."""
        if self.critic is None:
            return np.zeros((len(slots), 0), np.int16)
        return hidden_cards(self.games.games[slots], seats, self.games.num_seats)

    def _decide(self, step: int, size: int, network: PolicyValueNetwork, stats: RolloutStats, teacher: ScriptedPolicy | None) -> int:
        """Fill ``_step_actions``, append the learner's rows after ``size``, and return the new size."""
        games = self.games
        num_learner, num_others = find_decisions(
            games.action_masks, games.seats, self.league.lineups, self.config.skip_forced,
            self._step_actions, self._learner_slots, self._forced, self._other_slots,
        )  # fmt: skip
        keys = self._keys()
        draws = uniforms(keys)
        slots = self._learner_slots[:num_learner]
        rows = slice(size, size + num_learner)
        np.take(games.observations, slots, axis=0, out=self._observations[rows], mode="clip")
        np.take(games.action_masks, slots, axis=0, out=self._action_masks[rows], mode="clip")
        logits, values = self._infer(network, self._observations[rows])
        sample_actions(logits, self._action_masks[rows], draws[slots], self._actions[rows], self._log_probs[rows])
        self._hidden[rows] = self._hidden_cards(slots, games.seats[slots])
        self._values[rows] = values if self.critic is None else self._criticise(self.critic, self._observations[rows], self._hidden[rows])
        self._weights[rows] = ~self._forced[slots]
        self._step_actions[slots] = self._actions[rows]
        self._ask_teacher(teacher, slots, rows, keys)
        self._decide_others(self._other_slots[:num_others], keys, draws)
        self._rows[step] = -1
        self._rows[step, slots] = np.arange(size, size + num_learner, dtype=np.int32)
        self._seats[step] = games.seats
        stats.decisions += games.num_games
        stats.learner_decisions += num_learner
        stats.forced += int(self._forced.sum())
        return size + num_learner

    def _ask_teacher(self, teacher: ScriptedPolicy | None, slots: np.ndarray, rows: slice, keys: np.ndarray) -> None:
        games = self.games
        self._teacher_actions[rows] = -1
        if teacher is not None and len(slots):
            # The true records: a scripted player reads of them only what its seat may know.
            records, masks = games.games[slots], games.action_masks[slots]
            self._teacher_actions[rows] = teacher.choose(records, games.rule_records, games.seats[slots], masks, keys[slots])

    def _keys(self) -> np.ndarray:
        """A key (N,) uint64 for each game's decision, from the seed and the step alone."""
        slots = np.arange(self.games.num_games)
        keys = decision_keys(self._root, slots, 0, 0, self.step_number)
        self.step_number += 1
        return keys

    def _decide_others(self, slots: np.ndarray, keys: np.ndarray, draws: np.ndarray) -> None:
        """Actions of frozen members and scripted players, one batch for each."""
        games = self.games
        numbers = self.league.lineups[slots, games.seats[slots]]
        for number in np.unique(numbers).tolist():
            own = slots[numbers == number]
            player = self.league.scripted_player(number)
            if player is not None:
                # The true records: a scripted player reads of them only what its seat may know.
                records, masks = games.games[own], games.action_masks[own]
                self._step_actions[own] = player.choose(records, games.rule_records, games.seats[own], masks, keys[own])
                continue
            logits, _ = self._infer(self.league.members[number].network, games.observations[own])
            actions = np.empty(len(own), np.int32)
            sample_actions(logits, games.action_masks[own], draws[own], actions, np.empty(len(own), np.float32))
            self._step_actions[own] = actions

    def _infer(self, network: PolicyValueNetwork, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits (N, A) and values (N,) float32, in units of reward."""
        if not len(observations):
            return np.empty((0, self.games.num_actions), np.float32), np.empty(0, np.float32)

        def run(block: slice) -> tuple[np.ndarray, np.ndarray]:
            with torch.inference_mode():
                logits, values = self.forward(network, torch.from_numpy(observations[block]).to(self.config.device))
                return logits.cpu().numpy(), network.denormalise(values).cpu().numpy()

        logits, values = zip(*map(run, self.forward.blocks(len(observations))), strict=True)
        return (logits[0], values[0]) if len(logits) == 1 else (np.concatenate(logits), np.concatenate(values))

    def _criticise(self, critic: PolicyValueNetwork, observations: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """The critic's values (N,) float32, in units of reward."""
        return self._infer(critic, np.concatenate([observations, hidden], axis=1))[1]

    def _record(self, step: int, network: PolicyValueNetwork, stats: RolloutStats) -> None:
        """Keep what the step paid and ended, count finished deals, and draw line-ups for games just started."""
        games = self.games
        self._rewards[step] = games.rewards
        over = games.terminated | games.truncated
        # "win" pays once a game, so there the game's end is a stream's end; else every deal stands alone.
        self._ended[step] = over if self.config.reward == "win" else over | games.deal_ended
        cut_short = np.flatnonzero(games.truncated & ~games.terminated)
        if len(cut_short):
            finals = np.ascontiguousarray(games.final_observations[cut_short])
            _, values = self._infer(network, finals.reshape(-1, games.observation_width))
            self._end_values[step, cut_short] = values.reshape(len(cut_short), games.num_seats)
            stats.truncated_games += len(cut_short)
        if games.deal_ended.any():
            self._count_deals(np.flatnonzero(games.deal_ended), stats)
        if over.any():
            slots = np.flatnonzero(over)
            self.league.end_games(slots, games.terminated[slots])
            self.league.draw(slots)

    def _count_deals(self, slots: np.ndarray, stats: RolloutStats) -> None:
        lineups, scores = self.league.lineups[slots], self.games.deal_scores[slots]
        self.league.totals[slots] += scores
        self_play = (lineups == LEARNER).all(1)
        stats.deals += len(slots)
        stats.self_play_deals += int(self_play.sum())
        stats.deals_gone_out += int((self.games.end_reasons[slots] == END_OUT)[self_play].sum())
        stats.self_play_points += float(scores[self_play].mean(1).sum())
        for lineup, score in zip(lineups[~self_play], scores[~self_play], strict=True):
            learns = np.array([(lineup[side :: len(score)] == LEARNER).any() for side in range(len(score))])
            if not learns.all():
                stats.league_deals += 1
                stats.league_difference += float(score[learns].mean() - score[~learns].mean())

    def _advantages_of(self, size: int, network: PolicyValueNetwork) -> np.ndarray:
        """Fill ``_advantages`` and return the (N, S) returns of all seats from before the first step."""
        games = self.games
        cut_values = np.empty((games.num_games, games.num_seats), np.float32)
        for seat in range(games.num_seats):
            observations = games.observe(np.full(games.num_games, seat, np.int32))
            if self.critic is None:
                _, cut_values[:, seat] = self._infer(network, observations)
            else:
                hidden = self._hidden_cards(np.arange(games.num_games), np.full(games.num_games, seat))
                cut_values[:, seat] = self._criticise(self.critic, observations, hidden)
        entry_returns = np.empty_like(cut_values)
        played = Played(self._rows, self._seats, self._rewards, self._ended, self._end_values)
        seat_advantages(played, self._values[:size], cut_values, self.config.gae_lambda, self._advantages[:size], entry_returns)
        return entry_returns

    def _gather(self, size: int, entry_observations, entry_hidden, entry_returns, stats: RolloutStats) -> Rollout:
        """The rollout, with the entry rows after the decisions; their masks allow everything, to no effect."""
        end = size + len(entry_returns)
        self._observations[size:end] = entry_observations
        self._hidden[size:end] = entry_hidden
        self._action_masks[size:end] = 1
        self._teacher_actions[size:end] = -1
        for array in (self._actions, self._log_probs, self._values, self._advantages, self._weights):
            array[size:end] = 0
        returns = self._values[:end] + self._advantages[:end]
        returns[size:] = entry_returns
        return Rollout(
            observations=self._observations[:end], hidden=self._hidden[:end], action_masks=self._action_masks[:end],
            actions=self._actions[:end], teacher_actions=self._teacher_actions[:end],
            log_probs=self._log_probs[:end], values=self._values[:end], advantages=self._advantages[:end],
            returns=returns, policy_weights=self._weights[:end], num_decisions=size, stats=stats,
        )  # fmt: skip

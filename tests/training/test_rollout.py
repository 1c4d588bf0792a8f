"""Playing: who decides, what is kept, and that streams match a replay of the games."""

import numpy as np
import pytest
import torch

from training.league.league import LEARNER
from training.learning.advantages import Played, seat_advantages

from .fake_vector_game import ASK, NO, YES, FakeVectorGame
from .helpers import make_learner, share, small_config


class RecordingGames(FakeVectorGame):
    """Keeps a copy of everything that each step showed and did."""

    def __init__(self, *args, **kwargs):
        self.recorded = []
        super().__init__(*args, **kwargs)

    def step(self, actions):
        before = self.observations.copy(), self.action_masks.copy(), self.seats.copy(), np.array(actions)
        super().step(actions)
        self.recorded.append((*before, self.rewards.copy(), self.deal_ended.copy(), self.terminated.copy()))


def collected(rollouts=3, **changes):
    config = small_config(**changes)
    games = RecordingGames(config.num_games, 0)
    learner, collector = make_learner(config, games)
    collector.league.add(learner.network, 0)
    lineups = []
    for _ in range(rollouts):
        games.recorded.clear()
        lineups = []
        step = games.step

        def recording_step(actions, step=step, lineups=lineups):
            lineups.append(collector.league.lineups.copy())
            step(actions)

        games.step = recording_step
        rollout = collector.collect(learner.network)
        games.step = step
    return learner, collector, games, rollout, np.array(lineups)


@pytest.mark.parametrize("skip_forced", [True, False])
def test_rows_are_the_learners_decisions_in_the_order_they_were_made(skip_forced):
    _, collector, games, rollout, lineups = collected(pools=share(0.5), skip_forced=skip_forced)
    assert (lineups != LEARNER).any() and (lineups == LEARNER).any()
    row = 0
    for step, (observations, masks, seats, actions, *_) in enumerate(games.recorded):
        for game in range(games.num_games):
            forced = masks[game].sum() == 1
            frozen = lineups[step, game, seats[game]] != LEARNER
            if frozen or (forced and skip_forced):
                assert collector._rows[step, game] == -1
                continue
            assert collector._rows[step, game] == row
            np.testing.assert_array_equal(rollout.observations[row], observations[game])
            np.testing.assert_array_equal(rollout.action_masks[row], masks[game])
            assert rollout.actions[row] == actions[game]
            assert rollout.policy_weights[row] == (not forced)
            row += 1
    assert row == rollout.num_decisions
    assert (rollout.policy_weights[row:] == 0).all()


def test_asks_and_answers_and_ends_occur():
    """What the streams must be right about does happen in the stand-in."""
    _, _, games, *_ = collected()
    actions = np.concatenate([record[3] for record in games.recorded])
    for action in (ASK, YES, NO):
        assert (actions == action).any()
    assert any(record[5].any() for record in games.recorded)
    assert any(record[6].any() for record in games.recorded)


def test_advantages_come_from_what_was_played():
    learner, collector, games, rollout, _ = collected(pools=share(0.5))
    rewards = np.array([record[4] for record in games.recorded])
    ended = np.array([record[5] for record in games.recorded])
    seats = np.array([record[2] for record in games.recorded])
    cut_values = np.empty((games.num_games, 4), np.float32)
    with torch.no_grad():
        for seat in range(4):
            observations = torch.from_numpy(games.observe(np.full(games.num_games, seat)))
            cut_values[:, seat] = learner.network.denormalise(learner.network(observations)[1]).numpy()
    size = rollout.num_decisions
    advantages, entry = np.empty(size, np.float32), np.empty_like(cut_values)
    played = Played(collector._rows, seats, rewards, ended, np.zeros_like(rewards))
    seat_advantages(played, rollout.values[:size], cut_values, collector.config.gae_lambda, advantages, entry)
    np.testing.assert_allclose(rollout.advantages[:size], advantages, atol=1e-5)
    np.testing.assert_allclose(rollout.returns[:size], advantages + rollout.values[:size], atol=1e-5)


def test_lineups_change_at_game_borders_only_and_only_then():
    _, _, games, _, lineups = collected(rollouts=6, pools=share(0.5))
    terminated = np.array([record[6] for record in games.recorded])
    changed = (lineups[1:] != lineups[:-1]).any(2)
    assert changed.any()
    assert not (changed & ~terminated[:-1]).any()
    assert np.isin((lineups != LEARNER).sum(2), (0, 2)).all()


def test_entry_rows_value_learners_who_wait():
    _, collector, games, rollout, lineups = collected(pools=share(0.5))
    num_entries = len(rollout) - rollout.num_decisions
    seats = (np.arange(games.num_games) + collector.num_rollouts - 1) % 4
    expected = lineups[0][np.arange(games.num_games), seats] == LEARNER
    assert num_entries == expected.sum()
    # The stand-in shows whose turn it is relative to the observer: some of these seats were not to move.
    assert (rollout.observations[rollout.num_decisions :, 6] != 0).any()


def test_play_depends_on_the_seed_alone():
    first = collected()[3]
    again = collected()[3]
    for name in ("observations", "actions", "advantages"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


def test_win_reward_streams_end_with_the_game():
    _, collector, games, *_ = collected(reward="win")
    terminated = np.array([record[6] for record in games.recorded])
    np.testing.assert_array_equal(collector._ended, terminated)


def test_a_truncated_game_is_bootstrapped_from_its_last_observations():
    learner, collector = make_learner()
    games = collector.games
    plain_step = games.step

    def truncating_step(actions):
        plain_step(actions)
        games.truncated[:] = games.terminated
        games.terminated[:] = False
        games.deal_ended[:] = games.deal_ended & ~games.truncated

    games.step = truncating_step
    learner.update(collector.collect(learner.network), 0.0)  # so that values are not all zero
    seen = 0
    for _ in range(4):
        rollout = collector.collect(learner.network)
        seen += rollout.stats.truncated_games
        assert ((collector._end_values != 0).any(2) <= collector._ended).all()
    assert seen and (collector._end_values != 0).any()

"""The league: members immutable and hashed, the hardest drawn most, line-ups by configuration, results by game."""

import itertools

import numpy as np
import pytest
import torch

from agents.neural import CheckpointError
from agents.scripted.players import ScriptedPolicy
from hf_env import VectorGame
from training.config import ConfigError, TrainConfig
from training.league.league import FIRST_SCRIPTED, LEARNER, League, Record
from training.league.lineups import make_lineup
from training.run.metrics import league_metrics

from .helpers import make_league, make_learner, share, small_config

LEAGUE = {
    "seats": ("learner", "pool:opponents", "pool:partners", "team:opponents"),
    "pools": {
        "opponents": {"past": 2, "expert": 1, "greedy:noise=0.1": 1},
        "partners": {"learner": 1, "past": 1, "random": 1},
    },
}


def test_members_do_not_change_with_the_learner():
    learner, collector = make_learner()
    member = collector.league.add(learner.network, 0)
    before = member.digest
    learner.update(collector.collect(learner.network), 0.0)
    member.verify()
    assert collector.league.add(learner.network, 1).digest != before
    assert not any(p.requires_grad for p in member.network.parameters())
    with torch.no_grad():
        member.network.policy_head.bias[0] += 1
    with pytest.raises(CheckpointError, match="has changed"):
        member.verify()


def test_the_league_keeps_reaching_over_the_whole_run():
    learner, _ = make_learner()
    league = make_league(small_config(pools=share(0.5)))
    for age in range(30):
        league.add(learner.network, age)
        assert len(league.candidates) <= 4
    ages = [league.members[number].decisions for number in league.candidates]
    assert ages == sorted(ages) and ages[0] == 0 and ages[-1] == 29
    assert max(np.diff(ages)) <= 22


@pytest.mark.parametrize("size", [1, 2])
def test_small_leagues_keep_the_newest(size):
    learner, _ = make_learner()
    league = make_league(small_config(pool_size=size))
    for age in range(5):
        league.add(learner.network, age)
    assert len(league.candidates) == size
    assert league.members[league.candidates[-1]].decisions == 4


def test_members_in_play_are_kept_until_their_games_end():
    learner, _ = make_learner()
    league = make_league(small_config(pool_size=1, pools=share(1)), num_games=2)
    first = league.add(learner.network, 0)
    league.draw(np.arange(2))
    league.add(learner.network, 1)
    assert first.number in league.members and first.number not in league.candidates
    league.draw(np.arange(2))
    league.release()
    assert first.number not in league.members


def test_the_share_of_frozen_games_is_as_configured():
    learner, _ = make_learner()
    league = make_league(small_config(pools=share(0.25)), num_games=4000, num_seats=3, num_sides=3)
    assert (league.lineups == LEARNER).all()  # nobody to draw yet
    league.add(learner.network, 0)
    league.draw(np.arange(4000))
    frozen = league.lineups != LEARNER
    assert (frozen.sum(1) <= 1).all()
    assert 0.22 < frozen.any(1).mean() < 0.28
    assert (frozen.sum(0) > 250).all()  # each of the three sides is drawn


def test_pools_are_drawn_a_seat_and_teams_a_side():
    learner, _ = make_learner()
    league = make_league(
        small_config(seats=("learner", "team:a", "pool:b", "team:a"), pools={"a": {"past": 1}, "b": {"past": 1, "greedy": 1}}),
        num_games=2000,
    )
    for age in range(3):
        league.add(learner.network, age)
    league.draw(np.arange(2000))
    for seats in league.lineups:
        turn = int(np.flatnonzero(seats == LEARNER)[0])
        learner_seat, first, partner, second = np.roll(seats, -turn)
        assert learner_seat == LEARNER and first == second >= 0
        assert partner >= 0 or partner == FIRST_SCRIPTED
    partners = league.lineups[np.arange(2000), (np.argmax(league.lineups == LEARNER, 1) + 2) % 4]
    assert 0.45 < (partners == FIRST_SCRIPTED).mean() < 0.55
    assert all(((league.lineups == LEARNER).argmax(1) == seat).mean() > 0.2 for seat in range(4))


def test_the_hardest_past_selves_are_drawn_most():
    learner, _ = make_learner()
    league = make_league(small_config(pools=share(1)), num_games=6000)
    for age in range(3):
        with torch.no_grad():
            learner.network.policy_head.bias[0] += 1  # another digest
        league.add(learner.network, age)
    digests = [league.members[number].digest for number in league.candidates]
    for digest, won in zip(digests, (0.9, 0.5, 0.1), strict=True):
        league.records[digest] = Record(digest, 0, 1000, 1000 * won, 98.0, 100 * won - 1)
    shares = [league.records[digest].win_share for digest in digests]
    np.testing.assert_allclose(shares, (0.9, 0.5, 0.1))
    league.draw(np.arange(6000))
    drawn = [(league.lineups == number).any(1).mean() for number in league.candidates]
    expected = np.array([0.1, 0.5, 0.9]) ** 2
    np.testing.assert_allclose(drawn, expected / expected.sum(), atol=0.02)
    assert league.records[digests[2]].rating > 300 > -300 > league.records[digests[0]].rating
    assert league_metrics(league, [])["league/hardest_win_share"] == pytest.approx(0.1)
    even = League(league.lineup, 3, 0.0, 1, 2, np.random.default_rng(0))
    even.candidates, even.members, even.records = league.candidates, league.members, league.records
    np.testing.assert_allclose(even._past_shares(), 1 / 3)


def test_results_count_games_between_the_learner_and_others():
    league = make_league(small_config(seats=("learner", "greedy", "random", "greedy"), pools={}), num_games=3)
    league.lineups[:] = (LEARNER, FIRST_SCRIPTED, FIRST_SCRIPTED - 1, FIRST_SCRIPTED)
    for slot in range(3):
        league.started[slot] = league._digests(slot)
    league.totals[:] = ((500, 400), (100, 400), (7, 7))
    league.end_games(np.arange(3), np.array([True, True, True]))
    league.end_games(np.arange(1), np.array([False]))
    greedy, partner = (league.records[league.digest(number)] for number in (FIRST_SCRIPTED, FIRST_SCRIPTED - 1))
    assert (greedy.games, greedy.wins) == (3, 1.5)
    assert partner.games == 0  # on the learner's own side
    assert sum(line["games"] for line in league.take_finished()) == 4
    assert league.take_finished() == []


def test_each_game_names_its_seats_alike_at_start_and_end():
    learner, _ = make_learner()
    league = make_league(small_config(pools=share(1)))
    member = league.add(learner.network, 0)
    league.draw(np.arange(8))
    league.end_games(np.arange(8), np.ones(8, bool))
    (first, *_), *_ = (line["seats"] for line in league.take_finished())
    assert first in ("learner", member.digest)
    league.lineups[3] = np.roll(league.lineups[3], 1)
    with pytest.raises(CheckpointError, match="game 3 is played by another"):
        league.end_games(np.arange(8), np.ones(8, bool))
    league = make_league(small_config(pools=share(1)))
    member = league.add(learner.network, 0)
    league.draw(np.arange(8))
    league.end_games(np.arange(8), np.ones(8, bool))
    with torch.no_grad():
        member.network.value_head.bias += 1
    with pytest.raises(CheckpointError, match="has changed"):
        league.take_finished()


def league_collector(rules="mini", **changes):
    config = small_config(rules=rules, **changes)
    return make_learner(config, VectorGame(config.num_games, rules, config.seed, reward=config.reward, shaping="full"))


def test_only_the_learners_decisions_are_learned_from():
    learner, collector = league_collector("whitnack", **LEAGUE, num_games=16)
    collector.league.add(learner.network, 0)
    collector.league.draw(np.arange(16))
    games, step, played = collector.games, collector.games.step, []

    def recording(actions):
        played.append((games.seats.copy(), games.action_masks.sum(1) > 1, collector.league.lineups.copy()))
        step(actions)

    games.step = recording
    rollout = collector.collect(learner.network)
    expected = sum(int((choice & (lineups[np.arange(16), seats] == LEARNER)).sum()) for seats, choice, lineups in played)
    assert rollout.num_decisions == expected > 0
    seen = np.unique(collector.league.lineups)
    assert (seen <= FIRST_SCRIPTED).any() and (seen >= 0).any()
    assert rollout.stats.learner_decisions == expected < rollout.stats.decisions


def test_scripted_seats_play_as_the_player_itself_would():
    """From the true records, in batches, the kernels choose what the policy chooses from what a seat may know."""
    from agents import load
    from hf_env.engine.redact import redact_rows
    from hf_env.engine.state import GAME_DTYPE

    learner, collector = league_collector(seats=("learner", "greedy:noise=0.3"), pools={})
    games, league, step, compared = collector.games, collector.league, collector.games.step, 0
    policy = load("greedy:noise=0.3")

    def comparing(actions):
        nonlocal compared
        slots = np.arange(games.num_games)
        own = np.flatnonzero((league.lineups[slots, games.seats] == FIRST_SCRIPTED) & (games.action_masks.sum(1) > 1))
        collector.step_number -= 1
        keys = collector._keys()[own]
        views = np.empty(len(own), GAME_DTYPE)
        redact_rows(games.games, games.rule_records, own, games.seats[own], views)
        chosen = policy.choose(views, games.rule_records, games.seats[own], games.action_masks[own], keys)
        np.testing.assert_array_equal(chosen, np.asarray(actions)[own])
        compared += len(own)
        step(actions)

    games.step = comparing
    collector.collect(learner.network)
    assert compared > 50


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seats": ["learner", "pool:friends"]}, "seats[1] names the pool 'friends'; there is 'opponents'"),
        ({"seats": ["learner", "wizard"]}, "seats[1] holds 'wizard'; allowed: learner, past, random, greedy, expert, beam"),
        ({"seats": ["learner", "python:os:getcwd"]}, "seats[1] holds 'python:os:getcwd'"),
        ({"seats": ["learner", "greedy:noise=2"]}, "noise=2 must be a number from 0 to 1"),
        ({"seats": ["learner", "greedy:noise"]}, "seats[1]"),
        ({"seats": ["past", "greedy"]}, "must hold 'learner' at least once"),
        ({"seats": ["learner", 3]}, "seats[1] holds 3"),
        ({"pools": {"opponents": {}}}, "pools.opponents must be a table"),
        ({"pools": {"opponents": {"past": 0}}}, "pools.opponents.past must be a weight above 0, at most 1,000,000,000, got 0"),
        ({"pools": {"opponents": {"past": float("nan")}}}, "must be a weight above 0"),
        ({"pools": {"opponents": {"pool:opponents": 1}}}, "a pool holds players, no pools"),
        ({"pools": {"opponents": {"search:rollouts=9": 1}}}, "pools.opponents holds 'search:rollouts=9'"),
        ({"hardness": -1}, "hardness = -1 is not allowed: it must be a number from 0 to 16"),
    ],
)
def test_lineups_that_make_no_sense_are_refused_in_one_line(changes, said):
    with pytest.raises(ConfigError) as caught:
        TrainConfig(**changes)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_another_number_of_seats_than_the_table_has_is_refused():
    with pytest.raises(ValueError, match='seats has 2 entries, the rules have 4 seats: \\["learner", "past"\\]'):
        make_lineup(("learner", "past"), {}, 4, 2)


@pytest.mark.parametrize(("num_seats", "num_sides"), [(2, 2), (3, 3), (4, 2), (6, 2), (6, 3)])
def test_the_default_fits_every_table(num_seats, num_sides):
    lineup = make_lineup((), TrainConfig().pools, num_seats, num_sides)
    assert len(lineup.seats) == num_seats and lineup.scripted == ()
    sides = {entry: {place % num_sides for place in range(num_seats) if lineup.seats[place] == entry} for entry in lineup.seats}
    assert sides["team:opponents"] == {num_sides - 1}
    assert not any(a & b for a, b in itertools.combinations(sides.values(), 2))


def test_noise_replaces_that_share_of_decisions():
    games = VectorGame(2000, "mini", 0)
    keys = np.arange(2000, dtype=np.uint64)
    # Past the first draw, where hardly anybody has a choice.
    for step in range(15):
        games.step(
            ScriptedPolicy("random").choose(games.games, games.rule_records, games.seats, games.action_masks, keys + np.uint64(step << 32))
        )
    chosen = {
        noise: ScriptedPolicy("greedy", noise).choose(games.games, games.rule_records, games.seats, games.action_masks, keys)
        for noise in (0.0, 0.25, 1.0)
    }
    assert games.action_masks[np.arange(2000), chosen[0.25]].all()
    other = {noise: (actions != chosen[0.0]).mean() for noise, actions in chosen.items()}
    assert other[1.0] > 0.2
    assert other[0.25] == pytest.approx(0.25 * other[1.0], abs=0.04)

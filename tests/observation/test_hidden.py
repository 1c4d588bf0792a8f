"""No seat's observation, mask, infos or rendering depend on anything that the seat cannot know."""

import numpy as np
import pytest

from hf_env import hand_and_foot_v0
from hf_env.engine.access import GameAccess
from hf_env.engine.state import PHASE_OVER
from hf_env.rendering.ansi import render_table
from hf_env.rules import list_rules
from tests.observation.driving import DRIVERS, holding, observe_all, put, reached_games, rules_for
from tests.observation.shuffling import shuffled_world

PER_DRIVER = 400  # 2,000 states of the five drivers together
EACH_PRESET = [("greedy_or_random", name) for name in list_rules()]


def worlds(games, rules, seat, seed):
    """A shuffled world of each record, for a seat."""
    rng = np.random.default_rng([seed, seat])
    return np.concatenate([shuffled_world(g, rules, seat, rng) for g in games])


def check_blind(games, rules):
    """Compare what each seat is shown of each game and of its shuffled worlds. Returns how many worlds differed."""
    vec = holding(games, rules, events=True)
    observations, masks = observe_all(vec), vec.action_masks.copy()
    deciders = vec.seats.copy()
    changed = 0
    for seat in range(rules.players):
        shown = [render_table(games, i, rules, seat) for i in range(len(games))]
        other = worlds(games, rules, seat, 1)
        for i, world in enumerate(other):
            live = world["phase"] != PHASE_OVER
            assert not live or GameAccess(vec.rule_records, other[i : i + 1]).broken_invariant() == 0
            changed += any(world[name].tobytes() != games[i][name].tobytes() for name in ("hands", "feet"))
            assert render_table(other, i, rules, seat) == shown[i]
        put(vec, other)
        assert (vec.seats == deciders).all()
        assert np.array_equal(vec.observe(seat), observations[seat])
        to_act = deciders == seat
        assert np.array_equal(vec.action_masks[to_act], masks[to_act])
        assert np.array_equal(vec.observations[to_act], observations[seat][to_act])
    return changed


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_a_seat_cannot_know_changes_nothing_that_it_is_shown(driver):
    rules = rules_for(driver)
    games = reached_games(rules, driver, PER_DRIVER, seed=2)
    assert check_blind(games, rules) > 3.9 * PER_DRIVER


@pytest.mark.parametrize("name", [name for name in list_rules() if name != "whitnack"])
def test_every_preset_hides_the_same(name):
    rules = rules_for("greedy_or_random", name)
    games = reached_games(rules, "greedy_or_random", 60, seed=3)
    assert check_blind(games, rules) > 50 * rules.players


@pytest.mark.long
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", list_rules())
def test_every_preset_hides_the_same_long(name, driver):
    rules = rules_for(driver, name)
    games = reached_games(rules, driver, PER_DRIVER, seed=6)
    assert check_blind(games, rules) > 0.85 * PER_DRIVER * rules.players


def test_a_test_that_looks_at_a_hidden_card_would_fail():
    # The worlds do differ where a full view or the state vector looks.
    rules = rules_for("greedy")
    games = reached_games(rules, "greedy", 40, seed=4, over=False)
    vec = holding(games, rules)
    states = vec.states()
    other = worlds(games, rules, 0, 2)
    put(vec, other)
    assert (vec.states() != states).any(1).all()
    assert all(render_table(other, i, rules, None) != render_table(games, i, rules, None) for i in range(len(games)))
    assert (vec.observe(1) != holding(games, rules).observe(1)).any(1).mean() > 0.9


def environments(rules, seat):
    """Two environments at one table; the second will be put into a shuffled world."""
    made = [hand_and_foot_v0.env(rules=rules, render_mode="ansi", render_view=seat) for _ in range(2)]
    for env in made:
        env.reset(seed=0)
    return made


def mask_of_mover(env):
    """The legal actions of the agent selected."""
    return env.observe(env.agent_selection)["action_mask"]


@pytest.mark.parametrize("driver,name", [("easy_quota", "whitnack"), ("non_discard", "whitnack"), *EACH_PRESET])
def test_the_environment_shows_the_same_before_and_after_a_step(driver, name):
    # After the same action infos, rendering and observation are the same, unless the seat has drawn unseen cards.
    rules = rules_for(driver, name)
    games = reached_games(rules, driver, 60, seed=5, over=False)
    rng = np.random.default_rng(0)
    compared = 0
    for seat in range(rules.players):
        ours, theirs = environments(rules, seat)
        agent = f"player_{seat}"
        for g in games:
            world = shuffled_world(g, rules, seat, rng)[0]
            ours.restore(g.tobytes())
            try:
                theirs.restore(world.tobytes())
            except ValueError as error:
                assert "no legal action" in str(error)  # another seat is stuck with the cards that it got
                continue
            # Where another seat acts, its choice must be possible in both worlds.
            legal = np.flatnonzero(mask_of_mover(ours) & mask_of_mover(theirs))
            if len(legal) == 0:
                continue
            action = int(rng.choice(legal))
            for env in (ours, theirs):
                env.step(action)
            if ours.infos[agent]["deal_results"] or theirs.infos[agent]["deal_results"]:
                continue  # scores of a deal that has ended say what was held
            assert ours.infos == theirs.infos
            mine, other = ours.unwrapped._vec.games[0], theirs.unwrapped._vec.games[0]
            if not np.array_equal(mine["hands"][seat], other["hands"][seat]) or not np.array_equal(mine["red3"], other["red3"]):
                continue  # it drew other cards, or somebody drew red 3s, which are laid openly
            a, b = ours.observe(agent), theirs.observe(agent)
            assert np.array_equal(a["observation"], b["observation"])
            assert np.array_equal(a["action_mask"], b["action_mask"])
            assert ours.render() == theirs.render()
            compared += 1
    assert compared > 30 * rules.players

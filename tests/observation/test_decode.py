"""Observations and state vectors give back the facts of the game, within their bounds, for every table."""

import numpy as np
import pytest

from hf_env import ObservationLayout, StateLayout, VectorGame, hand_and_foot_v0, load_rules
from tests.observation.driving import DRIVERS, Driver, holding, observe_all, play, put, reached_games, rules_for
from tests.observation.facts import differing, seat_facts, true_facts
from tests.rules.strategies import random_rule_set

ALONE = {"seating": "alone", "partner_foot": False, "permission": "none"}
# By seats and sides.
TABLES = {
    (2, 2): "two-player", (3, 3): "three-player", (4, 2): "whitnack", (4, 4): {"players": 4} | ALONE,
    (5, 5): "five-player", (6, 3): "six-pairs", (6, 2): "six-threes", (6, 6): {"players": 6} | ALONE,
}  # fmt: skip


def check_every_seat(games, rules, events):
    """Compare every section of every seat's observation, and of the state, with the facts."""
    vec = holding(games, rules, events=events)
    observations, states = observe_all(vec), vec.states()
    low, high = vec.observation_layout.bounds()
    assert ((observations >= low) & (observations <= high)).all()
    low, high = vec.state_layout.bounds()
    assert ((states >= low) & (states <= high)).all()
    for i, g in enumerate(vec.games):
        for seat in range(vec.num_seats):
            wrong = differing(vec.observation_layout, observations[seat, i], seat_facts(g, rules, seat, events))
            assert not wrong, (i, seat, wrong)
        assert not differing(vec.state_layout, states[i], true_facts(g, rules)), i


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("table", TABLES)
def test_every_section_gives_back_the_facts(table, driver):
    rules = rules_for(driver, TABLES[table])
    assert (rules.players, rules.num_sides) == table
    check_every_seat(reached_games(rules, driver, 12, seed=3), rules, events=driver != "random")


def test_every_section_gives_back_the_facts_under_random_rules():
    for seed in range(24):
        rules = random_rule_set(seed)
        driver = ("non_discard", "greedy_or_random")[seed % 2]
        check_every_seat(reached_games(rules, driver, 8, seed), rules, events=True)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("events", [False, True])
def test_the_encoder_writes_every_number_of_the_layout_and_not_one_more(table, events):
    vec = VectorGame(3, TABLES[table], 1, events=events)
    guarded = np.full((4, vec.observation_width), -7777, np.int16)
    for seat in range(vec.num_seats):
        vec.observe(seat, out=guarded[:3])
        assert (guarded[:3] != -7777).all() and (guarded[3] == -7777).all()
    width = vec.state_layout.width
    guarded = np.full((4, width), -7777, np.int16)
    vec.states(out=guarded[:3])
    assert (guarded[:3] != -7777).all() and (guarded[3] == -7777).all()


def test_the_layout_depends_on_seats_and_sides_alone():
    seen: dict[tuple, tuple] = {}
    for seed in range(150):
        rules = random_rule_set(seed)
        for events in (False, True):
            key = (rules.players, rules.num_sides, events)
            sections = ObservationLayout(rules, events=events).sections
            assert seen.setdefault(key, sections) == sections
            assert sections == ObservationLayout((rules.players, rules.num_sides), events=events).sections
    assert len({sections[-1].slice.stop for sections in seen.values()}) == len(seen) == 16


@pytest.mark.parametrize("layout", [ObservationLayout("mini", events=True), StateLayout("six-pairs")])
def test_sections_tile_the_vector(layout):
    at = 0
    for section in layout.sections:
        assert section.slice.start == at
        assert section.length == np.prod(section.shape) > 0
        assert layout[section.name] is section
        at = section.slice.stop
    assert at == layout.width == len(layout.scales())
    assert len({section.name for section in layout.sections}) == len(layout.sections)
    with pytest.raises(KeyError, match="no section 'nonsense'"):
        layout["nonsense"]
    with pytest.raises(ValueError, match="shape"):
        layout.decode(np.zeros(layout.width + 1, np.int16))


@pytest.mark.parametrize("rules", ["whitnack", "mini", "six-threes"])
def test_float32_is_the_scaled_int16(rules):
    whole = hand_and_foot_v0.env(rules=rules)
    scaled = hand_and_foot_v0.env(rules=rules, observation_dtype="float32")
    scales = whole.layout.scales()
    rng = np.random.default_rng(0)
    for env in (whole, scaled):
        env.reset(seed=11)
    for _ in range(120):
        if all(whole.terminations.values()):
            break
        for agent in whole.possible_agents:
            a, b = whole.observe(agent), scaled.observe(agent)
            assert a["observation"].dtype == np.int16 and b["observation"].dtype == np.float32
            assert np.array_equal(b["observation"], a["observation"] * scales)
            assert scaled.observation_space(agent).contains(b) and whole.observation_space(agent).contains(a)
            decoded = whole.layout.decode(b["observation"])
            assert all(np.array_equal(v, decoded[k]) for k, v in whole.layout.decode(a["observation"]).items())
        action = int(rng.choice(np.flatnonzero(whole.observe(whole.agent_selection)["action_mask"])))
        for env in (whole, scaled):
            env.step(action)


@pytest.mark.parametrize(
    "rules,driver",
    [
        ("whitnack", "greedy_or_random"),
        ("mini", "random"),
        ("family", "non_discard"),
        ("six-threes", "greedy"),
        ("three-player", "greedy_or_random"),
        ("brouillette", "non_discard"),
    ],
)
@pytest.mark.parametrize("events", [False, True])
def test_what_is_written_bit_by_bit_equals_a_full_rewrite(rules, driver, events):
    # The options are written once a deal only; the rest at every decision.
    rules = load_rules(rules).with_overrides(deals=2, opening=[50, 90], draw=[2, 3])
    vec = VectorGame(16, rules, 5, autoreset="SAME_STEP", events=events)
    deals = 0
    for step, _ in enumerate(play(vec, Driver(driver, 5))):
        assert np.array_equal(vec.observations, vec.observe(vec.seats)), step
        deals += int(vec.deal_ended.sum())
        if deals > 20 or step > 3000:
            break
    assert deals > 20


def test_the_events_are_the_last_64_of_the_deal_latest_first():
    rules = load_rules("whitnack")
    vec = VectorGame(1, rules, 4, autoreset="DISABLED", events=True)
    log: list[tuple[int, int, int]] = []
    driver = Driver("greedy_or_random", 1)
    most = with_red3s = 0
    while not vec.terminated[0]:
        seat, red3s = int(vec.seats[0]), int(vec.games[0]["red3"].sum())
        action = driver.actions(vec)
        vec.step(action)
        if vec.deal_ended[0]:
            log = []
        else:
            log.append((seat, int(action[0]), int(vec.games[0]["red3"].sum()) - red3s))
        most = max(most, len(log))
        with_red3s += bool(log) and log[-1][2] > 0
        for observer in range(4):
            rows = vec.observation_layout.decode(vec.observe(observer)[0])["events"]
            kept = log[::-1][:64]
            expected = [((s - observer) % 4, a + 1, r) for s, a, r in kept] + [(0, 0, 0)] * (64 - len(kept))
            if not vec.terminated[0]:
                assert rows.tolist() == [list(row) for row in expected]
    assert most > 100 and with_red3s > 3


def scores_seen(vec, row):
    """(sides,) the totals of a written row, in units of 5 points."""
    return vec.observation_layout.decode(row)["scores"].tolist()


def test_scores_beyond_the_range_are_cut_off_and_play_goes_on():
    vec = VectorGame(3, "whitnack", 0, autoreset="DISABLED")
    games = vec.games.copy()
    # The last amount of points that fits, the first that does not, and far more than any.
    for game, points in zip(games, (32767 * 5, 32767 * 5 + 5, 10**8), strict=True):
        game["scores"][:2] = points, -points
    put(vec, games)
    for seat in range(4):
        own = [32767, -32767] if seat % 2 == 0 else [-32767, 32767]
        assert [scores_seen(vec, row) for row in vec.observe(seat)] == [own] * 3
    assert [vec.state_layout.decode(row)["scores"].tolist() for row in vec.states()] == [[32767, -32767]] * 3
    for _ in range(20):
        vec.step(vec.random_actions())
        assert {abs(score) for row in vec.observations for score in scores_seen(vec, row)} == {32767}
    assert vec.games["scores"][2, 0] == 10**8


def test_the_rows_of_scores_say_that_they_are_cut_off():
    for layout in (ObservationLayout("whitnack"), StateLayout("whitnack")):
        for name in ("scores", "table_scores"):
            assert "cut off at 163,835 points either way" in layout[name].meaning


@pytest.mark.parametrize("events", [False, True])
def test_a_rule_set_whose_totals_pass_the_range_is_played_to_its_end(events):
    rules = load_rules("mini").with_overrides(clean_book=10000, dirty_book=10000, going_out=10000, deals=20, target=None)
    vec = VectorGame(2, rules, 4, autoreset="SAME_STEP", events=events, reward="score")
    totals, paid = np.zeros((2, 2), np.int64), np.zeros((2, 2))
    for _ in play(vec, Driver("greedy_or_random", 4)):
        paid += vec.rewards[:, :2]
        totals[vec.deal_ended] += vec.deal_scores[vec.deal_ended]
        if vec.terminated[0]:
            break
    # Scores and rewards stay exact; what is seen at the end of the game is cut off.
    assert totals[0].max() > 32767 * 5 and np.array_equal(vec.ended[0]["scores"][:2], totals[0])
    assert np.allclose(paid[0] * 1000, totals[0], atol=1)
    assert scores_seen(vec, vec.final_observations[0, 0]) == np.clip(totals[0] // 5, -32767, 32767).tolist()

"""The observation and the rules grow: the shipped policies and the fitted values go on as if nothing had been added."""

import hashlib
import json
import warnings

import numpy as np
import pytest

from agents.neural.ranks.single_row import run_rows
from agents.neural.sections import columns_here, sections_read
from agents.policy import DecisionCounter, PolicyBatch, UntrainedRulesWarning
from agents.registry import load
from agents.search.values import fitted_value, is_fitted_to
from agents.shipped import FOLDER, PLAYERS
from hf_env import ObservationLayout, VectorGame, load_rules
from hf_env.observation.layout import _Layout
from hf_env.observation.sections import OPTION_PREFIX, Row, observation_rows, option_row
from hf_env.rules import RuleSet
from hf_env.rules import options as o
from hf_env.rules.record import RULES_DTYPE, rules_dtype, shown_options

GAMES = 200
TABLE = (4, 2)


class GrownRules(RuleSet):
    """Rule sets with an option more, which the game did not have before."""

    trial_rule: o.YesNo = o.yes_no(False, "a trial", added_later=True)


def grown_rows(events: bool) -> list[Row]:
    """Today's sections, a new one in their middle, and the new option among the options."""
    today = [row for row in observation_rows(*TABLE, events) if not row.name.startswith(OPTION_PREFIX)]
    middle = [row.name for row in today].index("stock_size")
    options = [option_row(option) for option in shown_options(GrownRules)]
    end = len(today) - events
    return [*today[:middle], Row("trial", (4, 3), "a trial", (0, 9), 1, "all"), *today[middle:end], *options, *today[end:]]


class GrownLayout(ObservationLayout):
    """The layout of those sections."""

    def __init__(self, rules=TABLE, events: bool = False) -> None:
        _Layout.__init__(self, grown_rows(events), *TABLE)
        self.events = events


def as_grown(observations: np.ndarray) -> np.ndarray:
    """Observations of today in the grown layout, with noise in what is new."""
    today, grown = ObservationLayout(TABLE), GrownLayout()
    found = np.random.default_rng(0).integers(0, 9, (len(observations), grown.width)).astype(np.int16)
    for section in today.sections:
        found[:, grown[section.name].slice] = observations[:, section.slice]
    return found


def batches(player):
    """The batches of decisions of GAMES deals that the player plays."""
    vec = VectorGame(GAMES, "whitnack", 11, episode="deal", autoreset="DISABLED")
    counter = DecisionCounter(GAMES, 4)
    for slot in range(GAMES):
        counter.start(slot, [1, 2, 3, 4], slot)
    while (live := np.flatnonzero(~(vec.terminated | vec.truncated))).size:
        batch = PolicyBatch.of(vec, live, *counter.next(live, vec.seats[live]))
        yield batch
        actions = np.zeros(GAMES, np.int64)
        actions[live] = player.act(batch)
        vec.step(actions)


def in_layout(batch: PolicyBatch) -> PolicyBatch:
    """The same decisions, seen in the grown layout."""
    return PolicyBatch(as_grown(batch.observations), batch.action_masks, batch.games, batch.seats, batch.game_starts, batch.keys)


@pytest.fixture
def players(request, monkeypatch):
    """A shipped policy as it is, and as it is loaded where the observation has grown."""
    spec = f"pretrained:rules={request.param}"
    before = load(spec)
    monkeypatch.setattr("agents.neural.policy.ObservationLayout", GrownLayout)
    return before, load(spec)


@pytest.mark.parametrize("players", PLAYERS, indirect=True)
def test_a_shipped_policy_plays_the_same_games_where_the_observation_has_grown(players):
    before, after = players
    with warnings.catch_warnings():
        warnings.simplefilter("error", UntrainedRulesWarning)
        after.start(GAMES, GrownRules(), 0)
    hashes = [hashlib.sha256(), hashlib.sha256()]
    decisions = few = 0
    for batch in batches(before):
        decisions += len(batch)
        few += len(batch) < 24
        hashes[0].update(before.act(batch).tobytes())
        hashes[1].update(after.act(in_layout(batch)).tobytes())
    assert decisions > 100 * GAMES and few > 20
    assert hashes[0].hexdigest() == hashes[1].hexdigest()


@pytest.mark.parametrize("players", PLAYERS, indirect=True)
def test_compiled_playouts_read_the_grown_observation(players):
    before, after = players
    batch = next(iter(batches(before)))
    found = [np.empty((GAMES, 127), np.float32), np.empty((GAMES, 127), np.float32)]
    values = [np.empty(GAMES, np.float32), np.empty(GAMES, np.float32)]
    run_rows(batch.observations, before.compiled_arrays(), before.compiled.work(), found[0], values[0])
    arrays = after.compiled_arrays()
    assert arrays.num_columns == GrownLayout().width
    run_rows(as_grown(batch.observations), arrays, after.compiled.work(), found[1], values[1])
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize("players", PLAYERS, indirect=True)
def test_another_value_of_the_new_option_is_a_rule_set_it_was_not_trained_under(players):
    with pytest.warns(UntrainedRulesWarning, match="other options"):
        players[1].start(1, GrownRules(trial_rule=True), 0)


def test_an_option_added_later_leaves_fingerprints_as_they_were():
    assert GrownRules().fingerprint == RuleSet().fingerprint
    assert GrownRules(trial_rule=True).fingerprint != RuleSet().fingerprint
    assert set(rules_dtype(GrownRules).names) - set(RULES_DTYPE.names) == {"trial_rule"}
    assert GrownRules(trial_rule=True).to_record()["trial_rule"].tolist() == [1]


@pytest.mark.parametrize("name", ["greedy", "expert"])
def test_a_fitted_value_is_of_the_same_rule_sets_where_the_record_has_grown(name, monkeypatch):
    monkeypatch.setattr("agents.search.values.RuleSet", GrownRules)
    value = fitted_value(name)
    assert is_fitted_to(value, GrownRules().to_record()[0])
    assert not is_fitted_to(value, GrownRules(trial_rule=True).to_record()[0])


@pytest.mark.parametrize("name", PLAYERS)
def test_what_a_policy_does_not_read_may_go(name):
    player = load(f"pretrained:rules={name}")
    info = json.loads((FOLDER / name / "policy.json").read_text())
    scale = player.network.observation_scale.numpy()
    read = sections_read(info["sections"], scale)
    assert "hand" in read and "recent_discards" not in read

    class Without(ObservationLayout):
        def __init__(self, gone: str) -> None:
            _Layout.__init__(self, [row for row in observation_rows(*TABLE, False) if row.name != gone], *TABLE)

    columns = columns_here(info["sections"], scale, Without("recent_discards"))
    assert columns is not None and columns.max() < Without("recent_discards").width
    with pytest.raises(ValueError, match="it reads turns of 1 values, and here there is none"):
        columns_here(info["sections"], scale, Without("turns"))
    assert columns_here(info["sections"], scale, ObservationLayout(load_rules("whitnack"))) is None

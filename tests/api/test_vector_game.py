"""VectorGame: buffers, autoreset, seeds of slots, snapshots."""

import numpy as np
import pytest

from hf_env import VectorGame, deck_for, load_rules
from hf_env.engine.cards import format_cards
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER

ANSWER_BUFFERS = (
    "observations", "action_masks", "seats", "rewards", "terminated", "truncated", "deal_ended", "deal_scores", "end_reasons",
    "game_seeds", "game_numbers", "decisions",
)  # fmt: skip


def choose(masks: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """(N,) legal actions; row i's depends on keys[i] alone."""
    actions = np.zeros(len(masks), np.int64)
    for i, mask in enumerate(masks):
        legal = np.flatnonzero(mask)
        if len(legal):
            actions[i] = legal[hash((int(keys[i]), 12345)) % len(legal)]
    return actions


def keys_of(vec: VectorGame) -> np.ndarray:
    """(N,) numbers that depend on a slot's game and decision only."""
    return vec.game_seeds * 31 + vec.decisions


def advance(vec: VectorGame, steps: int) -> None:
    """Play so many steps by the games' own keys."""
    for _ in range(steps):
        vec.step(choose(vec.action_masks, keys_of(vec)))


def everything(vec: VectorGame) -> dict[str, np.ndarray]:
    """All buffers and games, copied."""
    found = {name: getattr(vec, name).copy() for name in ANSWER_BUFFERS}
    # As bytes: NumPy's copy of records leaves the padding between fields unset.
    return found | {"games": vec.games.view(np.uint8).reshape(vec.num_games, -1).copy()}


def assert_same(a: dict, b: dict, rows_a=slice(None), rows_b=slice(None)) -> None:
    """Compare rows of what `everything` gave, bit by bit."""
    for name in a:
        assert a[name][rows_a].tobytes() == b[name][rows_b].tobytes(), name


def test_shapes_and_types_of_the_buffers():
    vec = VectorGame(5, "six-pairs", 1, events=True)
    width = vec.observation_layout.width
    expected = {
        "observations": ((5, width), np.int16), "action_masks": ((5, 127), np.int8), "seats": ((5,), np.int32),
        "rewards": ((5, 6), np.float32), "terminated": ((5,), np.bool_), "truncated": ((5,), np.bool_),
        "deal_ended": ((5,), np.bool_), "deal_scores": ((5, 3), np.int32), "final_observations": ((5, 6, width), np.int16),
    }  # fmt: skip
    before = {}
    for name, (shape, dtype) in expected.items():
        before[name] = getattr(vec, name)
        assert before[name].shape == shape and before[name].dtype == dtype, name
    advance(vec, 300)
    assert all(getattr(vec, name) is buffer for name, buffer in before.items())
    assert vec.metadata["autoreset_mode"].name == "SAME_STEP"
    assert VectorGame(1, autoreset="DISABLED").metadata["autoreset_mode"].name == "DISABLED"


def test_the_nth_game_of_a_slot_depends_on_seed_slot_and_number_only():
    # The others play other actions, or there are no others.
    rules = ["mini", load_rules("mini", deals=2), {"preset": "mini", "take_key": "natural_pair"}]
    traces = []
    for num_games in (1, 7, 64):
        vec = VectorGame(num_games, rules, 42)
        trace = []
        for _ in range(260):
            if num_games == 7:  # the others do as they like
                keys = np.random.default_rng().integers(0, 2**40, 7)
                keys[0] = keys_of(vec)[0]
            else:
                keys = keys_of(vec)
            vec.step(choose(vec.action_masks, keys))
            trace.append({name: value[:1] for name, value in everything(vec).items()})
        traces.append(trace)
        assert vec.game_numbers[0] > 2
    for one, two in zip(traces[0], traces[2], strict=True):
        assert_same(one, two)
    for one, two in zip(traces[0], traces[1], strict=True):
        assert_same(one, two)


def test_slots_and_games_have_different_seeds_and_another_seed_changes_all():
    seeds = set()
    for seed in range(3):
        vec = VectorGame(50, "mini", seed)
        for _ in range(3):
            seeds |= set(vec.game_seeds.tolist())
            vec.reset()
    assert len(seeds) == 450 and min(seeds) >= 0


def test_a_slot_started_late_has_the_seed_of_its_number():
    whole, single = VectorGame(4, "mini", 9), VectorGame(4, "mini", 9)
    whole.reset()
    single.reset(slots=[2])
    assert single.game_seeds[2] == whole.game_seeds[2] and single.game_seeds[1] != whole.game_seeds[1]
    assert single.game_numbers.tolist() == [1, 1, 2, 1]
    mask = np.array([True, False, False, True])
    single.reset(slots=mask)
    assert single.game_numbers.tolist() == [2, 1, 2, 2]
    assert single.games[0].tobytes() == whole.games[0].tobytes()


@pytest.mark.parametrize("rules", ["whitnack", "mini"])
def test_same_step_autoreset(rules):
    rules = load_rules(rules, deals=1)
    vec, kept = VectorGame(12, rules, 3, events=True), VectorGame(12, rules, 3, events=True, autoreset="DISABLED")
    first, ended = np.ones(12, bool), np.zeros(12, bool)
    for _ in range(3000):
        actions = choose(vec.action_masks, keys_of(vec))
        kept.step(np.where(first, actions, 0))
        vec.step(actions)
        assert vec.action_masks.any(1).all() and (vec.seats == vec.games["to_move"]).all()
        for i in np.flatnonzero(vec.terminated & first):
            # What all seats saw at the end, as the games that stay show it; and the results of the step.
            for seat in range(vec.num_seats):
                assert np.array_equal(vec.final_observations[i, seat], kept.observe(seat)[i])
            assert np.array_equal(vec.rewards[i], kept.rewards[i]) and np.array_equal(vec.deal_scores[i], kept.deal_scores[i])
            assert vec.ended[i].tobytes() == kept.games[i].tobytes() and vec.ended[i]["phase"] == PHASE_OVER
            assert vec.game_numbers[i] == 2 and vec.decisions[i] == 0 and vec.games[i]["num_events"] == 0
            assert np.array_equal(vec.observations[i], vec.observe(vec.seats)[i])
            fresh = VectorGame(1, rules, autoreset="DISABLED", events=True)
            fresh.reset(game_seeds=[int(vec.game_seeds[i])])
            assert fresh.games[0].tobytes() == vec.games[i].tobytes()
            first[i], ended[i] = False, True
        if ended.all():
            break
    assert ended.all()


def test_disabled_autoreset_leaves_an_ended_game_as_it_is():
    vec = VectorGame(6, "mini", 8, autoreset="DISABLED", reward="score")
    assert vec.final_observations.shape[0] == 0
    still: dict[int, bytes] = {}
    for _ in range(500):
        actions = choose(vec.action_masks, keys_of(vec))
        for i in still:
            actions[i] = -5  # ignored
        vec.step(actions)
        for i, record in still.items():
            assert vec.games[i].tobytes() == record and vec.terminated[i] and not vec.action_masks[i].any()
            assert not vec.rewards[i].any() and not vec.deal_ended[i]
        for i in np.flatnonzero(vec.terminated):
            if int(i) not in still:
                assert vec.deal_ended[i] and vec.rewards[i].any()
                still[int(i)] = vec.games[i].tobytes()
        if len(still) == 6:
            break
    vec.step(np.zeros(6, np.int64))
    vec.reset(slots=[1])
    assert vec.terminated.tolist() == [True, False, True, True, True, True] and vec.action_masks[1].any()


def test_the_record_of_a_deal_that_ended_is_kept():
    vec = VectorGame(4, "whitnack", 2)
    deals = 0
    for _ in range(2500):
        advance(vec, 1)
        for i in np.flatnonzero(vec.deal_ended):
            record = vec.ended[i]
            assert record["deal_scores"][:2].tolist() == vec.deal_scores[i].tolist()
            assert record["end_reason"] == vec.end_reasons[i] > 0
            assert vec.terminated[i] == (record["deal"] == 4)
            if not vec.terminated[i]:
                assert vec.games[i]["deal"] == record["deal"] + 1 and vec.games[i]["scores"][0] == record["scores"][0]
                assert vec.games[i]["dealer"] == (record["dealer"] + 1) % 4
            deals += 1
    assert deals > 6


@pytest.mark.parametrize("autoreset", ["SAME_STEP", "DISABLED"])
def test_the_cap_on_decisions_truncates(autoreset):
    vec = VectorGame(3, "whitnack", 1, autoreset=autoreset, max_decisions=17)
    advance(vec, 16)
    assert not vec.truncated.any()
    before = vec.games.copy()
    seats_before = vec.seats.copy()
    actions = choose(vec.action_masks, keys_of(vec))
    vec.step(actions)
    assert vec.truncated.all() and not vec.terminated.any()
    if autoreset == "DISABLED":
        assert not vec.action_masks.any() and vec.decisions.tolist() == [17] * 3
        record = vec.games.copy()
        vec.step(np.zeros(3, np.int64))
        assert vec.games.tobytes() == record.tobytes() and vec.truncated.all()
    else:
        assert vec.game_numbers.tolist() == [2] * 3 and vec.action_masks.any(1).all()
        twin = VectorGame(3, "whitnack", 1, autoreset="DISABLED")
        twin.games[:] = before
        twin.refresh()
        assert (twin.seats == seats_before).all()
        twin.step(actions)
        for seat in range(4):
            assert np.array_equal(vec.final_observations[:, seat], twin.observe(seat))
        advance(vec, 1)
        assert not vec.truncated.any()


def test_a_snapshot_goes_on_alike_in_any_slot():
    rules = load_rules("mini", deals=3)
    vec = VectorGame(3, rules, 5, shaping="full", events=True)
    other = VectorGame(2, rules, 77, shaping="full", events=True)
    advance(vec, 40)
    for _ in range(6):
        advance(vec, 11)
        snapshot = vec.snapshot(2)
        other.restore(0, snapshot)
        assert vec.games[2].tobytes() == other.games[0].tobytes() and other.snapshot(0) == snapshot
        for _ in range(10):  # through deals and games: only the slot's later seeds are its own
            if vec.terminated[2]:
                break
            assert np.array_equal(vec.observations[2], other.observations[0])
            assert np.array_equal(vec.action_masks[2], other.action_masks[0]) and vec.seats[2] == other.seats[0]
            advance(vec, 1)
            advance(other, 1)
            assert np.array_equal(vec.rewards[2], other.rewards[0])
    untouched = everything(other)
    other.restore(0, vec.snapshot(0))
    assert_same(untouched, everything(other), slice(1, 2), slice(1, 2))
    with pytest.raises(ValueError, match=f"has {GAME_DTYPE.itemsize + 16} bytes, this one 3"):
        other.restore(0, b"abc")


@pytest.mark.parametrize("autoreset", ["SAME_STEP", "DISABLED"])
@pytest.mark.parametrize("explicit", [False, True])
def test_a_state_dict_goes_on_bit_by_bit(autoreset, explicit):
    def make(seed):
        return VectorGame(8, ["mini", load_rules("mini", deals=2)], seed, shaping="table", autoreset=autoreset, events=True)

    vec = make(1)
    if explicit:
        vec.reset(game_seeds=range(8))
    for _ in range(3):
        advance(vec, 45)
        state = vec.state_dict()
        kept = {name: value.copy() for name, value in state.items()}
        other = make(99)
        advance(other, 7)
        other.load_state_dict(state)
        assert_same(everything(vec), everything(other))
        for _ in range(60):
            advance(vec, 1)
            advance(other, 1)
            assert_same(everything(vec), everything(other))
            if autoreset == "SAME_STEP":
                finals = vec.final_observations[vec.terminated], other.final_observations[vec.terminated]
                assert np.array_equal(*finals)
        assert all(np.array_equal(state[name], kept[name]) for name in kept)  # nothing is shared
        vec.reset()
        other.reset()
        assert_same(everything(vec), everything(other))


def test_a_state_dict_that_does_not_fit_is_refused():
    vec = VectorGame(2, "mini", 0)
    state = vec.state_dict()
    with pytest.raises(ValueError, match="'games' has shape"):
        VectorGame(3, "mini", 0).load_state_dict(state)
    before = everything(vec)
    advance(vec, 5)
    for name in ("deal_scores", "settings"):
        moved = everything(vec)
        with pytest.raises(ValueError, match=f"'{name}' has shape .* float64"):
            vec.load_state_dict(state | {name: state[name].astype(float)})
        with pytest.raises(ValueError, match=f"lacks '{name}'"):
            vec.load_state_dict({key: value for key, value in state.items() if key != name})
        assert_same(moved, everything(vec))
    vec.load_state_dict(state)
    assert_same(before, everything(vec))
    two = VectorGame(30, ["mini", "mini"], 0)
    with pytest.raises(ValueError, match="rule set 1"):
        vec.restore(0, two.snapshot(int(two.games["rule"].argmax())))


def test_games_of_given_seeds_are_the_games_of_those_seeds():
    rules = load_rules("whitnack")
    vec = VectorGame(3, rules, autoreset="DISABLED")
    vec.reset(game_seeds=[5, 6, 5])
    assert vec.games[0].tobytes() == vec.games[2].tobytes() != vec.games[1].tobytes()
    for slot, seed in enumerate((5, 6, 5)):
        deck = deck_for(rules, seed, 1)
        stock = format_cards(vec.games[slot]["stock"][: int(vec.games[slot]["stock_end"])])
        assert deck.endswith(stock) and len(stock) == 270 - 8 * 13 - 1


def test_each_game_draws_its_rule_set_by_its_seed():
    rules = ["whitnack", "bicycle", "family"]
    vec = VectorGame(300, rules, 0)
    numbers = np.bincount(vec.games["rule"], minlength=3)
    assert (numbers > 60).all()
    for i in range(300):
        expected = load_rules(rules[vec.games[i]["rule"]])
        dealt = vec.games[i]["hands"][:4].sum() + vec.games[i]["red3"][:2].sum()
        assert dealt >= 4 * expected.hand_size and vec.games[i]["foot_sizes"][0] == expected.foot_size
    again = VectorGame(300, rules, 0)
    assert (again.games["rule"] == vec.games["rule"]).all()


def test_single_deals_have_their_number():
    fixed = VectorGame(20, "whitnack", 1, episode="deal", deal=3)
    assert (fixed.games["deal"] == 3).all()
    drawn = VectorGame(400, "whitnack", 1, episode="deal")
    assert (np.bincount(drawn.games["deal"], minlength=5)[1:] > 60).all()
    minimum = drawn.observation_layout["minimum"].slice.start
    assert set(zip(drawn.games["deal"].tolist(), (drawn.observations[:, minimum] * 5).tolist(), strict=True)) == {
        (1, 50), (2, 90), (3, 120), (4, 150),
    }  # fmt: skip
    advance(drawn, 900)
    assert drawn.game_numbers.min() >= 2


def test_without_observations_the_games_are_the_same():
    seen, unseen = VectorGame(4, "mini", 3), VectorGame(4, "mini", 3, observations=False)
    advance(seen, 200)
    advance(unseen, 200)
    assert unseen.games.tobytes() == seen.games.tobytes() and not unseen.observations.any()
    assert np.array_equal(unseen.action_masks, seen.action_masks)
    assert np.array_equal(unseen.observe(1), seen.observe(1))


def test_games_after_explicit_seeds_differ() -> None:
    """An autoreset goes on with seeds of its own, instead of repeating the explicit one."""
    games = VectorGame(1, "mini", seed=5)
    games.reset(game_seeds=[7])
    seeds = [int(games.games[0]["seed"])]
    while len(seeds) < 3:
        games.step([int(np.flatnonzero(games.action_masks[0])[0])])
        if games.terminated[0]:
            seeds.append(int(games.games[0]["seed"]))
    assert seeds[0] == 7 and len(set(seeds)) == 3


def test_games_broken_off_stay_until_they_are_started_again():
    games = VectorGame(3, "mini", 5, autoreset="DISABLED")
    before = games.games[1].tobytes()
    games.stop([1])
    assert games.truncated.tolist() == [False, True, False] and not games.action_masks[1].any()
    games.step(games.action_masks.argmax(1))
    assert games.games[1].tobytes() == before and games.decisions.tolist() == [1, 0, 1]
    games.reset(game_seeds=[1, 2, 3], slots=[1])
    assert not games.truncated.any() and games.action_masks.any(1).all()
    with pytest.raises(ValueError, match="games are 0 to 2"):
        games.stop([3])
    with pytest.raises(RuntimeError, match="DISABLED"):
        VectorGame(1, "mini").stop([0])


@pytest.mark.parametrize("as_mask", [True, False])
def test_a_step_in_some_slots_leaves_the_others_as_they_are(as_mask):
    vec, same = VectorGame(4, "mini", 3, autoreset="DISABLED"), VectorGame(4, "mini", 3, autoreset="DISABLED")
    actions = vec.action_masks.argmax(1)
    same.step(actions)
    before = vec.games[[1, 3]].tobytes(), vec.observations[[1, 3]].copy(), vec.action_masks[[1, 3]].copy()
    wrong = actions.copy()
    wrong[[1, 3]] = 126  # not looked at
    vec.step(wrong, np.array([True, False, True, False]) if as_mask else [0, 2])
    assert vec.games[[1, 3]].tobytes() == before[0]
    assert np.array_equal(vec.observations[[1, 3]], before[1]) and np.array_equal(vec.action_masks[[1, 3]], before[2])
    assert vec.games[[0, 2]].tobytes() == same.games[[0, 2]].tobytes()
    assert np.array_equal(vec.observations[[0, 2]], same.observations[[0, 2]])
    assert vec.decisions.tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="slots"):
        vec.step(actions, [4])

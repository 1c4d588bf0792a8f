"""What a VectorGame takes up from bytes and arrays, and masks that are written to: compiled code is not led astray."""

import copy
import pickle

import numpy as np
import pytest

from hf_env import VectorGame, hand_and_foot_v0
from hf_env.engine.invariants import MESSAGES
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.vector.game import IllegalActionError


def played(rules="mini", steps=60, num_games=4, **options):
    vec = VectorGame(num_games, rules, 3, **options)
    for _ in range(steps):
        vec.step(vec.random_actions())
    return vec


def with_field(snapshot, name, value, at=()):
    record = np.frombuffer(bytearray(snapshot), GAME_DTYPE, 1)
    record[name][(0, *at)] = value
    return record.tobytes() + snapshot[GAME_DTYPE.itemsize :]


# A value outside of the range of each field that compiled code counts, indexes or adds by.
OUTSIDE = [
    ("rule", 1), ("rule", -1), ("deal", 0), ("deal", 1001), ("dealer", 2), ("turns", -1), ("turns", 1 << 30), ("turn_seat", 6),
    ("turn_seat", -1), ("to_move", 2), ("phase", 4), ("phase", -1), ("phase", PHASE_OVER), ("asked", 2), ("may_go_out", -1), ("laid", -5),
    ("taking", 30_000), ("end_reason", 1), ("out_seat", 2), ("game_over", 1), ("single_deal", 7), ("num_books", 145), ("num_books", -1),
    ("discard_size", 433), ("discard_size", -1), ("stock_next", -1), ("stock_next", 431), ("stock_end", 433), ("stock_end", 1 << 30),
    ("reshuffles", -1), ("num_events", -1), ("scores", (1 << 31) - 1, (0,)), ("hands", -1, (0, 3)), ("hands", 32_000, (1, 3)), ("feet",
    -1, (0, 0)), ("table", -1, (0, 0)), ("naturals", -1, (0, 0)), ("naturals", 7, (1, 1)), ("answers", 3, (1,)), ("opened", 2, (0,)),
    ("in_foot", 2, (0,)), ("red3", -1, (0,)), ("recent_discards", 16, (0, 0)), ("recent_discards", -1, (1, 3)), ("stranded", -(1 << 31),
    (0,)), ("opening_turn", -2, (0,)), ("foot_turn", 9_999, (1,)), ("num_takes", -1, (0,)), ("events", -1, (0, 0)), ("events", 2 * 256,
    (1, 0)), ("events", 127, (2, 0)), ("events", -1, (3, 1)), ("discard", 15, (0,)), ("stock", 255, (32,)), ("seed", -1), ("given_order",
    3), ("potential", -(1 << 31), (1,)), ("foot_by_discard", 2, (0,)), ("opened_by_take", -1, (1,)), ("known", 5, (0, 14)),
    ("discard_kinds", -3, (2,)), ("table_points", 5, (1,)),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(OUTSIDE)), ids=[f"{name}={value}" for name, value, *_ in OUTSIDE])
def test_a_field_out_of_its_range_is_refused_and_nothing_changes(place):
    vec = played()
    before = vec.state_dict(), vec.action_masks.copy(), vec.observations.copy(), vec.seats.copy()
    bad = with_field(vec.snapshot(1), *OUTSIDE[place])
    with pytest.raises(ValueError, match="the snapshot is of"):
        vec.restore(0, bad)
    env = hand_and_foot_v0.env(rules="mini")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="the snapshot is of"):
        env.unwrapped.restore(bad[: GAME_DTYPE.itemsize])
    state = vec.state_dict()
    state["games"][2] = np.frombuffer(bad, np.uint8, GAME_DTYPE.itemsize)
    with pytest.raises(ValueError, match="games"):
        vec.load_state_dict(state)
    assert all(np.array_equal(vec.state_dict()[name], array) for name, array in before[0].items())
    for name, array in zip(("action_masks", "observations", "seats"), before[1:], strict=True):
        assert np.array_equal(getattr(vec, name), array)


def test_any_bytes_are_refused_or_can_be_played():
    vec, rng = played(num_games=2, autoreset="DISABLED"), np.random.default_rng(0)
    good = [played(steps=steps, num_games=1).snapshot(0) for steps in (0, 5, 40, 90, 170)]
    taken = 0
    for number in range(600):
        data = bytearray(good[number % len(good)])
        if number % 3 == 0:
            data[:] = rng.integers(0, 256, len(data), np.uint8).tobytes()
        for at in rng.integers(0, len(data), 1 + number % 4):
            data[at] = rng.integers(0, 256)
        try:
            vec.restore(0, bytes(data))
        except ValueError as error:
            assert "\n" not in str(error)
            continue
        taken += 1
        for _ in range(50):
            vec.step(vec.random_actions())
    assert 20 < taken < 400
    assert vec.restore(1, good[2]) is None and vec.snapshot(1) == good[2]


@pytest.mark.parametrize("snapshot", [b"", b"short", bytes(10**6), "text", None, 7, np.zeros(3)])
def test_what_is_no_snapshot(snapshot):
    with pytest.raises(ValueError, match="a snapshot has"):
        played(steps=0).restore(0, snapshot)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("settings", 99), ("decisions", -1), ("game_numbers", -(1 << 62)), ("game_seeds", -5), ("rewards", np.nan), ("end_reasons", 5),
        ("end_reasons", -1), ("ended", 255),
    ],
)  # fmt: skip
def test_arrays_out_of_their_range_are_refused_by_name(name, value):
    vec = played(steps=200)
    state = vec.state_dict()
    state[name].reshape(-1)[:] = value
    with pytest.raises(ValueError, match=name):
        vec.load_state_dict(state)
    state = vec.state_dict()
    state["terminated"] = np.full(len(vec.terminated), 7, np.uint8).view(bool)
    with pytest.raises(ValueError, match="terminated"):
        vec.load_state_dict(state)


@pytest.mark.parametrize("copied", [lambda vec: vec, copy.deepcopy, lambda vec: pickle.loads(pickle.dumps(vec))])
def test_masks_cannot_be_written_to_and_the_engine_judges_by_its_own(copied):
    vec = copied(played())
    with pytest.raises(ValueError, match="read-only"):
        vec.action_masks[:] = 1
    illegal = int(np.flatnonzero(vec.action_masks[0] == 0)[0])
    actions = vec.random_actions()
    before = vec.action_masks.copy()
    # Whoever puts another array there does not reach the engine's.
    vec.action_masks = np.ones_like(before)
    with pytest.raises(IllegalActionError):
        vec.step(np.where(np.arange(vec.num_games) == 0, illegal, actions))
    again = copied(played())
    again.step(again.random_actions())
    assert not np.array_equal(again.action_masks, before)
    assert again.action_masks.any(1).all()


def test_a_trusted_snapshot_is_not_looked_at_and_comes_back_alike():
    vec = played()
    held = vec.snapshot(1)
    vec.restore_trusted(0, held)
    assert vec.snapshot(0) == held and np.array_equal(vec.action_masks[0], vec.action_masks[1])
    assert max(MESSAGES) == 24

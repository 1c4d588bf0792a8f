"""A VectorGame's threads: the same games, no move before all actions are legal, copies and forked processes with threads of their own."""

import multiprocessing
import pickle
import sys
import threading

import numpy as np
import pytest

from hf_env import IllegalActionError, VectorGame
from hf_env.kernels.compile import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted there is one thread")


def play(games: VectorGame, steps: int) -> VectorGame:
    for _ in range(steps):
        games.step(games.random_actions())
    return games


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_an_illegal_action_of_any_block_moves_no_game_and_the_first_is_named(threads):
    games = play(VectorGame(40, "mini", 3, threads=threads), 3)
    before = games.games.copy()
    for bad in ([39], [0], [17, 38], [39, 5]):
        actions = games.random_actions()
        actions[bad] = 126 if not games.action_masks[bad, 126].any() else -5
        with pytest.raises(IllegalActionError, match=f"^game {min(bad)}:"):
            games.step(actions)
        assert games.games.tobytes() == before.tobytes()
    play(games, 3)
    assert games.games.tobytes() != before.tobytes()


def test_a_copy_by_pickle_has_threads_of_its_own():
    games = play(VectorGame(32, "mini", 5, threads=2), 4)
    copy = pickle.loads(pickle.dumps(games))
    assert play(copy, 10).games.tobytes() == play(games, 10).games.tobytes()


def _play_on(games, pipe):
    pipe.send(play(games, 10).games.tobytes())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_forked_child_plays_on():
    games = play(VectorGame(32, "mini", 6, threads=2), 4)
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_play_on, args=(games, theirs))
    child.start()
    assert ours.poll(60), "the child does not answer"
    played = ours.recv()
    child.join()
    assert played == play(games, 10).games.tobytes()


def test_many_games_at_once_on_few_cores():
    tables = [VectorGame(8, "mini", seed, threads=4) for seed in range(6)]
    for _ in range(20):
        for games in tables:
            play(games, 1)
    for seed, games in enumerate(tables):
        assert games.games.tobytes() == play(VectorGame(8, "mini", seed), 20).games.tobytes()


def test_two_callers_with_games_of_their_own():
    results = {}

    def work(seed):
        results[seed] = play(VectorGame(64, "mini", seed, threads=2), 200).games.tobytes()

    callers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == {seed: play(VectorGame(64, "mini", seed), 200).games.tobytes() for seed in range(3)}


def test_random_actions_are_legal_each_as_likely_and_the_same_until_the_next_step():
    games = VectorGame(20_000, "whitnack", 1)
    for _ in range(6):
        actions = games.random_actions()
        assert actions.dtype == np.int64 and actions.shape == (20_000,)
        assert games.action_masks[np.arange(20_000), actions].all()
        assert np.array_equal(actions, games.random_actions())
        games.step(actions)
    assert not np.array_equal(actions, games.random_actions())
    # How far along the legal actions each lies, where there are five: even, within five standard errors.
    rows = np.flatnonzero(games.action_masks.sum(1) == 5)
    places = [np.flatnonzero(games.action_masks[row]).tolist().index(games.random_actions()[row]) for row in rows[:2000]]
    counts = np.bincount(places, minlength=5)
    assert len(places) > 200 and abs(counts / len(places) - 0.2).max() < 5 * np.sqrt(0.16 / len(places))


def test_random_actions_of_a_game_that_is_over_are_0():
    games = VectorGame(3, "mini", 0, autoreset="DISABLED")
    while not games.terminated.all():
        games.step(games.random_actions())
    assert not games.random_actions().any()
    games.step(games.random_actions())

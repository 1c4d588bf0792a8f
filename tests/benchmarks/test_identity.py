"""States, rewards and masks are the same bit by bit for any number of games and threads, compiled and interpreted."""

import itertools
import json
import os
import pickle
import threading

import numpy as np
import pytest

from hf_env import VectorGame
from hf_env.vector.threads import run_blocks, split
from tests.architecture.subprocesses import run_python
from tests.benchmarks.playing import checksums

RUN = """
import json
from tests.benchmarks.playing import checksums
print(json.dumps(checksums({games}, {steps}, {slots}, threads={threads})))
"""


def test_the_checksums_see_a_difference():
    found = checksums(7, 200, 7)
    assert len(set(found)) > 190 and found != checksums(7, 200, 6) != checksums(7, 200, 6, rules="whitnack")


@pytest.mark.parametrize("rules", ["mini", "whitnack"])
def test_the_number_of_games_and_of_threads_changes_nothing(rules):
    alone = checksums(1, 300, 1, rules)
    assert checksums(7, 300, 1, rules) == alone
    seven = checksums(7, 300, 7, rules)
    for threads in (2, 3, 7, 50):
        assert checksums(7, 300, 7, rules, threads=threads) == seven, threads
    many = checksums(4096, 300, 7, rules)
    assert many == seven and checksums(4096, 300, 7, rules, threads=2) == seven


def test_all_of_many_games_are_the_same_with_two_threads():
    assert checksums(4096, 120, 4096, every=40, threads=2) == checksums(4096, 120, 4096, every=40)


def test_interpreted_with_threads_says_the_same(tmp_path):
    output = run_python(RUN.format(games=3, steps=100, slots=3, threads=2), NUMBA_DISABLE_JIT="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert json.loads(output) == checksums(3, 100, 3)


def test_blocks_hold_every_game_once():
    for num_games in (1, 2, 7, 63, 64, 1000, 1024, 8192, 100_003):
        for threads in (1, 2, 3, 16):
            blocks = split(num_games, threads)
            assert len(blocks) == min(threads, num_games)
            assert blocks[0].start == 0 and blocks[-1].stop == num_games
            assert all(one.stop == two.start for one, two in itertools.pairwise(blocks))
            sizes = [block.stop - block.start for block in blocks]
            assert max(sizes) <= 1.2 * num_games / len(blocks) + 1, (num_games, threads)


def test_blocks_run_on_threads_of_their_own_and_what_they_raise_arrives_last():
    ended = []

    def call(number):
        if number == 0:
            raise KeyError("zero")
        ended.append(threading.get_ident())
        return number

    with pytest.raises(KeyError, match="zero"):
        run_blocks(call, [0, 1, 2])
    assert len(ended) == 2 and threading.get_ident() not in ended
    assert run_blocks(lambda number: number * 2, [5]) == [10]
    assert run_blocks(lambda number: number * 2, [5, 6, 7]) == [10, 12, 14]


def test_games_on_threads_pickle_and_reset_and_refuse():
    vec, single = VectorGame(9, "mini", 4, threads=2), VectorGame(9, "mini", 4)
    copy = pickle.loads(pickle.dumps(vec))
    for one in (vec, copy, single):
        one.step(np.zeros(9, np.int64))
        one.reset(slots=[0, 8])
    assert vec.games.tobytes() == copy.games.tobytes() == single.games.tobytes()
    snapshot = vec.snapshot(8)
    single.restore(0, snapshot)
    copy.restore(0, snapshot)
    assert single.games.tobytes() == copy.games.tobytes() and np.array_equal(single.observations, copy.observations)
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="threads="):
            VectorGame(9, "mini", threads=wrong)


FORKED = """
import os, sys
import numpy as np
from hf_env import VectorGame
vec = VectorGame(9, "mini", 4, threads=2)
child = os.fork()
vec.step(np.zeros(9, np.int64))
if child == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own():
    assert run_python(FORKED, timeout=120) == "0\n"

"""``handfoot play`` with policies that fail, fork or think for long; the game and the person are not left in the dark."""

import threading

import pytest

from agents.scripted import GreedyPolicy
from hf_env.records import read, replay
from hf_env.rules import load_rules


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Raises", " in seat 1 failed in act: RuntimeError: broken over two lines"),
        ("Exits", " in seat 1 failed in act: SystemExit: 3"),
        ("OddArray", " in seat 1 returned a OddArray, which is no array: SystemExit: 5"),
        ("StartRaises", " failed in start: RuntimeError: no start"),
        ("StartExits", " failed in start: SystemExit: 8"),
    ],
)
def test_a_policy_that_fails_ends_the_game_which_is_kept(play, tmp_path, name, said):
    policy, path = f"python:tests.evaluation.hostile:{name}", tmp_path / "game.jsonl"
    code, out, err = play(["1"] * 50, "--rules", "mini", "--seed", 4, "--player", f"1={policy}", "--record", path)
    assert (code, err) == (2, f"handfoot: policy {policy!r}{said}\n")
    if "start" not in said:
        (game,) = read(path)
        assert "was added to" in out and game["deals"][0]["actions"]
        replay(game)


def test_a_policy_that_forks_plays_on_once(play, tmp_path):
    sound, forking = (
        play(["1"] * 1000, "--rules", "mini", "--seed", 3, "--player", f"1=python:tests.evaluation.hostile:{name}")
        for name in ("Hostile", "Forks")
    )
    assert sound[0] == forking[0] == 0 and sound[1].replace("Hostile", "Forks") == forking[1]


def test_a_policy_that_thinks_for_long_is_named_now_and_then(monkeypatch):
    from agents.play import table
    from agents.play.table import play_at_table

    class Slow(GreedyPolicy):
        def act(self, batch):
            if not told:
                wanted.acquire(timeout=60)
                wanted.acquire(timeout=60)
            return super().act(batch)

    monkeypatch.setattr(table, "_FIRST_WAIT_SECONDS", 0.02)
    monkeypatch.setattr(table, "_NEXT_WAIT_SECONDS", 0.01)
    told, wanted = [], threading.Semaphore(0)

    def on_waiting(seat):
        told.append(seat)
        wanted.release()

    play_at_table([GreedyPolicy(), Slow()], load_rules("mini"), 3, on_waiting=on_waiting)
    assert told.count(1) >= 2

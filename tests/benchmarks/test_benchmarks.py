"""Benchmarks measure what they say: a game that is broken, or never ends, fails instead of winning."""

import json

import numpy as np
import pytest

from hf_env import VectorGame, hand_and_foot_v0
from training.benchmarks import learning, peers, profile, rows, single, vector
from training.benchmarks.loops import CHUNK, AecPlay
from training.benchmarks.peer_plays import make_play
from training.benchmarks.rows import BenchmarkError, microseconds, rate


def played(num_games: int = 8) -> vector.RandomPlay:
    """Some games of mini, played until one has ended."""
    play = vector.RandomPlay(num_games, "mini", 0)
    while not play.ended:
        play.step()
    return play


def test_random_play_is_checked():
    play = played()
    play.check()
    assert play.decisions >= 100_000 and play.deals >= play.ended > 0
    play.games.games["hands"][3, 0, 5] += 1
    with pytest.raises(BenchmarkError, match="game 3 is broken"):
        play.check()


@pytest.mark.parametrize("buffer", ["_masks", "observations"])
def test_a_buffer_that_is_not_written_is_found(buffer):
    play = played()
    getattr(play.games, buffer)[2, 0] += 1
    with pytest.raises(BenchmarkError, match="differ from ones written anew"):
        play.check()


def test_games_that_do_not_end_are_no_result(monkeypatch):
    monkeypatch.setattr(vector, "_PROOF_DECISIONS", 0)
    monkeypatch.setattr(rows, "PATIENCE_SECONDS", 0.001)
    with pytest.raises(BenchmarkError, match="no game ended"):
        vector.measure(64, "whitnack", 0, 0.0001)


def test_games_that_depend_on_threads_are_no_result(monkeypatch):
    class Wrong(VectorGame):
        def __init__(self, *args, threads=1, **kwargs):
            super().__init__(*args, threads=threads, **kwargs)
            if threads > 1:
                self.reset(seed=5)

    assert len(vector.vector_rows(8, "mini", 0, 0.01, 2)) == 4
    monkeypatch.setattr(vector, "VectorGame", Wrong)
    with pytest.raises(BenchmarkError, match="went different ways"):
        vector.vector_rows(8, "mini", 0, 0.01, 2)


def test_a_rate_is_decisions_over_time_and_waits_for_what_is_needed(monkeypatch):
    calls = []
    speed, decisions, seconds = rate(lambda: calls.append(1) or 10, 0.02, lambda: len(calls) > 0)
    assert decisions == 10 * len(calls) and 0.02 <= seconds < 2
    assert speed == pytest.approx(decisions / seconds, rel=0.5)
    monkeypatch.setattr(rows, "PATIENCE_SECONDS", 0.1)
    _, _, seconds = rate(lambda: 1, 0.01, lambda: False)
    assert 0.1 <= seconds < 10
    assert 0 < microseconds(lambda: None, 0.01) < 100


def test_the_aec_loop_plays_games_to_their_end():
    env = hand_and_foot_v0.env(rules="mini")
    play = AecPlay(env, 3)
    while play.games < 3:
        assert play.chunk() == CHUNK
    assert play.decisions % CHUNK == 0
    assert single.aec_row("mini", 0, 0.05).details["games_ended"] > 0


def test_players_copies_and_memory_have_their_rows():
    found = single.player_rows("mini", 0, 0.01, num_deals=4)
    assert {row.key for row in found} >= {"players/random", "players/greedy"} and all(row.value > 0 for row in found)
    keys = {row.key: row.value for row in single.copy_rows("mini", 0, 0.01) + single.memory_rows("mini", 64)}
    assert keys["memory/record"] < 4096
    assert {"copies/clone", "copies/vector-snapshot", "copies/vector-restore", "copies/aec-restore"} < set(keys)
    assert all(value > 0 for value in keys.values())


def test_the_parts_of_a_decision_make_up_the_whole():
    *parts, whole = profile.profile_rows(32, "mini", 0, 0.1)
    assert sum(row.value for row in parts) == pytest.approx(whole.value, rel=0.3)  # those below 0 are shown as 0
    assert all(row.value >= 0 for row in parts) and whole.value > 0
    assert sum(row.details["share"] for row in parts) == pytest.approx(sum(row.value for row in parts) / whole.value)


def test_a_peer_that_is_not_there_is_named_and_one_that_plays_is_measured():
    assert "has no game whist" in peers.run_peer("PettingZoo", "whist", 0, 0.01)
    result = peers.run_peer("hf_env", "AEC environment", 0, 0.5)
    assert result["games"] > 0 and result["speed"] > 0


def test_rows_of_peers_hold_the_ratio_of_ours_to_theirs():
    def result(speed):
        return {"speed": speed, "by_clock": speed, "decisions": 5, "games": 2}

    speeds = {
        peers.OURS_VECTOR: [result(900.0), result(1100.0)],
        peers.OURS_AEC: [result(300.0)],
        ("RLCard", "uno"): [result(50.0)],
        ("pgx", "x"): [result(200.0)],
    }
    found = {row.key: row for row in peers.compare(speeds)}
    assert found["peers/hf_env/VectorGame"].value == 1000.0
    assert found["peers/RLCard/uno"].details["ratio"] == 20.0 and found["peers/RLCard/uno"].details["aec_ratio"] == 6.0
    assert found["peers/pgx/x"].details["ratio"] == 5.0 and "aec_ratio" not in found["peers/pgx/x"].details


@pytest.mark.parametrize(
    ("library", "game", "module"),
    [
        ("OpenSpiel", "gin_rummy", "pyspiel"), ("OpenSpiel", "euchre", "pyspiel"), ("RLCard", "uno", "rlcard"),
        ("PettingZoo", "leduc_holdem", "rlcard"), ("pgx", "leduc_holdem", "pgx"),
    ],
)  # fmt: skip
def test_installed_peers_play(library, game, module):
    pytest.importorskip(module)
    assert (library, game) in peers.PEERS
    play = make_play(library, game, 0)
    while not play.games:
        assert play.chunk() > 0
    assert play.decisions >= play.games > 0


def test_training_is_compared_where_sb3_is_missing(monkeypatch):
    ours = {"speed": 30.0, "decisions": 7, "shares": {"engine": 0.1, "inference": 0.3, "learning": 0.6}}
    monkeypatch.setattr(learning, "_run", lambda which, seed, seconds: ours if which == "ours" else "No module named 'sb3_contrib'")
    missing: dict[str, str] = {}
    first, last = learning.learning_steps(0, 1.0, missing)
    assert first() == []
    (row,) = last()
    assert row.value == 30.0 and row.details["decisions"] == 14 and missing == {"MaskablePPO": "No module named 'sb3_contrib'"}
    monkeypatch.setattr(learning, "_run", lambda which, seed, seconds: ours if which == "ours" else {"speed": 3.0, "decisions": 1})
    first, last = learning.learning_steps(0, 1.0, {})
    first()
    assert last()[1].details["ratio"] == 10.0


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_compared_with_processes(threads, handfoot, tmp_path):
    code, out, err = handfoot(
        "bench",
        "--only",
        "threads",
        "--rules",
        "mini",
        "--games",
        "16",
        "--threads",
        threads,
        "--seconds",
        "0.05",
        "--json",
        tmp_path / "x.json",
    )
    assert code == 0, err
    values = json.loads((tmp_path / "x.json").read_text())
    if threads == 1:
        assert values["missing"] == {"threads": "one thread"} and values["rows"] == [] and "not measured: threads" in out
        return
    found = {row["key"]: row["value"] for row in values["rows"]}
    assert found["threads/speedup"] == pytest.approx(found["threads/several"] / found["threads/one"])
    assert found["threads/efficiency"] == pytest.approx(found["threads/several"] / found["threads/processes"])
    assert np.isfinite(list(found.values())).all()

"""One game at a time, and what a game costs: the AEC environment, copies, snapshots, memory; and deals of scripted players.

Rates are by the processor's time: on a core of its own that is the clock's, and on a shared one it changes less.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from agents.scripted.playout import Table
from agents.scripted.table import PLAYER_IDS
from hf_env import hand_and_foot_v0
from hf_env.engine.access import broken_invariant
from hf_env.engine.invariants import MESSAGES
from hf_env.engine.state import GAME_DTYPE, PHASE_OVER
from hf_env.policy_batch import DecisionCounter, PolicyBatch
from hf_env.rules import load_rules
from hf_env.vector.game import VectorGame
from training.benchmarks.kernels import copy_games
from training.benchmarks.loops import AecPlay
from training.benchmarks.rows import BenchmarkError, Row, microseconds, rate

# Games copied in turn: they fit into the second cache, as a search's do.
_COPIES = 8
# Deals are played in batches; more are added to one until it takes so long.
_BATCH_SECONDS = 0.1


def aec_row(rules: Any, seed: int, seconds: float) -> Row:
    """Decisions a second of the AEC environment through last() and step()."""
    env = hand_and_foot_v0.env(rules=rules)
    play = AecPlay(env, seed)
    speed, _, _ = rate(play.chunk, seconds, lambda: play.games > 0, time.process_time)
    if not play.games:
        raise BenchmarkError(f"no game ended in {play.decisions:,} decisions of the AEC environment: measure longer")
    if not any(env.terminations.values()):
        env.set_position(env.position())  # which refuses a position that breaks a rule
    return Row(
        "aec",
        "aec/last-step",
        "AEC environment, last() and step()",
        speed,
        "decisions/s",
        {"decisions": play.decisions, "games_ended": play.games},
    )


def playout_rate(players: list[str], num_deals: int, rules: Any, seed: int, seconds: float) -> tuple[float, dict[str, Any]]:
    """Decisions a second of deals played to their end by these players in all seats (one name stands for all).

    Args:
        num_deals: side by side, fewer where that would take a slow player long.

    Returns:
        The rate and details: decisions, deals_ended, deals_per_second.

    Raises:
        BenchmarkError: Where a deal did not end or is broken.
    """
    rules = load_rules(rules)
    names = players * rules.players if len(players) == 1 else players
    records = rules.to_record()
    count = {"deals": 0, "tables": 0}

    def play(size: int) -> int:
        table = Table(rules, names, size, seed + count["tables"])
        table.play()
        count["tables"] += 1
        count["deals"] += size
        if not (table.games["phase"] == PHASE_OVER).all():
            raise BenchmarkError(f"a deal of {names} did not end")
        code = int(broken_invariant(table.games, 0, records))
        if code:
            raise BenchmarkError(f"a deal of {names} is broken: {MESSAGES[code]}")
        return int(table.decisions.sum())

    size = 1
    play(size)  # compiles
    while size < num_deals:
        started = time.perf_counter()
        play(size)
        if time.perf_counter() - started > _BATCH_SECONDS:
            break
        size = min(4 * size, num_deals)
    count["deals"] = 0
    speed, decisions, _ = rate(lambda: play(size), seconds, clock=time.process_time)
    return speed, {"decisions": decisions, "deals_ended": count["deals"], "deals_per_second": speed * count["deals"] / decisions}


def player_rows(rules: Any, seed: int, seconds: float, num_deals: int = 64) -> list[Row]:
    """Deals a second of each scripted player in all seats, at engine speed."""
    rows = []
    for name in PLAYER_IDS:
        _, details = playout_rate([name], num_deals, rules, seed, seconds)
        rows.append(
            Row(
                "players",
                f"players/{name}",
                f"{name} in all seats, played out in the engine",
                details["deals_per_second"],
                "deals/s",
                details,
            )
        )
    return rows


def copy_rows(rules: Any, seed: int, seconds: float) -> list[Row]:
    """Clone in the engine (nanoseconds a game); snapshot and restore from Python (microseconds)."""
    games = VectorGame(_COPIES, rules, seed)
    targets = np.zeros(_COPIES, GAME_DTYPE)
    rounds = 100
    clone = microseconds(lambda: copy_games(games.games, targets, rounds), seconds) / (rounds * _COPIES)
    if targets.tobytes() != games.games.tobytes():
        raise BenchmarkError("a cloned game differs from its source")
    env = hand_and_foot_v0.env(rules=rules)
    env.reset(seed=seed)
    rows = [Row("copies", "copies/clone", "clone of a game in the engine", clone, "µs", {"bytes": GAME_DTYPE.itemsize})]
    held, kept = games.snapshot(3), env.snapshot()
    calls = {
        "vector-snapshot": ("VectorGame.snapshot", lambda: games.snapshot(3)),
        "vector-restore": ("VectorGame.restore_trusted, mask and observation written", lambda: games.restore_trusted(5, held)),
        "vector-restore-checked": ("VectorGame.restore, which looks at the bytes first", lambda: games.restore(5, held)),
        "aec-snapshot": ("AEC environment, snapshot", env.snapshot),
        "aec-restore": ("AEC environment, restore", lambda: env.restore(kept)),
    }
    rows += [Row("copies", f"copies/{key}", label, microseconds(call, seconds), "µs") for key, (label, call) in calls.items()]
    if games.snapshot(5) != held or env.snapshot() != kept:
        raise BenchmarkError("a restored game differs from its snapshot")
    return rows + [_batch_row(rules, seed, number, seconds) for number in (1, 1024)]


def _batch_row(rules: Any, seed: int, number: int, seconds: float) -> Row:
    """What it takes to hand `number` decisions to a policy as copies, so that nothing that it writes reaches the engine."""
    games = VectorGame(number, rules, seed)
    slots, counter = np.arange(number), DecisionCounter(number, games.num_seats)
    label = f"a policy's batch of {number:,}, all copied"
    took = microseconds(lambda: PolicyBatch.of(games, slots, *counter.next(slots, games.seats[slots])), seconds)
    return Row("copies", f"copies/batch-{number}", label, took, "µs")


def memory_rows(rules: Any, num_games: int = 1024) -> list[Row]:
    """Bytes a game: the record alone, and all buffers of VectorGame with masks and observations."""
    rows = [Row("memory", "memory/record", "a game's record", GAME_DTYPE.itemsize, "bytes")]
    for autoreset in ("DISABLED", "SAME_STEP"):
        games = VectorGame(num_games, rules, 0, autoreset=autoreset)
        arrays = {name: value.nbytes for name, value in vars(games).items() if isinstance(value, np.ndarray) and len(value) == num_games}
        key, label = f"memory/{autoreset.lower()}", f"all buffers of VectorGame a game, autoreset {autoreset}"
        rows.append(
            Row("memory", key, label, sum(arrays.values()) / num_games, "bytes", {name: size / num_games for name, size in arrays.items()})
        )
    return rows

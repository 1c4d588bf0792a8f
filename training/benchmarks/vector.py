"""VectorGame under random legal play: by numbers of games, what is written, and threads.

Each measurement begins with the same steps of the same games, after which the games' bytes must be the same however
many threads play them and whatever is written; and it ends with the cards counted and the buffers compared with ones
written anew. A fast engine that plays wrongly, or plays nothing, fails instead of winning.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zlib
from typing import IO, Any, cast

import numpy as np

from agents.scripted.playout import write_masks
from hf_env.engine.access import broken_invariant
from hf_env.engine.invariants import MESSAGES
from hf_env.vector.game import VectorGame
from training.benchmarks.rows import BenchmarkError, Row, rate

GAMES = (1, 64, 1024, 8192)
# Decisions of all games together in the opening steps whose outcome is compared.
_PROOF_DECISIONS = 100_000
# Games whose cards are counted at the end; each is a call from Python.
_CHECKED_GAMES = 1024


class RandomPlay:
    """Random legal play in a VectorGame, the same for every number of threads; counts what ends.

    Args:
        arguments: as of VectorGame.

    Attributes:
        actions: (N,) int64, the last.
        decisions, deals, ended: so far.
        digest: crc32 of the games after the opening steps.
    """

    def __init__(self, num_games: int, rules: Any, seed: int, **arguments: Any) -> None:
        self.games = VectorGame(num_games, rules, seed, **arguments)
        self.actions = np.zeros(num_games, np.int64)
        self.decisions = self.deals = self.ended = 0
        for _ in range(max(2, _PROOF_DECISIONS // num_games)):
            self.step()
        self.digest = zlib.crc32(self.games.games.tobytes())

    def choose(self) -> None:
        """A random legal action of every game into `actions`."""
        self.actions = self.games.random_actions()

    def step(self) -> int:
        """One decision in every game; their number."""
        games = self.games
        self.choose()
        games.step(self.actions)
        self.decisions += games.num_games
        self.deals += int(np.count_nonzero(games.deal_ended))
        self.ended += int(np.count_nonzero(games.terminated))
        return games.num_games

    def check(self) -> None:
        """Raise BenchmarkError unless games have ended and the state reached is sound, in games, masks and observations."""
        games = self.games
        if not self.ended:
            raise BenchmarkError(
                f"no game ended in {self.decisions:,} decisions of {games.num_games:,} games: measure longer, or with fewer games"
            )
        for slot in range(min(games.num_games, _CHECKED_GAMES)):
            code = int(broken_invariant(games.games, slot, games.rule_records))
            if code:
                raise BenchmarkError(f"game {slot} is broken after {self.decisions:,} decisions: {MESSAGES[code]}")
        masks, seats = np.empty_like(games.action_masks), np.empty_like(games.seats)
        write_masks(games.games, games.rule_records, masks, seats)
        if not (np.array_equal(masks, games.action_masks) and np.array_equal(seats, games.seats) and masks.any(1).all()):
            raise BenchmarkError("the masks differ from ones written anew")
        if games.observations.any() and not np.array_equal(games.observe(games.seats), games.observations):
            raise BenchmarkError("the observations differ from ones written anew")


def measure(num_games: int, rules: Any, seed: int, seconds: float, **arguments: Any) -> tuple[float, RandomPlay]:
    """Decisions a second, choosing included, and the play that was checked.

    With one thread by the processor's time, with more by the clock.

    Raises:
        BenchmarkError: Where masks or observations differ from ones written anew.
    """
    play = RandomPlay(num_games, rules, seed, **arguments)
    clock = time.process_time if play.games.threads == 1 else time.perf_counter
    speed, _, _ = rate(play.step, seconds, lambda: play.ended > 0, clock)
    play.check()
    return speed, play


def _counts(play: RandomPlay) -> dict[str, Any]:
    return {"decisions": play.decisions, "deals_ended": play.deals, "games_ended": play.ended, "digest": f"{play.digest:08x}"}


def vector_rows(num_games: int, rules: Any, seed: int, seconds: float, threads: int) -> list[Row]:
    """Rows of one number of games: masks and observations, masks alone, moves alone; and with more threads, if they are asked for.

    Raises:
        BenchmarkError: Also where the games depend on what is written or on threads.
    """
    name = f"{num_games:,} game{'s' * (num_games > 1)}"
    rows, digests = [], {}
    variants: list[tuple[str, str, dict[str, Any]]] = [
        ("full", "masks and observations", {}),
        ("masks", "masks alone", {"observations": False}),
    ]
    if threads > 1 and num_games >= threads:
        variants.append((f"threads{threads}", f"masks and observations, {threads} threads", {"threads": threads}))
    for key, label, arguments in variants:
        speed, play = measure(num_games, rules, seed, seconds, **arguments)
        digests[label] = play.digest
        written = {"mask_int8": play.games.num_actions, "observation_int16": play.games.observation_width * (key != "masks")}
        rows.append(Row("vector", f"vector/{num_games}/{key}", f"{name}, {label}", speed, "decisions/s", _counts(play) | written))
    if len(set(digests.values())) > 1:
        raise BenchmarkError(f"{name}: the same games went different ways: {digests}")
    rows.insert(2, moves_row(num_games, rules, seed, seconds))
    return rows


def moves_row(num_games: int, rules: Any, seed: int, seconds: float) -> Row:
    """Deals played by `random` inside the engine: nothing is handed out, legal actions are found to choose from."""
    from training.benchmarks.single import playout_rate

    rules = rules if not isinstance(rules, list) else rules[0]
    speed, details = playout_rate(["random"], num_games, rules, seed, seconds)
    name = f"{num_games:,} game{'s' * (num_games > 1)}"
    return Row(
        "vector", f"vector/{num_games}/moves", f"{name}, neither: moves alone, deals of the first rule set", speed, "decisions/s", details
    )


_PROCESS = """
import json, sys
from training.benchmarks.vector import RandomPlay
from training.benchmarks.rows import rate
settings = json.loads(sys.argv[1])
play = RandomPlay(settings["games"], settings["rules"], settings["seed"])
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(rate(play.step, settings["seconds"])[0]), flush=True)
"""


def thread_rows(num_games: int, rules: list[dict], seed: int, seconds: float, threads: int) -> list[Row]:
    """Threads in one process beside as many processes of one thread, one after the other.

    Args:
        rules: as for VectorGame, in a form that JSON holds.
    """
    single = RandomPlay(num_games, rules, seed)
    one, _, _ = rate(single.step, seconds)
    several, play = measure(num_games, rules, seed, seconds, threads=threads)
    settings = json.dumps({"games": num_games // threads, "rules": rules, "seed": seed, "seconds": seconds})
    children = [
        subprocess.Popen([sys.executable, "-c", _PROCESS, settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(threads)
    ]
    pipes = [(cast(IO[str], child.stdin), cast(IO[str], child.stdout)) for child in children]
    try:
        for _, told in pipes:
            if told.readline() != "ready\n":
                raise BenchmarkError("a process of the comparison of threads with processes did not start")
        for ask, _ in pipes:
            ask.write("\n")
            ask.flush()
        processes = sum(json.loads(told.readline()) for _, told in pipes)
    finally:
        for child, (ask, told) in zip(children, pipes, strict=True):
            child.kill()
            child.wait()
            ask.close()
            told.close()
    name = f"{num_games:,} games"
    return [
        Row("threads", "threads/one", f"{name}, 1 thread", one, "decisions/s"),
        Row("threads", "threads/several", f"{name}, {threads} threads", several, "decisions/s", _counts(play)),
        Row("threads", "threads/processes", f"{name} in {threads} processes of 1 thread", processes, "decisions/s"),
        Row("threads", "threads/speedup", f"{threads} threads over 1 thread", several / one, "times"),
        Row("threads", "threads/efficiency", f"{threads} threads over {threads} processes", several / processes, "times"),
    ]

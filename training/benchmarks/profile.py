"""Where the time of a decision goes: parts of the same games timed in turn, step by step."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hf_env.vector.step import find_illegal
from training.benchmarks.rows import BenchmarkError, Row
from training.benchmarks.vector import RandomPlay

_LABELS = {
    "choosing": "choosing a random legal action",
    "checking": "looking whether the actions are legal",
    "masks": "writing masks",
    "observations": "writing observations",
    "moving": "playing the action, paying, dealing",
}


def profile_rows(num_games: int, rules: Any, seed: int, seconds: float) -> list[Row]:
    """Nanoseconds of the processor's time that each part of a decision takes, with masks and observations.

    Masks are timed by writing them once more; observations by the difference to the same games without them; what is left
    of the step is moving.

    Raises:
        BenchmarkError: Where the two kinds of games went different ways.
    """
    full, bare = RandomPlay(num_games, rules, seed), RandomPlay(num_games, rules, seed, observations=False)
    everywhere = np.ones(num_games, np.int8)
    spent = dict.fromkeys((*_LABELS, "whole", "bare"), 0.0)

    def timed(part: str, call, *arguments) -> None:
        started = time.thread_time()
        call(*arguments)
        spent[part] += time.thread_time() - started

    steps, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds or steps < 10:
        for play, part in ((full, "whole"), (bare, "bare")):
            timed("choosing", play.choose)
            if play is full:
                timed(
                    "checking",
                    find_illegal,
                    play.games._settings,
                    everywhere,
                    play.actions,
                    play.games._masks,
                    play.games.terminated,
                    play.games.truncated,
                )
            timed(part, play.games.step, play.actions)
        timed("masks", bare.games.refresh)
        steps += 1
    if full.games.games.tobytes() != bare.games.games.tobytes():
        raise BenchmarkError("games with and without observations went different ways")
    spent["choosing"] /= 2
    spent["observations"] = max(0.0, spent["whole"] - spent["bare"])
    spent["moving"] = max(0.0, spent["bare"] - spent["masks"] - spent["checking"])
    whole = spent["choosing"] + spent["whole"]
    scale = 1e9 / (steps * num_games)
    rows = [
        Row("profile", f"profile/{part}", label, spent[part] * scale, "ns", {"share": spent[part] / whole})
        for part, label in _LABELS.items()
    ]
    return [*rows, Row("profile", "profile/all", f"a decision in all, {num_games:,} games", whole * scale, "ns")]

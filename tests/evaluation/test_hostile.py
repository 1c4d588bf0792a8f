"""Policies that raise, exit, kill, fork, close or sleep (hostile.py): a series of matches goes on without their games."""

import time

import numpy as np
import pytest

from hf_env.rules import load_rules
from tests.evaluation import hostile
from tests.evaluation.players import last_legal
from training.evaluation.contests import Plan, evaluation, tournament
from training.evaluation.matches import duel
from training.evaluation.series import MAX_SILENCES, play_series
from training.evaluation.store import Store
from training.evaluation.worker import Series

MINI = load_rules("mini")
POINTS = -7000
HERE = "python:tests.evaluation.hostile"
# By class: the kind of the forfeit of game 0 (None: there is none), and what its reason says.
FORFEITS = {
    "Raises": ("exception", "failed in act: RuntimeError: broken over two lines"),
    "RaisesBase": ("exception", "failed in act: BaseException: base"),
    "Interrupts": ("exception", "failed in act: KeyboardInterrupt"),
    "Exits": ("exception", "failed in act: SystemExit: 3"),
    "Speechless": ("exception", "failed in act: Error"),
    "OddArray": ("answer", "returned a OddArray, which is no array: SystemExit: 5"),
    "StartRaises": ("exception", "failed in start: RuntimeError: no start"),
    "StartExits": ("exception", "failed in start: SystemExit: 8"),
    "Forks": (None, ""),
    "ForksAndFails": (None, ""),
    "ClosesOutput": (None, ""),
    "Prints": (None, ""),
    "Deaf": (None, ""),
    "HardExit": ("died", "ended the process that asked it (exit code 3)"),
    "ClosesAll": ("died", "ended the process that asked it (it closed the connection or a file of it)"),
    "LeavesAHolder": ("died", "ended the process that asked it (exit code 3)"),
    "Sleeps": ("time", "did not answer within 1 s"),
}
# These end a process as some above do, in another way.
MORE_FORFEITS = {
    "Kills": ("died", "ended the process that asked it (signal 9)"),
    "PutsOthersInPlace": ("died", "ended the process that asked it (it closed the connection or a file of it)"),
    "LeavesByItsChild": ("died", "ended the process that asked it (exit code 0)"),
    "Stops": ("time", "did not answer within 1 s"),
}


def _play_all(names, folder):
    """Each against last_legal on two games of one block, all in one process that is begun anew after each end."""
    specs = (*(f"{HERE}:{name}" for name in names), last_legal)
    titles = (*names, "last")
    matches = tuple(duel(number, len(names), titles, MINI) for number in range(len(names)))
    series = Series(matches, specs, titles, (None,) * len(specs), (MINI,), 0, POINTS)
    store = Store(folder / "out", True)
    with store.opened({}):
        pass
    parts = play_series(series, [2] * len(names), processes=1, store=store, limit_seconds=1.0)
    return {name: of_match[0].results for name, of_match in zip(names, parts, strict=True)}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return _play_all(FORFEITS, tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("name", FORFEITS)
def test_a_hostile_policy_forfeits_its_games_and_no_more(played, name):
    _check(played, name, *FORFEITS[name])


@pytest.mark.long
def test_other_ways_to_end_a_process(tmp_path):
    played = _play_all({"Deaf": None} | MORE_FORFEITS, tmp_path)
    for name, (kind, said) in MORE_FORFEITS.items():
        _check(played, name, kind, said)


def _check(played, name, kind, said):
    results, sound = played[name], played["Deaf"]
    games = [] if kind is None else [0, 1] if name.startswith("Start") else [0]
    assert [(one.game, one.policy, one.kind) for one in results.forfeits] == [(game, list(played).index(name), kind) for game in games]
    assert all(one.reason == f"policy {name!r} {said}" for one in results.forfeits)
    others = ~np.isin(sound.deal_games, games)
    assert np.array_equal(results.deal_scores[others], sound.deal_scores[others])
    # In game 0 the policy sits in seat 0, in game 1 in seat 1.
    assert all(results.totals[game].tolist() == [POINTS, 0][:: 1 - 2 * game] for game in games)


@pytest.mark.parametrize("name", ["InitRaisesThere", "InitEndsThere"])
def test_a_policy_that_only_the_processes_cannot_load_is_named(name):
    said = {"InitRaisesThere": "cannot be made: RuntimeError: not here", "InitEndsThere": "ended the process that loaded it .exit code 7."}
    with pytest.raises((ValueError, RuntimeError), match=f"{HERE}:{name}' {said[name]}$"):
        tournament((f"{HERE}:{name}", last_legal), Plan(deals=2, rules=MINI, processes=1))


def test_a_process_that_ends_before_it_plays_is_told():
    with pytest.raises(RuntimeError, match=r"a process ended before it played \(exit code 10\)"):
        tournament((hostile.EndsUnpacked(), last_legal), Plan(deals=2, rules=MINI, processes=1))


@pytest.mark.long
def test_processes_that_always_end_between_decisions_are_not_begun_for_ever():
    started = time.monotonic()
    with pytest.raises(RuntimeError, match=r"processes end while they ask no policy \(exit code 9\); the last that was asked is "):
        tournament((f"{HERE}:EndsLater", last_legal), Plan(deals=2, rules=MINI, processes=1))
    assert time.monotonic() - started < 60 * (MAX_SILENCES + 1)


@pytest.mark.parametrize("limit_seconds", [0.0, 30.0])
def test_without_faults_the_limit_makes_no_difference(limit_seconds):
    one, two = (
        evaluation(f"{HERE}:{name}", last_legal, Plan(deals=4, rules=MINI, processes=1, limit_seconds=limit_seconds))
        for name in ("Hostile", "Forks")
    )
    assert np.array_equal(one.cluster_differences, two.cluster_differences)

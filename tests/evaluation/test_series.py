"""Matches spread over processes: equal results, kept results, and policies that do not come back."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents.play.games import DecisionRequest
from hf_env.rules import load_rules
from tests.architecture.subprocesses import run_python
from tests.evaluation.players import Faulty, first_legal, last_legal
from training.evaluation.contests import Plan, crossplay, evaluation, tournament
from training.evaluation.duplicate import evaluate
from training.evaluation.series import GAMES_A_BLOCK, MAX_SILENCES
from training.evaluation.store import OtherSettingsError
from training.evaluation.worker import LOADING, AnswerClock, LastRequest

ROOT = Path(__file__).parents[2]
MINI = load_rules("mini")
SHORT_TARGET = load_rules("mini", deals=1, target=300, max_deals=6)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("rules", [pytest.param(MINI, marks=pytest.mark.long), SHORT_TARGET])
def test_the_number_of_processes_makes_no_difference(tmp_path, rules):
    players = ("random", "greedy", Faulty("exception", games={3}))
    for number in (1, 2):
        tournament(players, Plan(deals=150, rules=rules, processes=number, out=tmp_path / str(number)))
    one, two = (_files(tmp_path / name) for name in "12")
    assert one.keys() == two.keys() and len([name for name in one if name.startswith("records/")]) >= 9
    assert json.loads(one["report.json"])["forfeits"]
    assert one == two


def test_an_evaluation_in_processes_is_that_of_one_process():
    there, here = (
        evaluation("random", "greedy", Plan(deals=130, rules=MINI, processes=2)),
        evaluate("random", "greedy", deals=130, rules=MINI),
    )
    assert replace(there, seconds=0.0).to_json() == replace(here, seconds=0.0).to_json()


class _Counting:
    """first_legal; notes in a file whenever it is started for a block."""

    name = "counting"

    def __init__(self, path) -> None:
        self.path = path

    def start(self, num_games, rules, seed):
        with open(self.path, "a") as file:
            file.write("started\n")

    def act(self, batch):
        return first_legal(batch.observations, batch.action_masks)


def test_only_what_is_missing_is_played_again(tmp_path):
    out, notes = tmp_path / "out", tmp_path / "notes"
    players = (_Counting(notes), last_legal)
    plan = Plan(deals=4 * GAMES_A_BLOCK, rules=MINI, processes=1, out=out)
    tournament(players, plan)
    before = _files(out)
    assert notes.read_text().count("started") == 4
    tournament(players, plan)
    assert notes.read_text().count("started") == 4
    (out / "results" / "000-000016.npz").unlink()
    (out / "records" / "000-000032.jsonl.gz").unlink()
    (out / "records" / "draft-000-000032.jsonl.gz").write_bytes(b"half")
    (out / "report.json").unlink()
    tournament(players, plan)
    assert notes.read_text().count("started") == 6 and _files(out) == before


def test_a_folder_of_other_settings_is_refused(tmp_path):
    plan = Plan(deals=32, rules=MINI, processes=1, out=tmp_path)
    tournament((first_legal, last_legal), plan)
    before = _files(tmp_path)
    for changes, said in (
        ({"deals": 34}, "deals is 32 there and 34 now"),
        ({"seed": 1}, "seed is 0 there and 1 now"),
        ({"rules": "two-player"}, "rules is"),
        ({"with_records": False}, "records is true there and false now"),
        ({"forfeit_points": -5}, "forfeit_points is -10000 there and -5 now"),
    ):
        with pytest.raises(OtherSettingsError, match=said):
            tournament((first_legal, last_legal), replace(plan, **changes))
    with pytest.raises(OtherSettingsError, match="policies is"):
        tournament((first_legal, "random"), plan)
    with pytest.raises(OtherSettingsError, match="format is"):
        crossplay((first_legal, last_legal), "random", replace(plan, rules="whitnack"))
    assert _files(tmp_path) == before


def test_a_folder_that_holds_something_else_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(OtherSettingsError, match="is not empty"):
        tournament((first_legal, last_legal), Plan(deals=32, rules=MINI, out=tmp_path))
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(OtherSettingsError, match="is no JSON"):
        tournament((first_legal, last_legal), Plan(deals=32, rules=MINI, out=tmp_path))


@pytest.mark.parametrize(
    ("kind", "fault", "said"),
    [
        ("silent", "time", "did not answer within 1 s"),
        pytest.param("exit", "died", "ended the process that asked it", marks=pytest.mark.long),
    ],
)
def test_a_policy_that_does_not_come_back_forfeits_that_game(tmp_path, kind, fault, said):
    plan = Plan(deals=48, rules=MINI, processes=2, limit_seconds=1.0, out=tmp_path)
    result = tournament((Faulty(kind, games={5}), first_legal, last_legal), plan)
    sound = tournament((first_legal, last_legal), Plan(deals=48, rules=MINI, processes=1))
    # Blocks of 32 and 16 games, in two matches: game 5 of each.
    assert [(one.kind, one.game, one.policy) for _, _, one in result.forfeits] == [(fault, 5, 0)] * 4
    assert all(said in one.reason and "'faulty'" in one.reason for _, _, one in result.forfeits)
    assert np.array_equal(result.pairs[1, 2].totals.differences, sound.pairs[0, 1].totals.differences)
    played, alone = result.pairs[0, 2].totals.differences, sound.pairs[0, 1].totals.differences
    forfeited = np.zeros(played.shape, bool)
    forfeited[[2, 18], 1] = True
    assert np.array_equal(played[~forfeited], alone[~forfeited]) and (played[forfeited] == -10_000).all()


@pytest.mark.parametrize(("kind", "limit_seconds"), [("exit", 30.0), pytest.param("silent start", 0.5, marks=pytest.mark.long)])
def test_a_policy_that_never_comes_back_is_not_asked_for_ever(kind, limit_seconds):
    result = tournament((Faulty(kind), first_legal), Plan(deals=32, rules=MINI, processes=1, limit_seconds=limit_seconds))
    reasons = [one.reason for _, _, one in result.forfeits]
    assert len(reasons) == 32 and sum("was not asked in this one" in reason for reason in reasons) >= 32 - MAX_SILENCES
    assert result.pairs[0, 1].points.mean == -10_000 and result.pairs[0, 1].won.mean == 0.0
    assert result.behaviour[0]["deals"] == 0 and result.behaviour[0]["takes"] is None


INTERRUPTED = """
import signal
from training.cli.main import run
# What runs the tests may ignore interruptions, and a new process begins as its parent is.
signal.signal(signal.SIGINT, signal.default_int_handler)
raise SystemExit(run(["tournament", "random", "greedy", "--deals", "40000", "--rules", "mini", "--out", {out!r}, "--processes", "2"]))
"""


def test_an_interruption_keeps_what_is_finished(tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(out=str(out))], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while len(list(out.glob("results/*.npz"))) < 3:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    # As a terminal does: to all processes of the group.
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert [line for line in err.splitlines() if line] == [
        f"the finished games are kept; the same command with --out {out} goes on",
        "handfoot: interrupted",
    ]
    kept = list(out.glob("results/*.npz"))
    assert len(kept) >= 3 and not (out / "report.json").exists()
    assert {path.stem for path in kept} <= {path.name.split(".")[0] for path in out.glob("records/*.gz")}
    with pytest.raises(ProcessLookupError):  # noqa: PT012 (the loop is the wait for it)
        # No process of the group is left, though its reaping may take a moment.
        for _ in range(100):
            os.killpg(process.pid, 0)
            time.sleep(0.1)


def test_a_checkpoint_that_changes_is_refused(monkeypatch, tmp_path):
    pytest.importorskip("torch")
    from agents.neural import NetworkConfig, build_network, save_policy
    from agents.play.games import PolicyError
    from hf_env.observation.layout import ObservationLayout
    from training.evaluation.worker import load_policies

    def save(seed: int) -> None:
        scales = ObservationLayout((2, 2)).scales()
        network = build_network(NetworkConfig("mlp", width=8, ignored=()), scales, 127, seed=seed)
        save_policy(tmp_path / "net", network, {"num_seats": 2, "num_sides": 2, "rules": ["mini"]})

    plan = Plan(deals=16, rules=MINI, processes=1, out=tmp_path / "out")
    policies = (str(tmp_path / "net"), "random")
    save(1)
    with monkeypatch.context() as patch:
        patch.setattr("agents.neural.checkpoint.network_from_bytes", None)  # only the processes that play load it
        result = tournament(policies, plan)
    digest, none = json.loads((tmp_path / "out" / "settings.json").read_text())["checkpoints"]
    assert len(digest) == 64 and none is None
    assert tournament(policies, plan).pairs[0, 1].points == result.pairs[0, 1].points
    save(2)
    with pytest.raises(OtherSettingsError, match="checkpoints is"):
        tournament(policies, plan)
    with pytest.raises(PolicyError, match="has changed since the matches began"):
        load_policies(policies, policies, (digest, None), [load_rules(MINI)])


def test_a_policy_of_this_project_may_compile_before_its_time_counts():
    watch, asked = AnswerClock([0.0] * 5, {0: 2}), DecisionRequest(0, np.array([7, 8]), np.array([3, 4]))
    assert watch.read() is None
    watch.note_loading(0)
    assert watch.read() == LastRequest(math.inf, 0, 1, 0, LOADING)
    for _ in range(2):
        watch.note(asked)
        assert watch.read() == LastRequest(math.inf, 0, 2, 7, 3)
        watch.note(None)
    watch.note(asked)
    last = watch.read()
    assert last.since <= time.monotonic() and replace(last, since=None) == LastRequest(None, 0, 2, 7, 3)
    watch.note(None)
    assert watch.read() == LastRequest(None, 0, 2, 7, 3)
    watch.note(replace(asked, policy=1))
    assert watch.read().since <= time.monotonic()


DEFINED_IN_A_SCRIPT = """
from training.evaluation import Plan, tournament
class Mine:
    name = "mine"
    def act(self, batch):
        return batch.action_masks.argmax(1)
def last(observations, action_masks):
    return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(1)
result = tournament([Mine(), last], Plan(deals=8, rules="mini", processes=1))
print(result.names, len(result.forfeits), result.pairs[0, 1].points.mean)
"""


def test_policies_of_a_script_without_a_file_play_in_processes():
    """As those of a notebook: no process can import them by name."""
    there = tournament([first_legal, last_legal], Plan(deals=8, rules=MINI, processes=1)).pairs[0, 1].points.mean
    assert run_python(DEFINED_IN_A_SCRIPT).strip() == f"('mine', 'last') 0 {there}"

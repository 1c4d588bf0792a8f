"""Exact resume: a run killed at any moment and continued in a new process is the run that was never stopped."""

import json
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agents.neural import CheckpointError
from agents.neural.checkpoint import JSON_NAME, POINTER_NAME, TENSORS_NAME, VERSIONS, read_json, write_json
from hf_env.vector.step import MODE
from training.run.checkpoints import STATE_JSON, STATE_TENSORS, read_checkpoint
from training.run.folder import GAMES_NAME, LOG_NAME
from training.run.report import read_log
from training.sessions import resume, train
from training.trainer import Trainer, make_games

from .resume_run import UPDATES, tiny_config
from .walking import differences, walk

ROOT = Path(__file__).parents[2]
# Wall time and what is made of it: no two runs share it.
TIMES = ("run/seconds", "speed/")
# Of a trainer, between two iterations: what is no state of the run, and why.
NO_STATE = {
    r"\._started|\._seconds_before": "wall time",
    r"\.run_dir.*|\.log\.run_dir.*": "where the run lies",
    r"\.log\._(writer|purge_step).*": "an open file of TensorBoard, whose later steps a resumed run purges",
    r"\.collector\._\w+": "the rollout's arrays: each row is written before it is read",
    r"\.games\.(final_observations|_actions|_other|_work.*|_runner.*)": "written before they are read in each step",
    r"\.games\.num_moves": "tells a batch of a decision that it has passed; no decision depends on it",
    r"\.learner\.network\..*\.grad": "gradients, made anew in each step",
}


def command(*arguments):
    return [sys.executable, "-m", "tests.training.resume_run", *map(str, arguments)]


def run_to(folder, updates):
    subprocess.run(command(folder, updates), cwd=ROOT, check=True, timeout=300)


def kill_after(folder, updates, wait=0.0):
    """Run in a process until so many updates are logged and ``wait`` seconds more, then kill -9."""
    with subprocess.Popen(command(folder, UPDATES), cwd=ROOT) as process:
        deadline = time.monotonic() + 300
        while len(read_log(folder)) < updates and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
    return process.returncode


def state_of(folder):
    """All that a run has become: tensors, arrays, values, log and line-ups, without wall times."""
    network, arrays, values = read_checkpoint(folder)
    tensors = {f"network/{name}": tensor.numpy() for name, tensor in network.state_dict().items()}
    values.pop("seconds")
    log = [{k: v for k, v in line.items() if not k.startswith(TIMES)} for line in read_log(folder)]
    return tensors | arrays, values, log, read_log(folder, GAMES_NAME)


def assert_same_run(one, other):
    (arrays, *rest), (other_arrays, *other_rest) = state_of(one), state_of(other)
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        assert array.dtype == other_arrays[name].dtype and array.tobytes() == other_arrays[name].tobytes(), name
    assert rest == other_rest


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """The run of 20 updates that nobody disturbed."""
    folder = tmp_path_factory.mktemp("straight") / "run"
    run_to(folder, UPDATES)
    return folder


def test_20_updates_equal_10_a_kill_and_10_in_a_new_process(straight, tmp_path):
    folder = tmp_path / "run"
    assert kill_after(folder, 10) == -signal.SIGKILL
    assert 10 <= len(read_log(folder)) < UPDATES
    run_to(folder, UPDATES)
    assert_same_run(straight, folder)
    assert len(read_log(folder)) == UPDATES


def test_the_straight_run_has_a_league_to_be_resumed(straight):
    _, _, values = read_checkpoint(straight)
    league = values["league"]
    assert len(league["candidates"]) >= 8
    assert sum(record["games"] for record in league["records"].values()) > 20
    games = read_log(straight, GAMES_NAME)
    digests = {digest for line in games for digest in line["seats"]}
    known = {"learner", *league["records"]}
    assert digests <= known and len(digests) > 4
    logged = sum(line["league/games"] for line in read_log(straight))
    assert sum(line["games"] for line in games) == logged > 20


@pytest.mark.long
@pytest.mark.parametrize("number", range(10))
def test_kills_at_random_moments(straight, tmp_path, number):
    """Of a whole run of 20 updates, a kill at a random one and a random moment of it; twice, on the way to the end."""
    rng = random.Random(number)
    folder = tmp_path / "run"
    for first in (1, 11):
        kill_after(folder, rng.randrange(first, first + 9), rng.random() * 0.05)
    run_to(folder, UPDATES)
    assert_same_run(straight, folder)


def test_everything_that_an_iteration_changes_comes_back_from_the_checkpoint(tmp_path):
    config = tiny_config(num_evaluations=3)
    measured = iter([(50.0, 5.0), (10.0, 5.0), (60.0, 5.0)])

    def measure(_):
        return {"greedy": next(measured)}

    trainer = Trainer(config, tmp_path, make_games(config), measure)
    fresh = walk(trainer)
    for _ in range(12):
        trainer.iterate()
    trainer.save()
    then = walk(trainer)
    changed = differences(fresh, then)
    for part in ("network", "optimiser", "normaliser", "generator", "league.records", "league.members", "league.lineups",
                 "league.totals", "league.started", "league.generator", "games.games", "step_number", "strength.best",
                 "strength.fallen", "evaluations", "pool_additions", "iteration"):  # fmt: skip
        assert any(part in path for path in changed), part
    games = make_games(config)
    games.reset(seed=99)  # all of its state must come from the checkpoint
    again = Trainer(config, tmp_path, games, measure)
    again.restore()
    games._settings[MODE] = trainer.games._settings[MODE]  # of the last call: each call writes it first
    forgotten = {path for path in differences(then, walk(again)) if not any(re.fullmatch(rule, path) for rule in NO_STATE)}
    assert not forgotten
    trainer.luck = 7
    assert ".luck" in differences(walk(trainer), walk(again))  # the walk would notice another attribute


def test_each_value_of_a_checkpoint_is_needed(tmp_path):
    """Without any one of its arrays or values a checkpoint is refused, so none is kept in vain.

    But for the version of the seeds: a state without one is of before, and goes on with other cards.
    """
    config = tiny_config()
    trainer = Trainer(config, tmp_path, make_games(config))
    for _ in range(3):
        trainer.iterate()
    trainer.save()
    _, arrays, values = read_checkpoint(tmp_path)
    from training.run import state

    for name in [*arrays, *(name for name in values if name != "seeds")]:
        found = trainer.learner.network, {k: v for k, v in arrays.items() if k != name}, {k: v for k, v in values.items() if k != name}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(state, "read_checkpoint", lambda _, found=found: found)
            with pytest.raises(CheckpointError, match=r"lacks|fit"):
                trainer.restore()


@pytest.fixture
def saved(straight, tmp_path):
    """A copy of the straight run, and the folder of its newest checkpoint."""
    folder = tmp_path / "run"
    shutil.copytree(straight, folder)
    return folder, folder / read_json(folder / POINTER_NAME)["checkpoint"]


def tear(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("name", [STATE_TENSORS, STATE_JSON, TENSORS_NAME, JSON_NAME])
def test_after_a_torn_write_the_last_good_checkpoint_is_found(saved, name, caplog):
    folder, newest = saved
    tear(newest / name)
    assert read_checkpoint(folder)[2]["iteration"] == UPDATES - 1
    assert str(newest) in caplog.text and "going on from" in caplog.text


def test_a_missing_folder_or_a_torn_pointer_does_not_lose_the_run(saved):
    folder, newest = saved
    tear(folder / POINTER_NAME)
    assert read_checkpoint(folder)[2]["iteration"] == UPDATES
    shutil.rmtree(newest)
    assert read_checkpoint(folder)[2]["iteration"] == UPDATES - 1


@pytest.mark.long
def test_the_last_good_checkpoint_leads_to_the_same_run(straight, saved):
    folder, newest = saved
    tear(newest / STATE_TENSORS)
    part = folder / "checkpoints" / "00000099.part"
    part.mkdir()
    run_to(folder, UPDATES)
    assert_same_run(straight, folder)
    assert not part.exists()


def test_a_changed_value_is_noticed(saved):
    folder, newest = saved
    state = read_json(newest / STATE_JSON)
    state["values"]["decisions"] += 1
    write_json(newest / STATE_JSON, state)
    shutil.rmtree(folder / "checkpoints" / f"{UPDATES - 1:08d}")
    with pytest.raises(CheckpointError, match="SHA-256"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"rules": {"preset": "mini", "deals": 3}}, "deals was 2, here it is 3"),
        ({"seats": ("learner", "expert")}, "seats = ['learner', 'pool:opponents'], not ['learner', 'expert']"),
        ({"hardness": 1.0}, "hardness = 2.0, not 1.0"),
    ],
)
def test_other_settings_are_refused_by_name(saved, what, said):
    with pytest.raises(CheckpointError) as caught:
        resume(saved[0], show_progress=False, **what)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_another_version_or_layout_is_refused_by_name(saved, monkeypatch):
    folder, newest = saved
    monkeypatch.setitem(VERSIONS, "observation", VERSIONS["observation"] + 1)
    with pytest.raises(CheckpointError, match=r"made for version \d+ of the observation"):
        resume(folder, show_progress=False)
    monkeypatch.undo()
    monkeypatch.setattr("training.run.state.layout_sections", lambda _: [["phase", 99]])
    with pytest.raises(CheckpointError, match="another observation: section 0"):
        resume(folder, show_progress=False)
    monkeypatch.undo()
    for each in (newest.parent).iterdir():
        state = read_json(each / STATE_JSON)
        write_json(each / STATE_JSON, state | {"format": "hf-training-state/9"})
    with pytest.raises(CheckpointError, match="of the format 'hf-training-state/9', this version reads"):
        resume(folder, show_progress=False)


class Bomb:
    """Unpickling it makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_hostile_file_cannot_run_code(saved, tmp_path):
    folder, _ = saved
    target = tmp_path / "exploded"
    bomb = pickle.dumps(Bomb(str(target)))
    pickle.loads(bomb)
    target.rmdir()  # it works where it is unpickled
    files = [path for path in folder.rglob("*") if path.suffix in (".safetensors", ".json")]
    assert len(files) > 8
    for path in files:
        before = path.read_bytes()
        path.write_bytes(bomb)
        try:
            Trainer(tiny_config(), folder, make_games(tiny_config())).restore()
        except CheckpointError as error:
            assert "\n" not in str(error)
        path.write_bytes(before)
    # With a fitting checksum too.
    for each in (folder / "checkpoints").iterdir():
        (each / STATE_TENSORS).write_bytes(bomb)
        from agents.neural.checkpoint import sha256

        write_json(each / STATE_JSON, read_json(each / STATE_JSON) | {"sha256": sha256(bomb)})
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_checkpoint(folder)
    assert not target.exists()


def test_a_hostile_config_cannot_name_a_module(saved):
    folder, _ = saved
    config = read_json(folder / "config.json")
    write_json(folder / "config.json", config | {"seats": ["learner", "python:tests.training.test_resume:Bomb"]})
    with pytest.raises(ValueError, match=r"seats.1. holds 'python:"):
        resume(folder, show_progress=False)


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.long), signal.SIGTERM])
def test_a_signal_saves_and_says_where(tmp_path, number):
    folder = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-m", "handfoot", "train", "--rules", "mini", "--decisions", "100000000", "--out", str(folder), "--quiet"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        while not read_log(folder):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        out = process.communicate(timeout=120)[0]
    assert process.returncode == 130
    newest = read_json(folder / POINTER_NAME)["checkpoint"]
    assert f"checkpoint {folder / newest}" in out
    assert read_checkpoint(folder)[2]["iteration"] == len(read_log(folder))


def test_no_hash_in_the_pool_changes(tmp_path):
    """Over 50 updates: a member's file, name and network stay what they were when it was frozen."""
    config = tiny_config(updates=50, pool_interval=0.05, checkpoint_seconds=1e9)
    trainer = Trainer(config, tmp_path, make_games(config))
    known = {}
    for _ in range(50):
        trainer.iterate()
        for number, member in trainer.league.members.items():
            assert known.setdefault(number, member.digest) == member.digest
            member.verify()
    assert len(trainer.league.members) >= 9
    before = {path.stem: path.read_bytes() for path in (tmp_path / "pool").iterdir()}
    trainer.save()
    assert set(known.values()) == set(before)
    lines = read_log(tmp_path, GAMES_NAME)
    assert {digest for line in lines for digest in line["seats"]} <= {"learner", *trainer.league.records}
    assert np.mean([line["league/games"] > 0 for line in read_log(tmp_path)]) > 0.3


def test_the_same_command_twice_gives_the_same_run(straight, tmp_path):
    train(tiny_config(), tmp_path / "run", show_progress=False)
    assert_same_run(straight, tmp_path / "run")


def test_line_ups_logged_after_the_checkpoint_are_dropped(saved, straight):
    folder, _ = saved
    with open(folder / GAMES_NAME, "a") as file:
        file.write(json.dumps({"iteration": UPDATES + 1, "seats": ["learner"], "games": 1}) + '\n{"iter')
    assert (folder / LOG_NAME).exists()
    Trainer(tiny_config(), folder, make_games(tiny_config())).restore()
    assert read_log(folder, GAMES_NAME) == read_log(straight, GAMES_NAME)


def test_a_run_of_other_seeds_goes_on_and_says_so(tmp_path, caplog):
    """Not bit for bit: what it has not dealt yet are other cards."""
    from training.run import state

    config = tiny_config()
    trainer = Trainer(config, tmp_path, make_games(config))
    trainer.iterate()
    trainer.save()
    network, arrays, values = read_checkpoint(tmp_path)
    for begun_with in (None, 1):
        values = {name: value for name, value in values.items() if name != "seeds"} | ({} if begun_with is None else {"seeds": begun_with})
        caplog.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(state, "read_checkpoint", lambda _, values=values: (network, arrays, values))
            trainer.restore()
        assert len(caplog.messages) == 1 and "begun with seeds of version 1" in caplog.text and "not bit for bit" in caplog.text
    trainer.iterate()

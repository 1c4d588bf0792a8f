"""``handfoot train``, on the small game and for one update."""

import importlib
import json
import re
import shutil
from types import SimpleNamespace

import pytest
import torch

from agents.neural import load_policy
from hf_env.rules import load_rules
from training.config import rules_to_json


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run folder."""
    from training.cli.main import run

    folder = tmp_path_factory.mktemp("runs") / "small"
    small = [word for setting in ("num_games=16", "rollout_steps=64", "deals=2") for word in ("--set", setting)]
    options = ["--decisions", "1", "--deals", "40", "--processes", "1", "--out", str(folder), "--quiet"]
    assert run(["train", "--rules", "mini", *small, *options]) == 0
    return folder


def test_a_run_leaves_all_that_it_promises(trained):
    for name in ("config.json", "latest.json", "metrics.jsonl", "learning_curve.png", "tensorboard", "report.md"):
        assert (trained / name).exists(), name
    report = (trained / "report.md").read_text()
    for anchor in ("expert", "greedy", "random"):
        values = json.loads((trained / f"evaluation-{anchor}.json").read_text())
        assert values["policy_a"] == "small:mode=argmax" and values["num_deals"] == 40
        assert re.search(rf"\| {anchor} \| [+-][\d,]+ \|.*\| final \|", report)
        assert f"small:mode=argmax against {anchor} under mini" in report


def test_the_config_does_not_depend_on_a_file(trained):
    config = json.loads((trained / "config.json").read_text())
    assert config["rules"] == {"preset": "mini", "deals": 2} and config["time_budget_seconds"] is None


@pytest.mark.filterwarnings("ignore::agents.neural.policy.UntrainedRulesWarning")
def test_a_run_can_be_evaluated_and_resumed(handfoot, mistake, trained):
    code, out, _ = handfoot("evaluate", trained, "random", "--rules", "mini", "--deals", 8)
    assert code == 0 and "8 deals" in out
    assert "used up its budget" in mistake("train", "--resume", trained)
    before = json.loads((trained / "latest.json").read_text())
    code, out, err = handfoot("train", "--resume", trained, "--decisions", 1, "--deals", 0, "--quiet")
    assert code == 0 and err == "" and "2,048 decisions" in out
    assert json.loads((trained / "latest.json").read_text()) != before


@pytest.fixture
def small(tmp_path):
    """A config of an update of a few games."""
    file = tmp_path / "small.toml"
    file.write_text(
        'rules = "mini"\nprocesses = 1\nnum_games = 8\nrollout_steps = 16\nnum_evaluations = 0\n[network]\nwidth = 16\nrank_width = 8\n'
    )
    return file


def dies_at(monkeypatch, name):
    """The command's process dies in that function, or in its second call where the name ends with 2."""
    module, _, function = name.removesuffix("2").rpartition(".")
    target = getattr(importlib.import_module(module), function)
    calls = []

    def die(*arguments, **options):
        calls.append(1)
        if len(calls) > name.endswith("2"):
            raise KeyboardInterrupt
        return target(*arguments, **options)

    monkeypatch.setattr(f"{module}.{function}", die)


@pytest.mark.parametrize(
    "moment",
    [
        "training.sessions.write_json",  # before the config
        "training.trainer.trainer_state",  # before the checkpoint's first file
        "training.run.checkpoints.save_policy",
        "training.run.checkpoints.write_json",  # in the middle of the checkpoint
        "training.run.checkpoints.write_json2",  # between the checkpoint and the pointer to it
    ],
)
def test_a_run_that_dies_before_its_first_checkpoint_begins_and_goes_on(handfoot, tmp_path, small, monkeypatch, moment):
    options = ("--decisions", 256, "--deals", 0, "--quiet")
    for number, goes_on in enumerate((("--config", small, "--out"), ("--resume",))):
        run = tmp_path / f"run{number}"
        with monkeypatch.context() as patch:
            dies_at(patch, moment)
            assert handfoot("train", "--config", small, "--out", run, *options)[0] == 130
        if moment.endswith("2") and "--out" in goes_on:
            continue  # a whole checkpoint is there: it is gone on from, and not overwritten
        if moment.endswith("sessions.write_json") and "--resume" in goes_on:
            continue  # nothing is there
        code, out, err = handfoot("train", *goes_on, run, *options)
        assert (code, err) == (0, "") and "trained 256 decisions" in out
        assert len((run / "metrics.jsonl").read_text().splitlines()) == 2


def test_what_an_interruption_left_of_the_end_is_made_up_for(handfoot, mistake, tmp_path, small, monkeypatch):
    run = tmp_path / "run"
    ends = [
        "training.cli.evaluate.measure",
        "training.cli.evaluate.measure2",
        "training.cli.evaluate.write_result",
        "training.run.report.write_report",
    ]
    with monkeypatch.context() as patch:
        dies_at(patch, ends.pop())
        assert handfoot("train", "--config", small, "--decisions", 128, "--deals", 8, "--out", run, "--quiet")[0] == 130
    while ends:
        with monkeypatch.context() as patch:
            dies_at(patch, ends.pop())
            assert handfoot("train", "--resume", run, "--deals", 8, "--quiet")[0] == 130
    code, out, err = handfoot("train", "--resume", run, "--deals", 8, "--quiet")
    assert (code, err) == (0, "") and "verdict" in out and "trained" not in out
    assert (run / "report.md").read_text().count("| final |") == 3 and len(list(run.glob("evaluation-*.json"))) == 3
    assert "used up its budget" in mistake("train", "--resume", run, "--deals", 8)
    # The evaluation of a policy that has gone on since is no longer its evaluation.
    with monkeypatch.context() as patch:
        dies_at(patch, "training.cli.evaluate.measure2")
        assert handfoot("train", "--resume", run, "--decisions", 1, "--deals", 8, "--quiet")[0] == 130
    assert handfoot("train", "--resume", run, "--deals", 8, "--quiet")[0] == 0
    assert "used up its budget" in mistake("train", "--resume", run, "--deals", 8)


def test_a_policy_of_another_table_is_refused(mistake, trained):
    assert "cannot play here" in mistake("evaluate", trained, "random", "--deals", 8)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rules", "whitnak"), "did you mean whitnack"),
        (("--minutes", "0"), "--minutes"),
        (("--minutes", "nan"), "--minutes"),
        (("--minutes", "inf"), "--minutes"),
        (("--decisions", "0"), "--decisions"),
        (("--seed", "-1"), "--seed"),
        (("--deals", "-1"), "--deals"),
        (("--device", "abacus"), '--device "abacus" is not allowed: it must be "cpu", or'),
        (("--device", ""), '--device "" is not allowed'),
        (("--device", "mps"), '--device "mps" is not allowed'),
        (("--device", "cuda:999"), '--device "cuda:999" cannot be used here: '),
        (("--set", "device=cuda:999"), 'device = "cuda:999" cannot be used here: '),
        (("--resume", "no/such/run"), "no run folder"),
        (("--resume", "x", "--rules", "mini"), "--rules cannot be given with --resume"),
        (("--resume", "x", "--seed", "0"), "--seed cannot be given with --resume"),
        (("--resume", "x", "--out", "y"), "--out cannot be given with --resume"),
        (("--resume", "x", "--seats", "learner"), "--seats cannot be given with --resume"),
        (("--resume", "x", "--from", "greedy"), "--from cannot be given with --resume"),
        (("--rules", "mini", "--seats", "learner,wizard"), "seats[1] holds 'wizard'; allowed: learner, past, random, greedy"),
        (("--rules", "mini", "--seats", "learner,pool:friends"), "seats[1] names the pool 'friends'; there is 'opponents'"),
        (("--rules", "mini", "--pool", "friends"), "--pool 'friends' is not of the form NAME=PLAYER*WEIGHT"),
        (("--pool", "a=past*many"), "'many' is no weight of 'past'"),
        (("--pool", "a=past*0"), "pools.a.past must be a weight above 0"),
        (("--pool", "oponents=expert"), 'no seat draws from the pool "oponents"; did you mean opponents?'),
        (("--pool", "a=past*1e400"), "pools.a.past must be a weight above 0, at most 1,000,000,000, got inf"),
        (("--pool", "a=past,past*2"), "gives 'past' twice"),
        (("--pool", "opponents=past", "--pool", "opponents=expert"), "--pool gives a pool twice"),
        (("--set", "seed=1", "--set", "seed=2"), "--set gives seed twice"),
        (("--config", "no/such.toml"), "no/such.toml cannot be read"),
        (("--config", ""), "is a folder, not a file of settings"),
    ],
)
def test_mistakes(mistake, arguments, said):
    assert said in mistake("train", *arguments)


def test_a_folder_that_holds_a_run_is_not_overwritten(mistake, trained):
    assert "already holds a run" in mistake("train", "--rules", "mini", "--out", trained)


def test_a_folder_that_cannot_be_made(handfoot, tmp_path):
    (tmp_path / "file").touch()
    code, _, err = handfoot("train", "--rules", "mini", "--out", tmp_path / "file" / "run")
    assert code in (1, 2) and err.count("\n") == 1


def test_a_stopped_run_is_no_success_and_says_how_to_go_on(handfoot, tmp_path, monkeypatch):
    stopped = SimpleNamespace(run_dir=tmp_path, checkpoint=tmp_path / "c", decisions=5, seconds=1.0, stopped_by="signal", processes=1)
    monkeypatch.setattr("training.sessions.train", lambda *_, **__: stopped)
    code, out, _ = handfoot("train", "--rules", "mini", "--out", tmp_path / "run")
    assert code == 130 and f"handfoot evaluate {tmp_path / 'run'}:mode=argmax greedy" in out


@pytest.mark.parametrize("changes", [{}, {"deals": 3}, {"points.ace": 15, "target": 500}])
@pytest.mark.parametrize("name", ["whitnack", "mini", "family-10000"])
def test_rules_in_a_config_are_those_rules(name, changes):
    rules = load_rules(name, **changes)
    held = json.loads(json.dumps(rules_to_json(rules)))
    assert load_rules(held) == rules and isinstance(held, str) == (not changes)


def test_seats_and_pools_become_the_config(handfoot, tmp_path):
    file = tmp_path / "league.toml"
    file.write_text(
        'rules = "mini"\ndecisions_budget = 1\nnum_games = 8\nprocesses = 1\nrollout_steps = 32\nnum_evaluations = 0\n'
        'seats = ["learner", "pool:opponents"]\n[pools.opponents]\npast = 3\nexpert = 1\n[network]\nwidth = 16\n'
    )
    out = tmp_path / "run"
    pool = "opponents=past*3,greedy:noise=0.1"
    code, _, err = handfoot("train", "--config", file, "--pool", pool, "--seed", 5, "--deals", 0, "--out", out, "--quiet")
    assert (code, err) == (0, "")
    config = json.loads((out / "config.json").read_text())
    assert config["rules"] == "mini" and config["seed"] == 5 and config["network"]["width"] == 16
    assert config["seats"] == ["learner", "pool:opponents"] and config["time_budget_seconds"] is None
    assert config["pools"] == {"opponents": {"past": 3.0, "greedy:noise=0.1": 1.0}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("luck = 7", "unknown setting luck; known: rules, reward"),
        ("update_epoch = 7", "unknown setting update_epoch; did you mean update_epochs?"),
        ("[network]\nwidht = 7", "unknown setting network.widht; did you mean network.width?"),
        ('num_games = "many"', 'num_games = "many" is not allowed: it must be a whole number from 1 to 65,536'),
        ("epochs = true", "update_epochs = true is not allowed: it must be a whole number from 1 to 1,000"),
        ("update_epochs = 0", "update_epochs = 0 is not allowed: it must be a whole number from 1 to 1,000"),
        ("network = 3", "network = 3 is not allowed: it must be a table"),
        ("seats = 3", "seats = 3 is not allowed: it must be a list of players"),
        ('seats = ["past"]', "seats must hold 'learner' at least once"),
        ("epochs = ", "is not valid TOML"),
        ('rules = "whitnak"', "did you mean whitnack"),
        ('seats = ["learner", "past"]', "seats has 2 entries, the rules have 4 seats"),
    ],
)
def test_config_files_with_mistakes(mistake, tmp_path, text, said):
    file = tmp_path / "bad.toml"
    file.write_text(text + "\n")
    assert said in mistake("train", "--config", file, "--out", tmp_path / "run")


def test_a_run_goes_on_from_a_policy(handfoot, mistake, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    config = tmp_path / "small.toml"
    config.write_text(
        'rules = "mini"\nnum_games = 16\nprocesses = 1\nrollout_steps = 8\nnum_evaluations = 0\n[network]\nwidth = 16\nrank_width = 8\n'
    )
    options = ("--quiet", "--deals", 0)
    assert handfoot("train", "--config", config, "--decisions", 1000, "--out", first, *options)[0] == 0
    # One update away from it, in the first one's network.
    code, _, err = handfoot("train", "--config", config, "--from", first, "--decisions", 1, "--out", second, *options)
    assert code == 0, err
    learned, begun = (load_policy(folder)[0].state_dict() for folder in (first, second / "checkpoints" / "00000000"))
    assert all(torch.equal(learned[name], begun[name]) for name in learned)
    assert json.loads((second / "config.json").read_text())["network"]["width"] == 16
    # Another run's settings stay: the policy may be gone when the run is resumed.
    shutil.rmtree(first)
    assert handfoot("train", "--resume", second, "--decisions", 1, *options)[0] == 0
    for arguments, line in (
        (("--rules", "mini", "--from", first), "initial_policy: "),
        (("--rules", "mini", "--from", "greedy"), "initial_policy: greedy is no network"),
        (("--rules", "two-player", "--from", second), "sees other numbers of the observation"),
        (("--from", second), "sees other numbers of the observation"),
    ):
        assert line in mistake("train", "--decisions", "1", "--out", tmp_path / "third", *options, *arguments)


def test_set_reaches_settings_and_rules_of_a_file(handfoot, mistake, tmp_path):
    file, out = tmp_path / "small.toml", tmp_path / "run"
    file.write_text('rules = "mini"\nnum_games = 8\nprocesses = 1\nrollout_steps = 32\nnum_evaluations = 0\n[network]\nwidth = 16\n')
    settings = ("--set", "network.rank_width=8", "--set", "clip_coef=0.1", "--set", "deals=2", "--set", "decisions_budget=1")
    code, _, err = handfoot("train", "--config", file, *settings, "--deals", 0, "--out", out, "--quiet")
    assert (code, err) == (0, "")
    config = json.loads((out / "config.json").read_text())
    assert config["rules"] == {"preset": "mini", "deals": 2} and config["clip_coef"] == 0.1
    assert config["network"]["width"] == 16 and config["network"]["rank_width"] == 8 and config["time_budget_seconds"] is None
    for arguments, said in (
        (("--set", "network.width=-1"), "network.width = -1 is not allowed"),
        (("--set", "dael=3"), "unknown setting dael; did you mean deals?"),
        (("--set", "device=meta"), 'device = "meta" is not allowed'),
        (("--device", "meta"), '--device "meta" is not allowed'),
        (("--seed", "1", "--set", "seed=2"), "seed is given twice"),
        (("--set", "deals=0"), "deals = 0 is not allowed"),
    ):
        assert said in mistake("train", "--config", file, *arguments, "--out", tmp_path / "other")

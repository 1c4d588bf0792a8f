"""A run as a whole: it learns, stops, saves, resumes exactly, and leaves what it should."""

import json
import os
import shutil
import signal
import threading

import numpy as np
import pytest

from agents.neural import CheckpointError
from agents.neural.checkpoint import VERSIONS, read_json
from agents.policy import decision_keys
from agents.registry import load
from hf_env.files import write_json
from hf_env.rules import load_rules
from hf_env.seeds import SEEDS_VERSION
from training.config import ConfigError, TrainConfig
from training.run.checkpoints import read_checkpoint
from training.run.folder import RunFolder
from training.run.metrics import METRICS, STRENGTH, STRENGTH_INTERVAL, definition
from training.run.report import read_log, write_report
from training.sessions import resume, train

from .fake_vector_game import FakeVectorGame
from .helpers import share, small_config
from .test_policy_protocol import make_batch


def run(run_dir, config=None, **options):
    config = config or small_config()
    return train(config, run_dir, games=FakeVectorGame(config.num_games, config.seed), show_progress=False, **options)


def stop_after(iterations):
    """A ``should_stop`` that says so after that many iterations."""
    left = iter(range(iterations - 1))
    return lambda: next(left, None) is None


def measure(policy):
    """Stands for a match against anchors: plays a little, so that it would show if measuring touched the run."""
    games = FakeVectorGame(16, 99)
    batch = make_batch(16, observations=games.observations, action_masks=games.action_masks,
                       keys=decision_keys(0, np.arange(16), 0, 0, 0))  # fmt: skip
    policy.act(batch)
    return {"greedy": (12.0, 5.0), "random": (300.0, 9.0)}


def tensors_of(run_dir):
    network, arrays, values = read_checkpoint(run_dir)
    timeless = {key: value for key, value in values.items() if key not in ("seconds", "sha256", "policy_sha256")}
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()} | arrays, timeless


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A run that has learned something: its config, its result, its folder."""
    config = small_config(decisions_budget=60_000, learning_rate=1e-2)
    folder = tmp_path_factory.mktemp("learned") / "run"
    return config, run(folder, config, evaluate_fn=measure), folder


def test_a_run_learns_and_leaves_its_folder(learned):
    config, result, folder = learned
    assert result.stopped_by == "budget" and result.decisions >= 60_000
    log = read_log(folder)
    assert log[-1]["play/points_a_deal"] > 1.8 * log[0]["play/points_a_deal"]
    assert log[-1]["league/members"] == config.pool_size
    for name in ("config.json", "latest.json", "learning_curve.png", "report.md", "metrics.jsonl"):
        assert (folder / name).stat().st_size > 0
    assert list((folder / "tensorboard").iterdir())
    assert TrainConfig.from_json(json.loads((folder / "config.json").read_text())) == config
    policy = load(str(folder))
    assert policy.info["lineage"]["decisions"] == result.decisions and policy.info["num_sides"] == 2
    assert policy.info["rules_names"] == ["whitnack"] and policy.info["versions"] == VERSIONS | {"seeds": SEEDS_VERSION}
    assert not list(folder.rglob("*.part"))


def test_logged_metrics_are_the_defined_ones(learned):
    logged = {name for line in read_log(learned[2]) for name in line}
    wildcard = {STRENGTH + "*", STRENGTH_INTERVAL + "*"}
    assert {name for name in logged if not name.startswith((STRENGTH, STRENGTH_INTERVAL))} == set(METRICS) - wildcard
    assert {name for name in logged if name.startswith(STRENGTH)} == {"strength/greedy", "strength/random"}
    with pytest.raises(KeyError):
        definition("learning/mystery")


def test_the_report_takes_the_final_evaluation(learned):
    text = write_report(learned[2], {"greedy": (432.0, 21.0)}, notes="Played by candlelight.").read_text()
    assert "| greedy | +432 | +411 to +453 | final |" in text
    assert "| random | +300 | +291 to +309 | on the way |" in text
    assert "candlelight" in text


def test_an_interrupted_run_continues_as_if_it_had_not_stopped(tmp_path):
    config = small_config(decisions_budget=20_000, pools=share(0.5))
    straight = run(tmp_path / "straight", config, evaluate_fn=measure)
    stopped = run(tmp_path / "parts", config, evaluate_fn=measure, should_stop=stop_after(10))
    assert stopped.stopped_by == "signal" and stopped.iterations == 10
    games = FakeVectorGame(config.num_games, seed=77)  # all of its state must come from the checkpoint
    resumed = resume(tmp_path / "parts", measure, games=games, show_progress=False)
    assert resumed.decisions == straight.decisions and resumed.iterations == straight.iterations
    (arrays, values), (other_arrays, other_values) = tensors_of(tmp_path / "straight"), tensors_of(tmp_path / "parts")
    assert values == other_values
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)
    iterations = [line["run/iteration"] for line in read_log(tmp_path / "parts")]
    assert iterations == list(range(1, straight.iterations + 1))


def test_lines_logged_after_the_checkpoint_are_dropped_on_resuming(tmp_path):
    run(tmp_path / "run", should_stop=stop_after(5))
    with open(tmp_path / "run" / "metrics.jsonl", "a") as file:
        file.write(json.dumps(read_log(tmp_path / "run")[-1] | {"run/iteration": 6.0}) + '\n{"run/iter')
    resume(tmp_path / "run", games=FakeVectorGame(32), show_progress=False, should_stop=stop_after(2))
    assert [line["run/iteration"] for line in read_log(tmp_path / "run")] == [1, 2, 3, 4, 5, 6, 7]


def test_a_larger_budget_continues_a_finished_run(tmp_path):
    first = run(tmp_path / "run", small_config(decisions_budget=8_000))
    more = resume(tmp_path / "run", games=FakeVectorGame(32), show_progress=False, decisions_budget=12_000)
    assert first.decisions < 12_000 <= more.decisions


def test_other_settings_are_refused_on_resuming(tmp_path):
    run(tmp_path / "run", should_stop=stop_after(2))
    with pytest.raises(CheckpointError, match="learning_rate"):
        resume(tmp_path / "run", games=FakeVectorGame(32), show_progress=False, learning_rate=1.0)


def test_changed_rules_are_refused_on_resuming(tmp_path):
    rules = tmp_path / "mine.toml"
    rules.write_text(load_rules("whitnack").to_toml())
    run(tmp_path / "run", small_config(rules=str(rules)), should_stop=stop_after(2))
    # What a run plays does not depend on the file that it came from.
    rules.unlink()
    file = RunFolder(tmp_path / "run").config
    write_json(file, read_json(file) | {"rules": {"preset": "whitnack", "going_out": 200}})
    with pytest.raises(CheckpointError, match="going_out was 100, here it is 200"):
        resume(tmp_path / "run", games=FakeVectorGame(32), show_progress=False)


def test_a_run_folder_is_not_overwritten(tmp_path):
    run(tmp_path / "run", should_stop=stop_after(1))
    with pytest.raises(ConfigError, match="already holds a run"):
        run(tmp_path / "run")


def test_a_damaged_pool_is_noticed(tmp_path):
    run(tmp_path / "run", should_stop=stop_after(30))
    member = next((tmp_path / "run" / "pool").iterdir())
    member.write_bytes(member.read_bytes()[:-1] + b"x")
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "00000000")  # the only one that does without the member
    with pytest.raises(CheckpointError, match="SHA-256"):
        resume(tmp_path / "run", games=FakeVectorGame(32), show_progress=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_ends_the_run(tmp_path, number):
    before = signal.getsignal(number)
    config = small_config(decisions_budget=10**9)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), number))
    timer.start()
    result = run(tmp_path / "run", config)
    assert result.stopped_by == "signal" and result.checkpoint.is_dir()
    assert read_checkpoint(tmp_path / "run")[2]["iteration"] == result.iterations
    assert signal.getsignal(number) is before


def test_a_time_budget_ends_the_run(tmp_path):
    result = run(tmp_path / "run", small_config(decisions_budget=None, time_budget_seconds=1.5))
    assert result.stopped_by == "budget" and 1.5 <= result.seconds < 15


def test_configs_that_make_no_sense_are_refused():
    for changes in ({"time_budget_seconds": None, "decisions_budget": None}, {"num_games": 0}, {"clip_coef": 0.0},
                    {"gae_lambda": 1.1}, {"pool_interval": 0.0}, {"processes": -1}):  # fmt: skip
        with pytest.raises(ConfigError) as caught:
            TrainConfig(**changes)
        assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="does not fit"):
        TrainConfig.from_json(TrainConfig().to_json() | {"luck": 7})

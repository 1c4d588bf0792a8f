"""Learning cannot fail silently: what breaks an update is kept, falling strength is told in log and report."""

import json

import numpy as np
import pytest
import safetensors.numpy
import torch

from agents.neural import load_policy
from training.learning.ppo import NonFiniteError
from training.run.folder import FAILURE_JSON, FAILURE_TENSORS
from training.run.guards import DivergenceError, StrengthMonitor, check_divergence
from training.run.metrics import STRENGTH, STRENGTH_INTERVAL
from training.run.report import read_log
from training.sessions import train
from training.trainer import Trainer

from .fake_vector_game import FakeVectorGame
from .helpers import small_config

HEALTHY = {"learning/approximate_kl": 0.02, "learning/first_ratio_error": 1e-6}


def make_trainer(folder, **changes):
    config = small_config(**changes)
    return Trainer(config, folder, FakeVectorGame(config.num_games, config.seed))


def kept(folder, iteration):
    where = folder / "failures" / f"{iteration:08d}"
    arrays = safetensors.numpy.load((where / FAILURE_TENSORS).read_bytes())
    return where, arrays, json.loads((where / FAILURE_JSON).read_text())


def test_a_batch_that_is_not_finite_is_kept(tmp_path):
    trainer = make_trainer(tmp_path)
    trainer.iterate()
    collect = trainer.collector.collect

    def poisoned(network, with_teacher):
        rollout = collect(network)
        rollout.returns[3] = np.nan
        return rollout

    trainer.collector.collect = poisoned
    before = {name: tensor.clone() for name, tensor in trainer.learner.network.state_dict().items()}
    with pytest.raises(NonFiniteError, match=r"update 2: returns holds 1 of \d+ values .* the batch is kept in .*00000002") as caught:
        trainer.iterate()
    assert "\n" not in str(caught.value)
    where, arrays, told = kept(tmp_path, 2)
    assert np.flatnonzero(np.isnan(arrays["returns"])).tolist() == [3]
    assert {"observations", "action_masks", "actions", "log_probs", "advantages"} <= arrays.keys()
    assert told["kind"] == "NonFiniteError" and told["iteration"] == 2
    network, _ = load_policy(where)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_an_update_that_breaks_the_policy_is_kept(tmp_path):
    trainer = make_trainer(tmp_path, learning_rate=5.0, max_grad_norm=1e6, max_kl=0.5)
    with pytest.raises(DivergenceError, match=r"moved the policy by .* nats, max_kl is 0.5; the batch is kept in"):  # noqa: PT012
        for _ in range(20):
            trainer.iterate()
    _, arrays, told = kept(tmp_path, trainer.iteration + 1)
    assert len(arrays["observations"]) and told["kind"] == "DivergenceError"


@pytest.mark.parametrize(
    "changes",
    [{"learning/approximate_kl": 1.5}, {"learning/approximate_kl": float("nan")}, {"learning/first_ratio_error": 0.5},
     {"learning/first_ratio_error": float("nan")}],
)  # fmt: skip
def test_divergence_has_a_measure(changes):
    check_divergence(HEALTHY, 1.0)
    with pytest.raises(DivergenceError):
        check_divergence(HEALTHY | changes, 1.0)


def strengths(mean, half=5.0):
    return {STRENGTH + "greedy": mean, STRENGTH_INTERVAL + "greedy": half}


def test_a_fall_is_one_beyond_the_intervals():
    watch = StrengthMonitor()
    assert watch.add(strengths(100.0), 1000) == []
    assert watch.add(strengths(91.0), 2000) == []  # the intervals meet
    (said,) = watch.add(strengths(80.0), 3000)
    assert said == "strength against greedy fell from +100 ± 5 at 1,000 decisions to +80 ± 5 at 3,000"
    assert watch.add({}, 3500) == [] and watch.fallen
    assert watch.add(strengths(120.0), 4000) == [] and not watch.fallen
    again = StrengthMonitor()
    again.load_state(json.loads(json.dumps(watch.state())))
    assert again == watch


def test_a_fall_is_flagged_in_log_and_report(tmp_path, caplog):
    measured = iter([300.0, 250.0, 20.0, 10.0])

    def measure(_):
        return {"greedy": (next(measured), 20.0), "random": (500.0, 20.0)}

    config = small_config()
    train(config, tmp_path / "run", measure, games=FakeVectorGame(config.num_games), show_progress=False)
    log = read_log(tmp_path / "run")
    assert [line["run/anchors_fallen"] for line in log if "strength/greedy" in line] == [0, 1, 1, 1]
    assert log[-1]["run/anchors_fallen"] == 1
    assert caplog.text.count("strength against greedy fell from +300") == 3
    report = (tmp_path / "run" / "report.md").read_text()
    assert "**Warning:** strength against greedy fell from +300 ± 20" in report and "against random fell" not in report
    assert "| self 0 | `" in report

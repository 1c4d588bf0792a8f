"""Checkpoints made with care: their checksums are right, and what they hold would lead compiled code astray."""

import json
import time

import numpy as np
import pytest
import safetensors.numpy
import torch

from agents.neural import CheckpointError, NetworkConfig, NeuralPolicy, build_network, load_policy, save_policy
from agents.neural.checkpoint import JSON_NAME, TENSORS_NAME, sha256, values_sha256
from agents.shipped import FOLDER, PLAYERS
from hf_env import ObservationLayout
from training.config import ConfigError, TrainConfig
from training.learning.initial import load_initial
from training.run.checkpoints import read_checkpoint
from training.run.folder import GAMES_NAME, LOG_NAME, RunFolder
from training.run.report import read_log, write_report
from training.trainer import Trainer, make_games

from .resume_run import tiny_config
from .test_policy_protocol import make_batch

LAYOUT = ObservationLayout("mini")
INFO = {"num_seats": 2, "num_sides": 2, "sections": [[section.name, section.length] for section in LAYOUT.sections]}


@pytest.fixture
def policy(tmp_path):
    save_policy(tmp_path, build_network(NetworkConfig(width=8, rank_width=4), LAYOUT.scales(), 127, 1, LAYOUT), INFO)
    return tmp_path


def craft(folder, change_tensors=None, checksum=True, **info):
    """Change a policy's tensors and what its JSON says, with right checksums."""
    arrays = dict(safetensors.numpy.load((folder / TENSORS_NAME).read_bytes()))
    arrays = (change_tensors(arrays) or arrays) if change_tensors else arrays
    data = safetensors.numpy.save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    (folder / TENSORS_NAME).write_bytes(data)
    values = json.loads((folder / JSON_NAME).read_text()) | {"sha256": sha256(data)} | info
    values.pop("json_sha256")
    (folder / JSON_NAME).write_text(json.dumps(values | ({"json_sha256": values_sha256(values)} if checksum else {})))


def refused(folder):
    began = time.perf_counter()
    with pytest.raises(CheckpointError) as caught:
        load_policy(folder)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    assert time.perf_counter() - began < 5
    return str(caught.value)


def rows(number):
    return lambda arrays: arrays | {"rank_columns": np.resize(arrays["rank_columns"], (number, arrays["rank_columns"].shape[1]))}


def replaced(name, make):
    return lambda arrays: arrays | {name: make(arrays[name])}


TENSORS = {
    "2 rows": rows(2), "12 rows": rows(12), "20,000 rows": rows(20_000),
    "three times as wide": replaced("rank_columns", lambda columns: np.concatenate([columns] * 3, 1)),
    "a column outside": replaced("rank_columns", lambda columns: np.where(columns == columns.max(), 10**6, columns)),
    "a column below 0": replaced("other_columns", lambda columns: columns - columns.max() - 1),
    "columns as floats": replaced("rank_columns", lambda columns: columns.astype(np.float64)),
    "columns in 32 bits": replaced("other_columns", lambda columns: columns.astype(np.int32)),
    "NaN": replaced("rank_in.weight", lambda weight: np.full_like(weight, np.nan)),
    "infinite": replaced("value_head.bias", lambda bias: np.full_like(bias, np.inf)),
    "an infinite scale": replaced("observation_scale", lambda scale: np.full_like(scale, np.inf)),
    "a scale of two axes": replaced("observation_scale", lambda scale: scale[None]),
    "a scale of 0 axes": replaced("observation_scale", lambda scale: np.float32(1.0)),
    "no spread": replaced("value_std", lambda std: std * 0),
    "half the units": replaced("body.0.weight", lambda weight: weight[: len(weight) // 2]),
    "in 64 bits": replaced("body.0.weight", lambda weight: weight.astype(np.float64)),
    "one more": lambda arrays: arrays | {"more": np.zeros(3, np.float32)},
    "one less": lambda arrays: {name: array for name, array in arrays.items() if name != "norms.0.bias"},
    "none": lambda arrays: {"nothing": np.zeros(1, np.float32)},
}  # fmt: skip


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_that_do_not_fit_are_refused_before_a_network_is_built(name, policy, monkeypatch):
    craft(policy, TENSORS[name])
    built = []
    monkeypatch.setattr(torch.nn.Module, "load_state_dict", lambda self, tensors, **_: built.append(tensors))
    assert "do not fit the network" in refused(policy)
    assert not built


SIZES = [
    {"width": 20_000}, {"width": 16_384, "depth": 64}, {"depth": 10**6}, {"depth": 64}, {"rank_width": 30_000}, {"rank_width": 4096},
    {"width": 9}, {"kind": "mlp"}, {"width": 10**400}, {"ignored": [["x"]]}, {"layer_norm": 7},
]  # fmt: skip


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sizes_that_its_tensors_do_not_have_are_refused_at_once(size, checksum, policy):
    network = json.loads((policy / JSON_NAME).read_text())["network"]
    craft(policy, checksum=checksum, network=network | size)
    refused(policy)


@pytest.mark.parametrize(
    "values",
    [
        {"num_actions": 5}, {"num_actions": 128}, {"num_actions": 10**9}, {"num_actions": "127"}, {"observation_width": 10},
        {"num_seats": 10**9}, {"sections": 5}, {"sections": [["hand"]]}, {"sections": [["hand", -1]]}, {"sections": [["hand", 10**9]]},
        {"versions": []},
        {"network": 5}, {"lineage": {"decisions": -1}}, {"rules_names": [5]}, {"value_of": 5}, {"sha256": 5}, {"sha256": "x" * 64},
    ],
    ids=str,
)  # fmt: skip
def test_values_of_other_kinds_are_refused(values, policy):
    craft(policy, **{name: value for name, value in values.items() if name != "sha256"})
    if "sha256" in values:
        (policy / JSON_NAME).write_text(json.dumps(json.loads((policy / JSON_NAME).read_text()) | values))
    refused(policy)


def test_its_json_has_a_checksum_and_one_of_before_does_without(policy):
    said = json.loads((policy / JSON_NAME).read_text())
    (policy / JSON_NAME).write_text(json.dumps(said | {"rules_names": ["whitnack"]}))
    assert "do not have the SHA-256" in refused(policy)
    del said["json_sha256"]
    (policy / JSON_NAME).write_text(json.dumps(said))
    load_policy(policy)
    (policy.parent / "outside").mkdir()
    for pointer in ("/etc", "../outside", "", 5, None, ["checkpoints"]):
        (policy / JSON_NAME).unlink(missing_ok=True)
        (policy / "latest.json").write_text(json.dumps({"checkpoint": pointer}))
        assert "latest.json" in refused(policy)


def test_a_policy_of_other_actions_does_not_read_masks_of_ours():
    network = build_network(NetworkConfig("mlp", width=8, ignored=()), np.ones(12, np.float32), 5, 1)
    with pytest.raises(ValueError, match="knows 5 actions"):
        NeuralPolicy(network).act(make_batch(3, observations=np.zeros((3, 12), np.int16)))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A trainer that has saved, and what it has saved."""
    folder = tmp_path_factory.mktemp("run")
    config = tiny_config(critic="all_cards")
    trainer = Trainer(config, folder, make_games(config))
    for _ in range(6):
        trainer.iterate()
    trainer.save()
    return trainer, read_checkpoint(folder)


def restore(trainer, found):
    from training.run import state

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "read_checkpoint", lambda _: found)
        trainer.restore()


def test_every_array_of_another_shape_or_type_is_refused(run):
    trainer, (network, arrays, values) = run
    assert len(arrays) > 100
    for name, array in arrays.items():
        others = [
            np.zeros(0, array.dtype),
            np.concatenate([array.reshape(-1)] * 2),
            array.astype(np.float64 if array.dtype != np.float64 else np.int64),
        ]
        for other in others:
            with pytest.raises(CheckpointError) as caught:
                restore(trainer, (network, arrays | {name: other}, values))
            assert "\n" not in str(caught.value), name


def test_numbers_that_would_lead_astray_are_refused(run):
    trainer, (network, arrays, values) = run
    moments = [name for name in arrays if name.startswith("optimiser/")]
    cases = {name: np.full_like(arrays[name], np.nan) for name in moments[::9]}
    for name, number in (("league/lineups", 50), ("league/totals", 1 << 62), ("games/games", 255), ("critic/value_std", 0)):
        cases[name] = np.full_like(arrays[name], number)
    cases["critic/rank_columns"] = arrays["critic/rank_columns"][::-1].copy()
    for name, array in cases.items():
        with pytest.raises(CheckpointError):
            restore(trainer, (network, arrays | {name: array}, values))
    scale = network.observation_scale.numpy() * 2
    spare = build_network(network.config, scale, 127, 1, trainer.games.observation_layout)
    with pytest.raises(CheckpointError, match="other numbers"):
        restore(trainer, (spare, arrays, values))


@pytest.mark.parametrize("odd", [None, -1, 5, 10**400, "x", [], {}, [[]], True, 1e308])
def test_every_value_of_another_kind_is_refused_or_the_same(run, odd):
    trainer, (network, arrays, values) = run
    before = trainer.iteration
    for name in values:
        inner = values[name] if isinstance(values[name], dict) else {}
        for changed in (values | {name: odd}, *(values | {name: inner | {key: odd}} for key in inner)):
            try:
                restore(trainer, (network, arrays, changed))
            except CheckpointError as error:
                assert "\n" not in str(error) and len(str(error)) < 1000
    restore(trainer, (network, arrays, values))
    assert trainer.iteration == before


def test_lines_that_no_run_has_written_are_left_out(tmp_path, monkeypatch):
    good = {"run/iteration": 1.0, "run/decisions": 10.0, "run/seconds": 1.0, "learning/entropy": float("nan")}
    odd = [
        "5",
        "[]",
        '"x"',
        "{}",
        "null",
        '{"run/iteration": "1"}',
        json.dumps(good | {"run/decisions": 1e300}),
        json.dumps(good | {"x": {}}),
        "[" * 5000,
    ]
    (tmp_path / LOG_NAME).write_bytes("\n".join([json.dumps(good), *odd]).encode() + b"\n\xff\xfe\n" + json.dumps(good).encode())
    assert [line["run/iteration"] for line in read_log(tmp_path)] == [1.0, 1.0]
    (tmp_path / GAMES_NAME).write_text('{"iteration": 1, "seats": ["learner"], "games": 2}\n{"iteration": 1}\n5\n{"iteration": true}\n')
    assert len(read_log(tmp_path, GAMES_NAME)) == 1
    (tmp_path / "config.json").write_text(json.dumps(tiny_config().to_json()))
    monkeypatch.setattr("training.run.report.draw_learning_curve", lambda *_: None)
    write_report(tmp_path)
    for table in ("5", "[5]", '[{"name": "x"}]', "[" * 5000):
        RunFolder(tmp_path).league.write_text(table)
        with pytest.raises(CheckpointError, match=r"league\.json"):
            write_report(tmp_path)


@pytest.mark.parametrize("spec", ["python:evil:act", "search:policy=python:evil:act", "search:policy=greedy", "greedy", "search"])
def test_a_config_cannot_have_a_module_run(spec, tmp_path, monkeypatch):
    (tmp_path / "evil.py").write_text("raise SystemExit('it was run')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="initial_policy"):
        load_initial(spec, tiny_config().rules)
    config = TrainConfig.from_json(tiny_config().to_json() | {"initial_policy": spec})
    trainer = Trainer(config, tmp_path, make_games(config))
    with pytest.raises(ConfigError, match="initial_policy"):
        trainer.begin_from(config.initial_policy)


def test_shipped_policies_load_as_they_were():
    for name in PLAYERS:
        assert "json_sha256" not in load_policy(FOLDER / name)[1]

"""Policies and states on disk: round trips, damage, and that nothing loaded can run code."""

import ast
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.neural import CheckpointError, NetworkConfig, NeuralPolicy, build_network, load_policy, save_policy
from agents.neural.checkpoint import JSON_NAME, TENSORS_NAME
from agents.neural.sections import layout_sections
from agents.registry import UnknownPolicyError, load
from hf_env import ObservationLayout, load_rules
from training.run.checkpoints import as_like, read_checkpoint, write_checkpoint

from .helpers import make_learner
from .test_policy_protocol import make_batch


@pytest.fixture
def network():
    learner, collector = make_learner()
    learner.update(collector.collect(learner.network), 0.0)
    return learner.network


def batch_for(network, size=50):
    generator = np.random.default_rng(0)
    masks = (generator.random((size, network.num_actions)) < 0.2).astype(np.int8)
    masks[:, 5] = 1
    observations = generator.integers(0, 9, (size, len(network.observation_scale))).astype(np.int16)
    return make_batch(size, observations=observations, action_masks=masks)


def test_a_policy_comes_back_as_it_was(network, tmp_path):
    save_policy(tmp_path / "p", network, {"num_seats": 4, "num_sides": 2})
    batch = batch_for(network)
    expected = NeuralPolicy(network).act(batch)
    for path in (tmp_path / "p", tmp_path / "p" / JSON_NAME, tmp_path / "p" / TENSORS_NAME):
        np.testing.assert_array_equal(load(str(path)).act(batch), expected)
    loaded, info = load_policy(tmp_path / "p")
    for (name, a), b in zip(network.state_dict().items(), loaded.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, msg=name)
    assert info["network"]["width"] == 32 and info["num_seats"] == 4


def test_modes_and_values(network, tmp_path):
    save_policy(tmp_path, network, {})
    batch = batch_for(network)
    probabilities, values = load(f"{tmp_path}").evaluate(batch)
    assert probabilities.shape == batch.action_masks.shape and values.shape == (len(batch),)
    assert (probabilities[batch.action_masks == 0] == 0).all()
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(load(f"{tmp_path}:mode=argmax").act(batch), probabilities.argmax(1))
    with pytest.raises(UnknownPolicyError, match="unknown mode"):
        load(f"{tmp_path}:mode=best")
    with pytest.raises(UnknownPolicyError, match="no option"):
        load(f"{tmp_path}:temperature=2")


def test_actions_do_not_depend_on_the_batch(network):
    policy, batch = NeuralPolicy(network), batch_for(network, 40)
    together = policy.act(batch)
    for row in range(len(batch)):
        alone = {name: getattr(batch, name)[row : row + 1] for name in ("observations", "action_masks", "keys")}
        assert policy.act(make_batch(1, **alone)) == together[row]


def test_wrong_tables_and_widths_are_refused(network):
    policy = NeuralPolicy(network, info={"num_seats": 4, "num_sides": 2})
    with pytest.raises(ValueError, match="num_seats 4, the rules here have 6"):
        policy.start(1, load_rules("six-threes"), 0)
    with pytest.raises(ValueError, match=r"\(N, 12\)"):
        policy.act(make_batch(3))


def test_a_layout_that_lacks_what_is_read_is_refused_naming_the_first_section(tmp_path):
    layout = ObservationLayout("mini")
    network = build_network(NetworkConfig(width=16, rank_width=8), layout.scales(), 127, 1, layout)
    sections = layout_sections(layout)
    table = {"num_seats": 2, "num_sides": 2}
    save_policy(tmp_path, network, table | {"sections": sections})
    assert json.loads((tmp_path / JSON_NAME).read_text())["reads"] == [name for name, _ in sections]
    load(str(tmp_path)).start(1, load_rules("mini", hand_size=5), 0)
    longer = [[name, length + (name == "turns")] for name, length in sections if name != "deal"]
    renamed = [["extra" if name == "unseen" else name, length] for name, length in sections]
    for other, said in (
        (longer, "it reads turns of 2 values, and here it has 1 values"),
        (renamed, "it reads extra of 15 values, and here there is none"),
    ):
        save_policy(tmp_path, network, table | {"sections": other})
        with pytest.raises(ValueError, match=said):
            load(str(tmp_path)).start(1, load_rules("mini"), 0)
    with pytest.raises(ValueError, match=f"its sections hold {layout.width - 1} values, and its network reads {layout.width}"):
        save_policy(tmp_path, network, table | {"sections": sections[:-1]})


def test_damage_is_noticed_in_one_line(network, tmp_path):
    save_policy(tmp_path, network, {})
    tensors = tmp_path / TENSORS_NAME
    data = bytearray(tensors.read_bytes())
    data[-1] ^= 1
    tensors.write_bytes(data)
    with pytest.raises(CheckpointError, match="SHA-256"):
        load_policy(tmp_path)
    data[-1] ^= 1
    tensors.write_bytes(data)
    description = json.loads((tmp_path / JSON_NAME).read_text())
    for changes in ({"format": "hf-policy/9"}, {"network": {"kind": "mlp", "width": 16}}, {"network": {"wings": 2}},
                    {"network": {"kind": "oracle"}}, {"versions": {"observation": 0, "actions": 1}}):  # fmt: skip
        (tmp_path / JSON_NAME).write_text(json.dumps(description | changes))
        with pytest.raises(CheckpointError) as caught:
            load_policy(tmp_path)
        assert "\n" not in str(caught.value)
    (tmp_path / JSON_NAME).write_text("{")
    with pytest.raises(CheckpointError, match="no JSON"):
        load_policy(tmp_path)


def test_states_round_trip_with_structured_arrays(network, tmp_path):
    record = np.zeros(3, np.dtype([("a", np.int8), ("b", np.int64, 2)], align=True))
    record["b"] = np.arange(6).reshape(3, 2)
    arrays = {"record": record, "keys": np.array([2**64 - 1], np.uint64), "flags": np.array([True, False])}
    write_checkpoint(tmp_path, "00000001", network, {}, arrays, {"iteration": 1})
    _, read, values = read_checkpoint(tmp_path)
    assert values["iteration"] == 1
    for name, array in arrays.items():
        back = as_like(read[name], array)
        assert back.dtype == array.dtype and back.tobytes() == array.tobytes()
    with pytest.raises(CheckpointError, match="another record"):
        as_like(read["record"], np.zeros(3, [("a", np.int8)]))


def test_a_crash_while_writing_leaves_the_checkpoint_before(network, tmp_path, monkeypatch):
    write_checkpoint(tmp_path, "00000001", network, {}, {}, {"iteration": 1})

    def crash(*_):
        raise OSError("disk full")

    monkeypatch.setattr("training.run.checkpoints.os.replace", crash)
    with pytest.raises(OSError, match="disk full"):
        write_checkpoint(tmp_path, "00000002", network, {}, {}, {"iteration": 2})
    assert read_checkpoint(tmp_path)[2]["iteration"] == 1


def test_old_checkpoints_go(network, tmp_path):
    for iteration in range(5):
        write_checkpoint(tmp_path, f"{iteration:08d}", network, {}, {}, {"iteration": iteration})
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == ["00000003", "00000004"]
    assert read_checkpoint(tmp_path)[2]["iteration"] == 4


def belongings(folder):
    """Everything under a folder: kind, bytes or target of each entry."""
    found = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def test_only_what_the_run_has_named_is_removed_and_never_the_newest(network, tmp_path):
    """Whatever a user keeps in checkpoints/ stays, and no link is followed."""
    run, mine = tmp_path / "run", tmp_path / "mine"
    checkpoints = run / "checkpoints"
    for name in ("best", "keep", "0-start", ".ipynb_checkpoints", "@eaDir", "zz", "00000001.bak", "mine.part", "123", "99999999x"):
        (checkpoints / name).mkdir(parents=True)
        (checkpoints / name / "notes").write_text(name)
    mine.mkdir()
    (mine / "treasure").write_text("gold")
    for name in ("last", "0-link", "00000000.part", "00000004", "00000077"):
        (checkpoints / name).symlink_to(mine)
    for name in ("notes.txt", "x.part", "00000050", "00000051.part"):
        (checkpoints / name).write_text(name)
    names = {path.name for path in checkpoints.iterdir()}
    before = belongings(mine), {name: held for name, held in belongings(checkpoints).items() if name != "00000004"}
    for iteration in range(1, 7):
        folder = write_checkpoint(run, f"{iteration:08d}", network, {}, {}, {"iteration": iteration})
        assert folder.is_dir() and not folder.is_symlink()
        assert read_checkpoint(run)[2]["iteration"] == iteration
    after = belongings(checkpoints)
    assert (belongings(mine), {name: held for name, held in after.items() if name in before[1]}) == before
    # The link of a name that the run needed is replaced, and what it pointed to is left alone.
    assert {path.name for path in checkpoints.iterdir()} - names | {"00000005", "00000006"} == {"00000005", "00000006"}
    # Without the newest the last whole one of the run's own is found, not a folder of the user's.
    (run / "latest.json").unlink()
    shutil.copytree(checkpoints / "00000005", checkpoints / "99999999-copy")
    (run / "latest.json").write_text('{"checkpoint": "checkpoints/00000099"}')
    assert read_checkpoint(run)[2]["iteration"] == 6


def test_no_module_here_uses_pickle():
    root = Path(__file__).parents[2]
    # They unpickle what their own parent process sends them through a pipe, as every spawned process does, or are that
    # parent; they read no file.
    exempt = {root / "training" / name for name in ("evaluation/worker.py", "follower.py", "processes.py")}
    for path in {*root.glob("agents/**/*.py"), *root.glob("training/**/*.py")} - exempt:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imported = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                assert not {"pickle", "dill", "joblib", "marshal"} & {name.split(".")[0] for name in imported}, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
                assert node.attr not in ("load", "save"), path

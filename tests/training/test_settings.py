"""The settings of training: what each allows, how a user gives them, and their names of before."""

import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.neural import CheckpointError, NetworkConfig
from agents.neural.checkpoint import read_json
from agents.neural.devices import usable_device
from hf_env.files import write_json
from hf_env.rules import RuleSet, load_rules
from training.config import GONE, RENAMED, ConfigError, TrainConfig
from training.document import DOCUMENT, with_table
from training.effects import without_effect
from training.run.folder import RunFolder
from training.run.report import read_log
from training.sessions import resume, train
from training.settings import load_config, parse_settings, rule_keys, setting_keys, shipped_configs, with_settings

# Made by version 0.1.0 before the names of RENAMED changed: two updates of a run on mini, its folder without pictures.
RUN_OF_BEFORE = Path(__file__).with_name("run_of_before.zip")


def refused(**changes):
    """The line about settings that are refused."""
    with pytest.raises(ConfigError) as caught:
        TrainConfig(**changes)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1000
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "written", "allowed"),
    [
        ("seed", -1, "-1", "a whole number from 0 to"),
        ("num_games", 10**9, "1000000000", "a whole number from 1 to 65,536"),
        ("num_games", 3.5, "3.5", "a whole number"),
        ("num_games", True, "true", "a whole number"),
        ("device", "meta", '"meta"', "or PyTorch's name of a GPU"),
        ("device", "cuda:x", '"cuda:x"', "or PyTorch's name of a GPU"),
        ("hardness", 1e9, "1000000000.0", "a number from 0 to 16"),
        ("learning_rate", float("inf"), "inf", "a number above 0, at most 10"),
        ("learning_rate", float("nan"), "nan", "a number above 0"),
        ("max_kl", float("inf"), "inf", "a number above 0"),
        ("time_budget_seconds", float("inf"), "inf", "a number above 0"),
        ("time_budget_seconds", "soon", '"soon"', 'or "none"'),
        ("decisions_budget", 0, "0", "a whole number from 1"),
        ("checkpoint_seconds", -1.0, "-1.0", "a number from 0"),
        ("skip_forced", 1, "1", "true or false"),
        ("shaping", "half", '"half"', 'one of "none", "table", "full"'),
        ("teacher", 3, "3", "one of random, greedy"),
        ("pools", [], "[]", "a table of pools"),
    ],
)
def test_a_value_that_would_fail_later_is_refused_by_name_value_and_range(name, value, written, allowed):
    assert refused(**{name: value}).startswith(f"{name} = {written} is not allowed: it must be ")
    assert allowed in refused(**{name: value})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"width": -1}, "network.width = -1 is not allowed: it must be a whole number from 1 to 16,384"),
        ({"depth": 10**6}, "network.depth = 1000000 is not allowed"),
        ({"width": 16_384, "depth": 2}, "network.width = 16384 with network.depth = 2 is not allowed"),
        ({"kind": "tree"}, 'network.kind = "tree" is not allowed: it must be one of "ranks", "mlp"'),
        ({"ignored": "all"}, 'network.ignored = "all" is not allowed: it must be a list'),
        ({"widht": 3}, "unknown setting network.widht; did you mean network.width?"),
    ],
)
def test_a_network_that_cannot_be_built_is_refused(settings, said):
    assert refused(network=settings).startswith(said)
    with pytest.raises(ValueError, match=r"^(unknown setting )?network\."):
        NetworkConfig(**settings)


NONSENSE = (
    -1, 0, 10**9, 10**400, 1e300, 5e-324, float("inf"), float("nan"), "", "nan", "a\nb", "\ud800", "x" * 10**5, None, True, b"x", object(),
    [], [[]], [""], [None], ["learner"] * 10**4, {}, {"": {}}, {1: 2}, {"opponents": {3: 1}}, {"opponents": {"past": 10**400}},
    {"opponents": {"past": 1e308, "expert": 1e308}}, {"opponents": {"x" * 10**5: 1}},
)  # fmt: skip


@pytest.mark.parametrize("name", [*TrainConfig.model_fields, *(f"network.{name}" for name in NetworkConfig.model_fields)])
def test_nonsense_is_refused_in_one_short_line_or_is_a_value_of_the_setting(name):
    for value in NONSENSE:
        table, _, member = name.rpartition(".")
        given = {table: {member: value}} if table else {name: value}
        try:
            config = TrainConfig(**given)
        except ConfigError as error:
            assert "\n" not in str(error) and len(str(error)) < 1000, (name, value)
        else:
            assert all(0 < sum(pool.values()) < float("inf") for pool in config.pools.values()), (name, value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pools": {"oponents": {"expert": 1}}}, 'no seat draws from the pool "oponents"; did you mean opponents?'),
        ({"pools": {"xyzzy": {"expert": 1}}}, 'no seat draws from the pool "xyzzy"'),
        ({"seats": ["learner"] * 4, "pools": {"opponents": {"expert": 1}}}, 'no seat draws from the pool "opponents"'),
        ({"network": {"kind": "mlp", "rank_width": 16}}, 'network.rank_width = 16 has no effect: network.kind is not "ranks"'),
        ({"teacher_weight": 2.0}, "teacher_weight = 2.0 has no effect: there is no teacher"),
        ({"teacher_end": 0.1}, "teacher_end = 0.1 has no effect: there is no teacher"),
        ({"teacher": "expert", "teacher_end": 0}, 'teacher = "expert" has no effect: teacher_weight or teacher_end is 0'),
        ({"seats": ["learner"] * 4, "hardness": 1.0}, "hardness = 1.0 has no effect: neither a seat nor a pool that a seat draws"),
        ({"pools": {"opponents": {"expert": 1}}, "pool_size": 9}, "pool_size = 9 has no effect: neither a seat"),
        ({"pool_size": 0, "pool_interval": 0.5}, "pool_interval = 0.5 has no effect: pool_size is 0"),
        ({"pool_size": 1, "hardness": 1.0}, "hardness = 1.0 has no effect: pool_size is 1"),
        ({"pool_size": 0, "seats": ["learner", "past"] * 2}, "has no effect: pool_size is 0, so that no past self is kept"),
    ],
)
def test_a_setting_that_changes_nothing_beside_the_others_is_refused(settings, said):
    with pytest.raises(ConfigError) as caught:
        with_settings(TrainConfig(), settings)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_what_a_file_or_a_default_says_is_not_refused_for_what_is_laid_over_it():
    base = with_settings(None, {"network": {"rank_width": 16}, "teacher": "expert", "teacher_end": 0.2})
    changed = with_settings(base, {"network": {"kind": "mlp"}, "teacher": None})
    assert changed.network.rank_width == 16 and changed.teacher_end == 0.2
    # Said where the run begins.
    assert [line.split(" = ")[0] for line in without_effect(changed)] == ["network.rank_width", "teacher_end"]
    assert with_settings(None, {"teacher_weight": 1.0, "hardness": 2.0, "seats": ["learner"] * 4}).hardness == 2.0
    for name in shipped_configs():
        assert without_effect(load_config(name)) == []


def test_every_default_is_allowed_and_every_row_has_its_words():
    config = TrainConfig()
    assert config.replace(**{name: getattr(config, name) for name in TrainConfig.model_fields}) == config
    for model in (TrainConfig, NetworkConfig):
        for name, field in model.model_fields.items():
            assert field.description and field.json_schema_extra["allowed"], name


def test_the_settings_are_plain_values_and_do_not_change():
    config = TrainConfig(num_games=np.int64(8), learning_rate=1, shaping="none", time_budget_seconds="none", decisions_budget=5)
    assert type(config.num_games) is int and config.shaping is None and config.time_budget_seconds is None
    with pytest.raises(ValueError, match="frozen"):
        config.num_games = 9
    assert pickle.loads(pickle.dumps(config)) == config


def test_too_large_a_rollout_is_refused():
    assert "a rollout may hold at most 4,194,304 decisions" in refused(num_games=65_536, rollout_steps=128)


@pytest.mark.parametrize("rules", ["whitnack", {"preset": "mini", "deals": 2}, ["mini", {"preset": "mini", "deals": 3}]])
def test_rules_are_resolved_once_and_come_back_from_json(rules):
    config = TrainConfig(rules=rules)
    assert all(isinstance(rule_set, RuleSet) for rule_set in config.rules)
    held = json.loads(json.dumps(config.to_json()))
    assert held["rules"] == rules
    assert TrainConfig.from_json(held) == config


def test_rules_of_a_file_are_held_without_it(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('preset = "mini"\ndeals = 3\n')
    held = TrainConfig(rules=str(file)).to_json()
    file.unlink()
    assert held["rules"] == {"preset": "mini", "deals": 3}
    assert TrainConfig.from_json(held).rules == (load_rules("mini", deals=3),)


def test_no_setting_of_training_is_called_as_a_rule():
    assert not {*setting_keys(), *RENAMED, "pools"} & {*rule_keys()}
    assert {"points.ace", "deals", "network.width", "num_games"} <= {*rule_keys(), *setting_keys()}


def test_key_and_value_reach_every_setting():
    texts = ("num_games=32", "network.width=16", "teacher=greedy", "device=cuda:1", "deals=3", "points.ace=15",
             'seats=["learner", "pool:friends"]', "pools.friends={past=3}", "shaping=none", "learning_rate = 1e-3")  # fmt: skip
    settings, rules = parse_settings(texts)
    assert rules == ("deals=3", "points.ace=15")
    config = with_settings(TrainConfig(), settings)
    assert (config.num_games, config.network.width, config.network.rank_width) == (32, 16, 32)
    assert (config.teacher, config.device, config.shaping, config.learning_rate) == ("greedy", "cuda:1", None, 1e-3)
    assert config.seats == ("learner", "pool:friends") and config.pools == TrainConfig().pools | {"friends": {"past": 3}}
    assert with_settings(TrainConfig(), {"decisions_budget": 5}).time_budget_seconds is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dael=3", "unknown setting dael; did you mean deals?"),
        ("num_game=3", "unknown setting num_game; did you mean num_games?"),
        ("network.widht=3", "network.widht; did you mean network.width?"),
        ("xyzzy=3", "unknown setting xyzzy; docs/training.md and"),
        ("clip=0.1", "unknown setting clip: it is called clip_coef now"),
        ("num_games", "is not KEY=VALUE"),
        ("num_games=", "is not KEY=VALUE"),
        ("num_games=few", 'num_games = "few" is not allowed: it must be a whole number'),
        ("num_games=1\nseed=2", "num_games = "),
        ("network=3", "network = 3 is not allowed: it must be a table"),
        ("pools.oponents={expert=1}", "did you mean opponents?"),
    ],
)
def test_what_set_refuses(text, said):
    with pytest.raises(ConfigError) as caught:
        with_settings(TrainConfig(), parse_settings([text])[0])
    assert said in str(caught.value)


def test_the_table_of_the_page_is_that_of_the_settings():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == with_table(text), "python -m training.document"
    assert all(f"| `{key}` |" in text for key in setting_keys())


def test_names_of_before_are_read_from_files_and_advised_elsewhere(tmp_path):
    file = tmp_path / "old.toml"
    values = {"clip": 0.1, "entropy_start": 0.03, "entropy_end": 0.02, "epochs": 2, "max_gradient_norm": 0.7, "value_coefficient": 0.4}
    assert values.keys() == RENAMED.keys()
    file.write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
    config = load_config(file)
    for old, new in RENAMED.items():
        assert getattr(config, new) == values[old]
        assert refused(**{old: values[old]}) == f"unknown setting {old}: it is called {new} now"
    file.write_text("clip = 0.1\nclip_coef = 0.1\n")
    with pytest.raises(ConfigError, match="clip_coef is given twice, also under its name of before, clip"):
        load_config(file)


def test_a_run_of_before_goes_on_under_the_new_names(tmp_path):
    zipfile.ZipFile(RUN_OF_BEFORE).extractall(tmp_path)
    before = read_json(RunFolder(tmp_path).config)
    assert before["clip"] == 0.25 and "clip_coef" not in before
    result = resume(tmp_path, show_progress=False)
    assert (result.stopped_by, result.iterations, result.decisions) == ("budget", 4, 256)
    assert [line["run/iteration"] for line in read_log(tmp_path)] == [1, 2, 3, 4]
    after = read_json(RunFolder(tmp_path).config)
    kept = {RENAMED.get(name, name): value for name, value in before.items() if name not in GONE}
    assert kept.items() <= after.items() and after["processes"] == 1
    assert not RENAMED.keys() & after.keys()


def test_a_run_of_before_with_other_settings_is_refused(tmp_path):
    zipfile.ZipFile(RUN_OF_BEFORE).extractall(tmp_path)
    file = RunFolder(tmp_path).config
    write_json(file, read_json(file) | {"clip": 0.3})
    with pytest.raises(CheckpointError, match=r"made with clip_coef = 0\.25, not 0\.3"):
        resume(tmp_path, show_progress=False)


@pytest.mark.parametrize("name", ["parts", "threads"])
def test_a_setting_that_is_gone_says_what_to_give(name, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f"{name} = 2\n")
    for make in (lambda: TrainConfig(**{name: 2}), lambda: load_config(path)):
        with pytest.raises(ConfigError, match=f"unknown setting {name}: .* give processes"):
            make()


# No machine of the tests has these.
ABSENT = ["cuda:999", "xpu:999"]


@pytest.mark.parametrize("device", [*ABSENT, "mps", "mps:0", "meta", "foo:1", "", "cpu:7", "cuda:-1", "cpu\n", "x" * 10**4, None])
def test_a_device_that_cannot_be_used_is_one_line(device, tmp_path):
    with pytest.raises(ValueError, match=r"^.* (is not allowed|cannot be used here): .*$") as caught:
        usable_device(device)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    if device in ABSENT:  # a config of another machine is read here, but does not run
        config = TrainConfig(device=device, rules="mini")
        with pytest.raises(ConfigError, match=rf'^device = "{device}" cannot be used here: '):
            train(config, tmp_path / "run", show_progress=False)
    else:
        assert refused(device=device).startswith("device = ")


def test_every_device_that_is_allowed_holds_what_a_network_holds(monkeypatch):
    """Networks keep float64 numbers: a device that cannot make one (as Apple's) is refused before they are moved."""
    made = torch.zeros

    def without_float64(*args, **kwargs):
        if kwargs.get("dtype") == torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64.")
        return made(*args, **kwargs)

    monkeypatch.setattr(torch, "zeros", without_float64)
    with pytest.raises(ValueError, match='"xpu" cannot be used here: Cannot convert a MPS Tensor to float64'):
        usable_device("xpu")

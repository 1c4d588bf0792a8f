"""The command as a whole: help, mistakes, what it needs, whose packages it runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from training.cli import main

ROOT = Path(__file__).parents[2]
COMMANDS = ("train", "evaluate", "tournament", "crossplay", "play", "replay", "rules", "bench")


def _process(*arguments, cwd=ROOT, path=(ROOT,), code=None):
    command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "handfoot"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run([*command, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def test_help_names_the_commands_that_there_are(handfoot):
    code, out, err = handfoot("--help")
    assert code == 0 and err == ""
    listed = [line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line.strip()]
    assert tuple(listed) == COMMANDS


def test_the_list_tells_the_first_sentence_of_each_help_without_importing_it():
    for name, text in main.SHORT_HELP.items():
        assert text.removesuffix(".") == main.handfoot.commands[name].get_short_help_str(1000).removesuffix(".")
    code = (
        "import sys; from training.cli.main import run; run(['--help']); print([n for n in sys.modules if n.startswith('training.cli.')])"
    )
    assert _process(code=code).stdout.splitlines()[-1] == "['training.cli.common', 'training.cli.main']"


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), *(("rules", x) for x in ("list", "show", "check", "diff"))])
def test_every_command_has_help(handfoot, command):
    code, out, err = handfoot(*command, "--help")
    assert code == 0 and err == "" and out.startswith("Usage: handfoot")


@pytest.mark.parametrize("command", ["train", "evaluate", "tournament", "crossplay", "bench"])
def test_what_is_random_takes_a_seed(handfoot, command):
    assert "--seed" in handfoot(command, "--help")[1]


def test_version(handfoot):
    from hf_env import __version__

    assert handfoot("--version")[1] == f"handfoot, version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no command"),
        (("rules",), "no command"),
        (("rules", "shwo"), "did you mean show"),
        (("rules", "show"), "(see handfoot rules show --help)"),
        (("rules", "show", "mini", "--set", "jokers=2"), "handfoot rules show whitnack"),
        (("evalute",), "did you mean evaluate"),
        (("tournamnt",), "did you mean tournament"),
        (("--speed",), "--speed"),
        (("evaluate", "greedy"), "'B'"),
        (("evaluate", "a", "b", "c"), "argument"),
        (("bench", "--seconds", "0"), "--seconds"),
        (("bench", "--seconds", "nan"), "--seconds"),
        (("bench", "--games", "0"), "--games"),
        (("bench", "--rules", "nothing"), "nothing"),
        (("bench", "--threads", "0"), "--threads"),
        (("bench", "--only", "everything"), "vector"),
        (("bench", "--json", "no-such-folder/x.json"), "no-such-folder"),
    ],
)
def test_mistakes_are_one_line(mistake, arguments, said):
    assert said in mistake(*arguments)


def test_the_process_exits_with_the_code():
    good, bad = _process("rules", "list"), _process("rules", "show", "whitnak")
    assert (good.returncode, bad.returncode) == (0, 2)
    assert good.stderr == "" and bad.stdout == "" and "did you mean whitnack" in bad.stderr


def test_help_is_quick_and_loads_nothing_heavy():
    heavy = "{'torch', 'numba', 'scipy', 'gymnasium'}"
    for arguments in (["--help"], ["rules", "list"]):
        code = f"import sys; from training.cli.main import run; run({arguments}); print(sorted({heavy} & set(sys.modules)))"
        assert _process(code=code).stdout.splitlines()[-1] in ("[]", "['gymnasium']")


WITHOUT_TORCH = """
import sys
from importlib.machinery import PathFinder

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] == "torch" else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Hiding if finder is PathFinder else finder for finder in sys.meta_path]
from training.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules", "diff", "whitnack", "mini"),
        ("evaluate", "greedy", "random", "--rules", "mini", "--deals", "4"),
        pytest.param(("bench", "--rules", "mini", "--seconds", "0.1", "--only", "vector", "--games", "8"), marks=pytest.mark.long),
    ],
)
def test_without_torch_all_but_training_works(arguments):
    result = _process(*arguments, code=WITHOUT_TORCH)
    assert result.returncode == 0, result.stderr


def test_without_torch_training_says_what_to_install(tmp_path):
    result = _process("train", code=WITHOUT_TORCH)
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert "pip install 'hf-env[train]'" in result.stderr and "torch" in result.stderr
    (tmp_path / "policy.json").write_text("{}")
    result = _process("evaluate", str(tmp_path), "greedy", code=WITHOUT_TORCH)
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "torch" in result.stderr


@pytest.mark.parametrize("name", ["agents", "training"])
def test_a_foreign_package_of_our_name_is_reported(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise RuntimeError('foreign code was run')\n")
    result = _process("rules", "list", cwd=tmp_path, path=(tmp_path, ROOT))
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
    assert repr(name) in result.stderr and str(tmp_path) in result.stderr and "rename" in result.stderr


def test_a_foreign_distribution_is_named(tmp_path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").touch()
    info = tmp_path / "agents_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agents-of-others\nVersion: 1.0\n")
    (info / "top_level.txt").write_text("agents\n")
    (info / "RECORD").write_text("agents/__init__.py,,\n")
    result = _process("rules", "list", cwd=tmp_path, path=(tmp_path, ROOT))
    assert result.returncode == 2 and "pip uninstall agents-of-others" in result.stderr


def test_a_reader_who_goes_away_is_no_error_in_the_log():
    command = f"{sys.executable} -m handfoot rules show whitnack | head -1"
    result = subprocess.run(command, shell=True, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert result.stdout.startswith("# whitnack") and result.stderr == ""


def test_bench_prints_its_figures_and_what_they_depend_on(handfoot, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # so that no label is broken
    path = tmp_path / "figures.json"
    parts = [word for name in ("vector", "aec", "copies", "memory") for word in ("--only", name)]
    code, out, _ = handfoot(
        "bench", "--rules", "mini", "--seconds", "0.1", "--games", "32", "--games", "1", "--threads", "2", *parts, "--json", path
    )
    assert code == 0
    for word in (
        "32 games, masks and observations",
        "1 game, masks alone",
        "32 games, masks and observations, 2 threads",
        "neither",
        "decisions/s",
        "ended",
    ):
        assert word in out
    for word in (
        "last() and step()",
        "clone of a game",
        "restore",
        "bytes",
        "2 cores" if os.cpu_count() == 2 else "cores",
        "numba",
        "observation",
    ):
        assert word in out
    values = json.loads(path.read_text())
    assert values["format"] == "hf-benchmark/1" and values["settings"]["games"] == [32, 1]
    rows = {row["key"]: row for row in values["rows"]}
    assert {
        "vector/32/full",
        "vector/32/masks",
        "vector/32/moves",
        "vector/32/threads2",
        "vector/1/full",
        "aec/last-step",
        "copies/clone",
    } <= set(rows)
    assert rows["vector/32/full"]["details"]["digest"] == rows["vector/32/threads2"]["details"]["digest"]
    assert all(row["value"] > 0 for row in rows.values()) and "vector/1/threads2" not in rows
    assert {"numpy", "numba", "rules", "observation", "actions"} <= set(values["versions"])
    assert values["machine"]["cores"] >= 1 and "commit" in values


def test_bench_fails_where_no_game_ended(handfoot, monkeypatch):
    monkeypatch.setattr("training.benchmarks.rows.PATIENCE_SECONDS", 0.001)
    code, out, err = handfoot("bench", "--only", "vector", "--seconds", "0.0001", "--games", "8192")
    assert code == 1 and out == "" and err.startswith("handfoot: no game ended") and err.count("\n") == 1


def test_the_end_of_the_input_is_no_interruption(handfoot, monkeypatch):
    """Click has one word for both."""

    def ends(*_):
        raise EOFError("a file that was cut")

    monkeypatch.setattr("training.cli.rules.load_rule_set", ends)
    code, _, err = handfoot("rules", "show", "mini")
    assert code == 2 and "interrupted" not in err and err.splitlines()[-1].startswith("handfoot: ")

"""Every block of code in the README and the pages runs, and every command that they tell exists with its options."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from hf_env import load_rules
from hf_env.positions import from_position
from tests.docs import parsing
from tests.docs.pages import PAGES, Block, blocks, commands, spans
from training.cli import main
from training.settings import load_config

LANGUAGES = ("python", "sh", "toml", "json", "text")
WITH_CODE = [path for path in PAGES if any(block.language != "text" for block in blocks(path))]


def names(paths):
    return [path.name for path in paths]


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_every_block_names_its_language(path):
    for block in blocks(path):
        assert block.language in LANGUAGES, f"{block.page}:{block.line}: a block of {block.language or 'no language'}"


@pytest.mark.parametrize("path", WITH_CODE, ids=names(WITH_CODE))
def test_the_code_of_a_page_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    for block in blocks(path):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            space = space if block.goes_on else {"__name__": "page"}
            run_python(block, space)
        elif block.language == "sh":
            for line in block.text.splitlines():
                run_shell(block, line)
        elif block.language == "toml":
            load_toml(block, tmp_path)
        elif block.language == "json":
            from_position(json.loads(block.text))


def run_python(block: Block, space: dict) -> None:
    if "__main__" in block.text:
        # What starts processes must be a file that they can import.
        Path("block.py").write_text(block.text, encoding="utf-8")
        subprocess.run([sys.executable, "block.py"], check=True, capture_output=True)
    else:
        exec(compile("\n" * block.line + block.text, block.page, "exec"), space)


def run_shell(block: Block, line: str) -> None:
    parsing.check(line)
    if not block.is_run:
        return
    words = shlex.split(line)
    assert words[0] == "handfoot", f"{block.page}:{block.line}: say <!-- not run: why --> before {line}"
    assert main.run(words[1:]) == 0, f"{block.page}:{block.line}: {line}"


def load_toml(block: Block, folder: Path) -> None:
    """Settings of a training run, or a rule set: each by the loader that reads such a file."""
    path = folder / (block.file or "block.toml")
    path.write_text(block.text, encoding="utf-8")
    if "seats" in block.text:
        load_config(path)
    else:
        load_rules(os.fspath(path))


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_the_commands_told_in_the_text_exist(path):
    for command in commands(path):
        try:
            parsing.check(command)
        except (click.ClickException, AssertionError, subprocess.CalledProcessError, SystemExit) as error:
            pytest.fail(f"{path.name}: `{command}`: {getattr(error, 'message', error)}")


@pytest.mark.parametrize("path", PAGES, ids=names(PAGES))
def test_the_options_told_in_the_text_exist(path):
    known = parsing.options()
    for span in spans(path):
        for word in span.split() if span.startswith("--") else ():
            assert not word.startswith("--") or word.partition("=")[0] in known, f"{path.name}: `{span}`"


def test_most_blocks_run():
    """The note `not run` is for what waits or takes minutes."""
    code = [block for path in PAGES for block in blocks(path) if block.language != "text"]
    assert len(code) > 25 and sum(not block.is_run for block in code) < 10


@pytest.mark.parametrize(
    "line",
    [
        "handfoot evaluat A B", "handfoot evaluate A B --deal 4000", "handfoot evaluate A B --deals many", "handfoot evaluate A B C",
        "handfoot bench --only everything", "python -m training.studies.ablate_expert --dels 4000",
        "python -m training.studies.fit_search_value --rule mini",
        "python -m training.benchmarks.peers hf_env", "python docs/nothing.py", "make nothing", "pip install '.[nothing]'",
        "pytest tests/nothing.py",
    ],
)  # fmt: skip
def test_a_wrong_command_is_seen(line):
    with pytest.raises((click.ClickException, AssertionError, subprocess.CalledProcessError, SystemExit, TypeError)):
        parsing.check(line)

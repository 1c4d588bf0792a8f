"""Parses the commands that the pages tell by the real commands' own parsers, without running them.

Words in capitals, as RUN or N, stand for what a reader puts there. Raises AssertionError, or the parser's own error.
"""

import argparse
import importlib
import inspect
import re
import shlex
import subprocess
import tomllib

import click
import pytest

from tests.docs.pages import ROOT
from training.cli.main import handfoot
from training.studies import search_gain

_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9]*")
_PYTEST_OPTIONS = ("-m", "-s", "-k", "-q")


class _Parsed(Exception):
    """Thrown by argparse's parsers in place of what would follow."""


def check(line: str) -> None:
    """Refuse a command line whose command, option or value does not exist."""
    words = shlex.split(line)
    if words[0] == "handfoot":
        _check_click(handfoot, words[1:])
    elif words[:2] == ["python", "-m"] and words[2] != "pytest":
        _check_module(words[2], words[3:])
    elif words[0] == "pytest" or words[:3] == ["python", "-m", "pytest"]:
        _check_pytest(words[words.index("pytest") + 1 :])
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file() and len(words) == 2, line
    elif words[0] == "make":
        subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, check=True, capture_output=True)
    elif words[0] == "pip":
        _check_pip(words[1:])
    else:
        assert words == ["tensorboard", "--logdir", "runs"], line


def _check_click(command: click.Command, words: list[str]) -> None:
    context = click.Context(command, info_name=command.name)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, command, words = command.resolve_command(context, words)
        context = click.Context(command, info_name=name, parent=context)
    words = [word for word in words if word != "..."]
    given, left, _ = command.make_parser(context).parse_args(list(words))
    assert not left, f"{left} are too many arguments of {context.command_path}"
    for parameter in command.get_params(context):
        value = given.get(parameter.name)
        is_told = isinstance(value, str | list | tuple) and value and not isinstance(parameter.type, click.Path | click.File)
        if is_told and not _PLACEHOLDER.fullmatch(value if isinstance(value, str) else " ".join(map(str, value))):
            parameter.type_cast_value(context, value)


def _check_module(name: str, words: list[str]) -> None:
    module = importlib.import_module(name)
    main = getattr(module, "main", None)
    if main is None:
        # A script of a line, whose arguments are files of the repository.
        assert "__main__" in inspect.getsource(module) and all((ROOT / word).exists() for word in words), (name, words)
    elif isinstance(main, click.Command):
        _check_click(main, words)
    elif "parser.parse_args" in inspect.getsource(main):
        with pytest.MonkeyPatch.context() as patch:
            parse = argparse.ArgumentParser.parse_args

            def parse_only(self, arguments=None):
                parse(self, arguments)
                raise _Parsed

            patch.setattr(argparse.ArgumentParser, "parse_args", parse_only)
            with pytest.raises(_Parsed):
                main(words)
    else:
        inspect.signature(main).bind(*words)


def _check_pytest(words: list[str]) -> None:
    for word, before in zip(words, [None, *words], strict=False):
        assert word in _PYTEST_OPTIONS or before == "-k" or (ROOT / word).exists(), word


def _check_pip(words: list[str]) -> None:
    assert words[0] == "install" and len(words) == 2, words
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    what, _, asked = words[1].rstrip("]").partition("[")
    assert what in (".", "hf-env") and all(extra in extras for extra in filter(None, asked.split(","))), words


def options() -> set[str]:
    """Every option of the command, its subcommands and `python -m training.studies.search_gain`, as ``--deals`` and ``--no-records``."""
    found, waiting = set(), [handfoot, search_gain.main]
    while waiting:
        command = waiting.pop()
        for parameter in command.params:
            found |= {*parameter.opts, *parameter.secondary_opts}
        if isinstance(command, click.Group):
            waiting += [command.commands[name] for name in command.commands]  # each is imported when it is asked for
    return found | {"--help"}

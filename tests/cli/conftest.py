"""The command as a test calls it."""

import io
import sys

import pytest

from training.cli.main import run


@pytest.fixture
def handfoot(capsys):
    """A function of the command's arguments: (exit code, stdout, stderr)."""

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def mistake(handfoot):
    """As `handfoot`, for what must be refused: exit code 2, one line on stderr, which is returned."""

    def call(*arguments):
        code, _, err = handfoot(*arguments)
        assert code == 2, err
        assert err.startswith("handfoot: ") and err.endswith("\n") and err.count("\n") == 1, err
        assert "Traceback" not in err
        return err

    return call


@pytest.fixture
def play(handfoot, monkeypatch):
    """A function of the typed lines and the command's arguments: (exit code, stdout, stderr)."""

    def call(lines, *arguments):
        stream = lines if hasattr(lines, "readline") else io.StringIO("".join(f"{line}\n" for line in lines))
        monkeypatch.setattr(sys, "stdin", stream)
        return handfoot("play", *arguments)

    return call

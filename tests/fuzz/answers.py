"""What a case did: the command's answer in words that count, and what became of the user's files."""

import contextlib
import hashlib
import io
import os
import time
import traceback
from pathlib import Path
from typing import NamedTuple


class Answer(NamedTuple):
    """How a case ended.

    Attributes:
        kind: "accepted", "one line" or what was wrong.
        change: what was spoiled. line: the last that was said.
        seconds: of wall time, cpu: of this process.
    """

    kind: str
    change: str
    line: str
    seconds: float
    cpu: float

    @property
    def is_fine(self) -> bool:
        """Whether this is how a spoiled file may be met."""
        return self.kind in ("accepted", "one line")


def ask_command(*arguments):
    """(kind, line) of a command's answer."""
    from training.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([str(argument) for argument in arguments])
    except BaseException:  # what would have ended the command with a traceback
        return "TRACEBACK", traceback.format_exc().strip()[-1500:]
    said = err.getvalue()
    lines = [line for line in said.splitlines() if line.startswith("handfoot:") and "warning:" not in line]
    last = lines[-1] if lines else (said.strip().splitlines() or [""])[-1]
    if "Traceback" in said:
        return "TRACEBACK", said[-1500:]
    if code == 0:
        return "accepted", ""
    return ("one line" if code in (1, 2) and len(lines) == 1 else f"exit {code}, {len(lines)} lines"), last[:300]


def ask_function(function, refusals):
    """(kind, line) of a function's answer; ``refusals`` are the errors that it may raise, of one line."""
    try:
        function()
    except refusals as error:
        return ("one line" if "\n" not in str(error) and len(str(error)) < 1500 else "MANY LINES"), f"{type(error).__name__}: {error}"[:300]
    except BaseException:
        return "TRACEBACK", traceback.format_exc().strip()[-1500:]
    return "accepted", ""


def timed(change, ask):
    """The Answer of a function that gives (kind, line)."""
    started, cpu = time.perf_counter(), time.process_time()
    kind, line = ask()
    return Answer(kind, change, line, time.perf_counter() - started, time.process_time() - cpu)


def print_of(folder: Path, names=None):
    """A hash of every file and link under a folder (or of these names in it), times left out."""
    digest = hashlib.sha256()
    paths = sorted(folder.rglob("*")) if names is None else [folder / name for name in names]
    for path in paths:
        digest.update(str(path.relative_to(folder)).encode())
        if path.is_symlink():
            digest.update(os.readlink(path).encode())
        elif path.is_file():
            digest.update(path.read_bytes())
        elif not path.exists():
            digest.update(b"gone")
    return digest.hexdigest()

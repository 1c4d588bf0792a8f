"""Writing files so that none is ever half written: beside, to the disk, then renamed. Reading such that no file is waited for.

Every error names the file that was to be written, also where the system names none, as for a full disk.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# What ends with this is unfinished, and may be removed.
PART = ".part"


class UnreadableError(ValueError):
    """A file that cannot be read, or does not hold what it should; the message is one line for a user."""


def read_file(path: str | os.PathLike[str], most_bytes: int, kind: str = "file", name: str | None = None) -> bytes:
    """The bytes of a regular file: a pipe or a device could be read for ever.

    Args:
        most_bytes: that such a file may have.
        kind: what it should be, for messages.
        name: of the file in messages; by default the path.

    Raises:
        FileNotFoundError: For a missing file.
        UnreadableError: For one that is no regular file, cannot be read, or is too large.
    """
    name = name or os.fspath(path)
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise UnreadableError(f"{name} is a folder, not a {kind}")
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError(f"{name} is not a regular file")
        if status.st_size > most_bytes:
            raise UnreadableError(f"{name} has {status.st_size:,} bytes; a {kind} has at most {most_bytes:,}")
        return Path(path).read_bytes()
    except (FileNotFoundError, UnreadableError):
        raise
    except OSError as error:
        raise UnreadableError(f"{name} cannot be read: {error.strerror or type(error).__name__}") from None
    except ValueError:  # a null byte in the path, or what is no text
        raise UnreadableError(f"{name} is not a possible path") from None


@contextmanager
def replacing(path: str | os.PathLike[str], ending: str = "") -> Iterator[Path]:
    """The path of a draft, which takes the place of ``path`` when the block ends and is removed where it fails.

    Args:
        path: the file to be written; a file of that name is replaced only by a whole one.
        ending: of the draft's name, for writers that go by it, such as ".mp4".

    Raises:
        OSError: it names ``path``, whatever file the system spoke of.
    """
    path = Path(path)
    # A link stays one: what it points to is replaced.
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    try:
        if target.exists() and not target.is_file():  # a pipe or a terminal, as /dev/stdout
            if target.is_fifo():
                # One that nobody reads would be waited for; this refuses it.
                os.close(os.open(target, os.O_WRONLY | os.O_NONBLOCK))
            yield target
            return
        draft = target.with_name(f"{target.name}{PART}{ending}")
        try:
            yield draft
            with open(draft, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise _naming(path, error) from error


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file as a whole.

    Raises:
        OSError: Naming it.
    """
    with replacing(path) as draft:
        draft.write_bytes(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8 as a whole file.

    Raises:
        OSError: Naming it.
    """
    write_file(path, text.encode())


def write_json(path: str | os.PathLike[str], value: Any, *, allow_nan: bool = True) -> None:
    """Write JSON values as a whole file.

    Raises:
        OSError: Naming it.
        ValueError: For what JSON cannot hold.
    """
    write_text(path, json.dumps(value, indent=1, allow_nan=allow_nan) + "\n")


def append_text(path: str | os.PathLike[str], text: str) -> None:
    """Add a text in UTF-8 to a file's end; made if missing.

    Raises:
        OSError: Naming it.
    """
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _naming(Path(path), error) from error


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Have a folder's entries on disk, so that what points to one of them never outlives it; a no-op on Windows."""
    if os.name != "nt":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _naming(path: Path, error: OSError) -> OSError:
    """The error with this file's name; errors without a number (as ffmpeg's) keep their words."""
    if error.errno is None:
        return error if str(path) in str(error) else OSError(f"{path}: {error}")
    return OSError(error.errno, error.strerror, str(path))

"""Records as JSON Lines, a game a line, written and read."""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, cast

from hf_env.files import replacing
from hf_env.records.schema import RecordError

# No game that a rule set allows is as long as this; a longer line is no record.
MAX_LINE = 1 << 26


def write(path: str | os.PathLike[str], records: Iterable[Mapping[str, Any]], *, append: bool = False) -> int:
    """Write records as JSON Lines, by gzip where the name ends with .gz; returns their number. `append` adds them.

    Without `append` a file of that name is replaced only by a whole one.

    Raises:
        OSError: Naming the file that cannot be written.
    """
    if append:
        with open_file(path, "a") as file:
            return _write_lines(file, records)
    with replacing(path) as draft, open(draft, "wb") as raw:
        if not _is_packed(path):
            return _write_lines(raw, records)
        with _packed(path, "wb", raw) as file:
            return _write_lines(file, records)


def _write_lines(file: IO[bytes], records: Iterable[Mapping[str, Any]]) -> int:
    number = 0
    for record in records:
        file.write(line(record))
        number += 1
    return number


def line(record: Mapping[str, Any]) -> bytes:
    """A record as its line of a file."""
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def open_file(path: str | os.PathLike[str], mode: str) -> IO[bytes]:
    """A file of records, open for "r", "w" or "a"; compressed by gzip where its name ends with .gz.

    Equal records give equal bytes.

    Raises:
        OSError: For a file that cannot be opened.
    """
    return _packed(path, mode + "b") if _is_packed(path) else open(path, mode + "b")


def _is_packed(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".gz")


def _packed(path: str | os.PathLike[str], mode: str, file: IO[bytes] | None = None) -> IO[bytes]:
    # Level 6 packs hardly less than 9, at a third of the time. No time of day in the file.
    return cast(IO[bytes], gzip.GzipFile(path, mode, compresslevel=6, fileobj=file, mtime=0))


def read(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """The records of a file, one by one; empty lines are passed over, .gz is unpacked. `replay` sees their content.

    Raises:
        RecordError: Naming the line that is no JSON object.
        OSError: For a file that cannot be read.
    """
    with open_file(path, "r") as file:
        number = 0
        while text := _next_line(file, number + 1):
            number += 1
            if len(text) > MAX_LINE:
                raise RecordError(f"line {number}: longer than any game")
            if not text.strip():
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError):
                raise RecordError(f"line {number}: no JSON") from None
            if not isinstance(record, dict):
                raise RecordError(f"line {number}: no JSON object")
            yield record


def _next_line(file: IO[bytes], number: int) -> bytes:
    try:
        return file.readline(MAX_LINE + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordError(f"line {number}: the compressed file is damaged: {error}") from None

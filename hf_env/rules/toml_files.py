"""Reading TOML that a stranger may have written: every failure is a RulesError of one line."""

import os
import tomllib
from typing import Any

from hf_env.files import UnreadableError, read_file
from hf_env.rules.errors import RulesError, shown

# A complete, commented rule file has about 3 kB.
MAX_FILE_BYTES = 64 * 1024
# tomllib takes quadratic time for a long dotted key (20 s for one that fills the file), and a key stands on one line.
MAX_LINE_LENGTH = 1_000


def parse_toml(data: bytes, source: str, kind: str = "rule file") -> dict[str, Any]:
    """The table that a TOML document holds; `source` names it in messages, `kind` says what it should be.

    Raises:
        RulesError: For bytes that are not UTF-8 text, are no TOML, or are nested too deeply.
    """
    if b"\x00" in data:
        raise RulesError(f"{source} is a binary file, not a TOML text")
    try:
        text = data.decode("utf-8-sig")
        longest = max(map(len, text.split("\n")), default=0)
        if longest > MAX_LINE_LENGTH:
            raise RulesError(f"{source} has a line of {longest:,} characters; those of a {kind} have at most {MAX_LINE_LENGTH:,}")
        return tomllib.loads(text.replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise RulesError(f"{source} is not a text in UTF-8: byte {error.start} cannot be read") from None
    except RulesError:
        raise
    except RecursionError:
        raise RulesError(f"{source} is nested too deeply for a {kind}") from None
    except ValueError as error:  # TOMLDecodeError, and numbers of more digits than Python reads
        reason = " ".join(str(error).split())
        raise RulesError(f"{source} is not valid TOML: {reason[:200]}") from None


def read_toml_file(path: str | os.PathLike[str], kind: str = "rule file") -> dict[str, Any]:
    """The table in a TOML file.

    Args:
        kind: what the file should be, for messages.

    Raises:
        FileNotFoundError: For a missing file.
        RulesError: For one that is no regular file, cannot be read, is too large, or is not TOML.
    """
    name = shown(os.fspath(path))
    try:
        data = read_file(path, MAX_FILE_BYTES, kind, name)
    except UnreadableError as error:
        raise RulesError(str(error)) from None
    return parse_toml(data, name, kind)

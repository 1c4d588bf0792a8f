"""Reading TOML that a stranger may have written: every failure is a RulesError of one line."""

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from hf_env.rules.errors import RulesError, shown

# A complete rule file has about 5 kB. The limit is far below what a parser in Python handles at leisure, because
# tomllib takes quadratic time for one long dotted key.
MAX_FILE_BYTES = 64 * 1024


def parse_toml(data: bytes, source: str) -> dict[str, Any]:
    """The table that a TOML document holds; `source` names it in messages.

    Raises RulesError for bytes that are not UTF-8 text, are no TOML, or are nested too deeply.
    """
    if b"\x00" in data:
        raise RulesError(f"{source} is a binary file, not a TOML text")
    try:
        return tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise RulesError(f"{source} is not a text in UTF-8: byte {error.start} cannot be read") from None
    except RecursionError:
        raise RulesError(f"{source} is nested too deeply for a rule file") from None
    except ValueError as error:  # TOMLDecodeError, and numbers of more digits than Python reads
        reason = " ".join(str(error).split())
        raise RulesError(f"{source} is not valid TOML: {reason[:200]}") from None


def read_toml_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The table in a TOML file.

    Raises RulesError for a file that is missing, no regular file, not readable, too large, or not TOML.
    """
    name = shown(os.fspath(path))
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise RulesError(f"{name} is a folder, not a rule file")
        if not stat.S_ISREG(status.st_mode):  # a pipe or device could be read for ever
            raise RulesError(f"{name} is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            raise RulesError(
                f"{name} has {status.st_size:,} bytes; a rule file has at most {MAX_FILE_BYTES:,}"
            )
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise RulesError(f"there is no rule file {name}") from None
    except OSError as error:
        raise RulesError(f"{name} cannot be read: {error.strerror or type(error).__name__}") from None
    except RulesError:
        raise
    except ValueError:  # a null byte in the path
        raise RulesError(f"{name} is not a possible path") from None
    return parse_toml(data, name)

"""Files of JSON and of arrays that a stranger may have written: limits of size and depth, and of the kinds of what they hold.

Whatever is wrong with one is an UnreadableError of one line that names the file.
"""

import io
import json
import lzma
import os
import zipfile
import zlib
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from hf_env.files import UnreadableError, read_file
from hf_env.rules.errors import shown

# A checkpoint's state of a league of a thousand selves has about 1 MB.
MAX_JSON_BYTES = 64 << 20
# A block of 32 games has about 50 kB, unpacked 300 kB.
MAX_ARRAYS_BYTES = 64 << 20
# What this project writes is nested up to 7 deep.
_MAX_DEPTH = 32
_MAX_DIMENSIONS = 8
_MAX_HEADER = 10_000

# For models of files. Of decisions, games and steps: far beyond any, and far from the end of 64 bits.
Count = Annotated[int, Field(ge=0, le=1 << 60)]
# Wide for points, seconds and the like, and far from where sums of them overflow.
Finite = Annotated[float, Field(ge=-1e18, le=1e18, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
# A SHA-256.
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

Model = TypeVar("Model", bound=BaseModel)


def read_json(path: str | os.PathLike[str], most_bytes: int = MAX_JSON_BYTES) -> Any:
    """The value in a file of JSON.

    Raises:
        UnreadableError: For a file that is missing, cannot be read, is no JSON in UTF-8, too large or nested too deeply.
    """
    try:
        data = read_file(path, most_bytes, "file of JSON")
    except FileNotFoundError as error:
        raise UnreadableError(f"{os.fspath(path)} cannot be read: {error.strerror}") from None
    return parse_json(data, os.fspath(path))


def parse_json(data: bytes, name: str) -> Any:
    """The value that a text of JSON holds.

    Args:
        name: of the text in messages.

    Raises:
        UnreadableError: For what is no JSON in UTF-8, or nested too deeply.
    """
    try:
        value = json.loads(data.decode("utf-8"))
        _check_nesting(value)
    except RecursionError:
        raise UnreadableError(f"{name} is no JSON that is used here: it is nested too deeply") from None
    except ValueError as error:  # among them bytes that are no UTF-8, and numbers of more digits than Python reads
        raise UnreadableError(f"{name} is no JSON: {' '.join(str(error).split())[:200]}") from None
    return value


def _check_nesting(value: Any) -> None:
    """Check depth and texts.

    Raises:
        RecursionError: For more levels than any file of this project has.
        UnicodeEncodeError: For a text that cannot be written again: half of a surrogate pair.
    """
    level = [value]
    for _ in range(_MAX_DEPTH):
        inner = [each for each in level if isinstance(each, dict | list)]
        if not inner:
            return
        level = []
        for each in inner:
            if isinstance(each, dict):
                "".join(each).encode()
                each = list(each.values())
            level += each
            "".join(text for text in each if isinstance(text, str)).encode()
    raise RecursionError


def read_model(path: str | os.PathLike[str], model: type[Model], most_bytes: int = MAX_JSON_BYTES) -> Model:
    """The value in a file of JSON as a model.

    Raises:
        UnreadableError: As ``read_json``, and for values of other kinds than the model's.
    """
    return as_model(read_json(path, most_bytes), model, os.fspath(path))


def as_model(value: Any, model: type[Model], name: str) -> Model:
    """JSON values as a model, which should be strict: a text is no number.

    Args:
        name: of what holds them, in messages.

    Raises:
        UnreadableError: Naming the first value of another kind.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        if len(place) > 100:
            place = place[:100] + "..."
        found = "" if first["type"] in ("missing", "value_error") else f", not {shown(first['input'])[:100]}"
        raise UnreadableError(f"{name} does not hold what it should: {ascii(place)[1:-1]}: {first['msg'].lower()}{found}") from None


def read_arrays(path: str | os.PathLike[str], most_bytes: int = MAX_ARRAYS_BYTES) -> dict[str, np.ndarray]:
    """The arrays of a file that ``numpy.savez`` has written, packed or not; none of them of Python objects.

    Args:
        most_bytes: of the file, and of the arrays together.

    Raises:
        UnreadableError: For a file that is missing, damaged, too large, or holds something else.
    """
    name = os.fspath(path)
    try:
        data = read_file(path, most_bytes, "file of arrays")
    except FileNotFoundError as error:
        raise UnreadableError(f"{name} cannot be read: {error.strerror}") from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = packed.infolist()
            if sum(member.file_size for member in members) > most_bytes:
                raise ValueError(f"unpacked it has more than {most_bytes:,} bytes")
            return {member.filename.removesuffix(".npy"): _array(packed.read(member)) for member in members}
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise UnreadableError(f"{name} is damaged: {error or type(error).__name__}") from None
    # Of the archive's and of the arrays' headers, which say anything in a file that was made with care.
    except (ValueError, TypeError, KeyError, IndexError, NotImplementedError, RuntimeError, SyntaxError, MemoryError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UnreadableError(f"{name} is no file of arrays that is used here: {reason}") from None


def _array(data: bytes) -> np.ndarray:
    """The array of a member in NumPy's form, which is not believed to be larger than it is.

    Raises:
        ValueError: For another form.
    """
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in headers:
        raise ValueError(f"an array of version {version}")
    shape, by_columns, dtype = headers[version](stream, max_header_size=_MAX_HEADER)
    held = np.frombuffer(data, np.uint8, offset=stream.tell())
    size = dtype.itemsize
    for length in shape:
        size *= length
    if dtype.hasobject or dtype.kind not in "biufU" or len(shape) > _MAX_DIMENSIONS or size != len(held) or any(n < 0 for n in shape):
        raise ValueError(f"an array said to be of shape {shape} of {dtype}, in {len(held):,} bytes")
    return held.view(dtype).reshape(shape, order="F" if by_columns else "C").copy() if len(held) else np.zeros(shape, dtype)

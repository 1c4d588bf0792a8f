"""The readers of JSON and of arrays: limits of size, depth and kind, and one line for whatever is wrong."""

import io
import os
import time
import zipfile

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict

from hf_env.files import UnreadableError, write_text
from hf_env.reading import Count, as_model, read_arrays, read_json, read_model

BROKEN_JSON = {
    "empty": b"", "half": b'{"a": [1, 2', "bytes": b'{"a": "\xff\xfe"}', "utf-16": '{"a": 1}'.encode("utf-16"), "nul": b"\x00" * 100,
    "deep": b"[" * 100_000, "deep tables": b'{"a":' * 90_000, "deep that ends": b"[" * 40 + b"]" * 40, "digits": b"9" * 5_000,
    "half a pair": b'["\\ud800"]', "half a pair as a key": b'{"\\ud800": 1}', "two": b"{} {}", "python": b"{'a': 1}",
}  # fmt: skip


def one_line(call):
    began = time.perf_counter()
    with pytest.raises(UnreadableError) as caught:
        call()
    assert time.perf_counter() - began < 5
    line = str(caught.value)
    assert "\n" not in line and len(line) < 600
    return line


@pytest.mark.parametrize("name", BROKEN_JSON)
def test_what_is_no_json_is_refused_in_a_line_that_names_the_file(name, tmp_path):
    path = tmp_path / "values.json"
    path.write_bytes(BROKEN_JSON[name])
    line = one_line(lambda: read_json(path))
    assert "values.json is no JSON" in line


def special_files(folder):
    """Files that could be read for ever, or cannot be read."""
    os.mkfifo(folder / "pipe")
    (folder / "zeros").symlink_to("/dev/zero")
    (folder / "circle").symlink_to(folder / "circle")
    (folder / "folder").mkdir()
    with open(folder / "large", "wb") as file:
        file.truncate(50 << 30)
    return [folder / name for name in ("pipe", "zeros", "circle", "folder", "large", "missing", "a" * 300, "nul\x00")]


@pytest.mark.parametrize("read", [read_json, read_arrays])
def test_what_is_no_regular_file_is_not_read(read, tmp_path):
    for path in special_files(tmp_path):
        one_line(lambda path=path: read(path))


def test_a_pipe_that_nobody_reads_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        write_text(tmp_path / "pipe", "text")


class Inner(BaseModel):
    model_config = ConfigDict(strict=True)

    number: Count


class Outer(BaseModel):
    model_config = ConfigDict(strict=True)

    inner: list[Inner]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "not 5"), ([], "not \\[\\]"), ({}, "inner: field required"), ({"inner": {"number": 1}}, "inner: input should be a valid list"),
        ({"inner": [{"number": "1"}]}, "inner.0.number"), ({"inner": [{"number": -1}]}, "greater than or equal to 0"),
        ({"inner": [{"number": True}]}, "inner.0.number"), ({"inner": [{"number": 1.5}]}, "inner.0.number"),
        ({"inner": [{"number": 10**400}]}, "inner.0.number"), ({"inner": [{}]}, "field required"),
    ],
)  # fmt: skip
def test_values_of_other_kinds_are_named(value, said, tmp_path):
    with pytest.raises(UnreadableError, match=said) as caught:
        as_model(value, Outer, "values.json")
    assert str(caught.value).startswith("values.json does not hold what it should") and "\n" not in str(caught.value)
    (tmp_path / "good.json").write_text('{"inner": [{"number": 3}], "more": 1}')
    assert read_model(tmp_path / "good.json", Outer).inner[0].number == 3


def packed(members, compression=zipfile.ZIP_DEFLATED):
    """Bytes of an archive of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def as_npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array)
    return stream.getvalue()


def with_header(text, data=b""):
    """A member whose header says what it likes."""
    header = text.encode().ljust(118 - 10) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


GOOD = as_npy(np.arange(6.0).reshape(2, 3))
BROKEN_ARRAYS = {
    "no archive": b"PK\x03\x04 rubbish",
    "empty": b"",
    "half": packed({"a.npy": GOOD})[:-30],
    "a byte in it": packed({"a.npy": GOOD * 3}).replace(b"a.npy", b"b.npy", 1),
    "no array": packed({"a.npy": b"text"}),
    "objects": packed({"a.npy": with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"12345678")}),
    "an array said to be huge": packed({"a.npy": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }")}),
    "below 0": packed({"a.npy": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", bytes(8))}),
    "many axes": packed({"a.npy": with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }", bytes(8))}),
    "code": packed({"a.npy": with_header("__import__('os').abort()")}),
    "records": packed({"a.npy": as_npy(np.zeros(2, [("a", "i4")]))}),
    "version": packed({"a.npy": b"\x93NUMPY\x09\x00" + bytes(100)}),
    "a bomb": packed({"a.npy": bytes(100 << 20)}),
}


@pytest.mark.parametrize("name", BROKEN_ARRAYS)
def test_what_is_no_file_of_arrays_is_refused_in_a_line_that_names_it(name, tmp_path):
    path = tmp_path / "block.npz"
    path.write_bytes(BROKEN_ARRAYS[name])
    assert "block.npz" in one_line(lambda: read_arrays(path))


def test_arrays_come_back_as_they_were_saved(tmp_path):
    arrays = {
        "numbers": np.arange(6.0).reshape(2, 3), "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "none": np.zeros((0, 4), np.int8),
        "one": np.asarray(7), "text": np.asarray("ä text"), "flags": np.array([True, False]),
    }  # fmt: skip
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "arrays.npz", **arrays)
        found = read_arrays(tmp_path / "arrays.npz")
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype and np.array_equal(found[name], array) and found[name].flags.writeable

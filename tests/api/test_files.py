"""Files are written as a whole or not at all, errors name them, and a slip of the keyboard is told the nearest name."""

import errno
import os

import pytest

from hf_env.files import append_text, replacing, write_file, write_json, write_text
from hf_env.suggest import did_you_mean, nearest


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "it"
    write_text(path, "häh")
    assert path.read_bytes() == "häh".encode()
    write_json(path, {"a": [1, None]})
    assert path.read_text() == '{\n "a": [\n  1,\n  null\n ]\n}\n'
    with pytest.raises(TypeError), replacing(path) as draft:
        draft.write_text(7)
    assert path.read_text().startswith("{") and list(tmp_path.iterdir()) == [path]


def test_a_full_disk_names_the_file_and_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "it"
    write_file(path, b"before")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/it'") as caught:
        write_file(path, b"after")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_what_is_added_names_its_file_too():
    with pytest.raises(OSError, match="No space left") as caught:
        append_text("/dev/full", "x" * 100_000)
    assert caught.value.filename == "/dev/full"


def test_a_missing_folder_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_text(tmp_path / "none" / "it", "")
    assert caught.value.filename == str(tmp_path / "none" / "it")


@pytest.mark.skipif(os.name == "nt", reason="links and pipes")
def test_a_link_stays_one_and_what_is_no_file_is_written_to(tmp_path):
    path, link = tmp_path / "it", tmp_path / "link"
    write_file(path, b"before")
    link.symlink_to(path)
    write_file(link, b"after")
    assert link.is_symlink() and path.read_bytes() == b"after"
    write_file(os.devnull, b"nothing")
    assert os.path.exists(os.devnull) and not os.path.isfile(os.devnull)


def test_the_nearest_name_is_told_only_where_there_is_one():
    names = ("whitnack", "bicycle", "mini")
    assert did_you_mean("whitnak", names) == "; did you mean whitnack?"
    assert did_you_mean("luck", names) == "" and nearest(7, names) is None
    assert nearest("m" * 100_000, names) is None

"""The cache of compiled kernels: what is damaged, another's, unwritable or long unused is never an error and never run."""

import errno
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from hf_env.kernels import cache
from hf_env.kernels.compile import INTERPRETED, PLAIN, cache_folder

pytestmark = pytest.mark.skipif(INTERPRETED or PLAIN, reason="only the package's own compiling has this cache")

TWICE = "from hf_env.kernels.compile import entry\n\n\n@entry\ndef twice(x):\n    return 2 * x\n"
LONG_AGO = time.time() - 31 * 24 * 3600


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder that the user chose for compiled code."""
    place = tmp_path / "chosen"
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(place))
    cache_folder.cache_clear()
    yield place
    cache_folder.cache_clear()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A folder with one kernel."""
    folder = tmp_path / "kernel_of_a_test"
    folder.mkdir()
    (folder / "twice.py").write_text(TWICE)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("twice", None)


def start(value=4):
    """Call the kernel as a new process does; its answer, and whether its code came from the cache."""
    cache_folder.cache_clear()
    sys.modules.pop("twice", None)
    twice = importlib.import_module("twice").twice
    return twice(value), bool(twice.stats.cache_hits)


def code_files(place):
    """The files of compiled code, and nothing else is there."""
    files = [path for path in place.rglob("*") if path.is_file()]
    assert all(path.suffix == ".nbc" for path in files)
    return files


def flipped(data):
    """The data with one bit in their middle changed."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES = {
    "empty": lambda data: b"",
    "cut within the checksum": lambda data: data[:20],
    "cut": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b"x",
    "zeros": lambda data: bytes(len(data)),
    "a bit": flipped,
    "no pickle": lambda data: b"not compiled code",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_does_not_fit_its_checksum_is_compiled_anew_and_replaced(place, sources, damage):
    assert start() == (8, False)
    (file,) = code_files(place)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert start() == (8, False)
    assert start() == (8, True)
    assert code_files(place) == [file]


def test_each_signature_has_a_file_of_its_own_whoever_writes_first(place, sources, tmp_path):
    names = []
    for values in ((4, 0.5), (0.5, 4)):
        cache.config.CACHE_DIR = str(tmp_path / str(values))
        for value in values:
            assert start(value) == (2 * value, False)
        names.append({path.name for path in code_files(tmp_path / str(values))})
    assert names[0] == names[1] and len(names[0]) == 2


@pytest.mark.parametrize("failing", ["os.replace", "tempfile.mkstemp"])
def test_code_that_cannot_be_kept_is_used_all_the_same(place, sources, monkeypatch, failing):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(failing, full)
    assert start() == (8, False)
    assert code_files(place) == []


def test_a_folder_that_is_removed_meanwhile_is_made_again_and_a_file_in_its_place_is_no_error(place, sources):
    assert start() == (8, False)
    folder = cache_folder(sources)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    twice = importlib.import_module("twice").twice
    assert twice(0.5) == 1 and len(code_files(place)) == 1
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_text("no folder")
    sys.modules.pop("twice")
    assert importlib.import_module("twice").twice(4) == 8
    assert folder.read_text() == "no folder"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
@pytest.mark.parametrize("kind", ["another's", "open to all", "a link"])
def test_a_folder_that_others_could_write_is_not_used(place, sources, tmp_path, monkeypatch, kind):
    folder = place / f"kernels-{cache.source_hash(sources)}"
    place.mkdir()
    if kind == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir()
        folder.chmod(0o777 if kind == "open to all" else 0o755)
    if kind == "another's":
        own = cache._is_own
        there = folder.stat().st_ino
        monkeypatch.setattr(cache, "_is_own", lambda status: status.st_ino != there and own(status))
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path / "package")
    (tmp_path / "package").mkdir()
    assert cache_folder(sources).parent == tmp_path / "package" / "__pycache__"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_beside_a_package_of_another_user_nothing_is_kept_but_in_a_closed_folder_of_the_users(sources, tmp_path, monkeypatch):
    package, home, temporary = tmp_path / "package", tmp_path / "home", tmp_path / "temporary"
    for folder in (package, home, temporary):
        folder.mkdir()
    theirs = package.stat().st_ino
    monkeypatch.setattr(cache, "_PACKAGE", package)
    monkeypatch.setattr(cache, "_is_own", lambda status: status.st_ino != theirs)
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(temporary))
    for home_cache, expected in ((str(home), home / "hf_env"), ("/dev/null", temporary / f"hf_env-{os.geteuid()}")):
        monkeypatch.setenv("XDG_CACHE_HOME", home_cache)
        cache_folder.cache_clear()
        folder = cache_folder(sources)
        assert folder.parent == expected
        assert [oct(path.stat().st_mode & 0o777) for path in (folder, expected)] == ["0o700", "0o700"]
        # The next process finds it again.
        cache_folder.cache_clear()
        assert cache_folder(sources) == folder and len(list(temporary.iterdir())) == (home_cache != str(home))
    cache_folder.cache_clear()


def nowhere():
    """As tempfile's own where no folder can be written."""
    raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")


def test_without_a_place_there_is_no_cache_and_no_trace(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(cache.config, "CACHE_DIR", os.devnull)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(cache, "_PACKAGE", Path(os.devnull))
    before = sorted(tmp_path.rglob("*"))
    assert start() == start() == (8, False)
    assert [path for path in sorted(tmp_path.rglob("*")) if "__pycache__" not in path.parts] == before
    assert cache_folder(sources) is None
    cache_folder.cache_clear()


def test_an_unknown_home_is_no_place(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    monkeypatch.chdir(tmp_path)
    for home_cache in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", home_cache)
        assert all(folder.is_absolute() and "~" not in folder.parts for folder in cache._places())
    assert sorted(tmp_path.iterdir()) == [sources]


def test_what_was_not_used_for_a_month_goes_and_nothing_else(place, sources):
    assert start() == (8, False)
    folder = cache_folder(sources)
    of_old, of_today, of_the_user = place / "kernels-00000000000000aa", place / "kernels-00000000000000bb", place / "kernels-mine"
    for path in (of_old, of_today, of_the_user):
        path.mkdir()
        (path / "file.nbc").write_text("code")
    draft, note = folder / "twice.nbc.killed.part", place / "note.part"
    for path in (draft, note):
        path.write_text("half")
    for path in (of_old, of_the_user, draft, note, *folder.iterdir()):
        os.utime(path, (LONG_AGO, LONG_AGO))
    os.utime(folder, (LONG_AGO, LONG_AGO))
    # Using a folder is what counts, also where nothing is written.
    assert start() == (8, True)
    assert sorted(place.iterdir()) == sorted([folder, of_today, of_the_user, note])
    assert not draft.exists() and folder.stat().st_mtime > LONG_AGO


def test_importing_a_kernel_makes_no_folder(place, sources):
    importlib.import_module("twice")
    assert not place.exists()

"""Where compiled kernels are kept: under a hash of all kernel sources, in a folder that only the user can write.

Numba's own cache looks only at the file a function stands in, so that an edited helper would leave its callers
compiled with the old code. Here the cache folder's name is a hash of every source that a kernel may call, so any
edit compiles anew. Loading a file runs it, so a folder of another user's is never read. What cannot be read, written or
trusted is no cache, and never an error.
"""

import functools
import hashlib
import os
import pickle
import platform
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

_PACKAGE = Path(__file__).resolve().parent.parent
# Folders below hf_env with kernels; a kernel elsewhere (agents/scripted) is keyed by these, its own folder and the
# folders with kernels that its own imports from (agents/search plays agents/scripted).
_KERNEL_FOLDERS = ("kernels", "engine", "rules", "observation")
_IMPORTED = re.compile(r"^from (\w+(?:\.\w+)+) import", re.MULTILINE)
_NAME = re.compile(r"kernels-[0-9a-f]{16}")
_DRAFT = ".part"
# Each edit of a kernel leaves a folder of some 10 MB behind; whoever comes back to a version within a month finds it compiled.
_UNUSED_SECONDS = 30 * 24 * 3600
_DIGEST_BYTES = hashlib.sha256().digest_size


def _folders_of(folder: Path) -> list[Path]:
    """The folders whose sources a kernel in `folder` may be compiled of."""
    folders = [_PACKAGE / name for name in _KERNEL_FOLDERS]
    waiting = [] if folder in folders else [folder]
    while waiting:
        one = waiting.pop()
        folders.append(one)
        for path in sorted(one.glob("*.py")):
            for name in _IMPORTED.findall(path.read_text(encoding="utf-8")):
                # Outside hf_env only: of that the folders with kernels are listed.
                other = _PACKAGE.parent.joinpath(*name.split(".")[:-1])
                if name.startswith("hf_env.") or other in folders or other in waiting or not other.is_dir():
                    continue
                if any("hf_env.kernels.compile" in source.read_text(encoding="utf-8") for source in other.glob("*.py")):
                    waiting.append(other)
    return folders


@functools.cache
def source_hash(folder: Path) -> str:
    """Hash of all kernel sources of hf_env and of `folder`, with the versions that compiled code depends on."""
    digest = hashlib.sha256()
    for source_folder in _folders_of(folder):
        for path in sorted(source_folder.glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    versions = (sys.version, numba.__version__, np.__version__, platform.machine(), str(config.BOUNDSCHECK))
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]


def _places() -> Iterator[Path]:
    """Folders that kernels may be kept in, the best first."""
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR)
    # Of another user's package the folder is not ours to fill, also where we may, as root.
    if _is_own(_PACKAGE.stat()):
        yield _PACKAGE / "__pycache__"
    home_cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(home_cache):
        home_cache = os.path.expanduser("~/.cache")
    # An unknown home is no place: the ~ stays.
    if os.path.isabs(home_cache) and _make_closed(Path(home_cache, "hf_env")):
        yield Path(home_cache, "hf_env")
    with suppress(FileNotFoundError):  # there is no temporary folder either
        own = Path(tempfile.gettempdir(), f"hf_env-{os.geteuid()}" if hasattr(os, "geteuid") else "hf_env")
        if _make_closed(own):
            yield own


def _is_own(status: os.stat_result) -> bool:
    """Whether this user owns a file; on Windows, where the folders in question are each user's own, always."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _make_closed(folder: Path) -> bool:
    """Make a folder for this user alone; False where that cannot be, or where others could write into what is there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    others_write = os.name != "nt" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and _is_own(status) and not others_write and os.access(folder, os.W_OK | os.X_OK)


@functools.cache
def cache_folder(folder: Path) -> Path | None:
    """Where compiled kernels of the sources in `folder` lie; None where there is no place for them.

    That is the folder of NUMBA_CACHE_DIR, else beside the package where that is the user's, else in the user's cache, else
    in a temporary folder of the user's.
    """
    name = f"kernels-{source_hash(folder)}"
    for place in _places():
        if _make_closed(place / name):
            with suppress(OSError):
                os.utime(place / name)
            _remove_unused(place, place / name)
            return place / name
    return None


def _remove_unused(place: Path, used: Path) -> None:
    """Remove what nobody has used for a month: kernels of other sources, and drafts of processes that were killed."""
    oldest = time.time() - _UNUSED_SECONDS
    with suppress(OSError):
        for path in (*place.iterdir(), *used.glob(f"*{_DRAFT}")):
            if not (_NAME.fullmatch(path.name) or path.parent == used):
                continue
            with suppress(OSError):
                status = path.lstat()
                if status.st_mtime >= oldest or not _is_own(status):
                    continue
                if stat.S_ISDIR(status.st_mode):
                    shutil.rmtree(path, ignore_errors=True)
                elif path.parent == used:
                    path.unlink()


class _Files:
    """The compiled code of one function: a file a signature, led by a checksum of what follows.

    Numba's own have an index beside them, which two processes can make point to each other's files.

    Args:
        sources: the folder that the function stands in.
        stem: what its files' names begin with.
    """

    def __init__(self, sources: Path, stem: str) -> None:
        self._sources, self._stem = sources, stem

    def load(self, key: Any) -> Any:
        """What was saved under a key of Numba's; None where that is not there, or not whole."""
        path = self._path(key)
        try:
            stored = path.read_bytes() if path is not None else b""
        except OSError:
            return None
        digest, data = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
        if hashlib.sha256(data).digest() != digest:
            return None
        saved_key, compiled = pickle.loads(data)
        return compiled if saved_key == key else None

    def save(self, key: Any, compiled: Any) -> None:
        """Keep compiled code; where the disk is full or the folder gone, it is used all the same."""
        path = self._path(key)
        if path is None:
            return
        data = dumps((key, compiled))
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, exist_ok=True)  # it may have been removed since
            descriptor, draft = tempfile.mkstemp(_DRAFT, f"{path.name}.", path.parent)
            try:
                with open(descriptor, "wb") as file:
                    file.write(hashlib.sha256(data).digest() + data)
                os.replace(draft, path)
            finally:
                Path(draft).unlink(missing_ok=True)

    def _path(self, key: Any) -> Path | None:
        folder = cache_folder(self._sources)
        return folder and folder / f"{self._stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"


class _SourceHashLocator(_CacheLocator):
    def __init__(self, py_func, py_file):
        self._file = Path(py_file).resolve()
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)

    def ensure_cache_path(self):
        """Nothing: the folder is made when it is first looked for, not on importing."""

    def get_cache_path(self):
        return f"kernels-{self.get_source_stamp()}"

    def get_source_stamp(self):
        return source_hash(self._file.parent)

    def get_disambiguator(self):
        return f"{self._file.parent.name}{self._line}"


class _Impl(CompileResultCacheImpl):
    _locator_classes = [_SourceHashLocator]


class KernelCache(FunctionCache):
    """Numba's cache of a function, with files of our own."""

    _impl_class = _Impl

    def __init__(self, function):
        super().__init__(function)
        self._cache_file = _Files(self._impl.locator._file.parent, self._impl.filename_base)

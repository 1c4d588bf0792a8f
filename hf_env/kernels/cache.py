"""Where compiled kernels are kept: under a hash of all kernel sources.

Numba's own cache looks only at the file a function stands in, so that an edited helper would leave its callers
compiled with the old code. Here the cache folder's name is a hash of every source that a kernel may call, so any
edit compiles anew.
"""

import functools
import hashlib
import os
import platform
import re
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

_PACKAGE = Path(__file__).resolve().parent.parent
# Folders below hf_env with kernels; a kernel elsewhere (agents/scripted) is keyed by these, its own folder and the
# folders with kernels that its own imports from (agents/search plays agents/scripted).
_KERNEL_FOLDERS = ("kernels", "engine", "rules", "observation")
_IMPORTED = re.compile(r"^from (\w+(?:\.\w+)+) import", re.MULTILINE)


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


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@functools.cache
def cache_folder(folder: Path) -> Path:
    """Where compiled kernels of the sources in `folder` lie: beside the package, else in the user's cache, else in a temporary folder."""
    name = f"kernels-{source_hash(folder)}"
    places = []
    if config.CACHE_DIR:
        places.append(Path(config.CACHE_DIR))
    places.append(_PACKAGE / "__pycache__")
    home_cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    places.append(Path(home_cache) / "hf_env")
    for place in places:
        if _writable(place / name):
            return place / name
    return Path(tempfile.mkdtemp(prefix="hf_env-"))


class _SourceHashLocator(_CacheLocator):
    def __init__(self, py_func, py_file):
        self._file = Path(py_file).resolve()
        self._line = py_func.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func, py_file):
        return cls(py_func, py_file)

    def ensure_cache_path(self):
        os.makedirs(self.get_cache_path(), exist_ok=True)

    def get_cache_path(self):
        return str(cache_folder(self._file.parent))

    def get_source_stamp(self):
        return source_hash(self._file.parent)

    def get_disambiguator(self):
        return f"{self._file.parent.name}{self._line}"


class _Impl(CompileResultCacheImpl):
    _locator_classes = [_SourceHashLocator]


class KernelCache(FunctionCache):
    """Numba's cache of a function, with our own ways of finding and checking its files."""

    _impl_class = _Impl

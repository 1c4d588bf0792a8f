"""One writer a folder: a lock of the operating system's, which ends with the process that holds it, however that ends.

Who only reads a folder asks for no lock. Windows has no such lock, nor have some network disks: there nothing is locked.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = ".lock"
_HOLDER = re.compile(r"(\d{1,10}) ([\w.-]{1,255})\n")
# What a thread of this process holds, it may ask for again, as the command does for what it calls.
_held: set[tuple[int, Path]] = set()


class FolderInUseError(ValueError):
    """Another process, or another thread of this one, writes into the folder; one line that names it."""


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Be the only process that writes into a folder, which is made if missing.

    Folders that were made for a block that leaves nothing in them go again.

    Raises:
        FolderInUseError: Where another process writes into it already.
        OSError: Where it cannot be made or written.
    """
    key = threading.get_ident(), folder.resolve()
    if key in _held:
        yield
        return
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = _lock(folder)
        _held.add(key)
        try:
            yield
        finally:
            _held.discard(key)
            _unlock(folder, descriptor)
    finally:
        with suppress(OSError):  # the first that holds something
            for place in made:
                place.rmdir()


def _lock(folder: Path) -> int | None:
    """Lock a folder; the descriptor of the lock's file, None where there are no locks."""
    if fcntl is None:
        return None
    path = folder / LOCK_NAME
    while True:
        # No link is followed: what it points to would be overwritten.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _HOLDER.fullmatch(os.read(descriptor, 300).decode(errors="replace"))
            os.close(descriptor)
            who = f"process {holder[1]} on {holder[2]}" if holder else "another process"
            raise FolderInUseError(f"{folder} is in use: {who} writes into it; wait for its end or choose another folder") from None
        except OSError:
            os.close(descriptor)
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.lstat()):
                break
        os.close(descriptor)  # its holder has removed it in between: it locks nothing any more
    with suppress(OSError):  # a full disk: it locks all the same
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode())
    return descriptor


def _unlock(folder: Path, descriptor: int | None) -> None:
    if descriptor is not None:
        with suppress(OSError):
            (folder / LOCK_NAME).unlink()
        os.close(descriptor)

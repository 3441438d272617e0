"""Start the process that compiles kernels, as the environment variable `EXSET_COMPILE` says.

- `background` (the default): compile at low priority, and do not wait. The compiling process may
  run longer than this process, because later processes use the compiled kernels, too.
- `now`: compile, and wait until this is done.
- `off`: compile nothing.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from threading import Lock

from exset.core import disk_cache

ENVIRONMENT = "EXSET_COMPILE"
"""The environment variable that says whether to compile kernels."""

_LOCK = "kernels.lock"
_started: list["subprocess.Popen[bytes]"] = []
_starting = Lock()


def compile_kernels(groups: Sequence[str]) -> bool:
    """Start a process that compiles kernels; return True if this process has already ended.

    With `EXSET_COMPILE=now`, it has: this function waits for its end. groups: the groups to compile
    first. A group is the names of its modules, separated by commas. Only one process at a time
    compiles for a cache folder. While one is running, this function starts none.
    """
    mode = os.environ.get(ENVIRONMENT, "background")
    if mode == "off" or disk_cache.problem() or find_spec("numba") is None:
        return False
    if mode == "now":
        run(groups)
        return True
    with contextlib.suppress(OSError), _starting:
        if not _started and (handle := try_lock()) is not None:
            os.close(handle)
            _started.append(_start("--background", *groups))
    return False


def run(groups: Sequence[str] = ()) -> str:
    """Compile groups of kernels, and wait; return the compiler's error messages.

    groups: the groups of kernels, by default all groups, and all grammars and layouts. If another
    process is compiling, this function first waits for the end of that process. Kernels that are
    compiled already are not compiled again.
    """
    process = _start(*groups, errors=subprocess.PIPE)
    return process.communicate()[1].decode(errors="replace")


def try_lock() -> int | None:
    """Take the lock of the cache folder, which only one compiling process can have.

    Return the open lock file. Return None if another process has the lock. The operating system
    frees the lock when the process ends, however it ends. Raises OSError if the cache cannot be
    written to.
    """
    disk_cache.create("")
    handle = os.open(os.path.join(disk_cache.folder(), _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        os.close(handle)
        return None
    except OSError:  # this file system has no locks
        pass
    return handle


def _start(*options: str, errors: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    """Start the compiler in a new process, and return the process.

    `options`: the command line of the compiler. `errors`: where the compiler's standard error goes.
    The new process has the import path of this process, but without the current folder.
    """
    path = os.pathsep.join(os.path.abspath(each) for each in sys.path if each)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "exset.compiler", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session="--background" in options,
    )

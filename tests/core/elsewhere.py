"""Run exset without what only Linux, or only Unix, has: `python -m tests.core.elsewhere`.

Standard input has a command in each line; the output has the exit code of each. This module
removes the functions, constants, modules and files before it imports exset, also in the processes
that exset starts, which import it again. `REMOVED` lists what exset uses of them.
"""

import asyncio  # noqa: F401  # it needs what Linux has, as do h5py, NumPy and random
import builtins
import os
import random  # noqa: F401
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import h5py  # noqa: F401
import numpy as np  # noqa: F401

T = TypeVar("T")

REMOVED = {
    os: (
        *("geteuid", "getuid", "uname", "nice", "killpg", "chown", "fchmod", "register_at_fork"),
        *("sched_getaffinity", "sched_setaffinity", "preadv", "pread", "mkfifo", "posix_fadvise"),
        *("getxattr", "setxattr", "removexattr", "listxattr", "sync", "copy_file_range"),
        *("O_NOFOLLOW", "O_DIRECTORY", "O_PATH", "O_NONBLOCK", "sendfile"),
    ),
    signal: ("setitimer", "ITIMER_REAL", "pthread_sigmask", "SIGHUP", "SIGALRM", "SIGPROF"),
}
MODULES = ("fcntl", "resource", "termios", "pwd", "grp")
"""The modules that cannot be imported."""
_FILES = ("/proc/", "/sys/")


def remove() -> None:
    """Remove all of it from this process."""
    for module, names in REMOVED.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    os.supports_dir_fd.clear()
    os.supports_follow_symlinks.discard(os.link)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # then an import fails
    for holder, name in ((builtins, "open"), (os, "open"), (os, "stat")):
        setattr(holder, name, _without_files(getattr(holder, name)))


def _without_files(call: Callable[..., T]) -> Callable[..., T]:
    def checked(path: object, *words: Any, **options: Any) -> T:
        if isinstance(path, str) and path.startswith(_FILES):
            raise FileNotFoundError(2, "No such file or directory", path)
        return call(path, *words, **options)

    return checked


remove()


def run(command: str) -> object:
    """Run a command in this process; return its exit code."""
    from exset.cli import main

    sys.argv = ["exset", *command.split()]
    try:
        return main()
    except SystemExit as end:
        return end.code or 0


if __name__ == "__main__":
    for line in sys.stdin:
        print(f"exit code {run(line)}", flush=True)

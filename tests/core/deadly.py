"""Work that crashes or hangs; it needs no heavy modules in its process."""

import errno
import os
import signal
import sys
import time

from exset.core.errors import FormatError, Place


def work(path: str) -> tuple[str, int]:
    """Return the path and the number of the process; some paths fail in different ways."""
    if path == "bad":
        raise FormatError("it is bad", place=Place(path))
    if path == "missing":
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if path == "vast":
        raise MemoryError
    if path == "deadly":
        os.kill(os.getpid(), signal.SIGSEGV)
    if path == "endless":
        time.sleep(60)
    if path == "wrong":
        raise ZeroDivisionError
    return path, os.getpid()


def is_loaded(name: str) -> bool:
    """Return whether this process has loaded a module."""
    return name in sys.modules

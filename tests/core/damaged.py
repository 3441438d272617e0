"""The command line, for which reading the HDF5 files of some names crashes or does not end.

The supervisor runs this program again as the process that it watches.
"""

import os
import signal
import sys
import time
from typing import Any

import h5py

from exset.__main__ import main
from exset.core import supervised
from exset.runtime.hdf5.objects import Objects

find = Objects.find


def fail(name: str) -> None:
    """Crash or hang if the name of a file says so. First, name the files in this folder."""
    print(*sorted(os.listdir()), file=sys.stderr, flush=True)
    if "crash" in name:
        os.kill(os.getpid(), signal.SIGSEGV)
    while "hang" in name:
        time.sleep(1)


def failing_find(self: Objects, *arguments: Any) -> Any:
    """Find an object in a file."""
    with self.guarded("/"):
        if os.path.basename(self.path).startswith(("crash", "hang")):
            fail(self.path)
    return find(self, *arguments)


class FailingFile(h5py.File):  # type: ignore[misc]
    """A file of HDF5."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Open the file, unless the command reads labels."""
        if "sampler" in sys.argv:
            fail(sys.argv[3])
        super().__init__(*arguments, **options)


if __name__ == "__main__":
    supervised.SECONDS = 1.0
    h5py.File = FailingFile
    Objects.find = failing_find  # type: ignore[method-assign,assignment]
    sys.exit(main())

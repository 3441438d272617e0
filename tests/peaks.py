"""How much memory is taken at once, by a function or by a command."""

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Fail where what is done takes more bytes than that."""
    tracemalloc.start()
    try:
        yield
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < size


_PROGRAM = """
import sys
from exset.cli import cli
cli(sys.argv[1:], standalone_mode=False)
[line] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(line.split()[1], file=sys.stderr)
"""


def peak_of(*arguments: str) -> int:
    """Return the peak of the memory of a command, in bytes, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments],
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(__file__))},
        capture_output=True,
        check=True,
    )
    return int(done.stderr.split()[-1]) * 1024

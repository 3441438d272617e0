"""Run commands with little memory: `python -m tests.io.little_memory STEPS`.

Standard input has a command in each line. Each runs with no memory to add to this process, then
with 2**18 bytes, and so on, always twice as much, in STEPS steps. The output has a line for each
run: the step, the exit code, and the files of the folder with their sizes.
"""

import os
import resource
import sys

import h5py  # noqa: F401
import numpy as np  # noqa: F401
import pyarrow.parquet  # noqa: F401

from exset.cli import main


def size_now() -> int:
    """Return the bytes of the address space of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")


def run(command: str, room: int | None) -> object:
    """Run a command; room: the bytes that it may add to the process, None for any."""
    sys.argv = ["exset", *command.split()]
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = hard if room is None else size_now() + room
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    try:
        return main()
    except SystemExit as end:
        return end.code or 0
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def listed() -> str:
    """Return the files of the current folder, with their sizes."""
    return " ".join(f"{each.name}:{each.stat().st_size}" for each in sorted(os.scandir(), key=str))


if __name__ == "__main__":
    count = int(sys.argv[1])
    for line in sys.stdin:
        run(line, None)  # it imports modules and compiles kernels
        for step in range(count):
            code = run(line, step and 1 << 17 + step)
            print(f"step {step} exit code {code} {listed()}", flush=True)

"""Measure time and memory for files of all kinds of repetition.

The time for a file of twice the size should double. The memory that a reader adds to the process
should stay within 64 MiB and 64 times the file.
"""

import ctypes
import gc
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from benchmarks.inputs import Inputs
from benchmarks.measure import Spread, seconds
from benchmarks.rows import Cases, Figures
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.families.format import Format
from exset.formats import of_files
from tests.fuzz.pumps import pumped, with_own_names

_SIZE = 1 << 19
_LEAST = 1 << 11
_EXPECTED = 2.2
_MEBI = 1 << 20
_FREE, _FACTOR = 64 * _MEBI, 64
"""The promise: these bytes of memory, and this many for each byte of the file."""
_PROC = Path("/proc/self")


def pumps(inputs: Inputs, runs: int) -> Cases:
    """Yield reading by format: each word of its grammar and each byte with a meaning."""
    size, step = (_SIZE, 1) if inputs.part == 1 else (_LEAST, 200)
    for fmt in of_files():
        if fmt.needs is None or find_spec(fmt.needs) is not None:
            yield fmt.name, partial(_pumps, fmt, size, step, runs)


def _pumps(fmt: Format, size: int, step: int, runs: int) -> Figures:
    """Return the figures of a format: their range, and the worst repetitions."""
    both = zip(pumped(fmt, size), pumped(fmt, 2 * size), strict=True)
    least = 1e-3 if size == _SIZE else 0
    growth, memory, room = dict[str, float](), dict[str, float](), dict[str, float]()
    for (name, once), (_, twice) in islice(both, 0, None, step):
        # Files with an early error take too little time to compare.
        if ratio := _growth(fmt, once, twice, least, runs):
            growth[name] = ratio
        if (taken := _memory(fmt, twice)) is not None:
            memory[name] = taken / len(twice)
            room[name] = taken / (_FREE + _FACTOR * len(twice))
    for name, data in with_own_names(fmt, size):
        if (taken := _memory(fmt, data)) is not None:
            memory[name], room[name] = taken / len(data), taken / (_FREE + _FACTOR * len(data))
    slowest, largest = (max(each, key=each.__getitem__, default="") for each in (growth, memory))
    return {
        "pumps": float(len(growth)),
        "time(2n) / time(n)": Spread.of([*growth.values()]) if growth else None,
        "the most": slowest,
        "memory / file": Spread.of([*memory.values()]) if memory else None,
        "the largest": largest,
        "of 64 MiB + 64x": max(room.values(), default=None),
    }


def _memory(fmt: Format, data: bytes) -> float | None:
    """Return the bytes that reading adds to the memory of this process; None without Linux."""
    if not (_PROC / "clear_refs").exists():
        return None
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # memory that is kept for later would not be counted
    (_PROC / "clear_refs").write_bytes(b"5")  # the peak begins again
    before = _status("VmRSS")
    _read(fmt, data)
    return max(_status("VmHWM") - before, 0)


def _status(name: str) -> int:
    lines = dict(line.split(":", 1) for line in (_PROC / "status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


def _growth(fmt: Format, once: bytes, twice: bytes, least: float, runs: int) -> float | None:
    """Return the ratio of the best times, which other processes disturb least.

    The measurement is repeated, up to `runs` times, while the ratio is larger than expected.
    """
    _read(fmt, once)  # kernels are compiled
    few = many = float("inf")
    for _ in range(runs):
        few = min(few, seconds(partial(_read, fmt, once)))
        many = min(many, seconds(partial(_read, fmt, twice)))
        if few <= least:
            return None
        if many / few <= _EXPECTED:
            break
    return many / few


def _read(fmt: Format, data: bytes) -> None:
    with suppress(FormatError):
        fmt.read(Source("x", data))

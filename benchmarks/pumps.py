"""Measure the time for a file of twice the size, for all kinds of repetition: it should double."""

from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import islice

from benchmarks.inputs import Inputs
from benchmarks.measure import Spread, seconds
from benchmarks.rows import Cases, Figures
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.families.format import Format
from exset.formats import of_files
from tests.fuzz.pumps import pumped

_SIZE = 1 << 19
_LEAST = 1 << 11
_EXPECTED = 2.2


def pumps(inputs: Inputs, runs: int) -> Cases:
    """Yield reading by format: each word of its grammar and each byte with a meaning."""
    size, step = (_SIZE, 1) if inputs.part == 1 else (_LEAST, 200)
    for fmt in of_files():
        if fmt.needs is None or find_spec(fmt.needs) is not None:
            yield fmt.name, partial(_pumps, fmt, size, step, runs)


def _pumps(fmt: Format, size: int, step: int, runs: int) -> Figures:
    """Return the ratios of a format: their range, and the slowest repetition."""
    both = zip(pumped(fmt, size), pumped(fmt, 2 * size), strict=True)
    least = 1e-3 if size == _SIZE else 0
    # Files with an early error take too little time to compare.
    found = {
        name: ratio
        for (name, once), (_, twice) in islice(both, 0, None, step)
        if (ratio := _growth(fmt, once, twice, least, runs))
    }
    slowest = max(found, key=found.__getitem__, default="")
    spread = Spread.of([*found.values()]) if found else None
    return {"pumps": float(len(found)), "time(2n) / time(n)": spread, "the most": slowest}


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

"""How long a file takes that is twice as long, whatever is repeated in it: about twice as long."""

from contextlib import suppress
from functools import partial
from itertools import islice

from benchmarks.inputs import Inputs
from benchmarks.measure import Spread, seconds
from benchmarks.rows import Cases, Figures
from exset.core.errors import FormatError
from exset.core.source import Source
from exset.families.format import Format
from exset.formats import FORMATS
from tests.fuzz.pumps import pumped

_SIZE = 1 << 19
_LEAST = 1 << 11
_EXPECTED = 2.2


def pumps(inputs: Inputs, runs: int) -> Cases:
    """Reading, by format: each word of its grammar and each byte that means something."""
    size, step = (_SIZE, 1) if inputs.part == 1 else (_LEAST, 200)
    for known in FORMATS:
        yield known.name, partial(_pumps, known, size, step, runs)


def _pumps(known: Format, size: int, step: int, runs: int) -> Figures:
    """What pumps of a format take, and their range: that of the slowest, and which it is."""
    both = zip(pumped(known, size), pumped(known, 2 * size), strict=True)
    least = 1e-3 if size == _SIZE else 0
    # What is refused at once takes no time that could be compared.
    found = {
        name: ratio
        for (name, once), (_, twice) in islice(both, 0, None, step)
        if (ratio := _growth(known, once, twice, least, runs))
    }
    slowest = max(found, key=found.__getitem__, default="")
    spread = Spread.of([*found.values()]) if found else None
    return {"pumps": float(len(found)), "time(2n) / time(n)": spread, "the most": slowest}


def _growth(known: Format, once: bytes, twice: bytes, least: float, runs: int) -> float | None:
    """The ratio of the best times, which others on the machine disturb least.

    It is looked for again, up to so many times, as long as it is more than anybody expects.
    """
    _read(known, once)  # kernels are compiled
    few = many = float("inf")
    for _ in range(runs):
        few = min(few, seconds(partial(_read, known, once)))
        many = min(many, seconds(partial(_read, known, twice)))
        if few <= least:
            return None
        if many / few <= _EXPECTED:
            break
    return many / few


def _read(known: Format, data: bytes) -> None:
    with suppress(FormatError):
        known.read(Source("x", data))

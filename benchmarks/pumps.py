"""How long a file takes that is twice as long, whatever is repeated in it: about twice as long."""

from contextlib import suppress
from functools import partial
from itertools import islice

from benchmarks.inputs import Inputs
from benchmarks.measure import Spread, seconds
from benchmarks.rows import Cases, Figures
from exset.errors import FormatError
from exset.format import Format
from exset.formats import FORMATS
from exset.source import Source
from exset.testing.pumps import pumped

_SIZE = 1 << 19
_LEAST = 1 << 11


def pumps(inputs: Inputs, runs: int) -> Cases:
    """Reading, by format: each word of its grammar and each byte that means something."""
    size, step = (_SIZE, 1) if inputs.part == 1 else (_LEAST, 50)
    for known in FORMATS:
        yield known.name, partial(_pumps, known, size, step, runs)


def _pumps(known: Format, size: int, step: int, runs: int) -> Figures:
    both = zip(pumped(known, size), pumped(known, 2 * size), strict=True)
    pairs = islice(both, 0, None, step)
    worst, slowest, count = None, "", 0
    least = 1e-3 if size == _SIZE else 0
    for (name, once), (_, twice) in pairs:
        _read(known, once)  # kernels are compiled
        ratios, few = [], 0.0
        for _ in range(runs):
            few = seconds(partial(_read, known, once))
            ratios.append(seconds(partial(_read, known, twice)) / few)
        count += 1
        found = Spread.of(ratios)
        # What is refused at once takes no time that could be compared.
        if few > least and (worst is None or found.median > worst.median):
            worst, slowest = found, name
    return {"pumps": float(count), "worst time(2n) / time(n)": worst, "of": slowest}


def _read(known: Format, data: bytes) -> None:
    with suppress(FormatError):
        known.read(Source("x", data))

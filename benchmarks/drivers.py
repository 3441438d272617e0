"""Compare compiled drivers with Lark or Construct, which run the same declarations."""

import os
from functools import partial

from benchmarks.inputs import SIZES, Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures
from exset.codecs.lens import bex as codec
from exset.core.source import Source
from exset.parsers.lens import parse as parser

_SLICE = 1 / 200
"""The fraction of a file that the reference drivers read; their times are scaled up."""


def references(inputs: Inputs, runs: int) -> Cases:
    """Yield reading, from bytes to `ExampleSet`."""
    for kind in SIZES:
        yield f"{kind}.ex", partial(_race, inputs, kind, ".ex", "Lark", runs)
        yield f"{kind}.bex", partial(_race, inputs, kind, ".bex", "Construct", runs)


def _race(inputs: Inputs, kind: str, suffix: str, name: str, runs: int) -> Figures:
    read = parser.parse if suffix == ".ex" else codec.decode
    whole, part = (_source(inputs.path(kind, suffix, size)) for size in (1, _SLICE))
    size, some = len(whole.data), len(part.data)
    result = race(
        partial(read, whole, engine="table"),
        partial(read, part, engine="reference"),
        runs,
        peer_part=some / size,
    )
    return result.against(name, size / 1e6)


def _source(path: str) -> Source:
    with open(path, "rb") as file:
        return Source(os.path.basename(path), file.read())

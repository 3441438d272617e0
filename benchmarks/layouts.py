"""Compare layouts of users, and of packages that are installed, with compiled Construct."""

from contextlib import suppress
from functools import partial
from itertools import islice

import construct as cs
from construct import this

import exset
from benchmarks.inputs import Inputs
from benchmarks.measure import race
from benchmarks.rows import Cases, Figures
from tests import packaged
from tests.codecs.drawn_files import Drawing

_SIZE = 10_000_000
_SLICE = 1 / 50
"""The fraction of a file that Construct parses; its times are scaled up."""
_DRAWN = 200
"""Records that are drawn; a file repeats them."""

_DECLARED = {
    "fixed records": cs.Struct(
        "id" / cs.Int32ub, "place" / cs.Array(3, cs.Float32b), "kind" / cs.Int16ub
    ),
    "counted rows": cs.Struct(
        "name" / cs.CString("utf8"), "count" / cs.Int8ub, "row" / cs.Array(this.count, cs.Float64l)
    ),
    "branches": cs.Struct(
        "is_long" / cs.Flag,
        "value" / cs.IfThenElse(this.is_long, cs.Struct("long" / cs.Int64ub), cs.Int16ub),
        "size" / cs.Int8ub,
        "raw" / cs.Bytes(this.size),
    ),
}


def reads(inputs: Inputs, runs: int) -> Cases:
    """Yield reading, from bytes to the columns of all tables."""
    declared = dict(_DECLARED)
    for file, name in packaged.LAYOUTS.values():
        if path := packaged.file_in(file):
            declared[name] = packaged.declaration(path, name)
    for name, record in declared.items():
        yield name, partial(_race, record, int(_SIZE * inputs.part), runs)


def _race(record: cs.Construct, size: int, runs: int) -> Figures:
    if isinstance(record, cs.Compiled):
        record = record.defersubcon
    layout = exset.compile_layout(cs.GreedyRange(record))
    records = _records(exset.compile_layout(record))
    times = max(size // sum(map(len, records)), 1)
    data = b"".join(records) * times
    part = b"".join(records) * max(int(times * _SLICE), 1)
    peer = cs.GreedyRange(record).compile()
    result = race(
        lambda: [columns[name] for columns in [layout.read(data)] for name in columns],
        partial(peer.parse, part),
        runs,
        peer_part=len(part) / len(data),
    )
    return result.against("compiled Construct", len(data) / 1e6)


def _records(layout: exset.Layout) -> list[bytes]:
    """Return drawn records that are read to their end."""
    found = list[bytes]()
    for data in islice(Drawing(layout, seed=1).files(2 * _DRAWN), 0, None, 2):
        with suppress(exset.FormatError):
            if layout.read(data).end == len(data):
                found.append(data)
    assert found, "no drawn record is right"
    return found

"""Write MDS from tables that come in chunks, a shard at a time."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import numpy as np

from exset.codecs.tables import mds
from exset.core.errors import Findings, FormatError
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import sidecar
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.shard_findings import cannot_hold
from exset.grammars.tables.survey import small
from exset.grammars.tables.table import Table
from exset.io.compressors import KINDS
from exset.io.folders import NewFolder
from exset.runtime.tables.losses import report_dropped
from exset.runtime.tables.mds import SAID
from exset.runtime.tables.mds_columns import encoded, size_of
from exset.runtime.tables.mds_index import INDEX, VERSION
from exset.runtime.tables.shard_plan import Plan, Sum
from exset.runtime.tables.shard_plan import size_of as bytes_of
from exset.runtime.tables.shards import METADATA

_COMPRESSED: Final = {"zstd": "zstd", "gz": "gzip"}


@dataclass(frozen=True)
class _Columns:
    """The columns to write: those of the table, and columns that say which rows have a value.

    `first`: the table without rows. `absent`: the columns with rows without a value. `encodings`:
    the encodings of all columns, sorted by name.
    """

    first: Table
    rows: int
    absent: frozenset[str]
    encodings: dict[str, str]

    @classmethod
    def of(cls, tables: Iterable[Table], lossy: bool, findings: Findings) -> "_Columns":
        """Read all rows once, to find the columns. Raises FormatError for one that MDS cannot
        store.
        """
        errors: dict[str, FormatError] = {}
        absent: set[str] = set()
        encodings: dict[str, str] = {}
        rows = 0
        for table in tables:
            for name, column in table.columns.items():
                try:
                    if name not in errors:
                        encodings[name] = encoded(name, column, rows)[0]
                except FormatError as error:
                    errors[name] = error
                if not column.present.all():
                    absent.add(name)
            first, rows = table[:0], rows + table.rows
        found = [errors[name] for name in first.names if name in errors]
        if found and not lossy:
            raise found[0]
        report_dropped(found, findings)
        first = first.without_columns(*errors)
        encodings = {name: encodings[name] for name in first.names}
        for name in first.names:
            if name in absent:
                if name + SAID in first.columns:
                    why = (
                        f"the column {name + SAID!r} must mark the rows without a value, but the"
                        " table already has a column with this name"
                    )
                    raise cannot_hold(name, why)
                encodings[name + SAID] = "uint8"
        if not rows or not encodings:
            raise cannot_hold("", "MDS cannot hold a table without rows or columns")
        return cls(first, rows, frozenset(absent), dict(sorted(encodings.items())))

    @property
    def sizes(self) -> list[int | None]:
        """How many bytes each value of a column has; None if that varies."""
        return [size_of(each) for each in self.encodings.values()]

    def data(self, table: Table) -> list[Strings]:
        """Return the encoded columns of a chunk."""
        made: dict[str, Strings] = {}
        for name in self.first.names:
            column = table.columns[name]
            made[name] = encoded(name, column)[1]
            if name in self.absent:
                said = Numbers.of(np.array(column.present, np.uint8))
                made[name + SAID] = encoded(name + SAID, said)[1]
        return [made[name] for name in self.encodings]


def write(
    models: Iterable[Table],
    folder: NewFolder,
    /,
    *,
    findings: Findings,
    lossy: bool = False,
    shard_size: str = "",
    compression: str = "",
) -> None:
    """Write a table as a folder of shards: the same table gives the same bytes.

    models: chunks of the table; they are read twice. shard_size: the most bytes of a shard, below
    4 GiB. compression: "zstd" or "gz". Raises FormatError for a column that MDS cannot hold; with
    `lossy` it is dropped.
    """
    columns, most = _Columns.of(models, lossy, findings), bytes_of(shard_size, mds.MOST)
    config = {
        "column_encodings": [*columns.encodings.values()],
        "column_names": [*columns.encodings],
        "column_sizes": columns.sizes,
        "compression": compression or None,
        "format": "mds",
        "hashes": ["sha256"],
        "size_limit": most,
        "version": VERSION,
    }
    text = json.dumps(config, sort_keys=True).encode()
    found = []
    for number, lengths, samples in _shards(models, columns, Plan(most, len(text) + 8), len(text)):
        shard: list[bytes | memoryview] = [mds.head_of(lengths, text), *samples]
        name, raw, zipped = f"shard.{number:05}.mds", Sum(), Sum()
        files: dict[str, Any] = {"raw_data": None, "zip_data": None}
        written = _added(shard, raw)
        if compression:
            written = _added(_compressed(compression, written), zipped)
            name += f".{compression}"
        folder.write(name, written)
        files["raw_data"] = _entry(f"shard.{number:05}.mds", raw)
        if compression:
            files["zip_data"] = _entry(name, zipped)
        found.append({**config, **files, "samples": lengths.size})
        del shard, samples  # before the next shard is made
    index = {"shards": found, "version": VERSION}
    folder.write(METADATA, sidecar.text_of(columns.first, rows=columns.rows))
    folder.write(INDEX, json.dumps(index, sort_keys=True).encode())


def _shards(
    tables: Iterable[Table], columns: _Columns, plan: Plan, config: int
) -> Iterator[tuple[int, Longs, list[memoryview]]]:
    """Yield for each shard its number, the bytes of each of its samples, and the samples.

    config: how many bytes the description of the columns takes in each shard. Raises FormatError
    for a row that no shard can store.
    """

    def runs() -> Iterator[tuple[int, Longs, memoryview]]:
        for table in small(tables):
            data = columns.data(table)
            sizes = mds.row_sizes(data, columns.sizes)
            if int(sizes.max(initial=0)) + config + 12 > mds.MOST:
                raise cannot_hold("", "a row has 4 GiB or more")
            for number, begin, stop in plan.runs(sizes + 4):
                rows = np.arange(begin, stop)
                some = [each.take(rows) for each in data]
                yield number, sizes[begin:stop], mds.samples_of(some, columns.sizes)

    for number, parts in groupby(runs(), itemgetter(0)):
        lengths, samples = [], []
        for _, each, data in parts:
            lengths.append(each)
            samples.append(data)
        yield number, np.concatenate(lengths), samples
        del samples, data


def _added(parts: Iterable[bytes | memoryview], file: Sum) -> Iterator[bytes | memoryview]:
    """Yield the parts of a file, and add each to `file`, which computes the checksum."""
    for part in parts:
        file.add(part)
        yield part


def _entry(name: str, file: Sum) -> dict[str, Any]:
    """Return the entry of a file in the index."""
    return {"basename": name, "bytes": file.size, "hashes": {"sha256": file.sha256}}


def _compressed(
    compression: str, parts: Iterable[bytes | memoryview]
) -> Iterator[bytes | memoryview]:
    kind = next(each for each in KINDS if each.name == _COMPRESSED[compression])
    compressor = kind.compressor()
    yield from map(compressor.compress, parts)
    yield compressor.flush()

"""Write folders of shards of WebDataset and TFRecord from tables that come in chunks.

`index.json` lists the shards as webdataset's `wids` does, with the SHA-256 of each.
"""

import json
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Final

from exset.codecs.tables.example_write import entry, messages
from exset.codecs.tables.tar_write import end
from exset.codecs.tables.tfrecord import records
from exset.core.errors import Findings
from exset.grammars.columns.arrays import Longs
from exset.grammars.tables import sidecar
from exset.grammars.tables.survey import small
from exset.grammars.tables.table import Table
from exset.io.folders import NewFolder
from exset.runtime.tables.losses import Held
from exset.runtime.tables.shard_chunks import archives
from exset.runtime.tables.shard_plan import Plan, Sum, size_of
from exset.runtime.tables.shards import INDEX, METADATA
from exset.runtime.tables.webdataset_columns import encoded

_MOST: Final = 1 << 50
_KIND: Final = {"__kind__": "wids-shard-index-v1", "wids_version": 1}
_RECORD: Final = 16  # bytes of a record in addition to its data
_EMPTY: Final = 1024  # bytes of the end of an archive

Encode = Callable[[int, int], Iterable[bytes | memoryview]]
"""A function that encodes the rows of a chunk from a first row up to a second (excluded)."""

Rows = tuple[Longs, Encode]
"""The number of bytes of each row of a chunk, int64 [n], and the function to encode the rows."""

_Run = tuple[int, int, int, Encode]
"""Rows of a chunk in one shard: the shard's number, the first row, the row after the last."""


def write_webdataset(
    models: Iterable[Table],
    folder: NewFolder,
    /,
    *,
    findings: Findings,
    lossy: bool = False,
    shard_size: str = "",
) -> None:
    """Write a table as a folder of archives. Raises the errors of `write_webdataset` in
    `shard_chunks`.
    """
    tables = Held(models, encoded, lossy, findings)
    rows = ((archive.sizes(), archive.members) for archive in archives(tables))
    _write(folder, tables, rows, "tar", Plan(size_of(shard_size, _MOST), _EMPTY), end)


def write_tfrecord(
    models: Iterable[Table],
    folder: NewFolder,
    /,
    *,
    findings: Findings,
    lossy: bool = False,
    shard_size: str = "",
) -> None:
    """Write a table as a folder of TFRecord files. Raises the errors of `write_tfrecord` in
    `shard_chunks`.
    """
    tables = Held(models, entry, lossy, findings)
    plan = Plan(size_of(shard_size, _MOST))
    _write(folder, tables, map(_examples, small(tables)), "tfrecord", plan, lambda size: b"")


def _examples(table: Table) -> Rows:
    data = messages(table.columns, table.rows)
    return data.lengths + _RECORD, lambda begin, stop: [records(data[begin:stop])]


def _write(
    folder: NewFolder,
    tables: Held,
    rows: Iterable[Rows],
    suffix: str,
    plan: Plan,
    end_of: Callable[[int], bytes],
) -> None:
    """Write shards, their index and the metadata into a folder.

    tables: the table to write, in chunks. rows: the encoded rows of each chunk; without rows there
    is one shard. suffix: of the names of the shards. plan: decides which rows go into which shard.
    end_of: a function that returns the last bytes of a shard, given its size so far.
    """
    runs = (
        (number, begin, stop, encode)
        for sizes, encode in rows
        for number, begin, stop in plan.runs(sizes)
    )
    with tables.in_order():
        found = [
            _shard(folder, f"shard-{number:06}.{suffix}", parts, end_of)
            for number, parts in groupby(runs, itemgetter(0))
        ]
    folder.write(METADATA, sidecar.text_of(tables.first, rows=tables.rows))
    folder.write(INDEX, json.dumps({**_KIND, "shardlist": found}, indent=1).encode() + b"\n")


def _shard(
    folder: NewFolder, name: str, parts: Iterable[_Run], end_of: Callable[[int], bytes]
) -> dict[str, int | str]:
    """Write a shard into a folder; return its entry for the index: name, number of samples,
    size and checksum.

    parts: runs of rows, each with a function that encodes them. end_of: as for `_write`.
    """
    samples, file = 0, Sum()
    with folder.open(name) as out:
        for _, begin, stop, encode in parts:
            samples += stop - begin
            for data in encode(begin, stop):
                file.add(data)
                out.write(data)
        last = end_of(out.tell())
        file.add(last)
        out.write(last)
    return {"url": name, "nsamples": samples, "filesize": file.size, "sha256": file.sha256}

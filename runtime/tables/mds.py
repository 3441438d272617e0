"""MDS: a folder of shards with an index, as mosaicml-streaming and LitData read it."""

import os
from collections.abc import Iterator
from typing import Final

import numpy as np

from exset.codecs.tables import mds
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.tables import sidecar
from exset.grammars.tables.cells import Room
from exset.grammars.tables.columns import Numbers, TableColumn, masked, type_of
from exset.grammars.tables.shard_findings import finding_at
from exset.grammars.tables.table import Table
from exset.io.folders import Folder
from exset.runtime.tables.joined import joined
from exset.runtime.tables.mds_columns import decoded
from exset.runtime.tables.mds_index import Shard, parsed
from exset.runtime.tables.shard_stream import streamed_folder
from exset.runtime.tables.shards import described

SAID: Final = ".said"
"""The suffix of the name of a column that says which rows of another column are present."""
_COMPRESSED: Final = {"zstd": "zstd", "gz": "gzip"}


def read(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of a folder of shards, with a row for each sample, in the index's order.

    Raises FormatError, also for pickles and unknown encodings, and OSError.
    """
    found = Findings() if findings is None else findings
    room = Room(folder.name, folder.size, limits)
    table = joined([*_tables(folder, limits, found, engine)], folder.name, room)
    return sidecar.restored(_without_said(table), described(folder), found)


def stream(
    folder: Folder,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the table of each shard; arguments and errors are as for `read`."""
    found = Findings() if findings is None else findings
    yield from streamed_folder(
        lambda some: map(_without_said, _tables(folder, limits, some, engine)),
        lambda: read(folder, limits=limits, findings=found, engine=engine),
        described(folder),
        found,
        folder.notes,
        has_all=True,
    )


def _tables(folder: Folder, limits: Limits, findings: Findings, engine: Engine) -> Iterator[Table]:
    """Yield the table of each shard."""
    for shard in parsed(folder, limits):
        yield _table(folder, shard, limits, findings, engine)


def _table(
    folder: Folder, shard: Shard, limits: Limits, findings: Findings, engine: Engine
) -> Table:
    name, content = shard.content(folder, limits, findings)
    source = Source(os.path.join(folder.name, name), content)
    data = mds.read_shard(source, shard.sizes, limits=limits, engine=engine)
    if len(data[0]) != shard.samples:
        message = f"it has {counted(len(data[0]), 'sample')}, but index.json says {shard.samples}"
        place = Place.in_bytes(source, 0, "samples")
        raise FormatError(message, place=place, code="mds-shard")
    columns: dict[str, TableColumn] = {}
    for column, encoding, values in zip(shard.names, shard.encodings, data, strict=True):
        made = decoded(encoding, values)
        if made is None:
            place = Place(source.name)
            findings.add(finding_at("mds-arrays-differ", place, name=safe(column)))
        columns[column] = values if made is None else made
    return Table(columns, shard.samples, {})


def _without_said(table: Table) -> Table:
    """Return a table without the columns `NAME.said`; they say which rows of NAME have a value."""
    columns = dict(table.columns)
    for name in table.columns:
        said = columns.get(name + SAID)
        if said is None or type_of(said) != "uint8" or not isinstance(said, Numbers):
            continue
        if said.present.all() and said.values.max(initial=0) <= 1 and columns[name].present.all():
            present = said.values.astype(np.bool_)
            del columns[name + SAID]
            columns[name] = masked(columns[name], present)
    return Table(columns, table.rows, table.metadata)

"""Read TFRecord files of tf.train.Example and SequenceExample; each feature becomes a column.

Source: TensorFlow, `feature.proto`, `example.proto`, `record_reader.cc`.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from exset.codecs.shared.crc32c import crc32c_each
from exset.codecs.tables import examples
from exset.codecs.tables.examples import (
    BYTES_LIST,
    FEATURE_LISTS,
    FEATURES,
    NONE,
    Entries,
    ExampleError,
    Features,
)
from exset.codecs.tables.spans import gathered
from exset.codecs.tables.tfrecord import masked, read_records, whole_records
from exset.core.errors import Finding, Findings, FormatError, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.arrays import Bytes, Flags, Longs, compact, offsets_of, row_indices
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import sidecar
from exset.grammars.tables.cells import Room, absent_size
from exset.grammars.tables.column_types import as_lists
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, text_or_bytes
from exset.grammars.tables.shard_findings import finding_at
from exset.grammars.tables.table import Table
from exset.io.blocks import Blocks
from exset.runtime.tables.sample_chunks import Watch, sources
from exset.runtime.tables.shard_stream import Part, streamed_file

T = TypeVar("T", bound=np.generic)

RAW: Final = "record"
"""The name of the column of records as bytes."""
_STEPS: Final = "\0steps"
_ZLIB: Final = b"\x78"
_FREE: Final = 64 << 20


def read(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    damaged: bool = False,
    raw: bool = False,
) -> Table:
    """Return the table of a TFRecord file, which may be compressed with zlib.

    damaged: leave out damaged records, with a finding for each. raw: return the records as bytes,
    in the column `record`. Raises FormatError for damage, which names the record and the byte.
    """
    found = Findings() if findings is None else findings
    source = _inflated(source, limits)
    part = _read(source, limits, found, engine, damaged=damaged, raw=raw)
    return part.table if raw else sidecar.restored(part.table, source, found)


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    damaged: bool = False,
    raw: bool = False,
) -> Iterator[Table]:
    """Yield the table of a TFRecord file in chunks; arguments and errors are as for `read`.

    A file is read whole if the types of its features differ between chunks.
    """
    found = Findings() if findings is None else findings

    def parts(findings: Findings, watch: Watch | None) -> Iterator[Part]:
        for source, before, _ in sources(blocks, limits, whole_records, watch):
            if before and not source.content:
                return
            source = source if source.start else _inflated(source, limits)
            yield _read(source, limits, findings, engine, damaged=damaged, raw=raw, first=before)

    def whole() -> Table:
        source = blocks.whole_again(limits)
        return read(source, limits=limits, findings=found, engine=engine, damaged=damaged, raw=raw)

    yield from streamed_file(blocks, parts, whole, _names, found, has_scalars=True)


def _read(
    source: Source,
    limits: Limits,
    findings: Findings,
    engine: Engine,
    *,
    damaged: bool,
    raw: bool,
    first: int = 0,
) -> Part:
    """Return the table of a file, or of a chunk that begins with the record number `first`.

    damaged: leave out damaged records. raw: return the bytes of each record.
    """
    starts, lengths = read_records(
        source, damaged=damaged, limits=limits, findings=findings, engine=engine, first=first
    )
    if raw:
        data: Bytes = np.frombuffer(source.view, np.uint8)
        return Part(Table.of({RAW: gathered(data, starts, lengths)}))
    try:
        return _table(source, starts, lengths, limits)
    except ExampleError as error:
        if not damaged:
            raise FormatError.of(_no_example(source, starts, error, first)) from None
    kept = _examples(source, starts, lengths, limits, findings, first)
    starts, lengths = starts[kept], lengths[kept]
    try:
        return _table(source, starts, lengths, limits)
    except ExampleError as other:  # features of two records have different kinds
        raise FormatError.of(_no_example(source, starts, other, first)) from None


def _table(source: Source, starts: Longs, lengths: Longs, limits: Limits) -> Part:
    """Return the table of the messages in records.

    starts, lengths: where each record is in the source. Raises ExampleError for a record that is
    not an example, and LimitError for columns that take much more memory than the file.
    """
    data: Bytes = np.frombuffer(source.view, np.uint8)
    room = Room(source.name, data.size, limits)
    columns: dict[str, TableColumn] = {}
    entries = examples.entries_of(data, starts, lengths, FEATURES)
    features = examples.features_of(data, entries.values, entries.records.size, entries.records)
    for name, chosen in entries.chosen(starts.size):
        columns[name.decode()] = _column(name, data, features, chosen, entries.records, room)
    lists = examples.entries_of(data, starts, lengths, FEATURE_LISTS)
    steps = dict(_sequences(data, lists, starts.size, room))
    listed = [*columns, *(f"{step}{_STEPS}" for step in steps)]
    names = dict(zip(listed, _names(listed), strict=True))
    for step, column in steps.items():
        columns[names[f"{step}{_STEPS}"]] = column
    return Part(Table(dict(sorted(columns.items())), starts.size, {}), names)


def _names(listed: Sequence[str]) -> list[str]:
    """Return the name of the column of each feature, and of each list of features.

    `listed`: the names of both in the file; `_STEPS` is added to the names of lists.
    """
    features = {name for name in listed if not name.endswith(_STEPS)}
    bare = [name.removesuffix(_STEPS) for name in listed]
    return [
        f"{name}.list" if each != name and name in features else name
        for each, name in zip(listed, bare, strict=True)
    ]


def _sequences(
    data: Bytes, entries: Entries, rows: int, room: Room
) -> Iterator[tuple[str, TableColumn]]:
    """Yield a column for each FeatureList: each row is a list, with a list or array for each
    Feature.

    data: the bytes of the file. entries: the names and values of the lists. rows: the number of
    records.
    """
    steps, entry = examples.steps_of(data, entries)
    records = entries.records[entry]
    features = examples.features_of(data, steps, entry.size, records)
    bounds = offsets_of(np.bincount(entry, minlength=entries.records.size))
    for name, chosen in entries.chosen(rows):
        room.take(1, rows)
        present = chosen >= 0
        lengths = np.zeros(rows, np.int64)
        lengths[present] = (bounds[1:] - bounds[:-1])[chosen[present]]
        begins = bounds[:-1][chosen[present]]
        which = row_indices(begins, lengths[present])
        found = _as_lists(_column(name, data, features, which, records, room))
        yield name.decode(), Lists.of(found, lengths, present)


def _as_lists(column: TableColumn) -> TableColumn:
    """Return a column of single values as one of lists or arrays of one value.

    The writer recognises a FeatureList by these.
    """
    if isinstance(column, Numbers) and not column.shape:
        return Numbers.of(column.values[:, np.newaxis], column.present)
    found = as_lists(column) if isinstance(column, Strings) else None
    return column if found is None else found


def _column(
    name: bytes, data: Bytes, features: Features, chosen: Longs, records: Longs, room: Room
) -> TableColumn:
    """Return the column of the feature `name`; chosen: the feature in each row, or -1.

    It has single values if each row has one, arrays if all rows have equally many, else lists.
    records: the record of each feature, for errors. room: the memory that is left for columns.
    """
    room.take(1, chosen.size)
    present = chosen >= 0
    present[present] = features.kinds[chosen[present]] != NONE
    rows = chosen[present]
    kinds = np.flatnonzero(np.bincount(features.kinds[rows]))
    if not kinds.size:
        return Text.unchecked(**vars(Strings.empty(chosen.size)))
    if kinds.size > 1:
        other = rows[(features.kinds[rows] != features.kinds[rows[0]]).argmax()]
        raise ExampleError(
            int(records[other]),
            f"{safe(name.decode())!r} has another kind of list than in other records",
        )
    kind = int(kinds[0])
    bounds = features.offsets[kind]
    begins, lengths = bounds[rows], bounds[rows + 1] - bounds[rows]
    count = int(lengths[0])
    is_same = bool((lengths == count).all())
    which = row_indices(begins, compact(lengths))
    if kind == BYTES_LIST:
        starts, sizes = features.strings
        if is_same and count == 1:
            begins, lengths = (_filled(each[which], present) for each in (starts, sizes))
            return text_or_bytes(gathered(data, begins, lengths, present))
        items: TableColumn = text_or_bytes(gathered(data, starts[which], sizes[which]))
    else:
        values = features.numbers[kind].values[which]
        if is_same and count:
            shape = () if count == 1 else (count,)
            room.take(1, chosen.size - rows.size, absent_size(values.dtype, shape))
            return Numbers.of(_filled(values.reshape(rows.size, *shape), present), present)
        items = Numbers.of(values)
    return Lists.of(items, _filled(lengths, present), present)


def _filled(values: NDArray[T], present: Flags) -> NDArray[T]:
    """Return the values of all rows: of present rows those in `values`, of others zeros."""
    if present.all():
        return values
    whole = np.zeros((present.size, *values.shape[1:]), values.dtype)
    whole[present] = values
    return whole


def _examples(
    source: Source, starts: Longs, lengths: Longs, limits: Limits, findings: Findings, first: int
) -> Longs:
    """Return the indices of the records that are examples; add a finding for each record that
    is not.

    starts, lengths: where each record is in the source. first: the number of the first record in
    the whole file.
    """
    kept = []
    for record in range(starts.size):
        try:
            one = slice(record, record + 1)
            _table(source, starts[one], lengths[one], limits)
            kept.append(record)
        except ExampleError as error:
            error.record = record
            findings.add(_no_example(source, starts, error, first))
    return np.array(kept, np.int64)


def _no_example(source: Source, starts: Longs, error: ExampleError, first: int) -> Finding:
    record = first + error.record
    place = Place.in_bytes(source, source.start + int(starts[error.record]), f"records[{record}]")
    return finding_at("tfrecord-example", place, record=record, problem=str(error))


def _inflated(source: Source, limits: Limits) -> Source:
    """Return the content of a file, decompressed if TensorFlow compressed it with ZLIB."""
    head = bytes(source.view[:12])
    if len(head) < 12 or head[:1] != _ZLIB or int.from_bytes(head[:2], "big") % 31:
        return source
    stored = np.frombuffer(head[8:12], "<u4")
    if (
        masked(crc32c_each(np.frombuffer(head, np.uint8), np.zeros(1, np.int64), np.full(1, 8)))
        == stored
    ).all():
        return source
    most = max(_FREE, limits.max_ratio * len(source.view))
    inflater = zlib.decompressobj()
    try:
        content = inflater.decompress(source.view, most)
    except zlib.error:
        return source
    if inflater.unconsumed_tail:
        message = f"{len(source.view):,} bytes of zlib data decompress to more than {most:,} bytes"
        raise LimitError(message, place=Place(source.name), hint=limit_hint("max_ratio"))
    if not inflater.eof:
        raise FormatError(
            "the zlib data are truncated",
            place=Place.in_bytes(source, len(source.view)),
            code="compression",
        )
    return replace(source, content=content)

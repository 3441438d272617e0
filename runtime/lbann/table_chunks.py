"""Make tables of a sample list that comes in chunks."""

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Unpack

from exset.core.errors import Findings, LimitError, Place
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.protocols import Level
from exset.grammars.columns.spans import Spans
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList, file_of
from exset.grammars.lbann.units import joined
from exset.grammars.tables.columns import Numbers, TableColumn, text_or_bytes, type_of
from exset.grammars.tables.origin import origin
from exset.grammars.tables.sidecar import add_types, with_type
from exset.grammars.tables.table import Table
from exset.io.access import DEFAULT_ACCESS
from exset.runtime.hdf5.names import with_column
from exset.runtime.lbann.table_fields import Fields, LabelFields, SchemaFields, StoredFields
from exset.runtime.lbann.table_options import FAMILY, Options
from exset.runtime.training.dataset import checked_names


@dataclass
class Layout:
    """The columns that the tables of all chunks have, and how to make the tables.

    types: the types of the columns that the list itself gives, such as `file`. ends: the rows at
    which the tables end. included: for an exclusion list, the inclusion list with the same samples.
    """

    fields: Fields
    metadata: dict[str, Any]
    types: dict[str, str]
    ends: "array[int]"
    included: SampleList | None

    def tables(self, samples: SampleList, first: int, findings: Findings) -> Iterator[Table]:
        """Yield the tables of a chunk. first: the number of samples before the chunk."""
        given = {name: with_type(each, self.types[name]) for name, each in _given(samples).items()}
        listed = Table.of(given)
        begin, end = (bisect_right(self.ends, row) for row in (first, first + len(samples)))
        for start, stop in pairwise((first, *(self.ends[begin:end] or (first,)))):
            rows = range(start - first, stop - first)
            columns = self.fields.columns(samples, first, rows, findings)
            for name, column in listed[rows.start : rows.stop].columns.items():
                columns = with_column(name, column, columns)
            yield Table(columns, len(rows), self.metadata)


def layout_of(
    chunks: Iterable[SampleList],
    /,
    *,
    level: Level,
    findings: Findings,
    limits: Limits = DEFAULT,
    at_once: bool = False,
    **options: Unpack[Options],
) -> Layout:
    """Find the columns for the tables of a list. Raises the errors of `to_table`.

    Without schemas, all samples are read. If they are few, their values are kept. at_once: whether
    each chunk becomes a single table.
    """
    chunks = iter(chunks)
    head, included = next(chunks), None
    if head.kind.is_exclusion:
        head = included = _included(joined([head, *chunks]), findings, options)
    metadata = _metadata(head, level)
    fields = _kind_of_fields(head, options)(limits, options, findings, at_once)
    types: dict[str, str] = {}
    excluded: dict[str, int] = {}
    ends = array("q")
    count = 0
    for chunk in chain((head,), chunks):
        count += len(chunk)
        _check_expansion(count, limits)
        add_types(types, {name: type_of(column) for name, column in _given(chunk).items()})
        ends.extend(fields.survey(chunk, count - len(chunk)))
        excluded |= {each.path: each.excluded for each in chunk.files if each.excluded}
        head = chunk if len(chunk) else head
    if excluded:
        metadata["excluded"] = excluded
    metadata["fields"] = [*fields.columns(head, 0, range(0), Findings())]
    return Layout(fields, metadata, types, ends, included)


def tables_of(
    chunks: Iterable[SampleList],
    layout: Layout,
    /,
    *,
    findings: Findings,
    limits: Limits = DEFAULT,
) -> Iterator[Table]:
    """Yield the tables of a list that is read in chunks. Raises the errors of `to_table`."""
    first = 0
    for chunk in chunks if layout.included is None else (layout.included,):
        if len(chunk) or not layout.ends[-1]:
            yield from layout.tables(chunk, first, findings)
        first += len(chunk)


def _included(samples: SampleList, findings: Findings, options: Options) -> SampleList:
    """Return the inclusion list with the samples of an exclusion list.

    These are all samples in the HDF5 files that the exclusion list does not exclude.
    """
    from exset.runtime.lbann.list_convert import recast

    kind = Kind(samples.kind.value.replace("EXCLUSION", "INCLUSION"))
    base, access = options.get("base", ""), options.get("access", DEFAULT_ACCESS)
    return recast(samples, kind, findings, base=base, access=access)


def _kind_of_fields(samples: SampleList, options: Options) -> type[Fields]:
    if samples.kind.is_single:
        return LabelFields
    chosen = options.get("fields")
    if samples.has_integer_ids or (chosen is not None and checked_names("fields", chosen) == ()):
        return Fields
    return SchemaFields if "data" in options or "experiment" in options else StoredFields


def _check_expansion(count: int, limits: Limits) -> None:
    """Raise LimitError if `count` is too large.

    count: the number of ids after ranges are expanded.
    """
    if count > limits.max_expand:
        message = f"the list has {count:,} samples, more than the limit of {limits.max_expand:,}"
        place, hint = Place("sample list"), limit_hint("max_expand")
        raise LimitError(message, place=place, hint=hint)


def _given(samples: SampleList) -> dict[str, TableColumn]:
    """Return the columns that the list itself gives: the files, and the ids if the list has any."""
    columns: dict[str, TableColumn] = {}
    if samples.kind.is_single:
        pass
    elif isinstance(samples.ids, Spans):
        columns["id"] = Numbers.of(samples.ids.numbers())
    else:
        columns["id"] = text_or_bytes(samples.ids)
    paths = Strings.of(each.path for each in samples.files)
    columns["file"] = text_or_bytes(paths.take(file_of(samples)))
    return columns


def _metadata(samples: SampleList, level: Level) -> dict[str, Any]:
    """Return the metadata from the header of a list: type, base directory, label file."""
    metadata = origin(FAMILY, level)
    metadata |= {"kind": samples.kind.value, "base": os.fsdecode(samples.directory)}
    if samples.label_file is not None:
        metadata["labels"] = os.fsdecode(samples.label_file)
    if samples.kind.is_single and samples.has_integer_ids:
        metadata["ids"] = "integer"
    return metadata

"""Read shards, or chunks of one file, as tables with the same columns."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.grammars.tables import sidecar
from exset.grammars.tables.column_types import absent
from exset.grammars.tables.columns import TableColumn, type_of
from exset.grammars.tables.sidecar import with_type
from exset.grammars.tables.table import Table
from exset.io.blocks import Blocks
from exset.runtime.tables.sample_chunks import Watch

_NOTES: Final = "shards"
_ARRAYS: Final = re.compile(r"list<(\w+)>|(\w+)\[\d+\]|(\w+)")
"""Types of lists, of arrays of one dimension, and of single values."""


@dataclass(frozen=True)
class Part:
    """The table of one shard, or of one chunk of a file.

    names: for each name that the file has, the name of its column, which may depend on other
    names. marks: other facts about the whole file that chunks show; they must be the same in all
    chunks.
    """

    table: Table
    names: dict[str, str] = field(default_factory=dict)
    marks: dict[str, bool] = field(default_factory=dict)


Parts = Callable[[Findings, Watch | None], Iterator[Part]]
"""Reads all parts, each time it is called; `Watch`: called with all bytes of a file."""

Names = Callable[[Sequence[str]], list[str]]
"""Returns the columns for the names that a file has."""


@dataclass
class _Known:
    """What all parts together show: which types their columns get.

    is_regular: whether the columns of all parts can get the same types. types, is_same: the types
    of the first part, and whether all parts have them. kinds: the type of each column; None as
    long as no row has a value. value: the value of the sidecar, if the parts fit it.
    """

    found: Findings
    value: dict[str, Any] | None
    types: dict[str, str] | None = None
    kinds: dict[str, str | None] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    marks: dict[str, bool] = field(default_factory=dict)
    parts: int = 0
    rows: int = 0
    is_regular: bool = True
    is_same: bool = True
    is_restored: bool = True


def streamed_folder(
    parts: Callable[[Findings], Iterator[Table]],
    whole: Callable[[], Table],
    source: Source,
    findings: Findings,
    notes: dict[str, object],
    *,
    has_all: bool = False,
) -> Iterator[Table]:
    """Yield the table of each shard of a folder; joined, they are the table of the folder.

    All shards are read twice, as all decide the types of the columns. If the types of a column
    differ between shards, or the sidecar does not fit, there is one chunk, which `whole` reads.
    parts: reads all shards, and adds its findings to its argument. source: a source without
    content that has the sidecar of the folder. notes: the notes that are kept about the folder.
    has_all: whether every shard has all columns. Raises the errors of `parts`.
    """

    def read(findings: Findings, watch: Watch | None) -> Iterator[Part]:
        first: tuple[str, ...] | None = None
        for table in parts(findings):
            first = table.names if first is None else first
            yield Part(table, marks={"names": table.names == first} if has_all else {})

    known = notes.get(_NOTES)
    if not isinstance(known, _Known):
        notes[_NOTES] = known = _surveyed(read, source, findings)
    yield from _tables(known, read, whole, findings)


def streamed_file(
    blocks: Blocks,
    parts: Parts,
    whole: Callable[[], Table],
    names: Names,
    findings: Findings,
    *,
    has_scalars: bool = False,
) -> Iterator[Table]:
    """Yield the tables of the chunks of a file; joined, they are the table of the file.

    The file is read twice, as a folder by `streamed_folder`. parts: reads all chunks. whole: reads
    the file as one table. names: returns the names of the columns, given all names in the file.
    has_scalars: whether `parts` makes single numbers of lists if all lists of a chunk have one
    number.
    """
    known = blocks.notes.get(_NOTES)
    if not isinstance(known, _Known):
        source = Source(blocks.name, b"", sidecar=blocks.sidecar)
        common = partial(_lists, has_scalars=has_scalars)
        known = _surveyed(parts, source, findings, sidecar.Fingerprint(), common)
        if names([*known.names]) != [*known.names.values()]:
            known.is_regular = False
        blocks.notes[_NOTES] = known
    yield from _tables(known, parts, whole, findings)


def _surveyed(
    parts: Parts,
    source: Source,
    findings: Findings,
    file: sidecar.Fingerprint | None = None,
    common: Callable[[str, str], str | None] = lambda one, other: None,
) -> _Known:
    """Read all parts once, and return what they show. Raises the errors of `parts`.

    file: gets all bytes of the file if it has a sidecar. common: returns the type that can store
    values of two types, or None.
    """
    found = Findings(strict=findings.strict)
    known = _Known(found, sidecar.unchecked_value(source))
    try:
        for part in parts(found, file.add if file is not None and source.sidecar else None):
            _add(known, part, common)
    except FormatError:
        findings.add_all(found)
        raise
    known.value = sidecar.value_of(source, found, file)
    if known.value is not None and (not known.is_restored or known.value["rows"] != known.rows):
        known.is_regular = False
    return known


def _add(known: _Known, part: Part, common: Callable[[str, str], str | None]) -> None:
    """Add what one part shows to `known`; common: as for `_surveyed`."""
    known.parts, known.rows = known.parts + 1, known.rows + part.table.rows
    types = dict(part.table.types)
    known.types = types if known.types is None else known.types
    known.is_same &= [*types.items()] == [*known.types.items()]
    for name, column in part.names.items():
        known.is_regular &= known.names.setdefault(name, column) == column
    for name, mark in part.marks.items():
        known.is_regular &= known.marks.setdefault(name, mark) == mark
    for name, values in part.table.columns.items():
        old = known.kinds.setdefault(name, None)
        if values.present.any():
            kind: str | None = type_of(values)
            if old is not None and old != kind:
                kind = common(old, type_of(values))
                known.is_regular &= kind is not None
            known.kinds[name] = kind
    if known.value is not None and known.is_restored:
        known.is_restored = _restored(part.table, known.value) is not None


def _lists(one: str, other: str, *, has_scalars: bool) -> str | None:
    """Return the type of lists that can store the values of two types of columns, `one` and
    `other`; None if there is none.

    Each type is one of lists or arrays: a reader makes arrays where all lists of a chunk have
    the same length. has_scalars: whether single values may also become lists.
    """
    bare = [_ARRAYS.fullmatch(each) for each in (one, other)]
    kinds = {each and (each[1] or each[2] or each[3]) for each in bare}
    kind = kinds.pop()
    if kind is None or kinds or any(each and each[3] and not has_scalars for each in bare):
        return None
    return f"list<{kind}>"


def _tables(
    known: _Known, parts: Parts, whole: Callable[[], Table], findings: Findings
) -> Iterator[Table]:
    """Yield the table of each part, with its columns converted to the types that all parts
    together need.

    known: what a first pass over the parts has shown. whole: returns the table of all parts,
    which is yielded alone if there is one part, or if no types fit all parts.
    """
    if known.parts < 2 or not known.is_regular:
        yield whole()
        return
    findings.add_all(known.found)
    for part in parts(Findings(), None):
        table = part.table
        if known.value is not None:
            restored = _restored(table, known.value)
            assert restored is not None, "the parts are read as before"
            yield restored
        else:
            yield table if known.is_same else _conformed(table, known.kinds)


def _conformed(table: Table, kinds: dict[str, str | None]) -> Table:
    """Return the table of a part with the columns of all parts; a column without values is text.

    kinds: the type of each column.
    """
    columns: dict[str, TableColumn] = {}
    for name, kind in kinds.items():
        column = table.columns.get(name)
        made = absent(kind or "text", table.rows)
        columns[name] = made if column is None else with_type(column, kind or "text")
    return Table(columns, table.rows, table.metadata)


def _restored(table: Table, value: dict[str, Any]) -> Table | None:
    """Return the table of a part with the types of the sidecar; None if they do not fit."""
    try:
        return sidecar.with_value(table, {**value, "rows": table.rows})
    except ValueError:
        return None

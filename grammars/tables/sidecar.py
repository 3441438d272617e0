"""The sidecar of a table: a JSON file with the metadata and types that the table's file cannot
store.

The JSON value is the metadata, with `columns` (the type of each column, in order) and `rows`. For
a table in a single file, `file` has the size and CRC-32 of that file (`bytes` and `crc32`), which
show whether it was changed.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.source import Source
from exset.core.text import counted, safe
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.column_types import absent, as_lists, cast
from exset.grammars.tables.columns import Lists, Numbers, TableColumn, Text, type_of
from exset.grammars.tables.findings import finding_at
from exset.grammars.tables.table import Table
from exset.io.compressors import crc32

_OWN: Final = ("columns", "rows", "file")
_MOST_ROWS: Final = 1 << 32


class Fingerprint:
    """Computes the size and the checksum of a file that comes in chunks."""

    def __init__(self) -> None:
        self._size = 0
        self._crc = 0

    def add(self, data: bytes | memoryview) -> Self:
        """Add the next bytes of the file."""
        self._size += len(data)
        self._crc = crc32(data, self._crc)
        return self

    def value(self) -> dict[str, int | str]:
        """Return the size and the checksum of all bytes as the JSON value for the sidecar."""
        return {"bytes": self._size, "crc32": f"{self._crc:08x}"}


def text_of(
    table: Table, file: Mapping[str, int | str] | None = None, rows: int | None = None
) -> bytes:
    """Return the content of the sidecar of a table, as JSON text.

    file: the value of the `Fingerprint` of the table's file, None for a folder. rows: by default
    the number of rows of `table`.
    """
    value = {
        **table.metadata,
        "columns": table.types,
        "rows": table.rows if rows is None else rows,
    }
    if file is not None:
        value["file"] = dict(file)
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def value_of(
    source: Source, findings: Findings, file: Fingerprint | None = None
) -> dict[str, Any] | None:
    """Return the JSON value of the sidecar of a source, None if there is none.

    If the sidecar is damaged or belongs to another file, add a finding and return None. file: the
    fingerprint of the table's file; by default it is computed from the source.
    """
    if source.sidecar is None:
        return None
    try:
        value = _parsed(source.sidecar)
        found = Fingerprint().add(source.view) if file is None and "file" in value else file
        if "file" in value and (found is None or value["file"] != found.value()):
            raise ValueError("the file was changed later, or written by another program")
    except ValueError as error:
        report(source, error, findings)
        return None
    return value


def unchecked_value(source: Source) -> dict[str, Any] | None:
    """Return the JSON value of a source's sidecar, None if there is none; do not check the
    fingerprint.
    """
    try:
        return None if source.sidecar is None else _parsed(source.sidecar)
    except ValueError:
        return None


def report(source: Source, problem: ValueError, findings: Findings) -> None:
    """Add the finding for a sidecar that does not fit its table. problem: the error that says
    why.
    """
    place = Place(source.name)
    findings.add(finding_at("sidecar-unused", place, problem=safe(str(problem))))


def _parsed(data: bytes) -> dict[str, Any]:
    """Parse the text of a sidecar. Raises ValueError if it is not JSON that describes a table."""
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None
    rows, columns = (
        value.get(key) if isinstance(value, dict) else None for key in ("rows", "columns")
    )
    if type(rows) is not int or not 0 <= rows < _MOST_ROWS or not isinstance(columns, dict):
        raise ValueError("the number of rows, or the types of the columns, are missing")
    if not all(isinstance(each, str) for each in columns.values()):
        raise ValueError("the type of a column is not text")
    try:
        "".join(columns).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ValueError("the name of a column is not valid Unicode") from None
    return dict(value)


def check_rows(value: Mapping[str, Any], rows: int) -> None:
    """Raise ValueError unless the JSON value says that the table has this number of rows."""
    if value["rows"] != rows:
        raise ValueError(f"it describes {counted(value['rows'], 'row')}, but the file has {rows}")


def metadata_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata in the JSON value."""
    return {name: each for name, each in value.items() if name not in _OWN}


def restored(table: Table, source: Source, findings: Findings) -> Table:
    """Return a table with the names, types and metadata of its sidecar, if any.

    A column whose values do not fit the type in the sidecar gives a finding. Names may differ in
    upper and lower case.
    """
    if (value := value_of(source, findings)) is None:
        return table
    try:
        return with_value(table, value)
    except ValueError as error:
        report(source, error, findings)
        return table


def with_value(table: Table, value: Mapping[str, Any]) -> Table:
    """Return a table with the names, types and metadata in a JSON value.

    Raises ValueError if the table does not fit them.
    """
    types = value["columns"]
    check_rows(value, table.rows)
    names = {name if name in table.columns else name.lower(): name for name in types}
    if unknown := [name for name in table.columns if name not in names]:
        raise ValueError(f"it does not name the column {unknown[0]!r}")
    if len(names) < len(types):
        raise ValueError("two of its names mean the same column")
    given = {names[found]: column for found, column in table.columns.items()}
    return Table(with_types(given, types, table.rows), table.rows, metadata_of(value))


def with_types(
    columns: Mapping[str, TableColumn], types: Mapping[str, str], rows: int
) -> dict[str, TableColumn]:
    """Return columns of the given types, in this order. A column that is missing has no values.

    rows: the number of rows. Raises ValueError if the values of a column do not fit its type.
    """
    return {
        name: with_type(columns[name], kind) if name in columns else absent(kind, rows)
        for name, kind in types.items()
    }


def add_types(types: dict[str, str], more: Mapping[str, str]) -> None:
    """Add the types of the columns of another chunk to `types`, the types for all chunks.

    A column that is bytes in one chunk is bytes in all chunks: the text of the others is UTF-8 by
    chance.
    """
    for name, kind in more.items():
        types[name] = "bytes" if "bytes" in (kind, types.get(name)) else kind


def with_type(column: TableColumn, kind: str) -> TableColumn:
    """Return a column converted to a type such as "float32[2]". Raises ValueError if its
    values do not fit the type.
    """
    if type_of(column) == kind:
        return column
    wanted = absent(kind, len(column))
    if not column.present.any():
        return wanted
    if kind == "bytes" and isinstance(column, Text):
        return Strings.unchecked(**vars(column))
    made: TableColumn | None = None
    if isinstance(wanted, Lists):
        made = _as_lists(column, wanted.items)
    elif isinstance(wanted, Numbers) and isinstance(column, Numbers):
        made = cast(column, wanted.values.dtype, wanted.shape)
    elif isinstance(wanted, Numbers) and isinstance(column, Lists) and 0 in wanted.shape:
        made = Numbers.of(np.zeros(wanted.values.shape, wanted.values.dtype), column.present)
    if made is None or type_of(made) != kind:
        raise ValueError(f"a column is {type_of(column)}, not {kind}")
    return made


def _as_lists(column: TableColumn, wanted: TableColumn) -> Lists | None:
    """Return a column as lists whose items have the type of `wanted`; None if this would
    change a value.
    """
    if (lists := as_lists(column)) is None:
        return None
    try:
        return Lists(with_type(lists.items, type_of(wanted)), lists.offsets, lists.present)
    except ValueError:
        return None

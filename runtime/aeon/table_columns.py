"""Convert the columns of a table to fields of a manifest. The metadata decide the types."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.grammars.columns.arrays import Flags, as_doubles
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers, TableColumn, Text, type_of
from exset.grammars.tables.labels import file_columns, labels_of
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.runtime.aeon.table import element_column
from exset.runtime.aeon.table_text import as_text
from exset.runtime.training.dataset import checked_names

_LEAST, _MOST = -(2**31), 2**31 - 1
_LARGEST: Final = float(np.finfo(np.float32).max)
_NO_PLACE: Final = "the row has no value, but a record of a manifest needs every field"


@dataclass(frozen=True)
class Known:
    """The metadata about a table's columns, which decide the elements of a manifest.

    types: {column name: type}. untyped: the columns of fields without a type, which the dialect
    `seed` allows. dialect: the dialect of the manifest to make. is_aeon: whether the table was made
    from a manifest. If so, the columns `NAME.text` and `NAME.path` belong to the column NAME.
    """

    types: dict[str, ElementType]
    untyped: tuple[str, ...]
    dialect: Dialect
    is_aeon: bool

    @classmethod
    def of(cls, table: Table, files: Iterable[str] | None, dialect: Dialect | None) -> "Known":
        """Read the metadata of a table. files: the names of the columns whose values are paths.

        Raises ValueError if `files` has an unknown name.
        """
        metadata = table.metadata
        types: dict[str, ElementType] = {}
        untyped: tuple[str, ...] = ()
        is_aeon = metadata.get("family") == "aeon"
        if is_aeon:
            names, kinds = (_texts(metadata.get(key)) for key in ("names", "types"))
            pairs = zip(names, kinds, strict=False)
            types = {name: ElementType(kind) for name, kind in pairs if kind in [*ElementType]}
            untyped = names[len(kinds) :]
            said = str(metadata.get("dialect"))
            dialect = dialect or (Dialect(said) if said in [*Dialect] else None)
        chosen = file_columns(table)
        if files is not None:
            chosen = checked_names("files", files, table.names)
        types |= dict.fromkeys(chosen, ElementType.FILE)
        if dialect is not Dialect.SEED or not {*untyped} <= {*table.names}:
            untyped = ()
        return cls(types, untyped, dialect or Dialect.HEAD, is_aeon)

    def is_helper(self, name: str, table: Table, writes_files: bool) -> bool:
        """Return whether a column only adds to another column, and is no element of its own.

        writes_files: whether bytes become files. If so, the column `NAME.path` has the names of the
        files for NAME or `NAME.bytes`.
        """
        stem, _, last = name.rpartition(".")
        if last == "path":
            contents = (each for each in (stem, f"{stem}.bytes") if each in table.columns)
            return any(is_bytes(table.columns[each]) for each in contents) and (
                writes_files or stem in self.types
            )
        return last == "text" and self.is_aeon and stem in self.types and stem in table.columns


def is_bytes(column: TableColumn) -> bool:
    """Return whether a column has bytes that are not text."""
    return isinstance(column, Strings) and not isinstance(column, Text)


def type_for(
    table: Table, name: str, known: Known, losses: Losses, writes_files: bool
) -> ElementType | None:
    """Return the type of the element that the column `name` becomes in a manifest.

    If the column cannot become an element, report a loss and return None. known: the metadata.
    writes_files: whether bytes in the table are written as files.
    """
    column, said = table.columns[name], known.types.get(name)
    if isinstance(column, Text):
        return ElementType.FILE if said is ElementType.FILE else ElementType.STRING
    if isinstance(column, Strings):
        if said is ElementType.FILE and f"{name}.path" in table.columns and not writes_files:
            problem = (
                "a manifest stores the paths of files, not their contents: use files_to=FOLDER"
            )
            losses.report(name, problem)
            return ElementType.FILE
        has_text = said in (ElementType.STRING, ElementType.FILE)
        return said if has_text else ElementType.BINARY
    if isinstance(column, Numbers) and not column.shape and column.values.dtype.kind in "biuf":
        if said is ElementType.ASCII_INT and _is_whole(column):
            return said
        is_float = column.values.dtype.kind == "f" or said is ElementType.ASCII_FLOAT
        return ElementType.ASCII_FLOAT if is_float else ElementType.ASCII_INT
    kind = type_of(column)
    losses.report(name, f"a manifest stores single values, but the column is {kind}: split it")
    return None


def fields_of(
    table: Table, name: str, kind: ElementType | None, known: Known, losses: Losses
) -> Strings:
    """Return the manifest's field for each row of the column `name`.

    A row without a value is reported as a loss. kind: the type of the element, None for a field
    without a type. known: the metadata.
    """
    column = table.columns[name]
    paths = table.columns.get(f"{name}.path")
    if kind is ElementType.FILE and is_bytes(column) and isinstance(paths, Strings):
        column = paths
    assert isinstance(column, Numbers | Strings), "type_for has refused other columns"
    wrong = _unreadable(column, kind)
    if wrong.any() and isinstance(column, Numbers):
        column = Numbers.of(column.values, column.present & ~wrong)
    fields = as_text(column, kind or ElementType.STRING)
    said = table.columns.get(f"{name}.text")
    if kind is not None and known.is_aeon and isinstance(said, Strings):
        fields = _as_said(column, kind, fields, said)
    for row in np.flatnonzero(~fields.present).tolist():
        problem = f"aeon cannot read the number as {kind}" if wrong[row] else _NO_PLACE
        losses.report(name, problem, row)
    return fields


def _unreadable(column: Numbers | Strings, kind: ElementType | None) -> Flags:
    """Return for each row whether aeon cannot read its number as an element of this type."""
    if not isinstance(column, Numbers):
        return np.zeros(len(column), np.bool_)
    values = column.values
    if kind is ElementType.ASCII_INT:
        wrong: Flags = (values < _LEAST) | (values > _MOST)
    else:
        wrong = np.isfinite(values) & (np.abs(as_doubles(values)) > _LARGEST)
    return wrong & column.present


def _is_whole(column: Numbers) -> bool:
    """Return whether all values are whole numbers, even if they are stored as floats.

    pandas stores integers as floats if some are missing.
    """
    return labels_of(Numbers.of(column.values[column.present])) is not None


def _as_said(
    column: Numbers | Strings, kind: ElementType, fields: Strings, said: Strings
) -> Strings:
    """Return the fields. Replace a field by the text in `said` if both mean the same value.

    fields: the text that exset would write. said: the text in the column `NAME.text`.
    """
    rows = np.flatnonzero(said.present)
    texts = [each or b"" for each in said.take(rows)]
    read = element_column(Manifest.of([kind], [[text] for text in texts]), 0)
    found = column.take(rows)
    if isinstance(found, Numbers) and isinstance(read, Numbers):
        found = Numbers.of(found.values.astype(read.values.dtype), found.present)
    chosen = fields.tolist()
    for i, (row, text) in enumerate(zip(rows.tolist(), texts, strict=True)):
        value, meant = found[i], read[i]
        if value == meant or (value != value and meant != meant):
            chosen[row] = text
    return Strings.of(chosen)


def _texts(value: object) -> tuple[str, ...]:
    """Return a JSON list of texts; empty for any other value."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return ()
    return tuple(value)

"""Make a manifest of a table. Each column gets a type, and each value becomes a field."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.text import safe
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.grammars.aeon.table_findings import finding_at
from exset.grammars.columns.arrays import Flags, Longs, constant
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.labels import class_names, classes_by_column, is_redundant
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.io.files import FilePath
from exset.io.folders import NewFolder
from exset.runtime.aeon.table_columns import Known, fields_of, type_for
from exset.runtime.aeon.table_files import Element, with_files

_SHOWN: Final = 10


def from_table(
    table: Table,
    /,
    *,
    findings: Findings,
    limits: Limits = DEFAULT,
    lossy: bool = False,
    files: Iterable[str] | None = None,
    files_to: FilePath | NewFolder | None = None,
    dialect: Dialect | str | None = None,
) -> Manifest:
    """Return the manifest of a table. Each row becomes a record, and each column an element.

    Integers and bools become ASCII_INT, floats ASCII_FLOAT, text STRING, and bytes BINARY in
    base64. A column of paths becomes FILE if `files` lists it; by default, if the metadata say so.
    files_to: a new folder. exset writes the bytes of all columns there as files, and these columns
    become FILE, with paths relative to this folder. The names of the files are in the column
    `NAME.path`. Without this column, a name is made of the row, the column, and a suffix for the
    kind of contents. dialect: by default the dialect in the metadata, or "head".

    Raises FormatError for arrays, lists and dates, for rows without a value, and for numbers that
    aeon cannot read. With `lossy` these columns and rows are dropped instead, with a finding for
    each. Raises ValueError for an unknown dialect or an unknown name in `files`, and the errors of
    `exset.io.folders.writing`.
    """
    losses = Losses(lossy, findings)
    known = Known.of(table, files, None if dialect is None else Dialect(dialect))
    writes = files_to is not None
    made = []
    for name in table.columns:
        if known.is_helper(name, table, writes) or is_redundant(table, name):
            continue
        kind = None
        if name not in known.untyped:
            kind = type_for(table, name, known, losses, writes)
            if kind is None:
                continue
        made.append(Element(name, kind, fields_of(table, name, kind, known, losses)))
    rows = np.flatnonzero(_has_all(made, table.rows))
    if files_to is not None:
        made = with_files(table, made, rows, files_to)
    _report_names(made, findings)
    _report_classes(table, made, findings)
    return _manifest(made, rows, known.dialect)


def _has_all(elements: Sequence[Element], rows: int) -> Flags:
    """Return for each row whether every element has a field in this row."""
    present = np.full(rows, bool(elements))
    for element in elements:
        present &= element.fields.present
    return present


def _manifest(elements: Sequence[Element], rows: Longs, dialect: Dialect) -> Manifest:
    """Return a manifest of the rows with these indices. Elements without a type come last."""
    ordered = sorted(elements, key=lambda element: element.kind is None)
    types = tuple(each.kind for each in ordered if each.kind is not None)
    if dialect is Dialect.CSV and any(kind is not ElementType.FILE for kind in types):
        dialect = Dialect.HEAD
    width = len(ordered)
    fields = Strings.empty(0)
    if rows.size:
        columns = Strings.concat([each.fields.take(rows) for each in ordered])
        fields = columns.take(np.arange(width * rows.size).reshape(width, -1).T.reshape(-1))
    lines = constant(0, rows.size, np.int32)
    return Manifest(dialect, types, width, fields, lines)


def _report_names(elements: Sequence[Element], findings: Findings) -> None:
    """Report that a manifest does not store the names of the table's columns.

    Names that are "0", "1" and so on are no loss, and not reported.
    """
    names = [each.name for each in elements]
    if names != [str(number) for number in range(len(names))]:
        shown = ", ".join(map(safe, names[:_SHOWN]))
        findings.add(finding_at("aeon-names", Place("table"), names=shown))


def _report_classes(table: Table, elements: Sequence[Element], findings: Findings) -> None:
    """Report class names that the manifest does not store.

    Class names are stored only if the paths contain them, as in `cat/1.jpg`.
    """
    if (found := class_names(table)) is None:
        return
    column, names = found
    for element in elements:
        if element.kind is ElementType.FILE:
            folders = Strings.of((path or b"").partition(b"/")[0] for path in element.fields)
            if folders == Strings.unchecked(**vars(names)):
                return
    numbered = enumerate(classes_by_column(table)[column][:_SHOWN])
    shown = ", ".join(f"{label} is {safe(name)}" for label, name in numbered)
    findings.add(finding_at("aeon-classes", Place("table"), classes=shown))

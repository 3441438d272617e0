"""Write the bytes in a table as files, and replace the bytes by the names of the files."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from exset.grammars.aeon.block_archive import place_name
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.table import Table
from exset.io import folders
from exset.io.content_types import suffix_of
from exset.io.extraction import parts_of
from exset.io.files import FilePath
from exset.io.folders import NewFolder


class Element(NamedTuple):
    """An element of the records to make: its name, its type (or None), and its fields."""

    name: str
    kind: ElementType | None
    fields: Strings


def with_files(
    table: Table, elements: Sequence[Element], rows: Longs, folder: FilePath | NewFolder
) -> list[Element]:
    """Write the bytes of the given rows as files into a new folder. Return the elements; those
    whose bytes are files now have the type FILE.

    Files are written for elements of the type BINARY, and for FILE elements whose column has bytes.
    If the table has a column `NAME.path`, it gives the names of the files. Raises the errors of
    `exset.io.folders.writing`.
    """
    with nullcontext(folder) if isinstance(folder, NewFolder) else folders.writing(folder) as out:
        writer = _Writer(out)
        return [writer.written(table, i, each, rows) for i, each in enumerate(elements)]


class _Writer:
    """Writes files into a folder. A name is never used for two files."""

    def __init__(self, folder: NewFolder) -> None:
        self._folder = folder
        self._rows: dict[bytes, tuple[Strings, int]] = {}
        """For each name of a file, the column and the row with its contents."""

    def written(self, table: Table, number: int, element: Element, rows: Longs) -> Element:
        column = table.columns[element.name]
        names = _names(table, element)
        has_bytes = element.kind is ElementType.BINARY or (
            element.kind is ElementType.FILE and names is not None
        )
        if not has_bytes or not isinstance(column, Strings):
            return element
        fields = element.fields.tolist()
        for row in rows.tolist():
            name = None if names is None else _raw(names, row)
            other = place_name(row, number, suffix_of(column[row] or b""))
            fields[row] = self._file(column, row, name, other)
        return Element(element.name, ElementType.FILE, Strings.of(fields))

    def _file(self, column: Strings, row: int, name: bytes | None, other: bytes) -> bytes:
        """Write the value of a row as a file called `name`. Return the name of the file.

        If `name` is not safe, or is already used for other contents, the file is called `other`.
        """
        data = column[row] or b""
        if name is None or not _is_safe(name):
            name = other
        elif name in self._rows:
            first, of_first = self._rows[name]
            name = name if first[of_first] == data else other
        if name not in self._rows:
            self._folder.write(name.decode("utf-8", "surrogateescape"), data)
            self._rows[name] = column, row
        return name


def _names(table: Table, element: Element) -> Strings | None:
    """Return the names of an element's files, from the column `NAME.path`.

    Return None if the table has no such column.
    """
    stem = element.name.removesuffix(".bytes")
    for name in (f"{element.name}.path", f"{stem}.path"):
        column = table.columns.get(name)
        if isinstance(column, Strings):
            return column
    return None


def _raw(column: Strings, row: int) -> bytes:
    """Return a row's value as bytes. The column has text or bytes."""
    return column.data[column.offsets[row] : column.offsets[row + 1]].tobytes()


def _is_safe(name: bytes) -> bool:
    """Return whether a name is a plain relative path, which a manifest can store."""
    try:
        return b"/".join(parts_of(name)) == name and not {*b"\t\n,"} & {*name}
    except ValueError:
        return False

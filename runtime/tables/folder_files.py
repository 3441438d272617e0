"""Copy the files of a table into a new folder, from the disk or from the bytes in the table."""

import os
from collections.abc import Iterator

from exset.core.errors import FormatError, Place
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import TableColumn, Text
from exset.grammars.tables.labels import PATH, path_column
from exset.grammars.tables.list_findings import finding_at
from exset.grammars.tables.losses import Losses
from exset.grammars.tables.table import Table
from exset.io.beneath import OutsideError, check_regular_file
from exset.io.content_types import suffix_of
from exset.io.extraction import parts_of
from exset.io.folders import NewFolder


class FolderFiles:
    """Copies the files that a table names, or whose bytes it has, into a folder.

    `table`: the table without the bytes of the files, but with a column of paths. If the table had
    none, the paths are the numbers of the rows with a suffix for the content.
    """

    def __init__(
        self, table: Table, folder: NewFolder, losses: Losses, base: str, root: str
    ) -> None:
        self.folder = folder
        self._losses = losses
        self._base = base
        self._roots = (root,) if root else ()
        self._taken: set[bytes] = set()
        name = _contents_column(table)
        self._contents = None if name is None else table.columns[name]
        self.table = table if name is None else table.without_columns(name)
        if name is not None and path_column(self.table) is None:
            named = Text.of(_numbered(self._contents))
            columns = {PATH: named, **self.table.columns}
            self.table = Table(columns, table.rows, table.metadata)

    def make(self, name: bytes) -> None:
        """Make the folder of a class. Raises FormatError for a name that no folder can have."""
        if b"/" in name or name.startswith(b".") or not _is_safe(name):
            message = f"no folder can have the name of the class {safe(os.fsdecode(name))!r}"
            raise FormatError(message, place=Place("table"), code="table-holds")
        self.folder.make(os.fsdecode(name))

    def put(self, row: int, path: bytes, prefix: bytes) -> bytes | None:
        """Write the file of a row; return its name, which begins with `prefix`.

        path: where the file is. Returns None, with a finding, for a file that cannot be read, if
        losses are allowed. Raises FormatError, OSError.
        """
        name = name_in(path, prefix)
        if not _is_safe(name) or b"/." in b"/" + name:
            self._refuse(row, path, "no file can have this name, or the file would be hidden")
            return None
        name = self._free(name)
        if isinstance(self._contents, Strings):
            self.folder.write(os.fsdecode(name), self._contents[row] or b"")
            return name
        place = os.path.join(self._base, os.fsdecode(path))
        try:
            check_regular_file(place, self._roots)
        except OutsideError:
            self._refuse(row, path, "the file is outside of the folder `root`")
            return None
        except OSError as error:
            self._refuse(row, path, error.strerror or str(error))
            return None
        self.folder.copy(os.fsdecode(name), place, self._roots)
        return name

    def _free(self, name: bytes) -> bytes:
        """Return `name`, with a number added if another file has this name."""
        stem, suffix = os.path.splitext(name)
        number = 1
        while name in self._taken:
            number += 1
            name = b"%b-%d%b" % (stem, number, suffix)
        self._taken.add(name)
        return name

    def _refuse(self, row: int, path: bytes, why: str) -> None:
        field = f"columns[{path_column(self.table)!r}][{row}]"
        words = {"name": safe(os.fsdecode(path)) or "the path is empty", "why": why}
        finding = finding_at("folder-file", Place("table", field=field), **words)
        if not self._losses.is_lossy:
            raise FormatError.of(finding)
        self._losses.findings.add(finding)


def name_in(path: bytes, prefix: bytes) -> bytes:
    """Return the name, with a prefix, under which the file at a path is written."""
    return path if path.startswith(prefix) and _is_safe(path) else prefix + _last(path)


def raw_strings(column: TableColumn) -> Strings:
    """Return a column of paths as bytes."""
    assert isinstance(column, Strings)
    return Strings.unchecked(**vars(column))


def _contents_column(table: Table) -> str | None:
    """Return the name of the column with the bytes of the files, or None."""
    path = path_column(table) or ""
    stem = path.removesuffix(".path")
    names: tuple[str, ...] = table.names if not path else ()
    if path.endswith(".path"):
        names = (stem, f"{stem}.bytes")
    return next((name for name in names if _is_bytes(table.columns.get(name))), None)


def _is_bytes(column: TableColumn | None) -> bool:
    return isinstance(column, Strings) and not isinstance(column, Text)


def _numbered(contents: TableColumn | None) -> Iterator[bytes]:
    """Yield a name for each file: the number of its row, and a suffix for its content."""
    assert isinstance(contents, Strings)
    width = len(str(len(contents)))
    for row, data in enumerate(contents):
        yield b"%0*d%b" % (width, row, suffix_of(data or b"").encode())


def _last(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


def _is_safe(name: bytes) -> bool:
    """Return whether a name is a plain relative path."""
    try:
        return b"/".join(parts_of(name)) == name
    except ValueError:
        return False

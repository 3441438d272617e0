"""Read the elements of records, either from a manifest and its files, or from a cache's blocks."""

import os
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Final, Protocol

import numpy as np

from exset.core.errors import FormatError
from exset.core.text import safe
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Bytes, Flags, Longs
from exset.grammars.columns.strings import Strings
from exset.io.access import Access
from exset.runtime.aeon.cache_dataset import CacheDataset
from exset.runtime.aeon.elements import ElementError, Elements, contents, elements
from exset.runtime.aeon.missing_files import Folder
from exset.runtime.aeon.record_dataset import Column


@dataclass(frozen=True)
class MemoryColumn:
    """The elements of a column, in memory. failed: int64, the records whose elements cannot be
    made.
    """

    values: Column
    failed: Longs


class ElementSource(Protocol):
    """Reads elements; several threads may use it at the same time."""

    def column(self, column: int) -> MemoryColumn | None:
        """Return all elements of a column. Return None if they must be read from files."""

    def read_into(self, column: int, rows: Longs, raw: Bytes) -> Flags:
        """Write the elements of a column for some records into `raw`, of shape [rows, bytes].

        Return for each record whether its element was written. An element is not written if it is
        empty, too long, or in a file, or if it cannot be read.
        """

    def element(self, row: int, column: int) -> bytes:
        """Return the element in a row and a column, as aeon's loader gets it.

        Raises FormatError if the element cannot be made or read.
        """

    def file(self, row: int, column: int) -> str | None:
        """Return the path of the file that contains the element in a row and a column.

        Return None if the element is not in a file.
        """


class ManifestElements:
    """The elements of a manifest. The elements of FILE columns are read from their files."""

    def __init__(self, manifest: Manifest, base: str, access: Access, max_bytes: int) -> None:
        """Make the elements of a manifest that contains only the selected records.

        base: aeon's manifest_root. access: which files may be read. max_bytes: the largest size of
        a file.
        """
        self._manifest, self._base, self._access = manifest, base, access
        self._max_bytes: Final = max_bytes

    @cached_property
    def _columns(self) -> list[Elements]:
        columns = range(len(self._manifest.types))
        return [elements(self._manifest, each, base=self._base) for each in columns]

    @cached_property
    def _failed(self) -> dict[tuple[int, int], ElementError]:
        """The errors of elements that cannot be made, {(record, column): error}."""
        errors = (error for column in self._columns for error in column.errors)
        return {(error.record, error.column): error for error in errors}

    def column(self, column: int) -> MemoryColumn | None:
        """Return the elements of a column; None for the type FILE."""
        found = self._columns[column]
        if found.kind is ElementType.FILE:
            return None
        values = found.values
        failed = np.array([error.record for error in found.errors], np.int64)
        if isinstance(values, Strings):
            return MemoryColumn((values.data, values.offsets), failed)
        return MemoryColumn(values, failed)

    def read_into(self, column: int, rows: Longs, raw: Bytes) -> Flags:
        """Write nothing into `raw`; return False for each record."""
        return np.zeros(rows.size, np.bool_)

    def element(self, row: int, column: int) -> bytes:
        """Return an element. Raises FormatError if the element cannot be made or read."""
        values = self._columns[column].values
        if (row, column) in self._failed:
            raise self._error(self._failed[row, column])
        if not isinstance(values, Strings):
            number: bytes = values[row : row + 1].astype(values.dtype.newbyteorder("<")).tobytes()
            return number
        value = values[row] or b""
        if self._columns[column].kind is not ElementType.FILE:
            return value
        found = contents(self._manifest, row, column, value, self._access, self._max_bytes)
        if isinstance(found, ElementError):
            raise self._error(found)
        return found

    def file(self, row: int, column: int) -> str | None:
        """Return the path of the file of an element of a FILE column."""
        values = self._columns[column].values
        if self._columns[column].kind is not ElementType.FILE or not isinstance(values, Strings):
            return None
        return safe(os.fsdecode(values[row] or b""))

    def _error(self, error: ElementError) -> FormatError:
        hint = error.hint(Folder(os.fsencode(self._base), self._access))
        return FormatError(error.message, hint=hint, code=error.code)


class CacheElements:
    """Elements of the blocks of a cache."""

    def __init__(self, dataset: CacheDataset, rows: Longs) -> None:
        """Read elements from all blocks of a cache.

        rows: for each selected record, its index in the cache.
        """
        self._dataset, self._rows = dataset, rows
        self._lock = Lock()  # the dataset keeps few blocks open

    def column(self, column: int) -> MemoryColumn | None:
        """Return the elements of a column, read from the blocks."""
        with self._lock:
            values = self._dataset.column(column, self._rows)
        return MemoryColumn(values, np.empty(0, np.int64))

    def read_into(self, column: int, rows: Longs, raw: Bytes) -> Flags:
        """Write the elements of a column for some records into `raw`.

        Return for each record whether its element was written. Elements of a block that has changed
        since it was opened are not written.
        """
        with self._lock:
            try:
                return self._dataset.read_into(column, self._rows[rows], raw)
            except FormatError:
                return np.zeros(rows.size, np.bool_)

    def element(self, row: int, column: int) -> bytes:
        """Return an element. Raises FormatError if the block has changed since it was opened."""
        with self._lock:
            return self._dataset.element(int(self._rows[row]), column)

    def file(self, row: int, column: int) -> str | None:
        """Return None: the element is in a block."""
        return None

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, _lock=Lock())

"""Datasets of manifests. Their elements are those that aeon makes from records, with the contents
of files.
"""

import os
from collections.abc import Iterable, Iterator
from typing import NoReturn

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.grammars.aeon.manifest import Manifest
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Bytes, Longs, offsets_of
from exset.grammars.columns.strings import Strings
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.files import FilePath
from exset.runtime.aeon.elements import ElementError, contents, elements
from exset.runtime.aeon.missing_files import Folder
from exset.runtime.aeon.record_dataset import Column, RecordDataset


class ManifestDataset(RecordDataset):
    """The records of a manifest. Each batch reads only the files of its own records."""

    name = "manifest"

    def __init__(
        self,
        manifest: Manifest,
        *,
        names: Iterable[str] | None = None,
        fields: Iterable[str] | None = None,
        padded: bool = False,
        base: FilePath = "",
        access: Access = DEFAULT_ACCESS,
        findings: Findings | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        """Make a dataset of a manifest. names: of the columns, by default the columns' numbers.

        fields: the names of the columns in a batch; files of other columns are not read. padded:
        return bytes as rows of equal length, with a mask. base: aeon's manifest_root. access: its
        roots are the folders that must contain all files. findings: has no effect, because a batch
        raises an error for each problem of an element. Raises ValueError for an unknown field, and
        if the names are not unique strings, one for each column.

        A batch raises FormatError for an element that aeon cannot make, or makes from undefined
        memory, and for a file that is missing or outside the roots. It raises LimitError for more
        than `max_batch` bytes.
        """
        super().__init__(manifest.types, names, fields, padded, limits)
        self.manifest = manifest
        self._base = base
        self._access = access

    def __len__(self) -> int:
        return len(self.manifest)

    def _columns(self, rows: Longs) -> Iterator[Column]:
        part = self.manifest.select(rows)
        for column, name, kind in self.columns:
            found = elements(part, column, base=self._base)
            if found.errors:
                self._fail(found.errors[0], rows)
            if not isinstance(found.values, Strings):
                yield found.values.copy()
            elif kind is ElementType.FILE:
                yield self._files(part, column, found.values, rows)
            else:
                self._check_size(found.values.data.size, name)
                yield found.values.data.copy(), found.values.offsets.copy()

    def _files(
        self, part: Manifest, column: int, paths: Strings, rows: Longs
    ) -> tuple[Bytes, Longs]:
        data, lengths = bytearray(), []
        for row, path in enumerate(paths):
            left = self._limits.max_batch - len(data)
            found = contents(part, row, column, path or b"", self._access, left)
            if isinstance(found, ElementError):
                self._fail(found, rows)
            data += found
            lengths.append(len(found))
        return np.frombuffer(data, np.uint8), offsets_of(np.array(lengths, np.int64)).copy()

    def _fail(self, error: ElementError, rows: Longs) -> NoReturn:
        """Raise the error `error`, which is of an element of a batch.

        rows: the records of the batch. The error's message gives the record's index in the whole
        manifest.
        """
        record, column = int(rows[error.record]), error.column
        place = Place(self.name, line=error.line or None, field=f"[{record}][{column}]")
        message = f"record {record}, column {column}: {error.message}"
        hint = error.hint(Folder(os.fsencode(self._base), self._access))
        raise FormatError(message, place=place, hint=hint, code=error.code)

"""Make the elements of a manifest from its fields, as aeon does.

Numbers and base64 are converted column by column. A FILE element stays a path until `encoded` reads
the file, as aeon reads it when it loads a block. If aeon cannot make an element, or makes it from
undefined memory, the result for this element is an `ElementError`. The other elements of the record
are made.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.text import safe
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import chosen_rows
from exset.grammars.columns.strings import Strings
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.beneath import OutsideError
from exset.io.files import FilePath
from exset.parsers.aeon.base64 import decoded
from exset.parsers.aeon.manifest_checks import NUMBER_FINDINGS
from exset.parsers.aeon.manifest_columns import KERNELS, NO_NUMBER, RANGE
from exset.parsers.aeon.numbers import numbers
from exset.parsers.engine.errors import shown
from exset.runtime.aeon.manifest_files import path_of, read_file, size_of
from exset.runtime.aeon.missing_files import Folder

T = TypeVar("T")

_BATCH: Final = 4096
_ERRORS: Final = [NO_NUMBER, RANGE]
"""The problems of a number on which aeon fails."""


@dataclass(frozen=True)
class ElementError:
    """The reason why an element cannot be made, and the place of the element.

    record, column: the indices of the element, from 0. line: the line of the record in its file, or
    0. field: the text of the field.
    """

    record: int
    column: int
    line: int
    field: bytes
    code: str
    message: str

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        return f"record {self.record}, column {self.column}{line}: {self.message}"

    def hint(self, base: Folder) -> str | None:
        """Return advice for a FILE element whose file does not exist; None for any other error."""
        return base.hint_if_missing(self.field) if self.code == "aeon-file" else None


Encoded: TypeAlias = bytes | ElementError
"""The bytes of an element, or the reason why it cannot be made."""


@dataclass(frozen=True)
class Elements:
    """The elements of a column.

    values: an array of shape [records], of int32 for ASCII_INT and float32 for ASCII_FLOAT; Strings
    for other types. FILE elements are paths joined with the base folder. errors: the errors of
    elements that cannot be made. For such an element, `values` has no string, or the number 0.
    """

    kind: ElementType
    values: Strings | NDArray[np.int32] | NDArray[np.float32]
    errors: tuple[ElementError, ...]

    @property
    def strings(self) -> Strings:
        """Return the elements of a FILE, STRING or BINARY column. Raises TypeError for numbers."""
        if not isinstance(self.values, Strings):
            raise TypeError(f"a column of {self.kind} has numbers")
        return self.values

    @property
    def numbers(self) -> NDArray[np.int32] | NDArray[np.float32]:
        """Return the elements of a column of numbers. Raises TypeError for other types."""
        if isinstance(self.values, Strings):
            raise TypeError(f"a column of {self.kind} has strings")
        return self.values


def elements(
    manifest: Manifest, column: int, *, base: FilePath = "", compiled: bool | None = None
) -> Elements:
    """Return the elements of the column with this number.

    base: aeon's manifest_root, for relative paths. compiled: whether to use compiled kernels; by
    default they are used if they are faster. Raises IndexError for a column without a type.
    """
    kind = manifest.types[column]
    column = range(len(manifest.types))[column]
    if kind in (ElementType.FILE, ElementType.STRING):
        fields = manifest.column(column)
        if kind is ElementType.FILE and base:
            fields = Strings.of(joined(os.fsencode(base), path or b"") for path in fields)
        return Elements(kind, fields, ())
    starts, ends = manifest.spans(column)
    data = manifest.fields.data
    if compiled is None:
        compiled = KERNELS.use_compiled(data.size)
    values: Strings | NDArray[np.int32] | NDArray[np.float32]
    failed: list[tuple[int, str]] = []
    if kind is ElementType.BINARY:
        values = decoded(np.ascontiguousarray(data), starts, ends, compiled)
        failed = [(row, "aeon-base64-memory") for row in np.flatnonzero(~values.present).tolist()]
    else:
        values, issues = numbers(kind, data, starts, ends, compiled)
        for row in np.flatnonzero(np.isin(issues, _ERRORS)).tolist():
            failed.append((row, NUMBER_FINDINGS[int(issues[row])]))
    return Elements(kind, values, tuple(_bad_field(manifest, row, column, c) for row, c in failed))


def encoded(
    manifest: Manifest,
    which: ArrayLike | slice = slice(None),
    *,
    base: FilePath = "",
    access: Access = DEFAULT_ACCESS,
) -> Iterator[list[Encoded]]:
    """Yield the elements of each record as the bytes that aeon's loader gets; read the files.

    which: the records, by default all. base: aeon's manifest_root. access: its roots are the
    folders that must contain all files. A number is four bytes, little-endian. For an element that
    cannot be made, an ElementError is yielded instead, and the iteration continues.
    """
    rows = chosen_rows(which, len(manifest))
    for begin in range(0, rows.size, _BATCH):
        batch = rows[begin : begin + _BATCH]
        part = manifest.select(batch)
        columns = [
            encoded_column(part, column, base=base, access=access)
            for column in range(len(part.types))
        ]
        for record, row in zip(batch.tolist(), zip(*columns, strict=True), strict=True):
            yield [
                replace(each, record=record) if isinstance(each, ElementError) else each
                for each in row
            ]


def encoded_column(
    manifest: Manifest, column: int, *, base: FilePath = "", access: Access = DEFAULT_ACCESS
) -> Iterator[Encoded]:
    """Yield the elements of a column as `encoded` does."""
    found = elements(manifest, column, base=base)
    failed = {error.record: error for error in found.errors}
    if isinstance(found.values, Strings):
        each: Iterator[bytes] = (value or b"" for value in found.values)
    else:
        numbers = found.values.astype(found.values.dtype.newbyteorder("<")).tobytes()
        each = (numbers[at : at + 4] for at in range(0, len(numbers), 4))
    for record, value in enumerate(each):
        if record in failed:
            yield failed[record]
        elif found.kind is ElementType.FILE:
            yield contents(manifest, record, column, value, access)
        else:
            yield value


def contents(
    manifest: Manifest,
    record: int,
    column: int,
    path: bytes,
    access: Access = DEFAULT_ACCESS,
    max_bytes: int | None = None,
) -> Encoded:
    """Return the contents of the file at `path`, which the FILE element of a record names.

    Returns an ElementError if aeon cannot read the file, or if it is not in the roots of `access`.
    Raises LimitError for a file of more than `max_bytes`.
    """
    roots = access.roots
    read = partial(read_file, dialect=manifest.dialect, max_bytes=max_bytes, roots=roots)
    return _of_file(read, manifest, record, column, path)


def file_size(
    manifest: Manifest, record: int, column: int, path: bytes, access: Access = DEFAULT_ACCESS
) -> int | ElementError:
    """Return the size in bytes of the file at `path`, which the FILE element of a record names.

    Returns an ElementError if aeon cannot read the file.
    """
    read = partial(size_of, dialect=manifest.dialect, roots=access.roots)
    return _of_file(read, manifest, record, column, path)


def _of_file(
    read: Callable[[bytes], T], manifest: Manifest, record: int, column: int, path: bytes
) -> T | ElementError:
    """Call `read` with the path of the file that a FILE element names. Return the result, or, if
    `read` fails, the error as an ElementError.

    record, column: of the element in the manifest. path: as in the manifest.
    """
    try:
        return read(path_of(path))
    except OutsideError:
        outside = finding_at("aeon-file-outside", None, path=safe(os.fsdecode(path)))
        return _error(manifest, record, column, outside.code, outside.message)
    except OSError as error:
        why = error.strerror or str(error)
        message = f"{safe(os.fsdecode(path))}: {why}" if path else "the path is empty"
        return _error(manifest, record, column, "aeon-file", message)


def _bad_field(manifest: Manifest, record: int, column: int, code: str) -> ElementError:
    """Return the error for a field that aeon cannot convert.

    code: of the finding for this error.
    """
    finding = finding_at(code, None, raw=shown(manifest[record][column]))
    return _error(manifest, record, column, code, finding.message)


def _error(manifest: Manifest, record: int, column: int, code: str, message: str) -> ElementError:
    line, field = int(manifest.lines[record]), manifest[record][column]
    return ElementError(record, column, line, field, code, message)

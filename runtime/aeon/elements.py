"""The elements of a manifest: what aeon makes of its fields.

Numbers and base64 are made by columns. A FILE stays a path until it is asked for: `encoded` reads
it, as aeon does when it reads a block. What aeon fails on, or gets from what lay in memory, is an
`ElementError`; the other elements of the record stay.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.errors import LimitError, Severity, safe
from exset.core.limits import remedy
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_findings import RULES, finding_at
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.grammars.columns.arrays import chosen_rows
from exset.grammars.columns.strings import Strings
from exset.io.access import USUAL, Access, lies_in
from exset.parsers.aeon.base64 import decoded
from exset.parsers.aeon.manifest_checks import NUMBER_TRAPS
from exset.parsers.aeon.manifest_columns import KERNELS
from exset.parsers.aeon.numbers import int32s, reals
from exset.parsers.engine.errors import shown

_BATCH: Final = 4096
HUGE: Final = 1 << 31
"""Bytes of a file from which the dialect `head` reads zeros."""


@dataclass(frozen=True)
class ElementError:
    """An element that there is not: where, the field, and why, with a stable code.

    record, column: from 0. line: of the file that the record was read from, or 0.
    """

    record: int
    column: int
    line: int
    field: bytes
    code: str
    message: str

    def __str__(self) -> str:
        where = f"record {self.record}, column {self.column}"
        return f"{where}{f', line {self.line}' if self.line else ''}: {self.message}"


@dataclass(frozen=True)
class Elements:
    """The elements of a column.

    values: Strings of FILE (paths, the root joined), STRING and BINARY; int32 of ASCII_INT, float32
    of ASCII_FLOAT: [records]. One that there is not is among the errors; its string is not given,
    its number 0.
    """

    kind: ElementType
    values: Strings | NDArray[np.int32] | NDArray[np.float32]
    errors: tuple[ElementError, ...]

    @property
    def strings(self) -> Strings:
        """The elements of a FILE, STRING or BINARY column; TypeError for another."""
        if not isinstance(self.values, Strings):
            raise TypeError(f"a column of {self.kind} has numbers")
        return self.values

    @property
    def numbers(self) -> NDArray[np.int32] | NDArray[np.float32]:
        """The elements of an ASCII_INT or ASCII_FLOAT column; TypeError for another."""
        if isinstance(self.values, Strings):
            raise TypeError(f"a column of {self.kind} has strings")
        return self.values


Encoded: TypeAlias = bytes | ElementError
"""The bytes of an element, or why there are none."""


def elements(
    manifest: Manifest, column: int, *, root: str | bytes = b"", compiled: bool | None = None
) -> Elements:
    """The elements of a column, by its number.

    root: aeon's manifest_root, which is joined to relative paths. compiled: whether kernels are
    used, by default where it pays. Raises IndexError for a column that has no type.
    """
    kind = manifest.types[column]
    column = range(len(manifest.types))[column]
    if kind in (ElementType.FILE, ElementType.STRING):
        fields = manifest.column(column)
        if kind is ElementType.FILE and root:
            fields = Strings.of(joined(os.fsencode(root), path or b"") for path in fields)
        return Elements(kind, fields, ())
    starts, ends = manifest.spans(column)
    data = manifest.fields.data
    if compiled is None:
        compiled = KERNELS.should_compile(data.size)
    if kind is ElementType.BINARY:
        blobs = decoded(np.ascontiguousarray(data), starts, ends, compiled)
        odd = {"aeon-base64-memory": np.flatnonzero(~blobs.present)}
        return Elements(kind, blobs, _errors(manifest, column, odd))
    read = int32s if kind is ElementType.ASCII_INT else reals
    numbers = read(data, starts, ends, compiled)
    odd = {
        name: np.flatnonzero(numbers.odds == code)
        for code, name in NUMBER_TRAPS.items()
        if RULES[name].severity is Severity.ERROR
    }
    return Elements(kind, numbers.values, _errors(manifest, column, odd))


def encoded(
    manifest: Manifest,
    which: ArrayLike | slice = slice(None),
    *,
    root: str | bytes = b"",
    access: Access = USUAL,
) -> Iterator[list[Encoded]]:
    """Yield the elements of each record as the bytes that aeon's loader gets; files are read.

    which: the records, by default all. root: aeon's manifest_root. access: its roots are the
    folders that all files must lie in. Numbers are four bytes, little-endian. An error does not end
    it.
    """
    rows = chosen_rows(which, len(manifest))
    for begin in range(0, rows.size, _BATCH):
        batch = rows[begin : begin + _BATCH]
        part = manifest.select(batch)
        columns = [_encoded_column(part, column, root, access) for column in range(len(part.types))]
        for record, found in zip(batch.tolist(), zip(*columns, strict=True), strict=True):
            yield [
                _moved(each, record) if isinstance(each, ElementError) else each for each in found
            ]


def contents(
    manifest: Manifest,
    record: int,
    column: int,
    path: bytes,
    access: Access = USUAL,
    most: int | None = None,
) -> Encoded:
    """The element that a FILE is, by its path; it must lie in the roots of `access`, if any.

    most: as for `read_file`.
    """
    if not lies_in(os.fsdecode(path_of(path)), access.roots):
        found = finding_at("aeon-file-outside", None, path=safe(os.fsdecode(path)))
        return _error(manifest, record, column, found.code, found.message)
    try:
        return read_file(path, manifest.dialect, most)
    except OSError as error:
        why = error.strerror or str(error)
        message = f"{safe(os.fsdecode(path))}: {why}" if path else "the path is empty"
        return _error(manifest, record, column, "aeon-file", message)


def path_of(path: bytes) -> bytes:
    """The path that aeon opens: as C does, up to a NUL."""
    return path.partition(b"\0")[0]


def read_file(path: bytes, dialect: Dialect = Dialect.HEAD, most: int | None = None) -> bytes:
    """What a file holds. Raises OSError where aeon fails, never ends, or reads something else.

    most: how many bytes it may have, LimitError for more.
    """
    path = path_of(path)
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise OSError(f"it is {what}, which aeon never finishes reading")
    if status.st_size >= HUGE and dialect is Dialect.HEAD:
        raise OSError("it has 2 GiB or more, of which aeon reads nothing but zeros")
    if most is not None and status.st_size > most:
        raise LimitError(
            f"{safe(os.fsdecode(path))} has {status.st_size:,} bytes, and there are {most:,} left",
            hint=f"take fewer records at a time; or {remedy('max_array')}",
        )
    with open(path, "rb") as file:
        return file.read(status.st_size)


def _encoded_column(
    part: Manifest, column: int, root: str | bytes, access: Access
) -> Iterator[Encoded]:
    found = elements(part, column, root=root)
    failed = {error.record: error for error in found.errors}
    if isinstance(found.values, Strings):
        each: Iterator[bytes] = (value or b"" for value in found.values)
    else:
        words = found.values.astype(found.values.dtype.newbyteorder("<")).tobytes()
        each = (words[at : at + 4] for at in range(0, len(words), 4))
    for record, value in enumerate(each):
        if record in failed:
            yield failed[record]
        elif found.kind is ElementType.FILE:
            yield contents(part, record, column, value, access)
        else:
            yield value


def _errors(
    manifest: Manifest, column: int, odd: dict[str, NDArray[np.int64]]
) -> tuple[ElementError, ...]:
    pairs = sorted((row, name) for name, rows in odd.items() for row in rows.tolist())
    return tuple(
        _error(
            manifest,
            row,
            column,
            name,
            finding_at(name, None, raw=_shown(manifest, row, column)).message,
        )
        for row, name in pairs
    )


def _shown(manifest: Manifest, record: int, column: int) -> str:
    return shown(manifest[record][column])


def _error(manifest: Manifest, record: int, column: int, code: str, message: str) -> ElementError:
    line, field = int(manifest.lines[record]), manifest[record][column]
    return ElementError(record, column, line, field, code, message)


def _moved(error: ElementError, record: int) -> ElementError:
    return ElementError(record, *list(vars(error).values())[1:])

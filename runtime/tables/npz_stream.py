"""Read NPZ and NPY files in chunks of rows. Source: NumPy, "numpy.lib.format"."""

import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import prod
from typing import IO, Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import flat
from exset.grammars.tables.table import Table
from exset.io.blocks import Blocks
from exset.runtime.tables import flat_stream
from exset.runtime.tables.npz import (
    ARRAY,
    HEAD,
    MAGIC,
    METADATA,
    SUFFIX,
    Header,
    damage,
    header_of,
    most_bytes,
    read,
    read_array,
)

_BLOCK: Final = 1 << 20
_MOST_METADATA: Final = 1 << 26


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the rows of an NPZ file in tables; errors and findings are as for `read`.

    A file whose arrays are not columns of one length is read whole.
    """

    def whole() -> Table:
        source = blocks.whole_again(limits)
        return read(source, limits=limits, findings=findings, engine=engine)

    assert blocks.file is not None and blocks.size is not None
    with ExitStack() as stack:
        arrays = None
        if blocks.size > flat_stream.SMALL:
            try:
                with damage(blocks.name):
                    archive = stack.enter_context(zipfile.ZipFile(blocks.file))
                    arrays = _members(archive, most_bytes(blocks.size, limits), blocks.name, stack)
            except FormatError:
                arrays = None
        with damage(blocks.name):
            yield from _streamed(arrays, blocks, whole)


def stream_array(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the rows of an NPY file in tables. Raises the errors of `read_array`."""

    def whole() -> Table:
        source = blocks.whole_again(limits)
        return read_array(source, limits=limits, findings=findings, engine=engine)

    def opened() -> IO[bytes]:
        assert blocks.file is not None
        blocks.file.seek(0)
        return blocks.file

    assert blocks.size is not None
    arrays = None
    if blocks.size > flat_stream.SMALL:
        try:
            header = header_of(blocks.name, ARRAY, opened().read(HEAD))
            arrays = _Arrays({ARRAY: _Array(header, opened)})
        except FormatError:
            arrays = None
    yield from _streamed(arrays, blocks, whole)


def _members(archive: zipfile.ZipFile, most: int, name: str, stack: ExitStack) -> "_Arrays | None":
    """Return the arrays in an archive, which `stack` closes.

    Return None if the archive has other members, or more than `most` bytes.
    """
    found: dict[str, _Array] = {}
    members = archive.infolist()
    if sum(each.file_size for each in members) > most:
        return None
    for member in members:
        with archive.open(member) as file:
            head = file.read(HEAD)
        short = member.filename.removesuffix(SUFFIX)
        if short in found or not head.startswith(MAGIC):
            return None

        def opened(member: zipfile.ZipInfo = member) -> IO[bytes]:
            return stack.enter_context(archive.open(member))

        found[short] = _Array(header_of(name, member.filename, head), opened)
    return _Arrays(found)


def _streamed(
    arrays: "_Arrays | None", blocks: Blocks, whole: Callable[[], Table]
) -> Iterator[Table]:
    stored = None if arrays is None else arrays.stored()
    if arrays is None or stored is None:
        yield whole()
    else:
        yield from flat_stream.streamed(arrays, stored, arrays.size, blocks.notes, whole)


@dataclass
class _Array:
    """An array of an NPY file, read from its first row to its last one.

    opened: returns the file, from its first byte on.
    """

    header: Header
    opened: Callable[[], IO[bytes]]
    _file: IO[bytes] | None = field(default=None, init=False)
    _next: int = field(default=0, init=False)
    _last: bytes = field(default=b"", init=False)

    @property
    def width(self) -> int:
        """The bytes of a row."""
        return prod(self.header.shape[1:]) * self.header.dtype.itemsize

    def rows(self, begin: int, end: int) -> flat.Array:
        """Return rows `begin` to `end` - 1; it is slow to go back more than one row.

        Raises ValueError if the file ends before them.
        """
        before = b""
        if self._file is not None and 0 < begin == self._next - 1 and end >= self._next:
            before = self._last
        elif self._file is None or begin != self._next:
            self._file = self.opened()
            self._skip(self.header.begin + begin * self.width)
            self._next = begin
        data = before + self._file.read((end - self._next) * self.width)
        if len(data) != (end - begin) * self.width:
            raise ValueError("the array ends before its last element")
        self._next, self._last = end, data[len(data) - self.width :]
        shape = (end - begin, *self.header.shape[1:])
        return np.frombuffer(data, self.header.dtype).reshape(shape)

    def _skip(self, size: int) -> None:
        assert self._file is not None
        while size > 0 and (data := self._file.read(min(size, _BLOCK))):
            size -= len(data)


@dataclass(frozen=True)
class _Arrays:
    """The arrays of an NPZ file by name, which are read in parts."""

    arrays: dict[str, _Array]

    @property
    def size(self) -> int:
        """The bytes of all arrays."""
        return sum(each.width * each.header.shape[0] for each in self.arrays.values())

    def stored(self) -> dict[str, Any] | None:
        """Return the metadata and the forms of the columns; None if these are not clear."""
        columns = {name: each for name, each in self.arrays.items() if name != METADATA}
        headers = {name: each.header for name, each in columns.items()}
        for header in headers.values():
            is_unordered = header.is_fortran and len(header.shape) > 1
            if is_unordered or not header.shape or min(header.shape) < 1:
                return None
        if METADATA not in self.arrays:
            return flat.foreign_forms({n: (h.dtype, h.shape) for n, h in headers.items()})
        own = self.arrays[METADATA]
        if len(own.header.shape) != 1 or own.header.shape[0] > _MOST_METADATA:
            return None
        try:
            stored = json.loads(own.rows(0, own.header.shape[0]).tobytes())
        except (ValueError, RecursionError):
            return None
        return stored if isinstance(stored, dict) else None

    def length(self, name: str) -> int | None:
        """Return the length of the array `name`."""
        found = self.arrays.get(name)
        return None if found is None else found.header.shape[0]

    def part(self, name: str, begin: int, end: int) -> flat.Array:
        """Return rows `begin` to `end` - 1 of the array `name`."""
        return self.arrays[name].rows(begin, end)

    def strings(self, name: str, begin: int, end: int) -> Strings | None:
        """Return None: the arrays have no text."""
        return None

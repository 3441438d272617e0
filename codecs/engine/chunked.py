"""Read a file of many records in chunks: first the fields before the records, then the records.

The fields before the records are the head. Each chunk is read like a small file with two fields:
the number of records in the chunk, in place of the file's count, and the array of these records.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import Final, NoReturn

import numpy as np

from exset.codecs.engine.failures import TruncatedError
from exset.codecs.engine.fields import Fields, Values
from exset.codecs.engine.gather import KERNELS
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.reader import read
from exset.codecs.engine.writer import write
from exset.core.errors import Finding, FormatError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.io.blocks import Blocks

_WINDOW: Final = 1 << 20  # bytes to wait for, except from a pipe
_FEW: Final = 1 << 14  # the same if only the first records are needed
_FULL: Final = 0.95  # fill a window to this part, by the mean size: few records are read twice


class ChunkedLayout:
    """A declaration whose last two fields are a count and an array of `count` records.

    head: the layout of the fields before the count. tail: the layout of the count and the array.
    one: the layout of a single record. `declaration.split_declaration` makes these layouts.
    """

    def __init__(self, head: Layout, tail: Layout, one: Layout) -> None:
        self.layouts = self.head, self.tail, self.one = head, tail, one

    @cached_property
    def path(self) -> str:
        """The path of the array of records."""
        return next(path for path in self.tail.rows if "." not in path)

    @cached_property
    def least(self) -> int:
        """The fewest bytes that a record can have."""
        return self.tail.rows[self.path].least

    @cached_property
    def stored(self) -> np.dtype[np.generic]:
        """The dtype in which the file stores the number of records."""
        return next(iter(self.tail.leaves.values())).dtype

    @property
    def size(self) -> int:
        """The number of bytes that the count takes in the file."""
        return self.stored.itemsize

    def write_count(self, count: int) -> bytes:
        """Return the bytes that store the count of records in the file."""
        return np.array(count, self.stored).tobytes()

    def write_head(self, fields: Mapping[str, Values]) -> bytes:
        """Return the bytes of the fields before the count. fields: the columns of a file."""
        return write(self.head, {path: fields[path] for path in self.head.leaves})

    def write_records(self, fields: Mapping[str, Values], written: int = 0) -> bytes:
        """Return the bytes of the records, without the count.

        fields: the columns of a file. written: the number of bytes of records that earlier calls
        have returned. It decides whether to use compiled code, which is used for large files.
        """
        columns = {path: fields[path] for path in self.tail.leaves}
        engine: Engine = "table" if KERNELS.use_compiled(written) else "auto"
        return write(self.tail, columns, engine=engine)[self.size :]


@dataclass(frozen=True)
class Shift:
    """The position of a chunk in its file.

    path: the path of the array of records. start: the chunk's offset. first: the index of its
    first record.
    """

    path: str
    start: int
    first: int

    def error(self, error: FormatError) -> FormatError:
        """Return the error with its place in the file, given its place in the chunk."""
        return error.changed(self.finding)

    def finding(self, finding: Finding) -> Finding:
        """Return the finding with its place in the file, given its place in the chunk."""
        if (place := finding.place) is None:
            return finding
        return replace(finding, place=place.moved(self.start, self.path, self.first))


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some consecutive records of a file.

    source: a small file: the count of these records, then their bytes. fields: the columns of the
    records. shift: where the chunk is in the file. count: the number of records.
    """

    fields: Fields
    source: Source
    shift: Shift
    count: int


class ChunkReader:
    """Reads a file in chunks. Call `head` first, then `records`.

    held: the bytes that were read from the file but not yet decoded. At the start, the caller may
    give the first bytes of the file.
    """

    def __init__(
        self, layout: ChunkedLayout, blocks: Blocks, limits: Limits, engine: Engine
    ) -> None:
        self._layout = layout
        self._blocks = blocks
        self._limits = limits
        self._engine = engine
        self._window = _WINDOW if blocks.needed is None else max(min(_WINDOW, blocks.needed), _FEW)
        self.held = b""
        self._start = 0  # the offset of the held bytes in the file

    def head(self) -> tuple[Fields, Source]:
        """Read the fields before the count. Return these fields and their bytes.

        Raises FormatError for a truncated or invalid head.
        """
        while True:
            source = Source(self._blocks.name, self.held)
            try:
                fields = self._read(self._layout.head, source)
            except TruncatedError as error:
                if not self._read_more(error.needed):
                    raise
            else:
                self._drop(fields.end)
                return fields, source

    def records(self) -> Iterator[Chunk]:
        """Yield the records of the file in one or more chunks.

        Raises FormatError for a truncated or invalid record.
        """
        size = self._layout.size
        while len(self.held) < size and self._read_more():
            pass
        start, stored = self._start, self.held[:size]
        is_whole = len(stored) == size
        total = int(np.frombuffer(stored, self._layout.stored)[0]) if is_whole else 0
        if total <= 0:
            yield self._without_records(start, stored)
        self._drop(len(stored))
        first, mean = 0, 0.0
        while first < total:
            most = len(self.held) // self._layout.least
            if mean:
                most = min(most, max(1, int(_FULL * len(self.held) / mean)))
            begun = monotonic()
            try:
                chunk = self._chunk(min(most, total - first), first)
            except FormatError as error:
                whole = (error.place and error.place.index(self._layout.path)) or 0
                if whole == 0 and isinstance(error, TruncatedError):
                    if not self._read_more(error.needed - size, monotonic() - begun):
                        self._raise_truncated(start, stored, total, first)
                    continue
                if whole == 0:
                    shift = Shift(self._layout.path, self._start - size, first)
                    raise shift.error(error) from None
                chunk = self._chunk(whole, first)
            yield chunk
            read = chunk.fields.end - size
            first, mean = first + chunk.count, read / chunk.count
            self._drop(read)
            if len(self.held) < self._window and not self._blocks.is_pipe:
                self._read_more()

    def rest(self) -> tuple[int, int]:
        """Read to the end of the file. Return the offset after the records, and the number of bytes
        there.
        """
        return self._start, len(self.held) + sum(map(len, self._blocks))

    def halves(self, chunk: Chunk) -> tuple[Chunk, Chunk]:
        """Split a chunk of at least two records into two chunks, each with half of the records."""
        size, count = self._layout.size, chunk.count // 2
        end = int(chunk.fields.starts[self._layout.path][count])
        at, first, data = chunk.shift.start + size, chunk.shift.first, chunk.source.data
        return (
            self._make(data[size:end], at, first, count),
            self._make(data[end:], at + end - size, first + count, chunk.count - count),
        )

    def _chunk(self, count: int, first: int) -> Chunk:
        """Make a chunk from the first `count` records in the bytes that were read.

        first: the index in the file of the first of these records. Raises FormatError, whose place
        counts from the beginning of the chunk.
        """
        if count == 0:
            raise TruncatedError("no record is complete")
        return self._make(self.held, self._start, first, count)

    def _make(self, data: bytes, at: int, first: int, count: int) -> Chunk:
        source = Source(self._blocks.name, self._layout.write_count(count) + data)
        shift = Shift(self._layout.path, at - self._layout.size, first)
        return Chunk(self._read(self._layout.tail, source), source, shift, count)

    def _read(self, layout: Layout, source: Source) -> Fields:
        size = max(self._blocks.needed or 0, self._start + len(self.held))
        engine = "table" if self._engine == "auto" and KERNELS.use_compiled(size) else self._engine
        return read(layout, source, limits=self._limits, engine=engine)

    def _without_records(self, start: int, stored: bytes) -> Chunk:
        """Return a chunk without records, for a file whose count is 0.

        start: the offset of the count. stored: the bytes of the count. Raises FormatError if these
        bytes are incomplete, or if the count is negative.
        """
        source, shift = Source(self._blocks.name, stored), Shift(self._layout.path, start, 0)
        try:
            return Chunk(self._read(self._layout.tail, source), source, shift, 0)
        except FormatError as error:
            raise shift.error(error) from None

    def _raise_truncated(self, start: int, stored: bytes, total: int, first: int) -> NoReturn:
        """Raise the error for a file that ends within a record, or whose count is too large.

        start: the offset of the count. stored: the bytes of the count. total: the value of the
        count. first: the index of the record in which the file ends.
        """
        end = self._blocks.size
        if end is None:
            end = self._start + len(self.held)
        if total * self._layout.least > end - start - len(stored):
            self._without_records(start, stored)
        shift = Shift(self._layout.path, self._start, first)
        try:
            self._read(self._layout.one, Source(self._blocks.name, self.held))
        except FormatError as error:
            raise shift.error(error) from None
        raise AssertionError("the record is complete")

    def _read_more(self, needed: int = 0, patience: float = 0) -> bool:
        """Read until `held` has at least `needed` bytes. Return whether any bytes were read.

        By default, read a window of a file, or the bytes that a pipe has ready. patience: how many
        seconds to wait until a pipe has doubled the bytes in `held`. Callers give the time that
        their last attempt to decode took. So all attempts together take no longer than the waits
        between them.
        """
        if self._blocks.size is not None and self._start + needed > self._blocks.size:
            return False
        blocks, size, until = [self.held], len(self.held), monotonic() + patience
        twice = 2 * size
        needed = max(needed, size + 1 if self._blocks.is_pipe else max(self._window, twice))
        while size < needed or (size < twice and self._blocks.is_ready(until - monotonic())):
            if (block := next(self._blocks, None)) is None:
                break
            blocks.append(block)
            size += len(block)
        self.held = b"".join(blocks)
        return len(blocks) > 1

    def _drop(self, size: int) -> None:
        self.held = self.held[size:]
        self._start += size

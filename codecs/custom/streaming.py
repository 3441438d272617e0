"""Read a large file in chunks: the fields before its array of records, then its records."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import construct as cs
import numpy as np

from exset.codecs.custom.columns import Columns
from exset.codecs.custom.reading import columns_of, read
from exset.codecs.custom.shape import Shape
from exset.codecs.engine.chunked import Shift
from exset.codecs.engine.failures import TruncatedError
from exset.codecs.engine.fields import Values
from exset.codecs.engine.gather import KERNELS
from exset.codecs.engine.reader import Lazy, LazyFields, interpret
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs
from exset.io import files
from exset.io.blocks import Blocks

_WINDOW: Final = 1 << 22
"""The least number of bytes that are held, unless the file has fewer."""


@dataclass(frozen=True)
class _Parts:
    """A layout, split before its last field, which is an array of records. Paths stay the same.

    head: the fields before the array. records: the array. name: the name of the array. count: the
    path of the array's count; None if it has no count.
    """

    head: Shape
    records: Shape
    name: str
    count: str | None


@dataclass(frozen=True)
class _Joined:
    """The flat columns of one chunk of a file.

    head: the columns of the fields before the array of records. records: the columns of the
    chunk's records. paths: the paths that are in `records`. begin: the offset of the chunk in the
    file. stopped: see `Columns.stopped`.
    """

    head: Columns
    records: Columns
    paths: frozenset[str]
    begin: int
    stopped: FormatError | None

    def __getitem__(self, path: str) -> Values:
        return self._part(path).found[path]

    def counts(self, path: str) -> np.ndarray[tuple[int], np.dtype[np.integer]]:
        return self._part(path).found.counts(path)

    def owners(self, path: str) -> Longs | None:
        return self._part(path).found.owners(path)

    @property
    def starts(self) -> Mapping[str, Longs]:
        """The offsets in the file of the records of each array."""
        return Lazy(
            lambda path: self._part(path).found.starts[path] + (path in self.paths) * self.begin
        )

    def _part(self, path: str) -> Columns:
        return self.records if path in self.paths else self.head


def stream(
    shape: Shape, path: str | os.PathLike[str], limits: Limits, engine: Engine
) -> Iterator[Columns]:
    """Yield the columns of a file in chunks: see `Layout.stream`."""
    parts = None if engine == "reference" else _split(shape)
    if parts is None:
        yield read(shape, files.read(path, limits=limits), limits, engine)
        return
    with files.blocks(path, limits=limits) as blocks:
        yield from _Stream(shape, parts, blocks, limits, engine).chunks()


def _split(shape: Shape) -> _Parts | None:
    """Split a layout before its last field.

    Return None if this field is not an array of records.
    """
    declaration = shape.declaration
    while isinstance(declaration, cs.Renamed | cs.Compiled):
        is_named = isinstance(declaration, cs.Renamed)
        declaration = declaration.subcon if is_named else declaration.defersubcon
    members = declaration.subcons if type(declaration) is cs.Struct else ["value" / declaration]
    array = members[-1].subcon if isinstance(members[-1], cs.Renamed) else None
    name = members[-1].name
    if not isinstance(array, cs.Array | cs.GreedyRange) or name not in shape.records:
        return None
    count = None
    if isinstance(array, cs.Array):
        field = shape.tree.root.members[-1][1]
        found = getattr(getattr(field, "count", None), "path", None)
        if found not in shape.engine.leaves:
            return None
        count = found
    try:
        records = Shape.of(cs.Struct(name / cs.GreedyRange(array.subcon)))
    except TypeError:  # a record uses a field before the array
        return None
    return _Parts(Shape.of(cs.Struct(*members[:-1])), records, name, count)


class _Stream:
    """Reads one file in chunks of records."""

    def __init__(
        self, shape: Shape, parts: _Parts, blocks: Blocks, limits: Limits, engine: Engine
    ) -> None:
        self._shape = shape
        self._parts = parts
        self._blocks = blocks
        self._limits = limits
        size = blocks.needed or 0
        self._compiled = KERNELS.use_compiled(size, engine)
        self._held = b""
        self._start = 0

    def chunks(self) -> Iterator[Columns]:
        """Yield the columns of each chunk. There is at least one chunk."""
        head, name = self._head(), self._parts.name
        left = None
        if self._parts.count is not None:
            left = int(np.asarray(head.found[self._parts.count])[-1])
            if left < 0:
                read(self._shape, self._source, self._limits, "auto")  # raises the error
        first, is_done = 0, False
        while not is_done:
            self._read_more(_WINDOW)
            records, wrong = self._records(left, first)
            while records.rows(name) == 0 and isinstance(wrong, TruncatedError):
                if not self._read_more(2 * len(self._held)):
                    break
                records, wrong = self._records(left, first)
            count = records.rows(name)
            is_all = left is not None and count == left
            is_end = records.end == len(self._held) or count == 0
            is_damaged = wrong is not None and not isinstance(wrong, TruncatedError)
            is_done = is_all or is_damaged or (not self._read_more(len(self._held) + 1) and is_end)
            if is_done and left is not None and not is_all:
                self._raise_short(wrong, left, count, first)
            stopped = None
            if is_done and left is None and wrong is not None:
                stopped = self._moved(wrong, first)
            if count or first == 0 or stopped is not None:
                yield self._joined(head, records, stopped)
            left = None if left is None else left - count
            first += count
            self._held = self._held[records.end :]
            self._start += records.end

    def _head(self) -> Columns:
        while True:
            try:
                head = read(self._parts.head, self._source, self._limits, "auto")
            except TruncatedError:
                if not self._read_more(max(_WINDOW, 2 * len(self._held))):
                    raise
            else:
                self._held = self._held[head.end :]
                self._start = head.end
                return head

    def _records(self, left: int | None, first: int) -> tuple[Columns, FormatError | None]:
        """Return the complete records in memory, and the error that ended them, or None if there is
        none.

        left: the number of records that the file still has; None if it has no count. first: the
        index of the next record, for errors.
        """
        records, source = self._parts.records, self._source
        limits, compiled, wrong = self._limits, self._compiled, None
        try:
            fields = interpret(records.engine, source, limits, compiled=compiled)
            wrong = fields.stopped
            if left is not None and int(fields.counts(self._parts.name).sum()) > left:
                fields = interpret(records.engine, source, limits, compiled=compiled, rest=left)
                wrong = None
            columns = columns_of(records, fields, source, limits, compiled=compiled)
        except FormatError as error:
            raise self._moved(error, first) from None
        found = columns.found
        if isinstance(found, LazyFields) and found is not fields:
            wrong = found.stopped
        return columns, wrong

    def _joined(self, head: Columns, records: Columns, stopped: FormatError | None) -> Columns:
        paths = frozenset((*self._parts.records.engine.leaves, *self._parts.records.engine.rows))
        found = _Joined(head, records, paths, self._start, stopped)
        texts = {**head.texts, **records.texts}
        return Columns(self._shape, self._start + records.end, found, texts)

    def _raise_short(self, wrong: FormatError | None, left: int, count: int, first: int) -> None:
        """Raise the error for a file whose count is larger than the number of its records.

        wrong: the error in the record at which reading stopped, or None. left: the number of
        records that were still expected. count: the number of records that were found. first: the
        index of the first of these.
        """
        if wrong is None:
            wrong = TruncatedError(f"the data end after {first + count} of {first + left} records")
        raise self._moved(wrong, first)

    def _moved(self, error: FormatError, first: int) -> FormatError:
        return Shift(self._parts.name, self._start, first).error(error)

    @property
    def _source(self) -> Source:
        return Source(self._blocks.name, self._held)

    def _read_more(self, size: int) -> bool:
        """Read until `size` bytes are in memory, or the file ends. Return whether any bytes were
        read.
        """
        blocks, held = [self._held], len(self._held)
        while held < size and (block := next(self._blocks, None)) is not None:
            blocks.append(block)
            held += len(block)
        self._held = b"".join(blocks)
        return len(blocks) > 1

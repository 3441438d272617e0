"""A file of many records, read part by part: its head once, then so many records at a time.

Each part is read by the drivers as a small file of its own, of the very fields that are declared:
the count, made to fit, and the array.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from time import monotonic
from typing import Final, NoReturn

import numpy as np

from exset.codecs.engine.drivers import is_compiled, read, write
from exset.codecs.engine.failures import Cut
from exset.codecs.engine.fields import Fields, Values
from exset.codecs.engine.layout import Layout
from exset.core.errors import Finding, Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.io.files import Blocks

_WINDOW: Final = 1 << 20  # bytes that are waited for, unless they come from a pipe
_FULL: Final = 0.95  # of a window, by what records took so far: then few are read twice


class Parted:
    """A declaration whose last two fields are a count and an array of so many records.

    head: the layout of what comes before. tail: that of the two. one: that of a single record. They
    are those of the parts that `tree.parted` gives.
    """

    def __init__(self, head: Layout, tail: Layout, one: Layout) -> None:
        """Take the layouts."""
        self.layouts = self.head, self.tail, self.one = head, tail, one

    @cached_property
    def path(self) -> str:
        """The path of the array."""
        return next(path for path in self.tail.rows if "." not in path)

    @cached_property
    def least(self) -> int:
        """The fewest bytes of a record."""
        return self.tail.rows[self.path].least

    @cached_property
    def stored(self) -> np.dtype[np.generic]:
        """The dtype of the count in the file."""
        return next(iter(self.tail.leaves.values())).dtype

    @property
    def size(self) -> int:
        """The bytes of the count."""
        return self.stored.itemsize

    def counted(self, count: int) -> bytes:
        """The bytes of a count."""
        return np.array(count, self.stored).tobytes()

    def write_head(self, fields: Mapping[str, Values]) -> bytes:
        """The bytes of what comes before the count, from the columns of a file."""
        return write(self.head, {path: fields[path] for path in self.head.leaves})

    def write_records(self, fields: Mapping[str, Values], before: int = 0) -> bytes:
        """The bytes of the records alone, from the columns of a file.

        before: about how many were written already: then kernels may be worth compiling.
        """
        columns = {path: fields[path] for path in self.tail.leaves}
        engine: Engine = "table" if is_compiled(before) else "auto"
        return write(self.tail, columns, engine=engine)[self.size :]


@dataclass(frozen=True)
class Shift:
    """Where a part is in the whole file: its first byte, and the number of its first record."""

    path: str
    start: int
    first: int

    def moved(self, error: FormatError) -> FormatError:
        """An error of the part as one of the whole file."""
        return type(error).of(self.found(error.finding))

    def found(self, finding: Finding) -> Finding:
        """A finding about the part as one about the whole file."""
        if (place := finding.place) is None:
            return finding
        return replace(finding, place=place.moved(self.start, self.path, self.first))


class Shifted(Findings):
    """Passes findings about a part on as findings about the whole file."""

    def __init__(self, shift: Shift, findings: Findings) -> None:
        super().__init__()
        self._shift = shift
        self._findings = findings

    def add(self, finding: Finding, times: int = 1) -> None:
        """Pass it on."""
        self._findings.add(self._shift.found(finding), times)


@dataclass(frozen=True, eq=False)
class Part:
    """Some records of a file, as the fields of a file of their own, which the source is."""

    fields: Fields
    source: Source
    shift: Shift
    count: int


class Parts:
    """A file that is read part by part."""

    def __init__(self, parted: Parted, blocks: Blocks, limits: Limits, engine: Engine) -> None:
        """Begin to read."""
        self._parted = parted
        self._blocks = blocks
        self._limits = limits
        self._engine = engine
        self._held = b""
        self._start = 0  # where in the file that begins

    @property
    def seen(self) -> bytes:
        """The bytes that are held: before the head is read, those that it begins with."""
        return self._held

    def head(self) -> tuple[Fields, Source]:
        """The fields before the count, and their bytes. Raises FormatError."""
        while True:
            source = Source(self._blocks.name, self._held)
            try:
                fields = self._read(self._parted.head, source)
            except Cut as cut:
                if not self._more(cut.needed):
                    raise
            else:
                self._drop(fields.end)
                return fields, source

    def records(self) -> Iterator[Part]:
        """The parts, one at least; to be asked for after the head. Raises FormatError."""
        while len(self._held) < self._parted.size and self._more():
            pass
        start, stored = self._start, self._held[: self._parted.size]
        is_whole = len(stored) == self._parted.size
        total = int(np.frombuffer(stored, self._parted.stored)[0]) if is_whole else 0
        if total <= 0:
            yield self._counted(start, stored)
        self._drop(len(stored))
        first, mean = 0, 0.0
        while first < total:
            most = len(self._held) // self._parted.least
            if mean:
                most = min(most, max(1, int(_FULL * len(self._held) / mean)))
            begun = monotonic()
            try:
                part = self._part(min(most, total - first), first)
            except FormatError as error:
                done = self._done(error)
                if done == 0 and isinstance(error, Cut):
                    if not self._more(error.needed - self._parted.size, monotonic() - begun):
                        self._cut(start, stored, total, first)
                    continue
                shift = Shift(self._parted.path, self._start - self._parted.size, first)
                if done == 0:
                    raise shift.moved(error) from None
                part = self._part(done, first)
            yield part
            size = part.fields.end - self._parted.size
            first, mean = first + part.count, size / part.count
            self._drop(size)
            if len(self._held) < _WINDOW and not self._blocks.is_pipe:
                self._more()

    def rest(self) -> tuple[int, int]:
        """Where what follows the records begins, and how many bytes it is; it is read."""
        return self._start, len(self._held) + sum(map(len, self._blocks))

    def halves(self, part: Part) -> tuple[Part, Part]:
        """Two parts of one that has two records or more."""
        size, count = self._parted.size, part.count // 2
        end = int(part.fields.starts[self._parted.path][count])
        at, first = part.shift.start + size, part.shift.first
        return (
            self._made(part.source.data[size:end], at, first, count),
            self._made(part.source.data[end:], at + end - size, first + count, part.count - count),
        )

    def _part(self, count: int, first: int) -> Part:
        """So many of the records that are held. Raises FormatError, its place not moved."""
        if count == 0:
            raise Cut("no record is complete")
        return self._made(self._held, self._start, first, count)

    def _made(self, data: bytes, at: int, first: int, count: int) -> Part:
        source = Source(self._blocks.name, self._parted.counted(count) + data)
        shift = Shift(self._parted.path, at - self._parted.size, first)
        return Part(self._read(self._parted.tail, source), source, shift, count)

    def _read(self, layout: Layout, source: Source) -> Fields:
        size = max(self._blocks.size or 0, self._start + len(self._held))
        engine = "table" if self._engine == "auto" and is_compiled(size) else self._engine
        return read(layout, source, limits=self._limits, engine=engine)

    def _counted(self, start: int, stored: bytes) -> Part:
        """No records: there is no count, or it says so. Raises FormatError."""
        source, shift = Source(self._blocks.name, stored), Shift(self._parted.path, start, 0)
        try:
            return Part(self._read(self._parted.tail, source), source, shift, 0)
        except FormatError as error:
            raise shift.moved(error) from None

    def _cut(self, start: int, stored: bytes, total: int, first: int) -> NoReturn:
        """The data end in a record: a fault of the count, if so many can never have fitted."""
        end = self._blocks.size
        if end is None:
            end = self._start + len(self._held)
        if total * self._parted.least > end - start - len(stored):
            self._counted(start, stored)
        shift = Shift(self._parted.path, self._start, first)
        try:
            self._read(self._parted.one, Source(self._blocks.name, self._held))
        except FormatError as error:
            raise shift.moved(error) from None
        raise AssertionError("the record is complete")

    def _done(self, error: FormatError) -> int:
        """How many records come before an error."""
        return (error.place and error.place.index(self._parted.path)) or 0

    def _more(self, needed: int = 0, patience: float = 0) -> bool:
        """Read on, to have so many bytes, and of a file a window; whether there was anything.

        patience: for how many seconds a pipe may give more than that, until there is twice as much.
        As long as the last try took: then tries take no more time than the pipe, or than one does.
        """
        if self._blocks.size is not None and self._start + needed > self._blocks.size:
            return False
        parts, size, until = [self._held], len(self._held), monotonic() + patience
        twice = 2 * size
        wanted = max(needed, size + 1 if self._blocks.is_pipe else max(_WINDOW, twice))
        while size < wanted or (size < twice and self._blocks.is_ready(until - monotonic())):
            if (block := next(self._blocks, None)) is None:
                break
            parts.append(block)
            size += len(block)
        self._held = b"".join(parts)
        return len(parts) > 1

    def _drop(self, size: int) -> None:
        self._held = self._held[size:]
        self._start += size

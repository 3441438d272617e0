"""The table driver, reading: the lowered layout, run by the machine."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar, cast

import numpy as np

from exset.codecs.engine.columns import Mover, Offsets
from exset.codecs.engine.execution import Execution, Streams
from exset.codecs.engine.failures import Reason, failure
from exset.codecs.engine.fields import Fields, Values
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Origin
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Ints, Longs, compact, frozen, offsets_of
from exset.grammars.columns.ragged import Ragged

V = TypeVar("V")


def read(layout: Layout, source: Source, limits: Limits, *, compiled: bool) -> Fields:
    """What `reference.read` returns or raises; columns are fetched when they are asked for.

    Raises TooLarge where an expression needs more than 64 bits.
    """
    execution = Execution(layout.program, source.view, limits.max_name, compiled)
    streams, failed = execution.run()
    found = _Found(layout, source, streams, Mover(compiled))
    if failed is not None:
        _Failure(found, source, execution, limits).report(failed)
    return TableFields(
        layout,
        Lazy(layout.leaves, found.column),
        Lazy([*layout.leaves, *layout.rows], found.starts),
        Lazy(layout.rows, found.bounds),
        found.streams.end,
        found.mover.merged,
        found,
    )


class Lazy(Mapping[str, V], Generic[V]):
    """A mapping whose values are made when they are first asked for."""

    def __init__(self, keys: Iterable[str], make: Callable[[str], V]) -> None:
        """Name the keys."""
        self._keys = dict.fromkeys(keys)
        self._make = make
        self._made: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        if key not in self._made:
            if key not in self._keys:
                raise KeyError(key)
            self._made[key] = self._make(key)
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class _Found:
    """The columns of a file, from the streams of a run over it."""

    def __init__(self, layout: Layout, source: Source, streams: Streams, mover: Mover) -> None:
        self.layout = layout
        self.streams = streams
        self.mover = mover
        self.data = np.frombuffer(source.view, np.uint8)

    def column(self, path: str) -> Values:
        """A column of the file."""
        leaf = self.layout.leaves[path]
        starts = self.streams[leaf.stream]
        if not leaf.is_number:
            return self.mover.strings(self.data, starts, self.streams[leaf.stream + 1])
        if path in self.layout.rows:
            return frozen(self.mover.rows(self.data, leaf, starts, self.streams[leaf.stream + 1]))
        return frozen(self.mover.numbers(self.data, leaf, starts, leaf.shift))

    def starts(self, path: str) -> Longs:
        """The offsets of the elements of a column or an array."""
        if path in self.layout.rows:
            begin = self.layout.rows[path].begin
            if isinstance(begin, int):
                return self.streams[begin].astype(np.int64)
            if begin != path:
                return self.starts(begin)
        leaf = self.layout.leaves[path]
        return self.streams[leaf.stream] + np.int64(leaf.shift)

    def bounds(self, path: str) -> Longs:
        """Where the instances of an array begin in its column."""
        counts = self.streams[self.layout.rows[path].stream]
        return offsets_of(cast(Longs, compact(counts)))

    def interleaved(self, first: str, second: str) -> tuple[Offsets, Offsets]:
        """The starts and lengths of two columns, or arrays, as one; lengths of numbers are none."""
        streams = []
        for add in (0, 1):
            for path in (first, second):
                leaf = self.layout.leaves[path]
                single = leaf.is_number and path not in self.layout.rows
                streams.append(self.streams[leaf.stream + add * (not single)])
        a, b, a_lengths, b_lengths = streams
        return self.mover.interleaved(a, b, a_lengths, b_lengths)


@dataclass(frozen=True, eq=False, repr=False)
class TableFields(Fields):
    """Fields that are fetched from the file when they are asked for."""

    found: _Found

    def spans(self, path: str) -> tuple[Longs, Longs]:
        """Where the strings of a column begin, and how long they are: none is copied for it."""
        stream, streams = self.layout.leaves[path].stream, self.found.streams
        return streams[stream].astype(np.int64), streams[stream + 1].astype(np.int64)

    def counts(self, path: str) -> Ints | Longs:
        """How many elements each instance of an array has."""
        return self.found.streams[self.layout.rows[path].stream]

    def merged(self, first: str, second: str) -> Values:
        """Two columns of one kind as one, in the order of the file."""
        found, leaf = self.found, self.layout.leaves[first]
        if leaf.shift != self.layout.leaves[second].shift:
            return super().merged(first, second)
        starts, lengths = found.interleaved(first, second)
        if leaf.is_number:
            return frozen(found.mover.numbers(found.data, leaf, starts, leaf.shift))
        return found.mover.strings(found.data, starts, lengths)

    def merged_rows(self, first: str, second: str) -> Ragged[np.generic]:
        """Two arrays of numbers as one, in the order of the file."""
        found, leaf = self.found, self.layout.leaves[first]
        starts, lengths = found.interleaved(first, second)
        values = frozen(found.mover.rows(found.data, leaf, starts, lengths))
        return Ragged.unchecked(values=values, offsets=offsets_of(cast(Longs, compact(lengths))))


class _Failure:
    """Says why an instruction failed, as the reference driver would."""

    def __init__(self, found: _Found, source: Source, execution: Execution, limits: Limits) -> None:
        self.found = found
        self.source = source
        self.execution = execution
        self.limits = limits
        self.offset = found.streams.end
        self.left = len(execution.data) - self.offset
        self.layout = found.layout
        self.starts = Lazy([*self.layout.leaves, *self.layout.rows], found.starts)

    def report(self, at: int) -> NoReturn:
        """Raise the error of the instruction at a place."""
        origin = self.layout.program.origins[at]
        match origin.kind:
            case "test":
                self.fail_at(origin, Reason.CHECK, condition=origin.text)
            case "constant":
                if self.left < origin.size:
                    self.fail(Reason.ENDS, origin.path, self.offset)
                self.fail(Reason.CONSTANT, origin.path, self.offset, value=origin.value)
            case "string":
                if self.left > self.limits.max_name:
                    most = self.limits.max_name
                    self.fail(Reason.TOO_LONG, origin.path, self.offset, value=most)
                self.fail(Reason.UNENDED, origin.path, self.offset)
            case "alignment":
                self.fail(Reason.ENDS, origin.path, self.offset)
            case "block":
                self.ends(origin.numbers)
            case _:
                self.count(origin, at)

    def count(self, origin: Origin, at: int) -> NoReturn:
        """A count is wrong, or, if it is constant, the data end."""
        if origin.field is None:
            size = origin.size if origin.is_array else self.left + 1
            self.fail(Reason.ENDS, origin.path, self.offset + self.left // size * size)
        count = self.execution.ints[self.layout.program.code[at][origin.operand]]
        needed = self.offset + int(count) * origin.size
        self.fail_at(origin, Reason.NEGATIVE if count < 0 else Reason.TOO_MANY, needed=needed)

    def ends(self, numbers: tuple[tuple[str, int], ...]) -> NoReturn:
        """The data end in one of the numbers of a block."""
        end = 0
        for path, size in numbers:
            begin, end = end, end + size
            if end > self.left:
                self.fail(Reason.ENDS, path, self.offset + begin)
        raise AssertionError("the block fits")

    def fail_at(self, origin: Origin, reason: Reason, needed: int = 0, **words: object) -> NoReturn:
        """The error is at the field that was read last of those that the origin names first."""
        field = cast(str, origin.field)
        stored, offset = self.layout.leaves[field].dtype, int(self.starts[field][-1])
        value = np.frombuffer(self.execution.data, stored, 1, offset)[0].item()
        value = int(value) if stored.kind == "b" else value
        self.fail(reason, field, offset, needed, value=value, **words)

    def fail(
        self, reason: Reason, path: str, offset: int, needed: int = 0, **words: object
    ) -> NoReturn:
        """Raise the error."""
        raise failure(reason, self.layout, self.source, self.starts, path, offset, needed, **words)

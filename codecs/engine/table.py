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
from exset.codecs.engine.lowering import lower
from exset.codecs.engine.nodes import (
    Alignment,
    Blob,
    Constant,
    Gap,
    Number,
    Rows,
    String,
    Test,
    holds_numbers,
    least_size,
    named,
    spelt,
)
from exset.codecs.engine.program import Program
from exset.grammars.arrays import Ints, Longs, compact, frozen, offsets_of
from exset.grammars.columns import Ragged
from exset.limits import Limits
from exset.source import Source

V = TypeVar("V")


def read(layout: Layout, source: Source, limits: Limits, *, compiled: bool) -> Fields:
    """What `reference.read` returns or raises; columns are fetched when they are asked for.

    Raises TooLarge where an expression needs more than 64 bits.
    """
    program = lower(layout)
    execution = Execution(program, source.data, limits.max_name, compiled)
    streams, failed = execution.run()
    found = _Found(program, source, streams, Mover(compiled))
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

    def __init__(self, program: Program, source: Source, streams: Streams, mover: Mover) -> None:
        self.program = program
        self.streams = streams
        self.mover = mover
        self.data = np.frombuffer(source.data, np.uint8)

    def column(self, path: str) -> Values:
        """A column of the file."""
        leaf = self.program.layout.leaves[path]
        stream, shift = self.program.leaves[path]
        starts = self.streams[stream]
        if not isinstance(leaf, Number):
            return self.mover.strings(self.data, starts, self.streams[stream + 1])
        if path in self.program.rows:
            return frozen(self.mover.rows(self.data, leaf, starts, self.streams[stream + 1]))
        return frozen(self.mover.numbers(self.data, leaf, starts, shift))

    def starts(self, path: str) -> Longs:
        """The offsets of the elements of a column or an array."""
        if path in self.program.elements:
            begin = self.program.elements[path]
            if isinstance(begin, str) and begin != path:
                return self.starts(begin)
            if isinstance(begin, int):
                return self.streams[begin].astype(np.int64)
        stream, shift = self.program.leaves[path]
        return self.streams[stream] + np.int64(shift)

    def bounds(self, path: str) -> Longs:
        """Where the instances of an array begin in its column."""
        counts = self.streams[self.program.rows[path]]
        return offsets_of(cast(Longs, compact(counts)))

    def interleaved(self, first: str, second: str) -> tuple[Offsets, Offsets]:
        """The starts and lengths of two columns, or arrays, as one; lengths of numbers are none."""
        streams = []
        for add in (0, 1):
            for path in (first, second):
                number = isinstance(self.program.layout.leaves[path], Number)
                single = number and path not in self.program.rows
                streams.append(self.streams[self.program.leaves[path][0] + add * (not single)])
        a, b, a_lengths, b_lengths = streams
        return self.mover.interleaved(a, b, a_lengths, b_lengths)


@dataclass(frozen=True, eq=False, repr=False)
class TableFields(Fields):
    """Fields that are fetched from the file when they are asked for."""

    found: _Found

    def counts(self, path: str) -> Ints | Longs:
        """How many elements each instance of an array has."""
        return self.found.streams[self.found.program.rows[path]]

    def merged(self, first: str, second: str) -> Values:
        """Two columns of one kind as one, in the order of the file."""
        found, leaf = self.found, self.layout.leaves[first]
        shift = found.program.leaves[first][1]
        if shift != found.program.leaves[second][1]:
            return super().merged(first, second)
        starts, lengths = found.interleaved(first, second)
        if isinstance(leaf, Number):
            return frozen(found.mover.numbers(found.data, leaf, starts, shift))
        return found.mover.strings(found.data, starts, lengths)

    def merged_rows(self, first: str, second: str) -> Ragged[np.generic]:
        """Two arrays of numbers as one, in the order of the file."""
        found, leaf = self.found, cast(Number, self.layout.leaves[first])
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
        layout = found.program.layout
        self.starts = Lazy([*layout.leaves, *layout.rows], found.starts)

    def report(self, at: int) -> NoReturn:
        """Raise the error of the instruction at a place."""
        origin = self.found.program.origins[at]
        match origin:
            case Test():
                field = next(named(origin.condition))
                self.fail_at(field, Reason.CHECK, condition=spelt(origin.condition))
            case Constant():
                if self.left < origin.size:
                    self.fail(Reason.ENDS, origin.path, self.offset)
                self.fail(Reason.CONSTANT, origin.path, self.offset, value=origin.construct.value)
            case String():
                if self.left > self.limits.max_name:
                    most = self.limits.max_name
                    self.fail(Reason.TOO_LONG, origin.path, self.offset, value=most)
                self.fail(Reason.UNENDED, origin.path, self.offset)
            case Rows() | Blob() | Gap():
                self.count(origin, at)
            case Alignment():
                self.fail(Reason.ENDS, origin.path, self.offset)
            case _:
                self.ends(cast(tuple[Number, ...], origin))

    def count(self, node: Rows | Blob | Gap, at: int) -> NoReturn:
        """A count is wrong, or, if it is constant, the data end."""
        field = next(named(node.count), None)
        if field is None:
            size = least_size(node.element) if isinstance(node, Rows) else self.left + 1
            self.fail(Reason.ENDS, node.path, self.offset + self.left // size * size)
        operand = 3 if holds_numbers(node) else 2
        count = self.execution.ints[self.found.program.code[at][operand]]
        size = least_size(node.element) if isinstance(node, Rows) else 1
        needed = self.offset + int(count) * size
        self.fail_at(field, Reason.NEGATIVE if count < 0 else Reason.TOO_MANY, needed=needed)

    def ends(self, numbers: tuple[Number, ...]) -> NoReturn:
        """The data end in one of the numbers of a block."""
        end = 0
        for number in numbers:
            begin, end = end, end + least_size(number)
            if end > self.left:
                self.fail(Reason.ENDS, number.path, self.offset + begin)
        raise AssertionError("the block fits")

    def fail_at(self, field: Number, reason: Reason, needed: int = 0, **words: object) -> NoReturn:
        """The error is at the field that was read last."""
        offset = int(self.starts[field.path][-1])
        stored = np.frombuffer(self.execution.data, field.stored, 1, offset)
        value = stored[0].item()
        value = int(value) if field.stored.kind == "b" else value
        self.fail(reason, field.path, offset, needed, value=value, **words)

    def fail(
        self, reason: Reason, path: str, offset: int, needed: int = 0, **words: object
    ) -> NoReturn:
        """Raise the error."""
        layout = self.found.program.layout
        raise failure(reason, layout, self.source, self.starts, path, offset, needed, **words)

"""Read a file with a layout: `read` chooses the driver; `interpret` is the fast driver.

The interpreter finds the offsets of values. A column is gathered from the file on first access.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np

from exset.codecs.engine.execution import Execution, TooLarge
from exset.codecs.engine.failures import Diagnosis
from exset.codecs.engine.fields import Fields, Values
from exset.codecs.engine.gather import KERNELS, Mover
from exset.codecs.engine.gather_kernels import Offsets
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.template import repeat_record
from exset.core.errors import FormatError, LimitError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Ints, Longs, compact, frozen, offsets_of
from exset.grammars.columns.ragged import Ragged

V = TypeVar("V")


class Lazy(dict[str, V]):
    """A dictionary that computes each value from its key, on first access."""

    def __init__(self, make: Callable[[str], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, path: str) -> V:
        value = self[path] = self._make(path)
        return value


class Gatherer:
    """Makes columns from what the interpreter found: the offsets and lengths of all values."""

    def __init__(self, layout: Layout, source: Source, streams: Execution, mover: Mover) -> None:
        self.layout = layout
        self.streams = streams
        self.mover = mover
        self.data = np.frombuffer(source.view, np.uint8)

    def column(self, path: str) -> Values:
        """Return the values of the field at `path`, in file order."""
        leaf = self.layout.leaves[path]
        starts = self.streams[leaf.stream]
        if not leaf.is_number:
            return self.mover.strings(self.data, starts, self.streams[leaf.stream + 1])
        if path in self.layout.rows:
            return frozen(self.mover.rows(self.data, leaf, starts, self.streams[leaf.stream + 1]))
        return frozen(self.mover.numbers(self.data, leaf, starts, leaf.shift))

    def starts(self, path: str) -> Longs:
        """Return the offset in the file of each element of a column or an array."""
        if path in self.layout.rows:
            begin = self.layout.rows[path].begin
            if isinstance(begin, int):
                return self.streams[begin].astype(np.int64)
            if begin != path:
                return self.starts(begin)
        leaf = self.layout.leaves[path]
        return self.streams[leaf.stream] + np.int64(leaf.shift)

    def bounds(self, path: str) -> Longs:
        """Return where each occurrence of an array begins in its column, then the column's end."""
        counts = self.streams[self.layout.rows[path].stream]
        return offsets_of(cast(Longs, compact(counts)))

    def interleaved(self, first: str, second: str) -> tuple[Offsets, Offsets]:
        """Return the offsets and the lengths of two columns or arrays, each merged in file order.

        first, second: their names. Single numbers have no length: for them, the lengths have no
        meaning.
        """
        streams = []
        for add in (0, 1):
            for path in (first, second):
                leaf = self.layout.leaves[path]
                single = leaf.is_number and path not in self.layout.rows
                streams.append(self.streams[leaf.stream + add * (not single)])
        a, b, a_lengths, b_lengths = streams
        return self.mover.interleaved(a, b, a_lengths, b_lengths)


@dataclass(frozen=True, eq=False, repr=False)
class LazyFields(Fields):
    """Fields whose columns are gathered from the file on access.

    stopped: the error of the record that could not be read, if an array without a count ends there,
    before the data end.
    """

    run: Gatherer
    stopped: FormatError | None = None

    def spans(self, path: str) -> tuple[Longs, Longs]:
        """Return the offset in the file, and the length in bytes, of each string of a column."""
        stream, streams = self.layout.leaves[path].stream, self.run.streams
        return streams[stream].astype(np.int64), streams[stream + 1].astype(np.int64)

    def owners(self, path: str) -> Longs | None:
        """Return the index of each record that has the field or array at `path`.

        Returns None if every record has the field or array.
        """
        stream = self.layout.program.owners.get(path)
        return None if stream is None else self.run.streams[stream].astype(np.int64)

    def counts(self, path: str) -> Ints | Longs:
        """Return the number of elements of the array at `path`, for each time that it occurs in the
        file.
        """
        return self.run.streams[self.layout.rows[path].stream]

    def order(self, first: str, second: str) -> Longs:
        """Return the order that merges two columns or arrays: see `Fields.order`."""
        return self.run.mover.order(self.starts[first], self.starts[second])

    def merged(self, first: str, second: str) -> Values:
        """Return the values of two columns together, in file order.

        first, second: the names of the columns, which must have the same dtype.
        """
        run, leaf = self.run, self.layout.leaves[first]
        if leaf.shift != self.layout.leaves[second].shift:
            return super().merged(first, second)
        starts, lengths = run.interleaved(first, second)
        if leaf.is_number:
            return frozen(run.mover.numbers(run.data, leaf, starts, leaf.shift))
        return run.mover.strings(run.data, starts, lengths)

    def merged_rows(self, first: str, second: str) -> Ragged[np.generic]:
        """Return the rows of two arrays of numbers together, in file order.

        first, second: the names of the arrays.
        """
        run, leaf = self.run, self.layout.leaves[first]
        starts, lengths = run.interleaved(first, second)
        values = frozen(run.mover.rows(run.data, leaf, starts, lengths))
        return Ragged.unchecked(values=values, offsets=offsets_of(cast(Longs, compact(lengths))))


def read(
    layout: Layout, source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto"
) -> Fields:
    """Read the columns of a file. Bytes after the end of the layout are ignored.

    engine: with "reference", Construct reads the file. With "auto" or "table", the interpreter
    reads it; "auto" runs the interpreter as plain Python on small files. Raises FormatError at the
    primitive that cannot be read, and LimitError for a string longer than `limits.max_name`. Both
    drivers raise the same errors.
    """
    if engine != "reference":
        try:
            compiled = KERNELS.use_compiled(len(source.view), engine)
            return interpret(layout, source, limits, compiled=compiled)
        except TooLarge:
            pass
    from exset.codecs.engine import reference_reader

    return reference_reader.read(layout, source, limits)


def interpret(
    layout: Layout, source: Source, limits: Limits, *, compiled: bool, rest: int = -1
) -> LazyFields:
    """Read the columns of a file with the interpreter. Columns are gathered on access.

    rest: for an array without a count, the number of records to read; -1 for all complete records.
    Raises TooLarge if an expression needs more than 64 bits.
    """
    program = layout.program
    execution = Execution(program, source.view, limits.max_name, compiled, rest=rest)
    failed = execution.run(repeat_record)
    run = Gatherer(layout, source, execution, Mover(compiled))
    columns, starts, bounds = Lazy(run.column), Lazy(run.starts), Lazy(run.bounds)
    fields = LazyFields(layout, columns, starts, bounds, execution.end, run)
    if failed is None:
        return fields
    try:
        Diagnosis(fields, source, limits, execution).raise_for(failed)
    except LimitError:
        raise
    except FormatError as error:
        last = program.rest
        if last is None or rest >= 0 or not last.begin < failed < last.end:
            raise
        whole = interpret(layout, source, limits, compiled=compiled, rest=execution.whole)
        return replace(whole, stopped=error)

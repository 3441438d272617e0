"""The reference driver: Construct itself runs a copy of the declaration that reports what it does.

Reading, a probe notes where its primitive begins and what its value is; writing, it feeds the
primitive from its column. Slow, and the judge of any faster driver, which must give the same
columns, bytes and errors.
"""

import io
from array import array
from collections import defaultdict
from collections.abc import Mapping
from typing import IO, Final, NoReturn

import numpy as np
from construct import (
    CheckError,
    ConstError,
    Construct,
    ConstructError,
    Container,
    StreamError,
    StringError,
    evaluate,
)

from exset.codecs.engine.columns import Mover
from exset.codecs.engine.failures import Reason, failure
from exset.codecs.engine.fields import Fields, Values, check_columns, quiet
from exset.codecs.engine.ir import (
    Alignment,
    Blob,
    Gap,
    Leaf,
    Node,
    Number,
    Record,
    Repeat,
    Rows,
    String,
    Test,
    holds_numbers,
    least_size,
    named,
    spelt,
)
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.tracing import copied
from exset.core.errors import FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.ragged import Longs, Strings, offsets_of

# Where Python's array has no code for a dtype, one that holds all its values.
_CODES: Final = {"?": "B", "e": "f"}


def read(layout: Layout, source: Source, *, limits: Limits = DEFAULT) -> Fields:
    """The columns of a file; what follows its last byte is left alone.

    Raises FormatError at the primitive that cannot be read, LimitError for a string that is longer
    than `limits.max_name`.
    """
    stream = io.BytesIO(source.data)
    reading = _Reading(layout, source, limits)
    try:
        copied(layout.tree.root, reading.parse).parse_stream(stream)
    except (ConstructError, ArithmeticError) as error:
        place = Place.in_bytes(source, stream.tell())
        raise FormatError(f"an expression has no value: {error}", place=place) from error
    return reading.fields(stream.tell())


def write(layout: Layout, fields: Mapping[str, Values]) -> bytes:
    """The file that has these columns: the inverse of `read`. Counts are columns like any other.

    Raises FormatError for a value that the layout forbids, ValueError for columns that are not the
    layout's or do not fit together.
    """
    stream = io.BytesIO()
    writing = _Writing(layout, fields)
    try:
        copied(layout.tree.root, writing.build).build_stream(None, stream)
    except (ConstructError, ArithmeticError) as error:
        raise FormatError(f"an expression has no value: {error}") from error
    writing.check_end()
    return stream.getvalue()


class _Reading:
    """What was seen of a file so far."""

    def __init__(self, layout: Layout, source: Source, limits: Limits) -> None:
        self.layout = layout
        self.source = source
        self.limits = limits
        self.starts: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self.end = 0  # of the last primitive
        self.counts: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self.texts: dict[str, list[bytes]] = defaultdict(list)
        self.numbers = {
            path: array(_CODES.get(leaf.native.char, leaf.native.char))
            for path, leaf in layout.tree.leaves.items()
            if isinstance(leaf, Number)
        }

    def fields(self, end: int) -> Fields:
        """The columns of what was read."""
        return Fields(
            self.layout,
            {path: self._column(leaf) for path, leaf in self.layout.tree.leaves.items()},
            self.places(),
            {path: offsets_of(_longs(self.counts[path])) for path in self.layout.rows},
            end,
            Mover(compiled=False).merged,
        )

    def places(self) -> dict[str, Longs]:
        """The offsets of the elements of each column and array, as Fields has them."""
        return {
            path: _longs(self.starts[path]) for path in [*self.layout.leaves, *self.layout.rows]
        }

    def _column(self, leaf: Leaf) -> Values:
        if isinstance(leaf, Number):
            return quiet(np.array(self.numbers[leaf.path]).astype(leaf.native))
        return Strings.of(self.texts[leaf.path])

    def parse(self, node: Node, subcon: Construct, stream: IO[bytes], context: Container) -> object:
        """Read what a probe stands around, and keep it."""
        start = stream.tell()
        if isinstance(node, Test):
            self._test(node, subcon, stream, context)
            return None
        if isinstance(node, Rows):
            count = self._count(node, evaluate(subcon.count, context), start)
            self.counts[node.path].append(count)
        elif isinstance(node, Blob | Gap):
            self._count(node, evaluate(subcon.length, context), start)
        before = len(self.starts[node.path])
        if isinstance(node, Number | String | Blob | Record) or holds_numbers(node):
            self.starts[node.path].append(start)
        if isinstance(node, String):
            self._check_length(node.path, start)
        try:
            value = subcon._parsereport(stream, context, "")
        except StreamError:
            self._fail(Reason.ENDS, node.path, self._broken(node, start))
        except ConstError:
            self._fail(Reason.CONSTANT, node.path, start, value=subcon.value)
        self.end = stream.tell()
        if isinstance(node, Repeat):
            self.counts[node.path].append(len(self.starts[node.path]) - before)
        elif isinstance(node, Number):
            self.numbers[node.path].append(value)
        elif isinstance(node, String | Blob):
            self.texts[node.path].append(value)
        elif holds_numbers(node):
            self.numbers[node.path].extend(value)
        return value

    def _test(self, node: Test, subcon: Construct, stream: IO[bytes], context: Container) -> None:
        try:
            subcon._parsereport(stream, context, "")
        except CheckError:
            field = next(named(node.condition))
            value, condition = self.numbers[field.path][-1], spelt(node.condition)
            self._fail(Reason.CHECK, *self._last(field), value=value, condition=condition)

    def _count(self, node: Rows | Blob | Gap, given: int, start: int) -> int:
        """The count, if there can be so many elements, or bytes, in the bytes that are left."""
        count = int(given)
        field = next(named(node.count), None)
        left = len(self.source.data) - start
        size = least_size(node.element) if isinstance(node, Rows) else 1
        if field is None or 0 <= count * size <= left:
            return count
        reason = Reason.NEGATIVE if count < 0 else Reason.TOO_MANY
        value = self.numbers[field.path][-1]
        self._fail(reason, *self._last(field), needed=start + count * size, value=value)

    def _check_length(self, path: str, start: int) -> None:
        most = self.limits.max_name
        if self.source.data.find(0, start, start + most + 1) >= 0:
            return
        if len(self.source.data) - start > most:
            self._fail(Reason.TOO_LONG, path, start, value=most)
        self._fail(Reason.UNENDED, path, start)

    def _broken(self, node: Node, start: int) -> int:
        """Where the number begins in which the data end, or the padding."""
        if isinstance(node, Alignment):
            return max(start, self.end)
        if isinstance(node, Rows) and isinstance(node.element, Number):
            size = node.element.stored.itemsize
            start += (len(self.source.data) - start) // size * size
        return start

    def _last(self, field: Number) -> tuple[str, int]:
        return field.path, self.starts[field.path][-1]

    def _fail(
        self, reason: Reason, path: str, offset: int, needed: int = 0, **words: object
    ) -> NoReturn:
        places = self.places()
        raise failure(reason, self.layout, self.source, places, path, offset, needed, **words)


class _Writing:
    """The columns to write, and how much of each is written."""

    def __init__(self, layout: Layout, fields: Mapping[str, Values]) -> None:
        check_columns(layout, fields)
        self.fields = {path: quiet(column) for path, column in fields.items()}
        self.next = dict.fromkeys(fields, 0)

    def build(self, node: Node, subcon: Construct, stream: IO[bytes], context: Container) -> object:
        """Write what a probe stands around from the next values of its column."""
        value: object = None
        if isinstance(node, Test):
            self._test(node, subcon, stream, context)
            return None
        if isinstance(node, Repeat):
            self._repeat(subcon, stream, context)
            return None
        if isinstance(node, Record | Alignment):
            return subcon._build(None, stream, context, "")
        if isinstance(node, Rows):
            count = self._count(node, evaluate(subcon.count, context))
            value = self._take(node.path, count) if holds_numbers(node) else range(count)
        elif isinstance(node, Gap):
            self._count(node, evaluate(subcon.length, context))
        elif isinstance(node, Blob):
            count = self._count(node, evaluate(subcon.length, context))
            value = self._take(node.path, 1)[0]
            self._check_length(node.path, value, count)
        elif isinstance(node, Number | String):
            value = self._take(node.path, 1)[0]
        try:
            subcon._build(value, stream, context, "")
        except StringError:
            raise FormatError(f"{self._last(node.path)}: a NUL in a string") from None
        return value

    def _repeat(self, subcon: Construct, stream: IO[bytes], context: Container) -> None:
        """RepeatUntil wants a list, whose length only the condition tells."""
        while not subcon.predicate(subcon.subcon._build(None, stream, context, ""), [], context):
            pass

    def _count(self, node: Rows | Blob | Gap, given: int) -> int:
        if (count := int(given)) < 0:
            raise FormatError(f"{node.path}: a negative count, {count}")
        return count

    def _check_length(self, path: str, value: object, count: int) -> None:
        if isinstance(value, bytes) and len(value) != count:
            raise FormatError(f"{self._last(path)}: {len(value)} bytes, but {count} are wanted")

    def check_end(self) -> None:
        """ValueError unless every column is used up."""
        for path, column in self.fields.items():
            if self.next[path] != len(column):
                raise ValueError(f"{path}: {len(column)} values, but only {self.next[path]} used")

    def _take(self, path: str, count: int) -> list[object]:
        column, begin = self.fields[path], self.next[path]
        self.next[path] = end = begin + count
        if end > len(column):
            raise ValueError(f"{path}: {len(column)} values, but at least {end} are wanted")
        if isinstance(column, Strings):
            return [column[begin] or b""]
        values: list[object] = column[begin:end].tolist()
        return values

    def _last(self, path: str) -> str:
        return f"{path} number {self.next[path] - 1}"

    def _test(self, node: Test, subcon: Construct, stream: IO[bytes], context: Container) -> None:
        try:
            subcon._build(None, stream, context, "")
        except CheckError:
            field, condition = next(named(node.condition)), spelt(node.condition)
            message = f"{self._last(field.path)} must satisfy: {condition}"
            raise FormatError(message) from None


def _longs(numbers: "array[int]") -> Longs:
    return np.array(numbers, np.int64)

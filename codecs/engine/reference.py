"""The reference driver: Construct itself runs a traced copy of the declaration.

A probe stands around each primitive. On reading, it records where the primitive begins, and its
value; on writing, it takes the value from the column. This driver is slow, and the judge of the
interpreter, which must give the same columns, bytes and errors.
"""

import io
from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import IO, Final, NoReturn, TypeAlias

import numpy as np
from construct import (
    Aligned,
    Array,
    CheckError,
    ConstError,
    Construct,
    ConstructError,
    Container,
    IfThenElse,
    RepeatUntil,
    StreamError,
    StringError,
    Struct,
    Subconstruct,
    evaluate,
)

from exset.codecs.engine.failures import Reason, failure
from exset.codecs.engine.fields import Fields, Values, check_columns, quiet_nans
from exset.codecs.engine.gather import Mover
from exset.codecs.engine.ir import (
    Alignment,
    Blob,
    Branch,
    Gap,
    Node,
    Nothing,
    Number,
    Record,
    Repeat,
    Rows,
    String,
    Test,
    fields_in,
    format_expression,
    is_number_array,
    least_size,
)
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Leaf
from exset.core.errors import FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs, offsets_of
from exset.grammars.columns.ragged import Strings

# Type codes of Python's array for the dtypes that it lacks.
_CODES: Final = {"?": "B", "e": "f"}

_Run: TypeAlias = Callable[[Node, Construct, IO[bytes], Container], object]
"""Reads or writes the Construct object of a node, and returns its value for expressions."""


def read(layout: Layout, source: Source, *, limits: Limits = DEFAULT) -> Fields:
    """Read the columns of a file: see `reader.read`."""
    stream = io.BytesIO(source.data)
    reading = _Reading(layout, source, limits)
    try:
        _traced(layout.tree.root, reading.parse).parse_stream(stream)
    except (ConstructError, ArithmeticError) as error:
        place = Place.in_bytes(source, stream.tell())
        raise FormatError(f"an expression has no value: {error}", place=place) from error
    return reading.fields(stream.tell())


def write(layout: Layout, fields: Mapping[str, Values]) -> bytes:
    """Write the file that has these columns: see `writer.write`."""
    stream = io.BytesIO()
    writing = _Writing(layout, fields)
    try:
        _traced(layout.tree.root, writing.build).build_stream(None, stream)
    except (ConstructError, ArithmeticError) as error:
        raise FormatError(f"an expression has no value: {error}") from error
    writing.check_end()
    return stream.getvalue()


class _Probe(Subconstruct):  # type: ignore[misc]
    """Wraps a Construct object, and leaves reading and writing it to `run`."""

    def __init__(self, node: Node, subcon: Construct, run: _Run) -> None:
        super().__init__(subcon)
        self.flagbuildnone = True
        self.node = node
        self.run = run

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> object:
        return self.run(self.node, self.subcon, stream, context)

    def _build(self, obj: object, stream: IO[bytes], context: Container, path: str) -> object:
        return self.run(self.node, self.subcon, stream, context)


def _traced(node: Node, run: _Run) -> Construct:
    """Copy a declaration, with a probe around each primitive, array, and Struct in an array.

    An array of numbers has a single probe.
    """
    match node:
        case Record():
            members = [(name, _traced(member, run)) for name, member in node.members]
            return Struct(*(name / con if name else con for name, con in members))
        case Branch():
            then, otherwise = _traced(node.then, run), _traced(node.otherwise, run)
            return IfThenElse(node.construct.condfunc, then, otherwise)
        case Rows(element=Number()):
            return _Probe(node, Array(node.construct.count, node.element.construct), run)
        case Rows():
            inner = _traced(node.element, run)
            if isinstance(node.element, Record):
                inner = _Probe(node.element, inner, run)
            return _Probe(node, Array(node.construct.count, inner, discard=True), run)
        case Repeat():
            inner = _Probe(node.element, _traced(node.element, run), run)
            return _Probe(node, RepeatUntil(node.construct.predicate, inner, discard=True), run)
        case Alignment():
            inner = _traced(node.inner, run)
            return _Probe(node, Aligned(node.modulus, inner, node.construct.pattern), run)
        case Nothing():
            return node.construct
        case _:
            return _Probe(node, node.construct, run)


class _Reading:
    """The columns of a file, as far as it was read."""

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
            for path, leaf in layout.leaves.items()
            if leaf.is_number
        }

    def fields(self, end: int) -> Fields:
        """Return the columns."""
        return Fields(
            self.layout,
            {path: self._column(path, leaf) for path, leaf in self.layout.leaves.items()},
            self.places(),
            {path: offsets_of(_longs(self.counts[path])) for path in self.layout.rows},
            end,
            Mover(compiled=False).merged,
        )

    def places(self) -> dict[str, Longs]:
        """Return the offsets of the elements of each column and array, as Fields has them."""
        return {
            path: _longs(self.starts[path]) for path in [*self.layout.leaves, *self.layout.rows]
        }

    def _column(self, path: str, leaf: Leaf) -> Values:
        if leaf.is_number:
            return quiet_nans(np.array(self.numbers[path]).astype(leaf.native))
        return Strings.of(self.texts[path])

    def parse(self, node: Node, subcon: Construct, stream: IO[bytes], context: Container) -> object:
        """Read the Construct object of a probe, and record it."""
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
        if isinstance(node, Number | String | Blob | Record) or is_number_array(node):
            self.starts[node.path].append(start)
        if isinstance(node, String):
            self._check_length(node.path, start)
        try:
            value = subcon._parsereport(stream, context, "")
        except StreamError:
            self._fail(Reason.ENDS, node.path, self._end_of(node, start))
        except ConstError:
            self._fail(Reason.CONSTANT, node.path, start, value=subcon.value)
        self.end = stream.tell()
        if isinstance(node, Repeat):
            self.counts[node.path].append(len(self.starts[node.path]) - before)
        elif isinstance(node, Number):
            self.numbers[node.path].append(value)
        elif isinstance(node, String | Blob):
            self.texts[node.path].append(value)
        elif is_number_array(node):
            self.numbers[node.path].extend(value)
        return value

    def _test(self, node: Test, subcon: Construct, stream: IO[bytes], context: Container) -> None:
        try:
            subcon._parsereport(stream, context, "")
        except CheckError:
            field = next(fields_in(node.condition))
            value, condition = self.numbers[field.path][-1], format_expression(node.condition)
            self._fail(Reason.CHECK, *self._last(field), value=value, condition=condition)

    def _count(self, node: Rows | Blob | Gap, value: int, start: int) -> int:
        """Check that the remaining bytes can contain that many elements, or bytes."""
        count = int(value)
        field = next(fields_in(node.count), None)
        left = len(self.source.data) - start
        size = least_size(node.element) if isinstance(node, Rows) else 1
        if field is None or 0 <= count * size <= left:
            return count
        reason = Reason.NEGATIVE if count < 0 else Reason.TOO_MANY
        number = self.numbers[field.path][-1]
        self._fail(reason, *self._last(field), needed=start + count * size, value=number)

    def _check_length(self, path: str, start: int) -> None:
        most = self.limits.max_name
        if self.source.data.find(0, start, start + most + 1) >= 0:
            return
        if len(self.source.data) - start > most:
            self._fail(Reason.TOO_LONG, path, start, value=most)
        self._fail(Reason.UNTERMINATED, path, start)

    def _end_of(self, node: Node, start: int) -> int:
        """The offset of the number, or of the padding, in which the data end."""
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
    """The columns to write, and the number of values that are written."""

    def __init__(self, layout: Layout, fields: Mapping[str, Values]) -> None:
        check_columns(layout, fields)
        self.fields = {path: quiet_nans(column) for path, column in fields.items()}
        self.next = dict.fromkeys(fields, 0)

    def build(self, node: Node, subcon: Construct, stream: IO[bytes], context: Container) -> object:
        """Write the Construct object of a probe from the next values of its column."""
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
            value = self._take(node.path, count) if is_number_array(node) else range(count)
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
        """Write a RepeatUntil, for which Construct itself needs a list of known length."""
        while not subcon.predicate(subcon.subcon._build(None, stream, context, ""), [], context):
            pass

    def _count(self, node: Rows | Blob | Gap, value: int) -> int:
        if (count := int(value)) < 0:
            raise FormatError(f"{node.path}: a negative count, {count}")
        return count

    def _check_length(self, path: str, value: object, count: int) -> None:
        if isinstance(value, bytes) and len(value) != count:
            raise FormatError(f"{self._last(path)}: expected a length of {count}, not {len(value)}")

    def check_end(self) -> None:
        """Raise ValueError unless every column is used up."""
        for path, column in self.fields.items():
            if self.next[path] != len(column):
                used = self.next[path]
                raise ValueError(f"{path}: {len(column)} values, but only {used} are used")

    def _take(self, path: str, count: int) -> list[object]:
        column, begin = self.fields[path], self.next[path]
        self.next[path] = end = begin + count
        if end > len(column):
            raise ValueError(f"{path}: {len(column)} values, but at least {end} are needed")
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
            field, condition = next(fields_in(node.condition)), format_expression(node.condition)
            message = f"{self._last(field.path)} must satisfy: {condition}"
            raise FormatError(message) from None


def _longs(numbers: "array[int]") -> Longs:
    return np.array(numbers, np.int64)

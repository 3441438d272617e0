"""The reference driver: Construct itself reads a traced copy of the declaration.

A probe around each primitive records the offset and the value of the primitive. This driver is
slow. Tests compare the interpreter with it: the interpreter must give the same columns and errors.
"""

import io
from array import array
from collections import defaultdict
from typing import IO, Final, NoReturn

import construct as cs
import numpy as np

from exset.codecs.engine import ir
from exset.codecs.engine.failures import Reason, fail, fail_in_string
from exset.codecs.engine.fields import Fields, Values, quiet_nans
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Leaf
from exset.codecs.engine.tracing import traced
from exset.codecs.engine.wording import constant_text, demand_of
from exset.core.errors import FormatError, Place
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs, offsets_of
from exset.grammars.columns.ragged import Strings

# Type codes of `array.array` to use for dtypes that it does not have.
_CODES: Final = {"?": "B", "e": "f"}


def read(layout: Layout, source: Source, limits: Limits) -> Fields:
    """Read the columns of a file: see `reader.read`."""
    stream = io.BytesIO(source.data)
    reading = _Reading(layout, source, limits)
    try:
        traced(layout.tree.root, reading.parse).parse_stream(stream)
    except (cs.ConstructError, ArithmeticError) as error:
        place = Place.in_bytes(source, stream.tell())
        raise FormatError(f"the layout cannot be evaluated: {error}", place=place) from error
    return reading.fields(stream.tell())


class _Reading:
    """Collects the columns of a file while Construct reads it."""

    def __init__(self, layout: Layout, source: Source, limits: Limits) -> None:
        self.layout = layout
        self.source = source
        self.limits = limits
        self.starts: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self.end = 0  # the end of the last primitive
        self.counts: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self.texts: dict[str, list[bytes]] = defaultdict(list)
        self.numbers = {
            path: array(_CODES.get(leaf.native.char, leaf.native.char))
            for path, leaf in layout.leaves.items()
            if leaf.is_number
        }

    def fields(self, end: int) -> Fields:
        """Return the columns that were read so far, up to the offset `end`."""
        leaves, rows = self.layout.leaves, self.layout.rows
        return Fields(
            self.layout,
            {path: self._column(path, leaf) for path, leaf in leaves.items()},
            {path: _longs(self.starts[path]) for path in [*leaves, *rows]},
            {path: offsets_of(_longs(self.counts[path])) for path in rows},
            end,
        )

    def _column(self, path: str, leaf: Leaf) -> Values:
        if leaf.is_number:
            return quiet_nans(np.array(self.numbers[path]).astype(leaf.native))
        return Strings.of(self.texts[path])

    def parse(
        self, node: ir.Node, subcon: cs.Construct, stream: IO[bytes], context: cs.Container
    ) -> object:
        """Let Construct read the object `subcon`, and record its value.

        node: the node of the object. stream, context: what Construct passes to each object.
        """
        start = stream.tell()
        if isinstance(node, ir.Test):
            self._test(node, subcon, stream, context)
            return None
        if isinstance(node, ir.Rows):
            count = self._count(node, cs.evaluate(subcon.count, context), start)
            self.counts[node.path].append(count)
        elif isinstance(node, ir.Blob | ir.Gap):
            self._count(node, cs.evaluate(subcon.length, context), start)
        before = len(self.starts[node.path])
        is_number_array = ir.is_number_array(node)
        if is_number_array or isinstance(node, ir.Number | ir.String | ir.Blob | ir.Record):
            self.starts[node.path].append(start)
        if isinstance(node, ir.String):
            limit = start + self.limits.max_name + 1
            if self.source.data.find(0, start, limit) < 0:
                fail_in_string(self.fields(start), self.source, self.limits, node.path, start)
        try:
            value = subcon._parsereport(stream, context, "")
        except cs.StreamError:
            end = self._end_of(node, start)
            fail(Reason.ENDS, self.fields(start), self.source, node.path, end)
        except cs.ConstError:
            value = constant_text(subcon.value)
            fail(Reason.CONSTANT, self.fields(start), self.source, node.path, start, value=value)
        self.end = stream.tell()
        if isinstance(node, ir.Repeat):
            self.counts[node.path].append(len(self.starts[node.path]) - before)
        elif isinstance(node, ir.Number):
            self.numbers[node.path].append(value)
        elif isinstance(node, ir.String | ir.Blob):
            self.texts[node.path].append(value)
        elif is_number_array:
            self.numbers[node.path].extend(value)
        return value

    def _test(
        self, node: ir.Test, subcon: cs.Construct, stream: IO[bytes], context: cs.Container
    ) -> None:
        try:
            subcon._parsereport(stream, context, "")
        except cs.CheckError:
            field = next(ir.fields_in(node.condition))
            self._fail_at_field(Reason.CHECK, field, demand=demand_of(node.condition))

    def _count(self, node: ir.Rows | ir.Blob | ir.Gap, value: int, start: int) -> int:
        """Check that the remaining bytes have room for a count, and return the count `value`.

        The count is a number of elements or bytes, which begin at the offset `start`.
        """
        count = int(value)
        field = next(ir.fields_in(node.count), None)
        left = len(self.source.data) - start
        size = ir.least_size(node.element) if isinstance(node, ir.Rows) else 1
        if field is None or 0 <= count * size <= left:
            return count
        reason = Reason.NEGATIVE if count < 0 else Reason.TOO_MANY
        self._fail_at_field(reason, field, start + count * size)

    def _end_of(self, node: ir.Node, start: int) -> int:
        """Return the offset of the error for a node in which the data end too early.

        The result is the first number, or the padding, that is incomplete. start: where the node
        begins.
        """
        if isinstance(node, ir.Alignment):
            return max(start, self.end)
        if isinstance(node, ir.Rows) and isinstance(node.element, ir.Number):
            size = node.element.stored.itemsize
            start += (len(self.source.data) - start) // size * size
        return start

    def _fail_at_field(
        self, reason: Reason, field: ir.Number, needed: int = 0, **words: object
    ) -> NoReturn:
        path = field.path
        offset, value = self.starts[path][-1], self.numbers[path][-1]
        fail(reason, self.fields(0), self.source, path, offset, needed, value=value, **words)


def _longs(numbers: "array[int]") -> Longs:
    return np.array(numbers, np.int64)

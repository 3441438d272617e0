"""The reference driver: Construct itself writes a traced copy of the declaration.

A probe around each primitive takes the next value of its column.
"""

import io
from collections.abc import Mapping
from typing import IO

import construct as cs

from exset.codecs.engine import ir
from exset.codecs.engine.fields import Values, check_columns, check_end, check_room, quiet_nans
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.tracing import traced
from exset.codecs.engine.wording import demand_of
from exset.core.errors import FormatError
from exset.grammars.columns.ragged import Strings


def write(layout: Layout, fields: Mapping[str, Values]) -> bytes:
    """Return the file with the given columns: see `writer.write`."""
    stream = io.BytesIO()
    writing = _Writing(layout, fields)
    try:
        traced(layout.tree.root, writing.build).build_stream(None, stream)
    except (cs.ConstructError, ArithmeticError) as error:
        raise FormatError(f"the layout cannot be evaluated: {error}") from error
    for path, column in fields.items():
        check_end(path, column, writing.used[path])
    return stream.getvalue()


class _Writing:
    """The columns to write while Construct writes a file, and how many values are written."""

    def __init__(self, layout: Layout, fields: Mapping[str, Values]) -> None:
        check_columns(layout, fields)
        self.fields = {
            path: column if isinstance(column, Strings) else quiet_nans(column)
            for path, column in fields.items()
        }
        self.used = dict.fromkeys(fields, 0)

    def build(
        self, node: ir.Node, subcon: cs.Construct, stream: IO[bytes], context: cs.Container
    ) -> object:
        """Let Construct write the object `subcon`, with the next values of its column.

        node: the node of the object. stream, context: what Construct passes to each object.
        """
        value: object = None
        if isinstance(node, ir.Repeat):
            # To write a RepeatUntil, Construct needs a list of known length.
            element, ends = subcon.subcon, subcon.predicate
            while not ends(element._build(None, stream, context, ""), [], context):
                pass
            return None
        if isinstance(node, ir.Record | ir.Alignment):
            return subcon._build(None, stream, context, "")
        if isinstance(node, ir.Rows):
            count = self._count(node, cs.evaluate(subcon.count, context))
            value = self._next(node.path, count) if ir.is_number_array(node) else range(count)
        elif isinstance(node, ir.Gap):
            self._count(node, cs.evaluate(subcon.length, context))
        elif isinstance(node, ir.Blob):
            count = self._count(node, cs.evaluate(subcon.length, context))
            [value] = self._next(node.path, 1)
            if isinstance(value, bytes) and len(value) != count:
                message = f"expected a length of {count}, not {len(value)}"
                raise FormatError(f"{self._last(node.path)}: {message}")
        elif isinstance(node, ir.Number | ir.String):
            [value] = self._next(node.path, 1)
        try:
            subcon._build(value, stream, context, "")
        except cs.StringError:
            raise FormatError(f"{self._last(node.path)}: a NUL in a string") from None
        except cs.CheckError:
            raise FormatError(self._violation(node)) from None
        return value

    def _count(self, node: ir.Rows | ir.Blob | ir.Gap, value: int) -> int:
        if (count := int(value)) < 0:
            raise FormatError(f"{node.path}: the count is negative: {count}")
        return count

    def _next(self, path: str, count: int) -> list[object]:
        """Return the next `count` values of the column at `path`. They then count as written."""
        column, begin = self.fields[path], self.used[path]
        self.used[path] = end = begin + count
        check_room(path, column, end)
        if isinstance(column, Strings):
            return [column[begin] or b""]
        values: list[object] = column[begin:end].tolist()
        return values

    def _last(self, path: str) -> str:
        return f"{path}[{self.used[path] - 1}]"

    def _violation(self, node: ir.Node) -> str:
        """Return the message for a condition that the values to write do not meet."""
        assert isinstance(node, ir.Test)
        field = next(ir.fields_in(node.condition))
        return f"{self._last(field.path)} must {demand_of(node.condition)}"

"""Let Construct itself read a file, and make the columns from the values that Construct returns."""

import copy
import io
import operator
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

import construct as cs
import numpy as np

from exset.codecs.custom.shape import Shape
from exset.codecs.custom.translation import Length
from exset.codecs.engine import ir
from exset.codecs.engine.failures import TruncatedError
from exset.codecs.engine.fields import Values, quiet_nans
from exset.core.errors import FormatError, Place
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Text

_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv},
    **{"%": operator.mod, "&": operator.and_, "|": operator.or_, "==": operator.eq},
    **{"!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt},
    **{">=": operator.ge, "not": operator.not_},
}
_ERRORS: Final = (cs.ConstructError, ArithmeticError, LookupError, TypeError, ValueError)
_START: Final = "_start"


class Parsed:
    """The flat columns of a file that Construct itself parsed.

    end: the offset after the last byte that was read. stopped: the error of the record before which
    an array without a count ends. Raises FormatError where Construct raises an error.
    """

    def __init__(self, shape: Shape, source: Source) -> None:
        self._shape = shape
        self._latest: dict[str, Any] = {}
        self._values: dict[str, list[Any]] = defaultdict(list)
        self._counts: dict[str, list[int]] = defaultdict(list)
        self._owners: dict[str, list[int]] = defaultdict(list)
        self._starts: dict[str, list[int]] = defaultdict(list)
        self.stopped: FormatError | None = None
        stream = _Stream(source.data)
        try:
            value = _prepared(shape.declaration).parse_stream(stream)
        except _ERRORS as error:
            raise _rejection(source, stream.tell(), error) from error
        self.end = stream.tell()
        if shape.program.rest is not None and self.end < len(source.data):
            self.stopped = _rejection(source, *stream.stopped)
        root = shape.tree.root
        is_struct = isinstance(value, cs.Container) and root.members[0][0] != "value"
        self._walk(root, value if is_struct else {"value": value}, 0)

    def __getitem__(self, path: str) -> Values:
        """Return all values of the field at `path`, in file order."""
        leaf, values = self._shape.program.leaves[path], self._values[path]
        if leaf.is_number:
            return quiet_nans(np.array(values, leaf.native))
        return Strings.of(values)

    @property
    def texts(self) -> dict[str, Strings]:
        """The columns of the fields that are texts, by path."""
        encodings = self._shape.tree.encodings
        named = [path for path, each in encodings.items() if each.name]
        return {path: Text.unchecked(**vars(Strings.of(self._values[path]))) for path in named}

    @property
    def starts(self) -> Mapping[str, Longs]:
        """The offsets in the file of the records of each array, by the path of the array."""
        return {path: np.array(self._starts[path], np.int64) for path in self._shape.records}

    def counts(self, path: str) -> Longs:
        """Return the number of elements of the array at `path`, for each time that it occurs in the
        file.
        """
        return np.array(self._counts[path], np.int64)

    def owners(self, path: str) -> Longs | None:
        """Return for each value of a field the index of the record that contains the value.

        Returns None for a field that every record has.
        """
        is_optional = path in self._shape.program.owners
        return np.array(self._owners[path], np.int64) if is_optional else None

    def _walk(self, node: ir.Node, value: Any, row: int) -> None:
        """Add the value of a node to the columns.

        value: what Construct returned for the node. row: the index of the record that contains the
        node.
        """
        match node:
            case ir.Record(construct=cs.Struct()):
                for name, member in node.members:
                    if name is not None and not isinstance(member, ir.Constant | ir.Gap):
                        self._walk(member, value[name], row)
            case ir.Record():
                for _, member in node.members:
                    self._walk(member, value, row)
            case ir.Number() | ir.String() | ir.Blob():
                self._owners[node.path].append(row)
                self._add(node, value)
            case ir.Alignment():
                self._walk(node.inner, value, row)
            case ir.Rows() | ir.Repeat():
                self._owners[node.path].append(row)
                self._counts[node.path].append(len(value))
                is_record = isinstance(node.element, ir.Record)
                first = sum(self._counts[node.path][:-1]) if is_record else 0
                starts = [each[_START] for each in value if isinstance(each, cs.Container)]
                self._starts[node.path] += starts
                for index, each in enumerate(value):
                    if is_record:
                        self._walk(node.element, each, first + index)
                    else:
                        self._add(node.element, each)
            case ir.Branch():
                taken = evaluated(node.condition, self._latest)
                self._walk(node.then if taken else node.otherwise, value, row)
            case _:
                pass

    def _add(self, leaf: ir.Node, value: Any) -> None:
        length = self._shape.tree.computed.get(leaf.path)
        if isinstance(length, Length):
            value = len(value) + length.extra
        value = value.intvalue if isinstance(value, cs.EnumIntegerString) else value
        self._latest[leaf.path] = value
        self._values[leaf.path].append(value)


def evaluated(expression: ir.Expression, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression.

    values: the value that was last read for each field, by the field's path.
    """
    if isinstance(expression, ir.Number):
        return values[expression.path]
    if isinstance(expression, ir.Match):
        return values[expression.field.path] == expression.value
    if isinstance(expression, ir.Operation):
        operands = [evaluated(each, values) for each in expression.operands]
        if len(operands) == 1 and expression.operator == "-":
            return -operands[0]
        return _OPERATORS[expression.operator](*operands)
    return expression


class _Stream(io.BytesIO):
    """The data, and the error that ended an array without a count, with its offset."""

    stopped: tuple[int, Exception]


class _Rest(cs.Subconstruct):  # type: ignore[misc]
    """A GreedyRange that stores in the stream the error that ends it."""

    def _parse(self, stream: _Stream, context: cs.Container, path: str) -> cs.ListContainer:
        found = cs.ListContainer()
        while True:
            start = stream.tell()
            try:
                found.append(self.subcon._parsereport(stream, context, path))
            except _ERRORS as error:
                stream.stopped = stream.tell(), error
                stream.seek(start)
                return found


class _Record(cs.Subconstruct):  # type: ignore[misc]
    """A Struct in an array, which stores the offset of the record in the record."""

    def _parse(self, stream: _Stream, context: cs.Container, path: str) -> cs.Container:
        start = stream.tell()
        value = self.subcon._parsereport(stream, context, path)
        value[_START] = start
        return value


def _rejection(source: Source, offset: int, error: Exception) -> FormatError:
    kind = TruncatedError if isinstance(error, cs.StreamError) else FormatError
    place = Place.in_bytes(source, offset)
    return kind(f"Construct rejects the data: {error}", place=place)


def _prepared(con: cs.Construct) -> cs.Construct:
    """Copy a declaration, so that what it parses has all that the columns need.

    Each FlagsEnum becomes the number that it reads, as Construct would drop flags that have no
    name. See `_Rest` and `_Record` for arrays.
    """
    if isinstance(con, cs.FlagsEnum):
        return con.subcon
    if isinstance(con, cs.Compiled):
        return _prepared(con.defersubcon)
    made = copy.copy(con)
    if isinstance(con, cs.Struct | cs.FocusedSeq):
        made.subcons = [_prepared(each) for each in con.subcons]
        made._subcons = cs.Container((each.name, each) for each in made.subcons if each.name)
    elif isinstance(con, cs.Switch):
        made.cases = {key: _prepared(each) for key, each in con.cases.items()}
        made.default = _prepared(con.default)
    elif isinstance(con, cs.IfThenElse):
        made.thensubcon, made.elsesubcon = map(_prepared, (con.thensubcon, con.elsesubcon))
    elif isinstance(con, cs.Subconstruct):
        made.subcon = _prepared(con.subcon)
        if isinstance(con, cs.Array | cs.GreedyRange | cs.RepeatUntil):
            made.subcon = _Record(made.subcon) if _is_struct(con.subcon) else made.subcon
        return _Rest(made.subcon) if isinstance(con, cs.GreedyRange) else made
    else:
        return con
    return made


def _is_struct(con: cs.Construct) -> bool:
    while isinstance(con, cs.Renamed | cs.Compiled):
        con = con.subcon if isinstance(con, cs.Renamed) else con.defersubcon
    return isinstance(con, cs.Struct)

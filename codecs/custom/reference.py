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


class Parsed:
    """The flat columns of a file that Construct itself parsed.

    end: the offset after the last byte that was read. Raises FormatError where Construct raises an
    error.
    """

    def __init__(self, shape: Shape, source: Source) -> None:
        self._shape = shape
        self._latest: dict[str, Any] = {}
        self._values: dict[str, list[Any]] = defaultdict(list)
        self._counts: dict[str, list[int]] = defaultdict(list)
        self._owners: dict[str, list[int]] = defaultdict(list)
        stream = io.BytesIO(source.data)
        try:
            value = _with_numbers(shape.declaration).parse_stream(stream)
        except (cs.ConstructError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            place = Place.in_bytes(source, stream.tell())
            raise FormatError(f"Construct rejects the data: {error}", place=place) from error
        self.end = stream.tell()
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


def _with_numbers(con: cs.Construct) -> cs.Construct:
    """Copy a declaration, but replace each FlagsEnum by the number that it reads.

    With a FlagsEnum, Construct would drop flags that have no name.
    """
    if isinstance(con, cs.FlagsEnum):
        return con.subcon
    if isinstance(con, cs.Compiled):
        return _with_numbers(con.defersubcon)
    made = copy.copy(con)
    if isinstance(con, cs.Struct | cs.FocusedSeq):
        made.subcons = [_with_numbers(each) for each in con.subcons]
        made._subcons = cs.Container((each.name, each) for each in made.subcons if each.name)
    elif isinstance(con, cs.Switch):
        made.cases = {key: _with_numbers(each) for key, each in con.cases.items()}
        made.default = _with_numbers(con.default)
    elif isinstance(con, cs.IfThenElse):
        made.thensubcon, made.elsesubcon = map(_with_numbers, (con.thensubcon, con.elsesubcon))
    elif isinstance(con, cs.Subconstruct):
        made.subcon = _with_numbers(con.subcon)
    else:
        return con
    return made

"""Write a file from the tables of a layout: make the flat columns, and compute the counts."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from construct import BinExpr, Path, UniExpr
from construct.expr import FuncPath, opnames
from numpy.typing import NDArray

from exset.codecs.custom.columns import Flat, flattened
from exset.codecs.custom.shape import ROOT, Shape
from exset.codecs.custom.translation import Length, nodes_in
from exset.codecs.engine import ir
from exset.codecs.engine.execution import TooLarge
from exset.codecs.engine.fields import Values
from exset.codecs.engine.gather import KERNELS
from exset.codecs.engine.program import Leaf
from exset.codecs.engine.reader import interpret as interpret_data
from exset.codecs.engine.writer import interpret
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs, offsets_of
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Numbers
from exset.grammars.tables.table import Table

_LENGTH: Final = re.compile(r"len_\(this\['(\w+)'\]\)")
_FIELD: Final = re.compile(r"this\['(\w+)'\]")
_SIZES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
}


def write(shape: Shape, tables: Mapping[str, Table], engine: Engine) -> bytes:
    """Return the file with the given tables: see `Layout.write`."""
    tree = shape.tree
    flat = flattened(shape, tables)
    values: dict[str, Values] = {}
    blobs = _blobs(tree.root)
    for path, leaf in shape.engine.leaves.items():
        if path in flat.values and not leaf.is_number:
            values[path] = _strings(shape, flat, path)
    for path, leaf in shape.engine.leaves.items():
        if not leaf.is_number:
            continue
        computed = _computed(shape, flat, values, path)
        if computed is not None:
            values[path] = _exact(computed, leaf, path)
        else:
            given = flat.values[path]
            if not isinstance(given, Numbers) or given.values.ndim != 1:
                raise ValueError(f"{path}: expected numbers")
            values[path] = _exact(given.values, leaf, path)
    for path, blob in blobs.items():
        encoding = tree.encodings.get(path)
        if encoding is not None and encoding.strip and blob.count is not None:
            values[path] = _padded(shape, flat, values, blob)
    rest = shape.program.rest
    count = 0 if rest is None else int(flat.lengths[rest.path].sum())
    size = sum(len(each) for each in values.values())
    try:
        compiled = KERNELS.use_compiled(size, engine)
        data = interpret(shape.engine, values, compiled=compiled, rest=count)
    except TooLarge:
        raise FormatError("an expression of the layout needs more than 64 bits") from None
    _check_rows(shape, flat, data)
    return data


def _strings(shape: Shape, flat: Flat, path: str) -> Strings:
    given = flat.values[path]
    if not isinstance(given, Strings):
        raise ValueError(f"{path}: expected text or bytes")
    encoding = shape.tree.encodings.get(path)
    if encoding is None:
        return given
    try:
        return encoding.encode(given)
    except UnicodeError as error:
        raise ValueError(f"{path}: {error}") from None


def _exact(values: NDArray[Any], leaf: Leaf, path: str) -> NDArray[Any]:
    """Convert numbers to the dtype of the field `leaf`. `path`: the name of the field in errors.

    Raises ValueError for a number that does not fit.
    """
    if values.dtype == leaf.native:
        return values
    with np.errstate(all="ignore"):
        converted = values.astype(leaf.native)
    if leaf.is_real:
        return converted
    wrong = np.flatnonzero(converted != values)
    if len(wrong):
        raise ValueError(f"{path}: {values[wrong[0]]} does not fit in {leaf.native}")
    return converted


def _computed(
    shape: Shape, flat: Flat, values: Mapping[str, Values], path: str
) -> NDArray[Any] | None:
    """Return the numbers of a field that exset computes. Return None if the user gives the field.

    flat: the columns of the user. values: the values of the other fields, by path.
    """
    how = shape.tree.computed.get(path)
    if how is None or (isinstance(how, Length) and not shape.is_hidden(path)):
        return None
    if isinstance(how, Length):
        return _lengths(shape, flat, values, how.path) + how.extra
    above, _, _ = path.rpartition(".")
    try:
        found = _evaluated(shape, flat, values, how, f"{above}." if above else "")
    except LookupError:
        return None
    present = flat.present.get(path)
    rows = len(found) if present is None or path not in shape.program.owners else present
    return found if isinstance(rows, int) or len(rows) != len(found) else found[rows]


def _lengths(shape: Shape, flat: Flat, values: Mapping[str, Values], path: str) -> Longs:
    """Return the number of elements of an array, or the number of bytes of a text.

    The result has a number for each time that the field `path` occurs.
    """
    if path in flat.lengths:
        lengths = flat.lengths[path]
        is_optional = path in flat.present and path in shape.program.owners
        return lengths[flat.present[path]] if is_optional else lengths
    found = values[path]
    assert isinstance(found, Strings)
    return found.lengths


def _evaluated(
    shape: Shape, flat: Flat, values: Mapping[str, Values], how: object, above: str
) -> NDArray[Any]:
    """Return the value of the expression of a Rebuild, for each row of the table of the Rebuild.

    values: the columns, by path. how: the expression. above: the path of the Struct that contains
    the Rebuild, with a dot at the end. Raises LookupError if exset cannot compute the expression.
    """
    if isinstance(how, FuncPath):
        return _lengths(shape, flat, values, above + _name_in(_LENGTH, how))
    if isinstance(how, Path):
        given = flat.values[above + _name_in(_FIELD, how)]
        if isinstance(given, Numbers):
            return given.values
    if isinstance(how, BinExpr) and opnames.get(how.op) in ("+", "-", "*", "//", "%"):
        sides = (_evaluated(shape, flat, values, each, above) for each in (how.lhs, how.rhs))
        result: NDArray[Any] = how.op(*sides)
        return result
    if isinstance(how, UniExpr) and opnames.get(how.op) == "-":
        return -_evaluated(shape, flat, values, how.operand, above)
    if isinstance(how, int):
        return np.int64(how)  # type: ignore[return-value]
    raise LookupError


def _name_in(pattern: re.Pattern[str], expression: object) -> str:
    """Return the name of the field, if an expression is only a field of the same Struct.

    pattern: matches the text of such an expression. Raises LookupError for any other expression.
    """
    found = pattern.fullmatch(repr(expression))
    if found is None:
        raise LookupError
    return found[1]


def _padded(shape: Shape, flat: Flat, values: Mapping[str, Values], blob: ir.Blob) -> Strings:
    """Return the texts of the field `blob`, each padded with zeros to the size of the field.

    values: the columns, by path. Raises ValueError for a text that is too long.
    """
    strings = values[blob.path]
    assert isinstance(strings, Strings)
    sizes = _sizes(shape, flat, values, blob.count, blob.path)
    if np.ndim(sizes) and len(sizes) != len(strings):
        sizes = sizes[flat.present[blob.path]]
    sizes = np.broadcast_to(sizes, len(strings))
    wrong = np.flatnonzero(strings.lengths > sizes)
    if len(wrong):
        length, size = strings.lengths[wrong[0]], sizes[wrong[0]]
        raise ValueError(f"{blob.path}: row {wrong[0]} has {length} bytes, more than {size}")
    offsets = offsets_of(np.ascontiguousarray(sizes, np.int64))
    data = np.zeros(int(offsets[-1]), np.uint8)
    at = np.repeat(offsets[:-1] - strings.offsets[:-1], strings.lengths)
    data[at + np.arange(len(strings.data))] = strings.data
    return Strings(data, offsets, strings.present)


def _sizes(shape: Shape, flat: Flat, values: Mapping[str, Values], count: object, path: str) -> Any:
    """Return the size of a text for each row of its table, computed from the expression `count`.

    path: the field of the text. Raises ValueError if exset cannot compute the size.
    """
    if isinstance(count, int):
        return np.int64(count)
    if isinstance(count, ir.Number) and count.path not in shape.program.owners:
        found: Any = values[count.path]
        table, above = shape.table_of(path), shape.table_of(count.path)
        while table != above:
            if table == ROOT:
                break
            found = found[np.repeat(np.arange(len(flat.lengths[table])), flat.lengths[table])]
            table = shape.above[table]
        return found.astype(np.int64)
    if isinstance(count, ir.Operation) and count.operator in _SIZES:
        sides = [_sizes(shape, flat, values, each, path) for each in count.operands]
        if len(sides) == 2:
            return _SIZES[count.operator](*sides)
    raise ValueError(
        f"{path}: exset cannot write this text, because it cannot compute its size: the size may"
        f" use numbers, the operators {', '.join(_SIZES)}, and fields that each record has"
    )


def _blobs(node: ir.Node) -> dict[str, ir.Blob]:
    return {each.path: each for each in nodes_in(node) if isinstance(each, ir.Blob)}


def _check_rows(shape: Shape, flat: Flat, data: bytes) -> None:
    """Raise ValueError if a row has a value where the layout has none, or lacks a value.

    data: the file that was written, which shows where the layout has a value.
    """
    owners = shape.program.owners
    if not any(path in flat.present for path in owners):
        return
    compiled = KERNELS.use_compiled(len(data))
    fields = interpret_data(shape.engine, Source("", data), DEFAULT, compiled=compiled)
    for path in owners.keys() & flat.present.keys():
        found = fields.owners(path)
        if found is None or not np.array_equal(found, np.flatnonzero(flat.present[path])):
            raise ValueError(
                f"{path}: a row has a value where the layout has none,"
                " or lacks a value that the layout needs"
            )

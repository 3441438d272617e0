"""The table driver, writing: the lowered layout, run by the machine over the columns."""

import io
from collections.abc import Mapping
from typing import Final, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine.columns import Mover
from exset.codecs.engine.execution import Execution, Feeds, Streams, TooLarge
from exset.codecs.engine.fields import Values, check_columns
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Program
from exset.core.errors import FormatError
from exset.grammars.columns.arrays import Bytes, Ints, Longs, T, row_indices
from exset.grammars.columns.ragged import Strings

Column: TypeAlias = NDArray[np.generic]

_MOST: Final = 1 << 60
_INT32: Final = 2**31 - 1


def size_of(fields: Mapping[str, Values]) -> int:
    """About how many bytes some columns take."""
    return sum(
        column.data.size + len(column) if isinstance(column, Strings) else column.nbytes
        for column in fields.values()
    )


def write(layout: Layout, fields: Mapping[str, Values], *, compiled: bool) -> bytes:
    """What `reference.write` returns or raises.

    Raises TooLarge where an expression needs more than 64 bits.
    """
    check_columns(layout, fields)
    program = layout.program
    given = _given(program, fields)
    execution = Execution(program, b"", 0, compiled, given)
    streams, failed = execution.run()
    if failed is not None:
        _fail(program, fields, execution.ints, streams.fill, failed)
    _check_end(program, fields, streams.fill)
    buffer = io.BytesIO(bytes(streams.end))  # so that the bytes need not be copied at the end
    with buffer.getbuffer() as view:
        _put_all(program, fields, streams, Mover(compiled), np.frombuffer(view, np.uint8))
    return buffer.getvalue()


def _given(program: Program, fields: Mapping[str, Values]) -> Feeds:
    """The feeds of the machine, and how many values the column of each stream has."""
    limits = np.full(program.streams, _MOST, np.int64)
    for path, leaf in program.leaves.items():
        column = fields[path]
        at = program.total(path)
        limits[at] = min(limits[at], len(column))
        if isinstance(column, Strings) and leaf.stored == "string":
            limits[leaf.stream + 1] = _first_nul(column)
    ints, reals, begins = list[Column](), list[Column](), list[int]()
    totals = [0, 0]
    for feed in program.feeds:
        begins.append(totals[feed.is_real])
        values: Column
        column = fields[feed.path]
        if not isinstance(column, Strings):
            values = column
            if values.dtype == np.uint64 and values.size and values.max() >= 2**63:
                raise TooLarge
        elif feed.value is not None:
            values = _equal(column, feed.value)
        else:
            lengths = column.lengths
            values = lengths.astype(np.int32) if column.data.size <= _INT32 else lengths
        totals[feed.is_real] += values.size
        (reals if feed.is_real else ints).append(values)
    small = all(each.dtype.itemsize < 4 or each.dtype == np.int32 for each in ints)
    return Feeds(
        _joined(ints, np.int32) if small else _joined(ints, np.int64),
        _joined(reals, np.float64),
        np.array(begins, np.int64),
        limits,
        size_of(fields),
    )


def _joined(parts: list[Column], dtype: type[T]) -> NDArray[T]:
    joined = np.empty(sum(len(part) for part in parts), dtype)
    end = 0
    for part in parts:
        begin, end = end, end + len(part)
        joined[begin:end] = part
    return joined


def _first_nul(strings: Strings) -> int:
    """The first string with a NUL in it; -1 if there is none."""
    nul = np.flatnonzero(strings.data == 0)
    return int(np.searchsorted(strings.offsets, nul[0], "right")) - 1 if nul.size else -1


def _equal(strings: Strings, value: bytes) -> Ints:
    """Whether each string is these bytes, as 0 or 1."""
    equal = strings.lengths == len(value)
    begins = strings.offsets[:-1][equal]
    rows = strings.data[begins[:, np.newaxis] + np.arange(len(value))]
    equal[equal] = (rows == np.frombuffer(value, np.uint8)).all(axis=1)
    result: Ints = equal.astype(np.int32)
    return result


def _fail(
    program: Program, fields: Mapping[str, Values], ints: Longs, fill: Longs, at: int
) -> NoReturn:
    """Raise the error of the instruction at a place."""
    origin, code = program.origins[at], program.code[at]
    for path, _ in origin.numbers:
        _check_room(fields, path, int(fill[code[1]]))
    if origin.kind == "test":
        number = _used(program, fill, field := cast(str, origin.field)) - 1
        raise FormatError(f"{field} number {number} must satisfy: {origin.text}")
    if origin.kind == "string":
        _check_room(fields, origin.path, used := int(fill[code[1]]))
        raise FormatError(f"{origin.path} number {used - 1}: a NUL in a string")
    count = int(ints[code[origin.operand]])
    if count < 0:
        raise FormatError(f"{origin.path}: a negative count, {count}")
    used = _used(program, fill, origin.path)
    _check_room(fields, origin.path, used)
    length = cast(Strings, fields[origin.path]).lengths[used - 1]
    raise FormatError(f"{origin.path} number {used - 1}: {length} bytes, but {count} are wanted")


def _used(program: Program, fill: Longs, path: str) -> int:
    """How many values of a column are used."""
    return int(fill[program.total(path)])


def _check_room(fields: Mapping[str, Values], path: str, wanted: int) -> None:
    if wanted > len(fields[path]):
        found = len(fields[path])
        raise ValueError(f"{path}: {found} values, but at least {wanted} are wanted")


def _check_end(program: Program, fields: Mapping[str, Values], fill: Longs) -> None:
    for path, column in fields.items():
        used = _used(program, fill, path)
        if used != len(column):
            raise ValueError(f"{path}: {len(column)} values, but only {used} used")


def _put_all(
    program: Program, fields: Mapping[str, Values], streams: Streams, mover: Mover, out: Bytes
) -> None:
    """Put every column at its offsets, into a buffer of zeros."""
    for path, leaf in program.leaves.items():
        column, starts = fields[path], streams[leaf.stream]
        if isinstance(column, Strings):
            mover.put_strings(out, column, starts)
        elif path in program.rows:
            mover.put_rows(out, leaf, column, starts, streams[leaf.stream + 1])
        else:
            mover.put_numbers(out, leaf, column, starts, leaf.shift)
    for stream, raw in program.fixed:
        places = streams[stream][:, np.newaxis] + np.arange(len(raw))
        out[places] = np.frombuffer(raw, np.uint8)
    for stream, pattern in program.gaps:
        if pattern:
            sizes = streams[stream + 1].astype(np.int64)
            out[row_indices(streams[stream].astype(np.int64), sizes)] = pattern

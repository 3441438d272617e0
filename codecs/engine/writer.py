"""Write a file with a layout: `write` chooses the driver; `interpret` is the fast driver."""

import io
from collections.abc import Mapping
from typing import Final, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import opcodes as op
from exset.codecs.engine.execution import UNLIMITED, Execution, Feeds, TooLarge
from exset.codecs.engine.fields import Values, check_columns, check_end, check_room
from exset.codecs.engine.gather import KERNELS, Mover
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Program
from exset.codecs.engine.template import repeat_record
from exset.core.errors import FormatError
from exset.core.kernels import Engine
from exset.grammars.columns.arrays import Bytes, Ints, T, row_indices
from exset.grammars.columns.ragged import Strings

Column: TypeAlias = NDArray[np.generic]

_INT32: Final = 2**31 - 1


def write(layout: Layout, fields: Mapping[str, Values], *, engine: Engine = "auto") -> bytes:
    """Return the file with the given columns: the inverse of `read`.

    The columns include the counts. engine: as for `read`. Raises FormatError for a value that the
    layout forbids. Raises ValueError for missing or unknown columns, and for columns with lengths
    that do not fit together.
    """
    if engine != "reference":
        try:
            return interpret(
                layout, fields, compiled=KERNELS.use_compiled(_size_of(fields), engine)
            )
        except TooLarge:
            pass
    from exset.codecs.engine import reference_writer

    return reference_writer.write(layout, fields)


def interpret(
    layout: Layout, fields: Mapping[str, Values], *, compiled: bool, rest: int = 0
) -> bytes:
    """Write a file with the interpreter, from the columns in `fields`; return the bytes of the
    file.

    compiled: whether to use compiled kernels. rest: for an array without a count, the number of
    records. Raises TooLarge if an expression needs more than 64 bits.
    """
    check_columns(layout, fields)
    program = layout.program
    execution = Execution(program, b"", 0, compiled, _feeds(program, fields), rest)
    failed, fill = execution.run(repeat_record), execution.fill
    if failed is not None:
        _fail(program, fields, execution, failed)
    for path, column in fields.items():
        check_end(path, column, int(fill[program.total(path)]))
    buffer = io.BytesIO(bytes(execution.end))  # its value is the result, without a copy
    with buffer.getbuffer() as view:
        _scatter_all(program, fields, execution, Mover(compiled), np.frombuffer(view, np.uint8))
    return buffer.getvalue()


def _size_of(fields: Mapping[str, Values]) -> int:
    return sum(
        column.data.size + len(column) if isinstance(column, Strings) else column.nbytes
        for column in fields.values()
    )


def _feeds(program: Program, fields: Mapping[str, Values]) -> Feeds:
    """Collect from the columns what the interpreter needs to write: counts, conditions, lengths."""
    limits = np.full(program.streams, UNLIMITED, np.int64)
    for path, leaf in program.leaves.items():
        column = fields[path]
        at = program.total(path)
        limits[at] = min(limits[at], len(column))
        if isinstance(column, Strings) and leaf.stored == "string":
            limits[leaf.stream + 1] = _first_nul(column)
    # For each feed, the bytes with which its strings are compared.
    matches = {
        where >> 16: program.constant(begin, size)
        for code, _, begin, size, _, where, _ in program.code
        if code == op.MATCH
    }
    ints, reals, begins = list[Column](), list[Column](), list[int]()
    totals = [0, 0]
    for number, path in enumerate(program.feeds):
        column, is_real = fields[path], program.leaves[path].is_real
        values: Column
        if not isinstance(column, Strings):
            values = column
            if values.dtype == np.uint64 and values.size and values.max() >= 2**63:
                raise TooLarge
        elif number in matches:
            values = _equal(column, matches[number])
        else:
            lengths = column.lengths
            values = lengths.astype(np.int32) if column.data.size <= _INT32 else lengths
        begins.append(totals[is_real])
        totals[is_real] += values.size
        (reals if is_real else ints).append(values)
    small = all(each.dtype.itemsize < 4 or each.dtype == np.int32 for each in ints)
    return Feeds(
        _joined(ints, np.int32) if small else _joined(ints, np.int64),
        _joined(reals, np.float64),
        np.array(begins, np.int64),
        limits,
        _size_of(fields),
    )


def _joined(columns: list[Column], dtype: type[T]) -> NDArray[T]:
    return np.concatenate([np.empty(0, dtype), *columns], dtype=dtype, casting="unsafe")


def _first_nul(strings: Strings) -> int:
    """Return the index of the first string that contains a NUL byte. Return -1 if there is none."""
    nul = np.flatnonzero(strings.data == 0)
    return int(np.searchsorted(strings.offsets, nul[0], "right")) - 1 if nul.size else -1


def _equal(strings: Strings, value: bytes) -> Ints:
    """Return for each string whether it equals `value`, as 0 or 1."""
    equal = strings.lengths == len(value)
    begins = strings.offsets[:-1][equal]
    rows = strings.data[begins[:, np.newaxis] + np.arange(len(value))]
    equal[equal] = (rows == np.frombuffer(value, np.uint8)).all(axis=1)
    result: Ints = equal.astype(np.int32)
    return result


def _fail(
    program: Program, fields: Mapping[str, Values], execution: Execution, at: int
) -> NoReturn:
    origin, row, fill = program.origins[at], program.code[at], execution.fill
    path = origin.path
    if origin.kind == "test":
        path = cast(str, origin.field)
        number = int(fill[program.total(path)]) - 1
        raise FormatError(f"{path}[{number}] must {origin.text}")
    count = int(execution.ints[row[2]]) if origin.kind in ("rows", "bytes") else 0
    if count < 0:
        raise FormatError(f"{path}: the count is negative: {count}")
    number = int(fill[program.total(path)]) - 1
    for each in program.block(row[1]) if origin.kind == "block" else (path,):
        check_room(each, fields[each], number + 1)
    if origin.kind == "string":
        raise FormatError(f"{path}[{number}]: a NUL in a string")
    length = cast(Strings, fields[path]).lengths[number]
    raise FormatError(f"{path}[{number}]: expected a length of {count}, not {length}")


def _scatter_all(
    program: Program, fields: Mapping[str, Values], streams: Execution, mover: Mover, out: Bytes
) -> None:
    """Write every column to `out`, a buffer of zeros, at the offsets that the interpreter found.

    Also write the constants and the padding. fields: the columns. streams: the result of the
    interpreter, which has the offsets. mover: copies numbers and bytes.
    """
    for path, leaf in program.leaves.items():
        column, starts = fields[path], streams[leaf.stream]
        if isinstance(column, Strings):
            mover.put_strings(out, column, starts)
        elif path in program.rows:
            mover.put_rows(out, leaf, column, starts, streams[leaf.stream + 1])
        else:
            mover.put_numbers(out, leaf, column, starts, leaf.shift)
    for code, stream, begin, size, pattern, *_ in program.code:
        if code == op.CONSTANT:
            raw = program.constant(begin, size)
            out[streams[stream][:, np.newaxis] + np.arange(size)] = np.frombuffer(raw, np.uint8)
        elif code in (op.GAP, op.ALIGN) and pattern:
            starts, sizes = (streams[each].astype(np.int64) for each in (stream, stream + 1))
            out[row_indices(starts, sizes)] = pattern

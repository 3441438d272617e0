"""A kernel that reads or writes many records of the same layout, one field of all at a time.

A *template* describes one record. The record is divided into parts: each part but the last ends
with a string, so that all other fields have a fixed place in their part.
"""

from exset.codecs.engine import opcodes as op
from exset.codecs.engine.arithmetic import whole_number
from exset.core.kernels import entry_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Ints, LongRows, Longs


@entry_kernel
def repeat(
    data: Bytes,
    size: int,
    most: int,
    writing: bool,
    position: int,
    count: int,
    parts: LongRows,
    checks: LongRows,
    fills: LongRows,
    feed: Ints | Longs,
    out: Ints | Longs,
    width: int,
    table: Longs,
) -> tuple[int, int]:
    """Read or write up to `count` records, as `interpreter.run` does, while the template fits.

    Returns the number of records, and the offset after them. data, size, most, writing, feed, out:
    as for `interpreter.run`. position: the offset of the first record. The template:

    - parts: the size of each part without its string, whether it has one, and the index in `feed`
      of the string's length, with its step from record to record.
    - checks: a number that must be the same in each record. To read: its part, its place there, its
      size, its form, and the number. To write: its index in `feed`, the step, and the number.
    - fills: what is written to `out`: the row of `table` to which a number is added, this number,
      the index in `out`, and the step.

    table: scratch, rows of `width` numbers, one more than the records that are done at once. Row 0
    is 0. For each part, one row has its offsets, the next one the lengths of its strings.
    """
    done = 0
    while done < count:
        many = min(width - 1, count - done)
        n = _walk(data, size, most, writing, position, done, many, parts, feed, width, table)
        if writing:
            n = _same_in_feed(n, done, checks, feed)
        else:
            n = _same_in_data(n, checks, data, width, table)
        position = table[width + n]
        for row in range(len(fills)):
            source, add, step = fills[row, 0] * width, fills[row, 1], fills[row, 3]
            numbers = table[source : source + n]
            first = fills[row, 2] + done * step
            if step == 1:  # the compiler vectorises this
                target = out[first : first + n]
                for i in range(n):
                    target[i] = numbers[i] + add
            else:
                spread = out[first : first + n * step]
                for i in range(n):
                    spread[i * step] = numbers[i] + add
        done += n
        if n < many:
            break
    return done, position


@kernel
def _walk(
    data: Bytes,
    size: int,
    most: int,
    writing: bool,
    position: int,
    done: int,
    many: int,
    parts: LongRows,
    feed: Ints | Longs,
    width: int,
    table: Longs,
) -> int:
    """Find where the parts of the next `many` records begin; return for how many they fit.

    The first part of the next record then begins at the offset after these records.
    """
    at = position
    for n in range(many):
        for part in range(len(parts)):
            table[(1 + 2 * part) * width + n] = at
            at += parts[part, 0]
            if at > size and not writing:
                return n
            if parts[part, 1] != 0:
                length = 0
                if writing:
                    length = feed[parts[part, 2] + (done + n) * parts[part, 3]]
                else:
                    last = at + most + 1 if most < size - at else size
                    while at + length < last and data[at + length] != 0:
                        length += 1
                    if at + length >= last:
                        return n
                table[(2 + 2 * part) * width + n] = length
                at += length + 1
        if writing and at > most:
            return n
    table[width + many] = at
    return many


@kernel
def _same_in_data(n: int, checks: LongRows, data: Bytes, width: int, table: Longs) -> int:
    """Return how many of the next n records to read have the numbers of the template."""
    for row in range(len(checks)):
        shift, size, form, expected = checks[row, 1], checks[row, 2], checks[row, 3], checks[row, 4]
        first = (1 + 2 * checks[row, 0]) * width
        places = table[first : first + n]
        for i in range(n):
            at = places[i] + shift
            value = 0
            if form == op.FLAG:
                value = 1 if data[at] != 0 else 0
            elif form == op.SIGNED and size == 4:
                raw = data[at : at + 4]
                value = 0 + raw[0]
                value = (value ^ 128) - 128
                value = value << 24 | raw[1] << 16 | raw[2] << 8 | raw[3]
            else:
                value = whole_number(data, at, size, form)
            if value != expected:
                n = i
                break
    return n


@kernel
def _same_in_feed(n: int, done: int, checks: LongRows, feed: Ints | Longs) -> int:
    """Return how many of the next n records to write have the numbers of the template."""
    for row in range(len(checks)):
        first, step, expected = checks[row, 0], checks[row, 1], checks[row, 2]
        first += done * step
        for i in range(n):
            if feed[first + i * step] != expected:
                n = i
                break
    return n

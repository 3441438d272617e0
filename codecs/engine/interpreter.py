"""The interpreter: a kernel that runs a program to read or to write a file.

Each instruction is a row of `WIDTH` numbers from 0: the operation, and its operands a, b, c, ... A
*stream* is a growing list of numbers, such as the offsets of a field or the counts of an array.
Registers hold the values of expressions. As plain Python the kernel runs on lists and bytes;
compiled, it runs on arrays. Arrays of indices are unsigned, so that Numba generates no code for
negative indices.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import opcodes as op
from exset.codecs.engine.arithmetic import CodeRow, Reals, calculate, real_number, whole_number
from exset.core.kernels import entry_kernel, kernel
from exset.grammars.columns.arrays import Bytes, Ints, Longs

Code = np.ndarray[tuple[int, int], np.dtype[np.uint32]]
Index = NDArray[np.uint32] | Longs

_MOST_BYTES: Final = 1 << 48
_FAR: Final = (1 << 62) - 1
_INT32: Final = (1 << 31) - 1


@kernel
def _last(where: int, feeds: Longs, ends: Index, bases: Longs) -> int:
    """Return the index of the value that was written last, in the array of feeds.

    where: two numbers in one. The upper bits are the number of the feed. The lower 16 bits are the
    number of the stream that counts the feed's values. The arrays are those of `run`.
    """
    last: int = feeds[where >> 16] + ends[where & 65535] - bases[where & 65535] - 1
    return last


@kernel
def _bulk(
    row: CodeRow,
    n: int,
    position: int,
    size: int,
    writing: bool,
    limits: Longs,
    totals: Longs,
    gaps: Index,
    stops: Index,
    ends: Index,
    out: Ints | Longs,
) -> bool:
    """Run a BULK instruction, which reads or writes an array of `n` numbers.

    row: the instruction. position: the offset in the file. size: the number of bytes of the file.
    The other arguments are those of `run`. Returns False, and changes nothing, if the array does
    not fit or the stream is full.
    """
    a = row[1]
    k = ends[a]
    if n < 0 or k >= stops[a]:
        return False
    if writing:
        if totals[a] + n > limits[a + 1]:
            return False
        totals[a] += n
    elif n > size or n * row[3] > size - position:
        return False
    out[k] = position
    out[k + gaps[a]] = n
    ends[a] = k + 1
    return True


@entry_kernel
def run(
    code: Code,
    constants: Bytes,
    data: Bytes,
    size: int,
    most: int,
    writing: bool,
    pause: int,
    ints: Longs,
    reals: Reals,
    feed: Ints | Longs,
    real_feed: Reals,
    feeds: Longs,
    limits: Longs,
    totals: Longs,
    bases: Longs,
    gaps: Index,
    stops: Index,
    ends: Index,
    out: Ints | Longs,
    state: Longs,
) -> tuple[int, int, int]:
    """Run a program; return why it stopped, at which instruction, and at which offset.

    data: the `size` bytes to read. most: the largest length of a string; when writing, the largest
    offset. ints, reals: the registers. Stream k is out[bases[k] : stops[k]], filled up to ends[k];
    the second stream of a pair is gaps[k] after the first. The run stops when a stream is full; a
    second call with more room continues from `state`. When writing, values come from the feeds:
    feed k begins at feeds[k] of `feed`, or of `real_feed` for reals. limits: the number of values
    in the column of each stream. totals: the count of written numbers of each array. pause: the
    run stops before it begins this number of further records of an outermost array; 0 for never.
    """
    pc, position, start, length = state[0], state[1], state[2], state[3]
    why = op.FULL
    while True:
        if position > most and writing:
            return op.WIDE, pc, position
        row = code[pc]
        opcode = row[0]
        a = row[1]
        b = row[2]
        c = row[3]
        if opcode <= op.BLOCK_LOAD_FORK:  # a block of b bytes, and what follows it; stream a
            k = ends[a]
            if k >= stops[a]:
                break
            out[k] = position
            ends[a] = k + 1
            i = 0
            if writing:
                i = k - bases[a]
                if i >= limits[a]:
                    return op.FAILED, pc, position
            elif b > size - position:
                return op.FAILED, pc, position
            position += b
            pc += 1
            if opcode == op.BLOCK:
                continue
            n = 0
            if opcode >= op.TAKE_BULK:  # load its last four bytes, or others, to register c; feed
                at = position - 4
                which = row[4]
                if opcode == op.BLOCK_LOAD_FORK:
                    row = code[pc]
                    c = row[1]
                    at = position - row[2]
                    which = row[5] >> 16
                    pc += 1
                if writing:
                    n = feed[feeds[which] + i]
                else:
                    at &= _FAR  # so that the compiler sees one unsigned load
                    n = 0 + data[at]
                    n = n << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]
                    if n > _INT32:
                        n -= _INT32 + _INT32 + 2
                ints[c] = n
                if opcode == op.TAKE:
                    continue
            row = code[pc]
            if opcode == op.TAKE_EACH:
                a = row[1]
                k = ends[a]
                if n >= 0 and (writing or (n * row[3] <= size - position and n <= size)):
                    if not writing:
                        if k >= stops[a]:
                            continue
                        out[k] = n
                        ends[a] = k + 1
                    if n == 0:
                        pc = row[4]
                    else:
                        ints[row[5]] = n
                        pc += 1
            elif op.BLOCK_BULK <= opcode <= op.TAKE_BULK:
                n = ints[row[2]]
                if _bulk(row, n, position, size, writing, limits, totals, gaps, stops, ends, out):
                    position += n * row[3]
                    pc += 1
            else:
                if writing:
                    n = feed[feeds[row[5] >> 16] + i]
                else:
                    n = 1 if data[position - row[2]] != 0 else 0
                ints[row[1]] = n
                pc += 1
                pc = pc + 1 if n != 0 else code[pc][2]
            continue
        if opcode <= op.UNTIL:  # it records to stream a
            k = ends[a]
            if k >= stops[a]:
                break
        if opcode == op.STRING:  # offsets to stream a, lengths to the next; feed b of lengths
            out[k] = position
            ends[a] = k + 1
            start = position
            if writing:
                i = k - bases[a]
                if i >= limits[a] or i == limits[a + 1]:
                    return op.FAILED, pc, position
                length = feed[feeds[b] + i]
                position += length + 1
            else:
                last = size
                if most < size - position:
                    last = position + most + 1
                at = position
                while at < last and data[at] != 0:
                    at += 1
                if at >= last:
                    return op.FAILED, pc, position
                length = at - position
                position = at + 1
            out[k + gaps[a]] = length
        elif opcode == op.NEXT:  # counter a; go to b, or at the end to c; is it the outermost one?
            n = ints[a] - 1
            ints[a] = n
            pc = b if n > 0 else c
            if row[4] != 0 and n > 0:
                pause -= 1
                if pause == 0:
                    why = op.PAUSED
                    break
            continue
        elif opcode == op.LOAD:  # to register a, c bytes from b bytes ago; form; feed; stream
            if writing:
                ints[a] = feed[_last(row[5], feeds, ends, bases)]
            else:
                at = position - b
                form = row[4]
                if form == op.FLAG:
                    ints[a] = 1 if data[at] != 0 else 0
                elif c == 8 and form & op.SIGNED == 0 and data[at + (form & op.LITTLE) * 7] >= 128:
                    return op.LARGE, pc, position
                else:
                    ints[a] = whole_number(data, at, c, form)
        elif opcode == op.CHECK_LESS:
            if ints[a] >= ints[b]:
                return op.FAILED, pc, position
        elif opcode == op.CHECK_LESS_EQUAL:
            if ints[a] > ints[b]:
                return op.FAILED, pc, position
        elif opcode == op.UNLESS:  # if not a, go to b
            if ints[a] == 0:
                pc = b
                continue
        elif opcode == op.EACH:  # counts to stream a; count b; least c or 0; end; counter; form
            n = ints[b]
            if n < 0:
                if row[6] == op.STRICT:
                    return op.FAILED, pc, position
                n = size - position if row[6] == op.REST else 0
            if not writing:
                if c > 0 and (n > size - position or n * c > size - position):
                    return op.FAILED, pc, position
                out[k] = n
                ends[a] = k + 1
            if n == 0:
                pc = row[4]
                continue
            ints[row[5]] = n
        elif opcode == op.BULK:  # offsets to stream a, counts next; count b; c bytes each; form
            n = ints[b]
            if row[4] == op.REST:
                n = limits[a + 1] - totals[a] if writing else (size - position) // c
            elif n < 0 and row[4] == op.LENIENT:
                n = 0
            if not _bulk(row, n, position, size, writing, limits, totals, gaps, stops, ends, out):
                out[k] = position
                ends[a] = k + 1
                totals[a] += n
                return op.FAILED, pc, position
            position += n * c
        elif opcode == op.BLOB:  # offsets to stream a, lengths next; size b; feed c; form
            length = ints[b]
            if row[4] == op.REST:
                length = size - position
                if writing and k - bases[a] < limits[a]:
                    length = feed[feeds[c] + k - bases[a]]
            if length < 0 or (not writing and length > size - position):
                return op.FAILED, pc, position
            ends[a] = k + 1
            i = k - bases[a]
            if writing and (i >= limits[a] or length != feed[feeds[c] + i]):
                return op.FAILED, pc, position
            out[k] = position
            out[k + gaps[a]] = length
            start = position
            position += length
        elif op.GAP <= opcode <= op.ALIGN:  # offsets to stream a, sizes next; b; modulus c
            n = ints[b]
            if opcode == op.ALIGN:
                n = (n - position) % c
            if n < 0 or (not writing and n > size - position):
                return op.FAILED, pc, position
            if n > _MOST_BYTES:
                return op.LARGE, pc, position
            if writing:
                out[k] = position
                out[k + gaps[a]] = n
                ends[a] = k + 1
            position += n
        elif opcode == op.CONSTANT:  # offsets to stream a; c bytes of the constants from b
            if writing:
                out[k] = position
                ends[a] = k + 1
            else:
                if c > size - position:
                    return op.FAILED, pc, position
                for i in range(c):
                    if data[position + i] != constants[b + i]:
                        return op.FAILED, pc, position
            position += c
        elif opcode == op.PLACE:  # the offset to stream a
            if not writing:
                out[k] = position
                ends[a] = k + 1
        elif opcode == op.OWNER:  # to stream a the index of the record that began last; stream b
            if not writing:
                out[k] = ends[b] - bases[b] - 1 if c > 0 else 0
                ends[a] = k + 1
        elif opcode == op.LAST:  # at the end of the data, correct the count in stream a; counter b
            if not writing and position >= size:
                counted = ends[a] - 1
                out[counted] -= ints[b]
                pc = c
                continue
        elif opcode == op.UNTIL:  # counts to stream a; condition b; counter c; body
            ints[c] += 1
            if ints[b] == 0:
                pc = row[4]
                continue
            if not writing:
                out[k] = ints[c]
                ends[a] = k + 1
        elif opcode == op.CHECK:  # condition a
            if ints[a] == 0:
                return op.FAILED, pc, position
        elif opcode == op.GO:
            pc = a
            continue
        elif opcode == op.MARK:
            ints[a] = position
        elif opcode == op.MATCH:  # to a: is the last string constants[b : b + c]?; feed; stream
            if writing:
                ints[a] = feed[_last(row[5], feeds, ends, bases)]
            else:
                ints[a] = 1 if length == c else 0
                if length == c:
                    for i in range(c):
                        if data[start + i] != constants[b + i]:
                            ints[a] = 0
        elif opcode == op.SET:
            ints[a] = b
        elif opcode == op.LOAD_REAL:  # as LOAD
            if writing:
                reals[a] = real_feed[_last(row[5], feeds, ends, bases)]
            else:
                reals[a] = real_number(data, position - b, c, row[4])
        elif opcode <= op.LESS_EQUAL_REAL:
            if not calculate(row, ints, reals):
                return op.LARGE, pc, position
        elif opcode == op.BEYOND:
            return op.LARGE, pc, position
        else:
            return op.DONE, pc, position
        pc += 1
    state[0], state[1], state[2], state[3] = pc, position, start, length
    return why, pc, position

"""The kernel that runs a lowered layout, to read and to write, compiled or not.

Each instruction is a row of `WIDTH` numbers: what it does, and its operands, none of which is
negative. A *stream* is a growing list of numbers: the offsets of a field, the counts of an array.
Registers hold what expressions need. As plain Python the kernel runs on lists and bytes, compiled
on arrays: those that indices come from have no sign, so that none need be looked at for one.
"""

from typing import Final

from exset.codecs.engine.opcodes import (
    ADD,
    ADD_REAL,
    ALIGN,
    AND,
    BEYOND,
    BLOB,
    BLOCK,
    BULK,
    CHECK,
    CONSTANT,
    DIVIDE,
    DONE,
    EACH,
    EQUAL,
    EQUAL_REAL,
    FAILED,
    FLAG,
    FULL,
    GAP,
    GO,
    GREATER,
    LARGE,
    LESS,
    LESS_EQUAL,
    LESS_EQUAL_REAL,
    LESS_REAL,
    LITTLE,
    LOAD,
    LOAD_REAL,
    MARK,
    MATCH,
    MODULO,
    MULTIPLY,
    MULTIPLY_REAL,
    NEGATE,
    NEGATE_REAL,
    NEXT,
    NOT,
    OR,
    PLACE,
    SET,
    SIGNED,
    STRING,
    SUBTRACT,
    SUBTRACT_REAL,
    TAKE,
    TO_REAL,
    TRUTH,
    UNLESS,
    UNTIL,
    WIDE,
)
from exset.codecs.engine.scalars import Read, Write, real_number, whole_number
from exset.kernels import bare_kernel, kernel

_SAFE: Final = 1 << 31  # products of numbers up to this fit
_HALF: Final = 1 << 62  # sums of numbers up to this fit
_PRODUCT: Final = 9e18
_EXACT: Final = 1 << 53  # a real of 64 bits holds each whole number up to this
_MOST_BYTES: Final = 1 << 48


@bare_kernel
def _last(where: int, feeds: Read[int], ends: Read[int], bases: Read[int]) -> int:
    """Where in a feed the value is that was written last, of a stream that is given with it."""
    return feeds[where >> 16] + ends[where & 65535] - bases[where & 65535] - 1


@bare_kernel
def run(
    code: Read[Read[int]],
    constants: Read[int],
    data: Read[int],
    size: int,
    most: int,
    writing: bool,
    ints: Write[int],
    reals: Write[float],
    feed: Read[int],
    real_feed: Read[float],
    feeds: Read[int],
    limits: Read[int],
    totals: Write[int],
    bases: Read[int],
    gaps: Read[int],
    stops: Read[int],
    ends: Write[int],
    out: Write[int],
    state: Write[int],
) -> tuple[int, int, int]:
    """Run a program; return why it stopped, at which instruction, at which offset.

    data: what is read, of a size. most: bytes of a string; when writing, the largest offset.
    ints, reals: the registers. bases, stops: the part of `out` that there is for each stream; ends:
    how far it is filled; gaps: how far behind it the second of a pair is. When a stream is full the
    run stops, and goes on from `state` when it is called again. When writing, values come from the
    feeds, of which the k-th begins at feeds[k]; limits: how many values the column of each stream
    has; totals: how many numbers of an array are written.
    """
    pc, position, start, length = state[0], state[1], state[2], state[3]
    while True:
        row = code[pc]
        op = row[0]
        a = row[1]
        b = row[2]
        c = row[3]
        if op == BLOCK:  # stream a; b bytes
            k = ends[a]
            if k >= stops[a]:
                break
            out[k] = position
            ends[a] = k + 1
            if writing:
                if k - bases[a] >= limits[a]:
                    return FAILED, pc, position
            elif b > size - position:
                return FAILED, pc, position
            position += b
        elif op == TAKE:  # a block whose last four bytes are a signed number: register c; feed
            k = ends[a]
            if k >= stops[a]:
                break
            out[k] = position
            ends[a] = k + 1
            if writing:
                if k - bases[a] >= limits[a]:
                    return FAILED, pc, position
                ints[c] = feed[feeds[row[4]] + k - bases[a]]
                position += b
            else:
                if b > size - position:
                    return FAILED, pc, position
                position += b
                value = 0 + data[position - 4]
                if value >= 128:
                    value -= 256
                ints[c] = (
                    value << 24
                    | data[position - 3] << 16
                    | data[position - 2] << 8
                    | data[position - 1]
                )
        elif op == LOAD:  # register a, from b bytes ago, c bytes; form; feed; stream
            if writing:
                ints[a] = feed[_last(row[5], feeds, ends, bases)]
            else:
                at = position - b
                form = row[4]
                if form == FLAG:
                    ints[a] = 1 if data[at] != 0 else 0
                elif c == 8 and form & SIGNED == 0 and data[at + (form & LITTLE) * 7] >= 128:
                    return LARGE, pc, position
                else:
                    ints[a] = whole_number(data, at, c, form)
        elif op == STRING:  # stream a, that of lengths follows; feed b of lengths
            k = ends[a]
            if k >= stops[a]:
                break
            out[k] = position
            ends[a] = k + 1
            start = position
            if writing:
                i = k - bases[a]
                if i >= limits[a] or i == limits[a + 1]:
                    return FAILED, pc, position
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
                    return FAILED, pc, position
                length = at - position
                position = at + 1
            out[k + gaps[a]] = length
        elif op == BULK:  # stream a, that of counts follows; b bytes an element; count c; lenient
            n = ints[c]
            if n < 0 and row[4] == 1:
                n = 0
            k = ends[a]
            if k >= stops[a]:
                break
            if writing:
                if n < 0:
                    return FAILED, pc, position
                totals[a] += n
                if totals[a] > limits[a + 1]:
                    return FAILED, pc, position
            out[k] = position
            ends[a] = k + 1
            if not writing and (n < 0 or n > size or n * b > size - position):
                return FAILED, pc, position
            out[k + gaps[a]] = n
            position += n * b
        elif op == EACH:  # stream a of counts; count b; least size c (0: any); end; counter; lenient
            n = ints[b]
            if n < 0:
                if row[6] == 0:
                    return FAILED, pc, position
                n = 0
            if not writing:
                if c > 0 and (n > size - position or n * c > size - position):
                    return FAILED, pc, position
                k = ends[a]
                if k >= stops[a]:
                    break
                out[k] = n
                ends[a] = k + 1
            if n == 0:
                pc = row[4]
                continue
            ints[row[5]] = n
        elif op == NEXT:  # counter a; body b
            ints[a] -= 1
            if ints[a] > 0:
                pc = b
                continue
        elif op == UNLESS:  # condition a; go to b
            if ints[a] == 0:
                pc = b
                continue
        elif op == GREATER:
            ints[a] = 1 if ints[b] > ints[c] else 0
        elif op == LESS:
            ints[a] = 1 if ints[b] < ints[c] else 0
        elif op == LESS_EQUAL:
            ints[a] = 1 if ints[b] <= ints[c] else 0
        elif op == EQUAL:
            ints[a] = 1 if ints[b] == ints[c] else 0
        elif op == CHECK:  # condition a
            if ints[a] == 0:
                return FAILED, pc, position
        elif op == GO:
            pc = a
            continue
        elif op == MARK:
            ints[a] = position
        elif op == LOAD_REAL:  # as LOAD
            if writing:
                reals[a] = real_feed[_last(row[5], feeds, ends, bases)]
            else:
                reals[a] = real_number(data, position - b, c, row[4])
        elif op == CONSTANT:  # the b bytes of the constants from a
            if not writing:
                if b > size - position:
                    return FAILED, pc, position
                for i in range(b):
                    if data[position + i] != constants[a + i]:
                        return FAILED, pc, position
            else:
                k = ends[c]
                if k >= stops[c]:
                    break
                out[k] = position
                ends[c] = k + 1
            position += b
        elif op == BLOB:  # stream a, that of lengths follows; size b; feed c of lengths
            k = ends[a]
            if k >= stops[a]:
                break
            length = ints[b]
            if length < 0 or (not writing and length > size - position):
                return FAILED, pc, position
            ends[a] = k + 1
            i = k - bases[a]
            if writing and (i >= limits[a] or length != feed[feeds[c] + i]):
                return FAILED, pc, position
            out[k] = position
            out[k + gaps[a]] = length
            start = position
            position += length
        elif GAP <= op <= ALIGN:  # stream a, that of sizes follows; size, or begin b; modulus c
            n = ints[b]
            if op == ALIGN:
                n = (n - position) % c
            if n < 0 or (not writing and n > size - position):
                return FAILED, pc, position
            if n > _MOST_BYTES:
                return LARGE, pc, position
            if writing:
                k = ends[a]
                if k >= stops[a]:
                    break
                out[k] = position
                out[k + gaps[a]] = n
                ends[a] = k + 1
            position += n
        elif op == MATCH:  # register a: is what was just read constants[b:b + c]? feed; stream
            if writing:
                ints[a] = feed[_last(row[5], feeds, ends, bases)]
            else:
                ints[a] = 1 if length == c else 0
                if length == c:
                    for i in range(c):
                        if data[start + i] != constants[b + i]:
                            ints[a] = 0
        elif op == PLACE:  # stream a
            if not writing:
                k = ends[a]
                if k >= stops[a]:
                    break
                out[k] = position
                ends[a] = k + 1
        elif op == SET:
            ints[a] = b
        elif op == UNTIL:  # stream a of counts; condition b; counter c; body
            k = ends[a]
            if k >= stops[a]:
                break
            ints[c] += 1
            if ints[b] == 0:
                pc = row[4]
                continue
            if not writing:
                out[k] = ints[c]
                ends[a] = k + 1
        elif ADD <= op <= SUBTRACT:
            x = ints[b]
            y = ints[c]
            if not (-_HALF < x < _HALF and -_HALF < y < _HALF):
                return LARGE, pc, position
            ints[a] = x + y if op == ADD else x - y
        elif op == MULTIPLY:
            x = ints[b]
            y = ints[c]
            if not (-_SAFE <= x <= _SAFE and -_SAFE <= y <= _SAFE) and (
                abs(float(x) * float(y)) > _PRODUCT
            ):
                return LARGE, pc, position
            ints[a] = x * y
        elif op == DIVIDE:
            ints[a] = ints[b] // ints[c]
        elif op == MODULO:
            ints[a] = ints[b] % ints[c]
        elif op == AND:
            ints[a] = ints[b] & ints[c]
        elif op == OR:
            ints[a] = ints[b] | ints[c]
        elif op == NOT:
            ints[a] = 1 if ints[b] == 0 else 0
        elif op == NEGATE:
            if ints[b] < -_HALF:
                return LARGE, pc, position
            ints[a] = -ints[b]
        elif op == TO_REAL:
            if not -_EXACT <= ints[b] <= _EXACT:
                return LARGE, pc, position
            reals[a] = float(ints[b])
        elif op == TRUTH:
            ints[a] = 1 if reals[b] != 0 else 0
        elif op == ADD_REAL:
            reals[a] = reals[b] + reals[c]
        elif op == SUBTRACT_REAL:
            reals[a] = reals[b] - reals[c]
        elif op == MULTIPLY_REAL:
            reals[a] = reals[b] * reals[c]
        elif op == NEGATE_REAL:
            reals[a] = -reals[b]
        elif op == EQUAL_REAL:
            ints[a] = 1 if reals[b] == reals[c] else 0
        elif op == LESS_REAL:
            ints[a] = 1 if reals[b] < reals[c] else 0
        elif op == LESS_EQUAL_REAL:
            ints[a] = 1 if reals[b] <= reals[c] else 0
        elif op == BEYOND:
            return LARGE, pc, position
        else:
            return DONE, pc, position
        if position > most and writing:
            return WIDE, pc, position
        pc += 1
    state[0], state[1], state[2], state[3] = pc, position, start, length
    return FULL, pc, position

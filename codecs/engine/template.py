"""Make a template of a record, with which a run of the interpreter does similar records faster.

The template has what the interpreter would record for the record, and the numbers on which this
depends, such as counts and flags. Records with the same numbers differ only in the lengths of
strings. `template_kernels` applies the template to them.
"""

from collections import Counter
from typing import Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import opcodes as op
from exset.codecs.engine import template_kernels as kernels
from exset.codecs.engine.arithmetic import calculate, whole_number
from exset.codecs.engine.execution import Execution
from exset.codecs.engine.gather import KERNELS
from exset.grammars.columns.arrays import LongRows

V = TypeVar("V", bound=NDArray[np.generic])

_AT_ONCE: Final = 256  # records
_MOST_STEPS: Final = 1 << 10  # of a record; a longer one has no template

# The operation with which a superinstruction begins.
_FIRST: Final = {
    op.BLOCK_FORK: op.BLOCK,
    op.BLOCK_BULK: op.BLOCK,
    op.BLOCK_LOAD_FORK: op.BLOCK,
    op.TAKE_BULK: op.TAKE,
    op.TAKE_EACH: op.TAKE,
}


class _Unlike(Exception):
    """Raised for a record that no template can describe, or that the interpreter must refuse."""


class Template:
    """A template of the record at which a run has stopped; see `template_kernels.repeat`.

    counter: the register of the number of records that are left, with this one.
    """

    def __init__(self, run: Execution) -> None:
        self._run = run
        self._data = memoryview(run.data)
        self._at = run.position
        self._begin = self._at  # of the current part
        self._ints: list[int] = run.ints.tolist()
        self._reals: list[float] = run.reals.tolist()
        self._uses = Counter[int]()  # how many numbers the record adds to each stream
        self._numbers = Counter[int]()  # how many numbers its arrays have
        self._strings = set[int]()
        self._parts = list[list[int]]()
        self._checks = list[list[int]]()
        self._fills = list[list[int]]()
        pc, self.counter = run.next, -1
        for _ in range(_MOST_STEPS):
            pc = self._step(pc)
            if self.counter >= 0:
                break
        else:
            raise _Unlike
        self._end_part(0, 0)

    def _step(self, pc: int) -> int:
        """Do the instruction `pc` for the record; return the index of the next one."""
        row = self._run.program.code[pc]
        opcode, a, b, c = _FIRST.get(row[0], row[0]), *row[1:4]
        ints, reading = self._ints, not self._run.writing
        if opcode in (op.BLOCK, op.TAKE):
            self._add(a, self._at - self._begin)
            self._at += b
            if opcode == op.TAKE:
                ints[c] = self._load(4, 4, op.SIGNED, row[4] << 16 | a)
        elif opcode == op.STRING:
            self._string(a, b)
        elif opcode == op.EACH:
            count = ints[b] if ints[b] > 0 or row[6] != op.LENIENT else 0
            if count < 0:
                raise _Unlike
            if reading:
                self._add(a, count, fixed=True)
            if count == 0:
                return row[4]
            ints[row[5]] = count
        elif opcode == op.NEXT:
            if row[4]:
                self.counter = a
                return pc
            ints[a] -= 1
            return b if ints[a] > 0 else c
        elif opcode == op.BULK:
            count = ints[b] if ints[b] > 0 or row[4] != op.LENIENT else 0
            if count < 0 or row[4] == op.REST:
                raise _Unlike
            self._add(a, self._at - self._begin, length=count)
            self._numbers[a] += count
            self._at += count * c
        elif opcode == op.LOAD:
            ints[a] = self._load(b, c, row[4], row[5])
        elif opcode == op.UNLESS:
            return pc + 1 if ints[a] else b
        elif opcode == op.GO:
            return a
        elif opcode == op.SET:
            ints[a] = b
        elif opcode == op.PLACE:
            if reading:
                self._add(a, self._at - self._begin)
        elif not self._holds(row):
            raise _Unlike
        return pc + 1

    def _holds(self, row: list[int]) -> bool:
        """Return whether a condition holds, or whether an expression can be computed, which sets
        its register.
        """
        opcode, a, b = row[:3]
        if opcode in (op.CHECK_LESS, op.CHECK_LESS_EQUAL):
            return bool(self._ints[a] < self._ints[b] + (opcode == op.CHECK_LESS_EQUAL))
        if opcode == op.CHECK:
            return self._ints[a] != 0
        if op.EQUAL <= opcode <= op.LESS_EQUAL_REAL:
            return bool(calculate(row, self._ints, self._reals))  # type: ignore[arg-type]
        return opcode == op.LAST

    def _add(self, stream: int, number: int, *, fixed: bool = False, length: int = -1) -> None:
        """Add an offset in the current part, or a fixed number, to a stream.

        length: what is added to the second stream of a pair.
        """
        nth = self._uses[stream]
        self._uses[stream] += 1
        begin = 0 if fixed else 1 + 2 * len(self._parts)
        self._fills.append([begin, number, stream, 0, nth])
        if length >= 0:
            self._fills.append([0, length, stream, 1, nth])

    def _load(self, back: int, size: int, form: int, where: int) -> int:
        """Return a number that each record must have.

        back: where it is, in bytes before the current offset. where: its feed and stream, as in an
        instruction LOAD.
        """
        run, at = self._run, self._at - back
        if run.writing:
            index, stream = self._place_in_feed(where >> 16, where & 65535)
            value = int(run.feeds.ints[index])
            self._checks.append([index, stream, value, 0, 0])
            return value
        if self._at > len(self._data):
            raise _Unlike
        if form == op.FLAG:
            value = int(self._data[at] != 0)
        else:
            value = whole_number(self._data, at, size, form)  # type: ignore[arg-type]
        if value >= 1 << 63:
            raise _Unlike
        self._checks.append([len(self._parts), at - self._begin, size, form, value])
        return value

    def _place_in_feed(self, feed: int, stream: int) -> tuple[int, int]:
        """Return the index of the last value in a feed that a stream counts, and the stream."""
        last = int(self._run.counts[stream]) + self._uses[stream] - 1
        return int(self._run.feeds.begins[feed]) + last, stream

    def _string(self, stream: int, feed: int) -> None:
        self._add(stream, self._at - self._begin)
        self._fills.append([2 + 2 * len(self._parts), 0, stream, 1, self._uses[stream] - 1])
        self._strings.add(stream)
        if self._run.writing:
            index, _ = self._place_in_feed(feed, stream)
            length = int(self._run.feeds.ints[index])
            self._end_part(1, index, stream)
        else:
            length = bytes(self._data[self._at :][: self._run.most + 1]).find(0)
            if length < 0:
                raise _Unlike
            self._end_part(1, 0)
        self._at += length + 1
        self._begin = self._at

    def _end_part(self, has_string: int, index: int, stream: int = 0) -> None:
        self._parts.append([self._at - self._begin, has_string, index, stream])

    def _most(self) -> int:
        """Return how many records the columns and the streams of the run have room for."""
        run = self._run
        most = self._ints[self.counter] - 1  # the interpreter does the last one
        for stream, uses in self._uses.items():
            done = int(run.counts[stream])
            limits = [int(run.stops[stream]) - int(run.ends[stream])]
            if run.writing:
                limits.append(int(run.feeds.limits[stream]) - done)
                if stream in self._strings and (nul := int(run.feeds.limits[stream + 1])) >= 0:
                    limits.append(nul - done)
            most = min(most, *(limit // uses for limit in limits))
        for stream, count in self._numbers.items():
            if run.writing and count:
                left = int(run.feeds.limits[stream + 1]) - int(run.totals[stream])
                most = min(most, left // count)
        return max(int(most), 0)

    def _view(self, array: V) -> V:
        """Return an array as the kernel takes it: plain Python needs the numbers of Python."""
        return array if self._run.compiled else cast("V", array.data)

    def apply(self) -> tuple[int, bool]:
        """Do the records that fit; return how many, and whether the next one differs."""
        run, most = self._run, self._most()
        parts, checks = _rows(self._parts, 4), _rows(self._checks, 5)
        fills = _rows(self._fills, 5)
        uses = np.zeros(run.program.streams, np.int64)
        uses[[*self._uses]] = [*self._uses.values()]
        if run.writing:
            parts[:, 3] = uses[parts[:, 3]]
            checks[:, 1] = uses[checks[:, 1]]
        stream, is_second, nth = fills[:, 2:].T.copy()
        fills[:, 2] = run.ends[stream] + is_second * run.gaps[stream].astype(np.int64) + nth
        fills[:, 3] = uses[stream]
        width = _AT_ONCE + 1
        table = np.zeros((1 + 2 * len(parts)) * width, np.int64)
        data = np.frombuffer(run.data if len(run.data) else b"\0", np.uint8)
        view = self._view
        done, position = KERNELS.choose(kernels.repeat, run.compiled)(
            view(data),
            len(run.data),
            run.most,
            run.writing,
            run.position,
            most,
            view(parts),
            view(checks),
            view(fills),
            view(run.feed),
            view(run.out),
            width,
            view(table),
        )
        if done:
            run.ends += (done * uses).astype(run.ends.dtype)
            for number, count in self._numbers.items():
                run.totals[number] += done * count
            self._ints[self.counter] = int(run.ints[self.counter]) - done
            run.ints[:], run.reals[:] = self._ints, self._reals
            run.move_to(position)
        return done, done < most


def repeat_record(run: Execution) -> tuple[int, bool]:
    """Do the records at which a run has stopped, as long as they are like the first of them.

    Returns how many were done, and whether this stopped at a record that differs.
    """
    try:
        template = Template(run)
    except (_Unlike, IndexError, ZeroDivisionError):  # the interpreter refuses it
        return 0, True
    return template.apply()


def _rows(rows: list[list[int]], width: int) -> LongRows:
    array: LongRows = np.array(rows, np.int64).reshape(-1, width)
    return array

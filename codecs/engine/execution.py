"""One run of a program: registers, streams, and a kernel compiled or plain."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import interpreter, opcodes
from exset.codecs.engine.columns import KERNELS
from exset.codecs.engine.program import Program
from exset.grammars.columns.arrays import Bytes, Ints, Longs

_INT32: Final = 2**31 - 1
_UINT32: Final = 2**32 - 1
_MOST: Final = 1 << 60
_ROOM: Final = 1 << 10


class TooLarge(Exception):
    """An expression needs more than 64 bits: only the reference driver can go on."""


@dataclass(frozen=True)
class Feeds:
    """What a program is given to write, as `machine.run` has it; about how many bytes in all."""

    ints: Ints | Longs = field(default_factory=lambda: np.empty(0, np.int32))
    reals: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, np.float64))
    begins: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    limits: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    total: int = 0

    def done(self, fill: Longs) -> float:
        """About which part of the columns is used up."""
        known = self.limits < _MOST
        return float(fill[known].sum() / max(1, self.limits[known].sum()))


@dataclass(frozen=True, eq=False)
class Streams:
    """What a run recorded: the numbers of all streams, where each begins, how many it has.

    The second of a pair of streams has as many as the first; `fill` is what the machine counted.
    end: the offset at which it ended.
    """

    numbers: Ints | Longs
    begins: Longs
    counts: Longs
    fill: Longs
    end: int

    def __getitem__(self, stream: int) -> Ints | Longs:
        begin = int(self.begins[stream])
        return self.numbers[begin : begin + int(self.counts[stream])]


@dataclass(eq=False)
class Execution:
    """A run of a program over data (reading), or over feeds (writing).

    No count makes it take memory: room is made for what was found, and by that for the rest.
    """

    program: Program
    data: bytes | memoryview
    most: int
    compiled: bool
    feeds: Feeds | None = None
    ints: Longs = field(init=False)

    def run(self) -> tuple[Streams, int | None]:
        """What was recorded; the instruction that failed, if one did. Raises TooLarge."""
        total = len(self.data) if self.feeds is None else self.feeds.total
        try:
            return self._run(total, total > _INT32 // 2)
        except OverflowError:
            return self._run(total, True)

    def _run(self, total: int, is_large: bool) -> tuple[Streams, int | None]:
        program, feeds = self.program, self.feeds or Feeds()
        writing = self.feeds is not None
        most = self.most if not writing else (_MOST if is_large else _INT32)
        totals, state = np.zeros(program.streams, np.int64), np.zeros(4, np.int64)
        space = _Space(program, self._first_room(total), is_large)
        ints, reals = np.array(program.ints, np.int64), np.array(program.reals, np.float64)
        while True:
            given = feeds.ints, feeds.reals, feeds.begins, feeds.limits, totals
            places = space.bases, space.gaps, space.stops, space.ends, space.out
            why, at, end = self._call(most, writing, (ints, reals, *given, *places, state))
            if why != opcodes.FULL:
                break
            space = space.grown(feeds.done(space.fill(totals)) if writing else end / total)
        if why == opcodes.WIDE and not is_large:
            raise OverflowError  # an offset of more than 32 bits
        if why in (opcodes.LARGE, opcodes.WIDE):
            raise TooLarge
        self.ints = ints
        streams = Streams(space.out, space.bases, space.counts, space.fill(totals), end)
        return streams, None if why == opcodes.DONE else at

    def _first_room(self, total: int) -> Longs:
        """Room for the first numbers of each stream; for all of them, if it is known how many."""
        room = np.full(self.program.streams, min(_ROOM, 16 + total // 16), np.int64)
        if self.feeds is not None:
            limits = self.feeds.limits
            room = np.where(limits < _MOST, limits + 1, room)
        pairs = np.array(self.program.pairs, np.int64)
        room[pairs + 1] = room[pairs]
        return room

    def _call(
        self, most: int, writing: bool, changing: tuple[NDArray[np.generic], ...]
    ) -> tuple[int, int, int]:
        program, size = self.program, len(self.data)
        if self.compiled:
            code = np.array(program.code, np.int64)
            if code.max() <= _UINT32:
                code = code.astype(np.uint32)
            constants, data = _bytes(bytes(program.constants)), _bytes(self.data)
            run = cast(Callable[..., tuple[int, int, int]], KERNELS.compiled(interpreter.run))
            return run(code, constants, data, size, most, writing, *changing)
        plain = [array.tolist() for array in changing]
        why = interpreter.run(
            program.code, program.constants, self.data, size, most, writing, *plain
        )
        for array, numbers in zip(changing, plain, strict=True):
            if array.flags.writeable:
                array[:] = numbers
        return why


class _Space:
    """The memory that the streams of a run are in, one after the other.

    bases, stops, ends, gaps: as `machine.run` has them.
    """

    def __init__(self, program: Program, room: Longs, is_large: bool) -> None:
        """Make room for so many numbers of each stream."""
        self.program = program
        self.is_large = is_large
        self.room = room
        stops = np.cumsum(room)
        total = int(room.sum())
        index = np.uint32 if total <= _UINT32 else np.int64
        self.bases = stops - room
        self.stops: NDArray[np.integer] = stops.astype(index)
        self.ends: NDArray[np.integer] = self.bases.astype(index)
        self.gaps: NDArray[np.integer] = room.astype(index)
        self.out: Ints | Longs = (
            np.empty(total, np.int64) if is_large else np.empty(total, np.int32)
        )

        self._seconds = np.array(program.pairs, np.int64) + 1

    @property
    def counts(self) -> Longs:
        """How many numbers each stream has; the second of a pair has as many as the first."""
        counts: Longs = self.ends.astype(np.int64) - self.bases
        counts[self._seconds] = counts[self._seconds - 1]
        return counts

    def fill(self, totals: Longs) -> Longs:
        """How many values of each column are used, of which some are counted by the machine."""
        fill = self.counts
        fill[self._seconds] = totals[self._seconds - 1]
        return fill

    def grown(self, done: float) -> "_Space":
        """The same with room for the rest, if that is like what is done; twice as much at least."""
        counts, room = self.counts, self.room
        guess = (counts * min(1.05 / max(done, 1e-9), 1e9)).astype(np.int64) + _ROOM
        room = np.where(counts >= room, np.maximum(guess, 2 * room), np.maximum(guess, room))
        grown = _Space(self.program, room, self.is_large)
        for begin, base, count in zip(self.bases, grown.bases, counts, strict=True):
            grown.out[base : base + count] = self.out[begin : begin + count]
        counts[self._seconds] = 0
        grown.ends += counts.astype(grown.ends.dtype)
        return grown


def _bytes(raw: bytes | memoryview) -> Bytes:
    return np.frombuffer(raw if len(raw) else b"\0", np.uint8)

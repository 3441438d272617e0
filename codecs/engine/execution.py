"""Run a program: its registers, the memory of its streams, the kernel compiled or plain."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import interpreter
from exset.codecs.engine.gather import KERNELS
from exset.codecs.engine.program import DONE, FULL, LARGE, WIDE, Program
from exset.grammars.columns.arrays import Bytes, Ints, Longs

_INT32: Final = 2**31 - 1
_UINT32: Final = 2**32 - 1
UNLIMITED: Final = 1 << 60
_ROOM: Final = 1 << 10


class TooLarge(Exception):
    """An expression needs more than 64 bits: only the reference driver can compute it."""


@dataclass(frozen=True)
class Feeds:
    """The columns to write, as `interpreter.run` takes them. total: about how many bytes."""

    ints: Ints | Longs = field(default_factory=lambda: np.empty(0, np.int32))
    reals: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, np.float64))
    begins: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    limits: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    total: int = 0

    def done(self, fill: Longs) -> float:
        """Return about which fraction of the values is written."""
        limited = self.limits < UNLIMITED
        return float(fill[limited].sum() / max(1, self.limits[limited].sum()))


@dataclass(frozen=True, eq=False)
class Streams:
    """The streams that a run recorded.

    numbers: of all streams. begins, counts: of each stream. The second of a pair has as many
    numbers as the first. fill: the values of each column that were used. end: the last offset.
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

    Memory grows with what was found, never with a count in the file.
    """

    program: Program
    data: bytes | memoryview
    most: int
    compiled: bool
    feeds: Feeds | None = None
    ints: Longs = field(init=False)

    def run(self) -> tuple[Streams, int | None]:
        """Return the streams, and the instruction that failed or None. Raises TooLarge."""
        total = len(self.data) if self.feeds is None else self.feeds.total
        try:
            return self._run(total, total > _INT32 // 2)
        except OverflowError:
            return self._run(total, True)

    def _run(self, total: int, is_large: bool) -> tuple[Streams, int | None]:
        program, feeds = self.program, self.feeds or Feeds()
        writing = self.feeds is not None
        most = self.most if not writing else (UNLIMITED if is_large else _INT32)
        totals, state = np.zeros(program.streams, np.int64), np.zeros(4, np.int64)
        space = _Space(program, self._first_room(total), is_large)
        ints, reals = np.array(program.ints, np.int64), np.array(program.reals, np.float64)
        while True:
            inputs = feeds.ints, feeds.reals, feeds.begins, feeds.limits, totals
            places = space.bases, space.gaps, space.stops, space.ends, space.out
            why, at, end = self._call(most, writing, (ints, reals, *inputs, *places, state))
            if why != FULL:
                break
            space = space.grown(feeds.done(space.fill(totals)) if writing else end / total)
        if why == WIDE and not is_large:
            raise OverflowError  # an offset has more than 32 bits: run again with 64
        if why in (LARGE, WIDE):
            raise TooLarge
        self.ints = ints
        streams = Streams(space.out, space.bases, space.counts, space.fill(totals), end)
        return streams, None if why == DONE else at

    def _first_room(self, total: int) -> Longs:
        """Room for the first numbers of each stream; for all of them where the number is known."""
        room = np.full(self.program.streams, min(_ROOM, 16 + total // 16), np.int64)
        if self.feeds is not None:
            limits = self.feeds.limits
            room = np.where(limits < UNLIMITED, limits + 1, room)
        pairs = np.array(self.program.pairs, np.int64)
        room[pairs + 1] = room[pairs]
        return room

    def _call(
        self, most: int, writing: bool, arrays: tuple[NDArray[np.generic], ...]
    ) -> tuple[int, int, int]:
        program, size = self.program, len(self.data)
        if self.compiled:
            code = np.array(program.code, np.int64)
            if code.max() <= _UINT32:
                code = code.astype(np.uint32)
            constants, data = _bytes(bytes(program.constants)), _bytes(self.data)
            run = cast(Callable[..., tuple[int, int, int]], KERNELS.compiled(interpreter.run))
            return run(code, constants, data, size, most, writing, *arrays)
        plain = [array.tolist() for array in arrays]
        stopped = interpreter.run(
            program.code, program.constants, self.data, size, most, writing, *plain
        )
        for array, numbers in zip(arrays, plain, strict=True):
            if array.flags.writeable:
                array[:] = numbers
        return stopped


class _Space:
    """The memory of the streams of a run, one after the other.

    bases, stops, ends, gaps: as `interpreter.run` takes them.
    """

    def __init__(self, program: Program, room: Longs, is_large: bool) -> None:
        """Allocate room for `room` numbers of each stream."""
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
        """The number of numbers in each stream; a pair has two equal counts."""
        counts: Longs = self.ends.astype(np.int64) - self.bases
        counts[self._seconds] = counts[self._seconds - 1]
        return counts

    def fill(self, totals: Longs) -> Longs:
        """The number of used values of each column; `totals` counts those of arrays."""
        fill = self.counts
        fill[self._seconds] = totals[self._seconds - 1]
        return fill

    def grown(self, done: float) -> "_Space":
        """Copy to a larger space: enough if the rest is like what is done, and at least twice."""
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

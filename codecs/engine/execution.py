"""Run a program, compiled or as plain Python, with its registers and the memory of its streams."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine import interpreter
from exset.codecs.engine.gather import KERNELS
from exset.codecs.engine.opcodes import DONE, FULL, LARGE, PAUSED, WIDE
from exset.codecs.engine.program import Program
from exset.grammars.columns.arrays import Ints, Longs

_INT32: Final = 2**31 - 1
_UINT32: Final = 2**32 - 1
UNLIMITED: Final = 1 << 60
_ROOM: Final = 1 << 10
_LITTLE_ROOM: Final = 1 << 5  # for plain Python, which copies all of it
_LARGE: Final = 1 << 20  # bytes from which templates save time
_FEW: Final = 16  # records before the first template is made
_LONGER: Final = 8  # times as many records until the next one, if it did not fit
_MANY: Final = 2048  # records for which a template saves the time to make it


class TooLarge(Exception):
    """Raised for an expression whose value may need more than 64 bits.

    The reference driver, which uses Construct, can compute it.
    """


@dataclass(frozen=True)
class Feeds:
    """The columns to write, joined to the arrays that `interpreter.run` takes.

    ints, reals: the values of all feeds: whole numbers in `ints`, reals in `reals`. begins: where
    each feed begins in `ints` or `reals`. limits: for each stream, the number of values that its
    column has. total: the size of all columns, in bytes.
    """

    ints: Ints | Longs = field(default_factory=lambda: np.empty(0, np.int32))
    reals: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, np.float64))
    begins: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    limits: Longs = field(default_factory=lambda: np.empty(0, np.int64))
    total: int = 0


class Execution:
    """One run of a program: it reads data, or it writes the columns in `feeds`.

    `self[k]` is stream k, which the run filled. most: the largest allowed length of a string, in
    bytes. rest: the number of records of the array that has no count; -1 for all complete records.
    Memory grows with the values that were read, never with a count in the file.

    After the run: `ints` are the registers of whole numbers; `counts`, int64, is how many numbers
    each stream has, the same for both streams of a pair; `end` is the last offset. A large run
    stops before some records, for templates: see `template`.
    """

    def __init__(
        self,
        program: Program,
        data: bytes | memoryview,
        most: int,
        compiled: bool,
        feeds: Feeds | None = None,
        rest: int = -1,
    ) -> None:
        self.program = program
        self.data = data
        self.most = most
        self.compiled = compiled and max(map(max, program.code)) <= _UINT32
        self.writing = feeds is not None
        self.feeds = feeds or Feeds()
        self._rest = rest
        self._total = len(data) if feeds is None else feeds.total
        self._firsts = np.array(program.pairs, np.int64)
        self._pause = 0  # after how many records the run stops; 0 for never
        self.end = 0

    def __getitem__(self, stream: int) -> Ints | Longs:
        begin = int(self._bases[stream])
        return self.out[begin : begin + int(self.counts[stream])]

    def run(self, repeat: "Repeat") -> int | None:
        """Run the program. Return the index of the instruction that failed, or None if none failed.

        Raises TooLarge for a value that needs more than 64 bits.
        """
        self._begin(self._total > _INT32 // 2 or self.feeds.ints.dtype == np.int64)
        while True:
            why, at, self.end = self._run_compiled() if self.compiled else self._run_plain()
            self.counts = self.ends.astype(np.int64) - self._bases
            self.counts[self._firsts + 1] = self.counts[self._firsts]
            if why == FULL:
                self._grow()
            elif why == PAUSED:
                done, is_unlike = repeat(self)
                self._pause = _LONGER * self._pause if is_unlike and done < _MANY else 1
            elif why == WIDE and not self._is_large:
                self._begin(is_large=True)  # an offset has more than 32 bits
            else:
                break
        if why in (LARGE, WIDE):
            raise TooLarge
        return None if why == DONE else at

    @property
    def feed(self) -> Ints | Longs:
        """The values of all feeds of whole numbers, with the dtype of `out`."""
        return cast("Ints | Longs", self.feeds.ints.astype(self.out.dtype, copy=False))

    @property
    def next(self) -> int:
        """The index of the instruction before which the run stopped."""
        return int(self._state[0])

    @property
    def position(self) -> int:
        """The offset at which the run goes on."""
        return int(self._state[1])

    def move_to(self, offset: int) -> None:
        """Let the run go on at an offset, after the records before it were done."""
        self._state[1] = offset

    @property
    def whole(self) -> int:
        """The number of complete records in the array without a count, if the run stopped in this
        array.
        """
        rest = self.program.rest
        assert rest is not None
        return int(self[rest.stream][-1]) - int(self.ints[rest.left])

    @property
    def fill(self) -> Longs:
        """For each stream, the number of values of its column that the run has written."""
        fill: Longs = self.counts.copy()
        fill[self._firsts + 1] = self.totals[self._firsts]
        return fill

    def _begin(self, is_large: bool) -> None:
        """Prepare to run the program from its beginning.

        is_large: whether offsets have 64 bits instead of 32.
        """
        self._is_large = is_large
        streams = self.program.streams
        self.ints = np.array(self.program.ints, np.int64)
        if self.program.rest is not None:
            self.ints[self.program.rest.given] = self._rest
        self.reals = np.array(self.program.reals, np.float64)
        self.totals, self._state = np.zeros(streams, np.int64), np.zeros(4, np.int64)
        self._pause = _FEW if self._total >= _LARGE else 0
        most = _ROOM if self.compiled else _LITTLE_ROOM
        room = np.full(streams, min(most, 16 + self._total // 16), np.int64)
        if self.writing:  # the counts of most values are known
            limits = self.feeds.limits
            room = np.where(limits < UNLIMITED, limits + 1, room)
        room[self._firsts + 1] = room[self._firsts]
        self._allocate(room)

    def _allocate(self, room: Longs) -> None:
        """Allocate one array that has room for all streams, one after another.

        room: for each stream, how many numbers it can have.
        """
        stops = np.cumsum(room)
        total = int(room.sum())
        self._is_large |= total > _UINT32
        if self.writing:
            self.most = UNLIMITED if self._is_large else _INT32
        index = np.int64 if self._is_large else np.uint32
        self._bases = stops - room
        self.stops: NDArray[np.integer] = stops.astype(index)
        self.ends: NDArray[np.integer] = self._bases.astype(index)
        self.gaps: NDArray[np.integer] = room.astype(index)
        self.out: Ints | Longs = (
            np.empty(total, np.int64) if self._is_large else np.empty(total, np.int32)
        )

    def _grow(self) -> None:
        """Move the streams to a larger array, because one of them is full.

        The final size of each stream is estimated from the share of the data that the run has
        done. A full stream gets at least twice its old size.
        """
        done = self.end / self._total
        if self.writing:
            limited = self.feeds.limits < UNLIMITED
            done = self.fill[limited].sum() / max(1, self.feeds.limits[limited].sum())
        counts, room, filled = self.counts, self.gaps.astype(np.int64), self.ends - self._bases
        guess = (counts * min(1.05 / max(done, 1e-9), 1e9)).astype(np.int64) + _ROOM
        least = np.where(counts >= room, 2 * room, room)
        bases, out = self._bases, self.out
        self._allocate(np.maximum(guess, least))
        for begin, base, count in zip(bases, self._bases, counts, strict=True):
            self.out[base : base + count] = out[begin : begin + count]
        self.ends += filled.astype(self.ends.dtype)

    def _run_compiled(self) -> tuple[int, int, int]:
        code = np.array(self.program.code, np.uint32)
        constants = np.array(self.program.constants or [0], np.uint8)
        data = np.frombuffer(self.data if len(self.data) else b"\0", np.uint8)
        run = cast(Callable[..., tuple[int, int, int]], KERNELS.compiled(interpreter.run))
        size = len(self.data)
        options = size, self.most, self.writing, self._pause
        return run(code, constants, data, *options, *self._arrays())

    def _run_plain(self) -> tuple[int, int, int]:
        program, data, arrays = self.program, self.data, self._arrays()
        plain = [array.tolist() for array in arrays]
        run = cast(Callable[..., tuple[int, int, int]], interpreter.run)
        stopped = run(
            program.code,
            program.constants,
            data,
            len(data),
            self.most,
            self.writing,
            self._pause,
            *plain,
        )
        for array, numbers in zip(arrays, plain, strict=True):
            if array.flags.writeable:
                array[:] = numbers
        return stopped

    def _arrays(self) -> tuple[NDArray[np.generic], ...]:
        """Return the arrays that `interpreter.run` takes, such as registers, feeds and streams."""
        feeds = self.feeds
        columns = self.feed, feeds.reals, feeds.begins, feeds.limits
        places = self.totals, self._bases, self.gaps, self.stops, self.ends
        return self.ints, self.reals, *columns, *places, self.out, self._state


Repeat: TypeAlias = Callable[[Execution], tuple[int, bool]]
"""A function that does similar records: see `template.repeat_record`."""

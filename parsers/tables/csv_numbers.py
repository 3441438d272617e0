"""Columns of numbers in CSV: which cells are numbers, and their values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, overload

import numpy as np

from exset.core import threads
from exset.grammars.columns.arrays import Bytes, Flags, LongRows, Longs
from exset.grammars.tables.columns import Numbers
from exset.parsers.tables import csv_kernels as k

_LARGE: Final = 1 << 16  # cells that several threads read
_MOST: Final = (1 << 63) - 1
_MOST_UNSIGNED: Final = (1 << 64) - 1
_REALS: Final = 1 << k.REAL | 1 << k.LONG_REAL
_FILLED: Final = 1 << k.INTEGER | 1 << k.LONG_INTEGER | _REALS


@dataclass(frozen=True, slots=True)
class Shown:
    """What the cells of a column look like, which decides the type of the column.

    least, most: the smallest and the largest integer.
    """

    is_text: bool = False
    is_filled: bool = False
    has_reals: bool = False
    has_empty: bool = False
    least: int = 0
    most: int = 0

    def __or__(self, other: "Shown") -> "Shown":
        """Return what the cells of two parts of a column look like together: this part and
        `other`.
        """
        return Shown(
            self.is_text or other.is_text,
            self.is_filled or other.is_filled,
            self.has_reals or other.has_reals,
            self.has_empty or other.has_empty,
            min(self.least, other.least),
            max(self.most, other.most),
        )

    @property
    def dtype(self) -> "np.dtype[Any] | None":
        """The dtype of the column: int64, uint64 or float64; None for a column of text."""
        if self.is_text or not self.is_filled:
            return None
        if self.has_reals:
            return np.dtype(np.float64)
        if self.most <= _MOST:
            return np.dtype(np.int64)
        return None if self.least < 0 else np.dtype(np.uint64)


@dataclass(frozen=True)
class CellsOfColumn:
    """The cells of a column, as a kernel has read them.

    kinds: uint8 [n], the kind of each cell. numbers: int64 [n], its number. seen: a bit for each
    kind that occurs. least, most: the smallest and the largest integer that the kernel read.
    """

    kinds: Bytes
    numbers: Longs
    seen: int
    least: int
    most: int
    _view: memoryview
    _starts: Longs
    _ends: Longs

    def _has(self, kind: int) -> bool:
        """Return whether a cell has the given kind."""
        return bool(self.seen >> kind & 1)

    @cached_property
    def _integers(self) -> tuple[Longs, list[int]]:
        """The rows of the integers that the kernel could not read, and these integers."""
        if not self._has(k.LONG_INTEGER):
            return np.empty(0, np.int64), []
        rows = np.flatnonzero(self.kinds == k.LONG_INTEGER)
        return rows, [_integer(bytes(text)) for text in self._texts(rows)]

    def shown(self) -> Shown:
        """Return what the cells of the column look like."""
        if self._has(k.NO_NUMBER):
            return Shown(is_text=True, is_filled=True)
        whole = self._integers[1]
        if any(not -_MOST - 1 <= number <= _MOST_UNSIGNED for number in whole):
            return Shown(is_text=True, is_filled=True)
        return Shown(
            is_filled=bool(self.seen & _FILLED),
            has_reals=bool(self.seen & _REALS),
            has_empty=self._has(k.EMPTY),
            least=min([self.least, *whole]),
            most=max([self.most, *whole]),
        )

    def column(self, dtype: "np.dtype[Any]") -> Numbers:
        """Return the numbers in `dtype`, that of the whole column; empty cells are no value."""
        present = self.kinds != k.EMPTY if self._has(k.EMPTY) else None
        numbers = self.numbers
        rows, whole = self._integers
        if dtype != np.float64:
            values = numbers.astype(dtype, copy=False)
            values[rows] = np.array(whole, dtype)
            return Numbers.of(values, present)
        reals = numbers.view(np.float64)
        if self._has(k.INTEGER):
            short = np.flatnonzero(self.kinds == k.INTEGER)
            reals[short] = numbers[short]
        reals[rows] = [float(number) for number in whole]
        if self._has(k.LONG_REAL):
            long_reals = np.flatnonzero(self.kinds == k.LONG_REAL)
            reals[long_reals] = [float(text) for text in self._texts(long_reals)]
        return Numbers.of(reals, present)

    def _texts(self, rows: Longs) -> Iterator[memoryview]:
        """Yield the bytes of the cells in the given rows."""
        for begin, end in zip(self._starts[rows].tolist(), self._ends[rows].tolist(), strict=True):
            yield self._view[begin:end]


@dataclass(frozen=True)
class CellsOfColumns(Sequence[CellsOfColumn]):
    """The cells of all columns. Each column is made when it is asked for: a table may have many.

    kinds, numbers: as in `CellsOfColumn`, of all columns. places: where the first cell of each
    column is in them, and the distance to its next cell, [2, columns]. found: the `seen`, `least`
    and `most` of each column, [3, columns]. buffer: the bytes. starts, ends: where the cells are in
    the bytes, row by row.
    """

    kinds: Bytes
    numbers: Longs
    places: LongRows
    found: LongRows
    buffer: Bytes
    starts: Longs
    ends: Longs

    def __len__(self) -> int:
        return self.places.shape[1]

    @overload
    def __getitem__(self, number: int) -> CellsOfColumn: ...

    @overload
    def __getitem__(self, number: slice) -> list[CellsOfColumn]: ...

    def __getitem__(self, number: int | slice) -> CellsOfColumn | list[CellsOfColumn]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        width = len(self)
        first, step = self.places[:, number].tolist()
        seen, least, most = self.found[:, number].tolist()
        places = slice(first, first + self.starts.size // width * step, step)
        return CellsOfColumn(
            self.kinds[places],
            self.numbers[places],
            seen,
            least,
            most,
            self.buffer.data,
            self.starts[number::width],
            self.ends[number::width],
        )


def cells_of(
    buffer: Bytes,
    starts: Longs,
    ends: Longs,
    is_text: Flags,
    groups: Sequence[slice] = (),
    *,
    compiled: bool,
) -> CellsOfColumns:
    """Return the cells of each column.

    starts, ends: where each cell begins and ends, row by row. is_text: bool [columns], the columns
    that are text in any case. groups: consecutive columns to store as one array [n, k] in memory.
    compiled: whether to use the compiled kernel. Empty cells are rows without a value. A column is
    text if no cell is filled, or if a cell is not a number; cells with leading zeros, a plus sign,
    or an integer beyond 64 bits are not numbers.
    """
    width = is_text.size
    rows = starts.size // width
    firsts, steps = np.arange(width, dtype=np.int64) * rows, np.ones(width, np.int64)
    for group in groups:
        size = group.stop - group.start
        firsts[group] = group.start * rows + np.arange(size)
        steps[group] = size
    buffer, starts, ends = map(np.ascontiguousarray, (buffer, starts, ends))
    columns = np.zeros((width, 3), np.int64)
    columns[is_text, 0] = 1 << k.NO_NUMBER
    kinds, numbers = np.empty(starts.size, np.uint8), np.empty(starts.size, np.int64)
    run = k.KERNELS.choose(k.read_numbers, compiled)
    parts: list[LongRows] = []

    def read(low: int, high: int) -> None:
        cells, part = slice(low * width, high * width), columns.copy()
        parts.append(part)
        begins = firsts + low * steps
        run(buffer, starts[cells], ends[cells], part, kinds, numbers, begins, steps)

    threads.divided(read, rows, compiled and starts.size >= _LARGE)
    seen, least, most = np.array(parts or [columns]).transpose(2, 0, 1)
    found = np.stack([np.bitwise_or.reduce(seen), least.min(axis=0), most.max(axis=0)])
    places = np.stack([firsts, steps])
    return CellsOfColumns(kinds, numbers, places, found, buffer, starts, ends)


def _integer(numeral: bytes) -> int:
    """Return the value of an integer; one of more than 20 digits becomes any integer beyond 64
    bits.
    """
    return int(numeral) if len(numeral) <= 21 else _MOST_UNSIGNED + 1

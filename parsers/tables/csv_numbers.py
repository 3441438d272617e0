"""Columns of numbers in CSV: which cells are numbers, and their values."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

import numpy as np

from exset.grammars.columns.arrays import Bytes, Flags, Longs
from exset.grammars.tables.columns import Numbers
from exset.parsers.tables import csv_kernels as k

_MOST: Final = (1 << 63) - 1
_MOST_UNSIGNED: Final = (1 << 64) - 1


def numbers_of(
    buffer: Bytes, starts: Longs, ends: Longs, is_text: Flags, *, compiled: bool
) -> list[Numbers | None]:
    """Return the numbers in each column: int64, uint64 or float64; None for a column of text.

    starts, ends: of the cells, row by row. is_text: bool [columns], those that are text in any
    case. Empty cells are absent. A column is text if no cell is filled, or some cell is not a
    number: it has leading zeros, a plus sign, or is an integer beyond 64 bits.
    """
    width = is_text.size
    rows = starts.size // width
    buffer, starts, ends = map(np.ascontiguousarray, (buffer, starts, ends))
    is_text = is_text.copy()
    kinds, numbers = np.empty(starts.size, np.uint8), np.empty(starts.size, np.int64)
    run = k.KERNELS.choose(k.read_numbers, compiled)
    run(buffer, starts, ends, is_text, kinds, numbers)

    view = buffer.data

    def column(number: int) -> Numbers | None:
        rows_of = slice(number * rows, (number + 1) * rows)
        spans = starts[number::width], ends[number::width]
        return _column(kinds[rows_of], numbers[rows_of], partial(_texts, view, *spans))

    return [None if is_text[number] else column(number) for number in range(width)]


def _texts(view: memoryview, starts: Longs, ends: Longs, rows: Longs) -> Iterator[memoryview]:
    """Yield the cells in some rows of a column."""
    for begin, end in zip(starts[rows].tolist(), ends[rows].tolist(), strict=True):
        yield view[begin:end]


def _column(
    kinds: Bytes, numbers: Longs, texts: Callable[[Longs], Iterable[memoryview]]
) -> Numbers | None:
    """Return one column. texts: returns the cells in some rows as text."""
    present = kinds != k.EMPTY
    if not present.any():
        return None
    integers = np.flatnonzero(kinds == k.LONG_INTEGER)
    whole = [_integer(bytes(text)) for text in texts(integers)]
    if any(not -_MOST - 1 <= number <= _MOST_UNSIGNED for number in whole):
        return None
    long_reals = np.flatnonzero(kinds == k.LONG_REAL)
    if long_reals.size or (kinds == k.REAL).any():
        reals = numbers.view(np.float64)
        short = np.flatnonzero(kinds == k.INTEGER)
        reals[short] = numbers[short]
        reals[integers] = [float(number) for number in whole]
        reals[long_reals] = [float(text) for text in texts(long_reals)]
        return Numbers.of(reals, present)
    is_unsigned = max(whole, default=0) > _MOST
    if is_unsigned and min(int(numbers.min()), *whole) < 0:
        return None
    values = numbers.astype(np.uint64) if is_unsigned else numbers
    values[integers] = np.array(whole, values.dtype)
    return Numbers.of(values, present)


def _integer(numeral: bytes) -> int:
    """Return an integer; one of more than 20 digits is beyond 64 bits."""
    return int(numeral) if len(numeral) <= 21 else _MOST_UNSIGNED + 1

"""Compare two models column by column.

Rows are compared in order, all rows of a column at once. Objects are made only for the differences
that are kept. So the comparison of large models is fast.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from exset.core.text import counted
from exset.grammars.columns.arrays import Flags, Longs, bits, row_indices
from exset.grammars.columns.ragged import Ragged
from exset.grammars.columns.strings import Strings
from exset.runtime.reports.differences import Difference, Differences

Numbers: TypeAlias = NDArray[Any]
Column = TypeVar("Column")

_CHUNK: Final = 1 << 22
"""The number of elements of ragged rows that are compared at a time."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows to compare, from two tables.

    one, other: int64 [k], the rows of each pair in the first and in the second table. words,
    numbers: the parts of the pairs' paths. For example, the words `examples` and `events` and the
    numbers i and j make the path examples[i].events[j].
    """

    one: Longs
    other: Longs
    words: tuple[str, ...]
    numbers: tuple[Longs, ...]

    @classmethod
    def of(cls, word: str, count: int) -> "Pairs":
        """Pair the first `count` (a number) rows of two tables by their indices.

        word: the first word of the paths, such as `examples`.
        """
        rows = np.arange(count)
        return cls(rows, rows, (word,), (rows,))

    def where(self, mask: Flags) -> "Pairs":
        """Return only the pairs for which the mask is true."""
        if mask.all():
            return self
        one, other, numbers = self.one[mask], self.other[mask], self.numbers
        return Pairs(one, other, self.words, tuple(each[mask] for each in numbers))

    def on(self, one: Longs, other: Longs) -> "Pairs":
        """Return pairs with the same paths, but of rows of two other tables.

        one, other: for each row of the old tables, the row of the new table.
        """
        return replace(self, one=one[self.one], other=other[self.other])

    def place(self, row: int) -> tuple[int, ...]:
        """Return the indices in the path of the pair `row`."""
        return tuple(int(each[row]) for each in self.numbers)

    def path(self, row: int) -> str:
        """Return the path of the pair `row`, such as `examples[3].events[0]`."""
        numbers = zip(self.words, self.place(row), strict=True)
        return ".".join(f"{word}[{number}]" for word, number in numbers)


class ColumnDiff:
    """Compares two models column by column, and collects differences.

    Only the first differences are kept. The units (such as examples) that differ are counted.
    """

    def __init__(self, word: str, one: int, other: int, tolerance: float, keep: int) -> None:
        """Prepare the comparison of two models. If they differ in their numbers of units, `one` and
        `other`, add a difference.

        word: the word for units in paths, such as `examples`. tolerance: how much numbers may
        differ. keep: how many differences to keep.
        """
        self.units = Pairs.of(word, min(one, other))
        self.tolerance = tolerance
        self.keep = keep
        self._word = word
        self._differs = np.zeros(min(one, other), np.bool_)
        self._found: list[tuple[tuple[int, ...], int, Difference]] = []
        if one != other:
            self.add(word, f"{one:,}", f"{other:,}")

    def add(self, path: str, one: object, other: object) -> None:
        """Add a difference at `path` that belongs to no unit, such as a difference of headers."""
        self._add((-1,), Difference.of(path, one, other))

    def mark(
        self,
        pairs: Pairs,
        mask: Flags,
        field: str,
        columns: tuple[Column, Column],
        show: Callable[[Column, int], object],
    ) -> None:
        """Add a difference of a field for each pair for which the mask is true.

        columns: the field's columns in both models. show: gets a column and a row, and returns the
        value there for the message.
        """
        rows = np.flatnonzero(mask)
        self._differs[pairs.numbers[0][rows]] = True
        for row in rows[: self.keep].tolist():
            values = zip(columns, (pairs.one, pairs.other), strict=True)
            one, other = (show(column, int(of[row])) for column, of in values)
            self._add(pairs.place(row), Difference.of(f"{pairs.path(row)}{field}", one, other))

    def numbers(self, pairs: Pairs, field: str, one: Numbers, other: Numbers) -> None:
        """Compare two columns of numbers in the given pairs of rows. field: the column's name in
        paths.
        """
        mask = unequal(one[pairs.one], other[pairs.other], self.tolerance)
        self.mark(pairs, mask, f".{field}", (one, other), lambda column, row: column[row])

    def strings(self, pairs: Pairs, field: str, one: Strings, other: Strings) -> None:
        """Compare two columns of strings in the given pairs of rows. field: the column's name in
        paths.
        """
        mask = unequal_strings(pairs, one, other)
        self.mark(pairs, mask, f".{field}" if field else "", (one, other), text_of)

    def rows(self, pairs: Pairs, word: str, one: Longs, other: Longs, noun: str) -> Pairs:
        """Return pairs of the parts of paired rows. For example, pair the events of paired
        examples.

        If two rows have different numbers of parts, add a difference instead. one, other: the
        offsets of each row's parts. word: the name of the parts in paths. noun: the word for a part
        in messages.
        """
        same = self._same_counts(pairs, word, np.diff(one), np.diff(other), noun)
        lengths = np.diff(one)[same.one]
        begin = np.repeat(np.cumsum(lengths) - lengths, lengths)
        return Pairs(
            row_indices(one[:-1][same.one], lengths),
            row_indices(other[:-1][same.other], lengths),
            (*same.words, word),
            (*(np.repeat(each, lengths) for each in same.numbers), np.arange(begin.size) - begin),
        )

    def ragged(self, pairs: Pairs, field: str, one: Ragged[Any], other: Ragged[Any]) -> None:
        """Compare two columns in which a row has several numbers.

        pairs: the pairs of rows to compare. field: the column's name in paths.
        """
        same = self._same_counts(pairs, field, one.lengths, other.lengths, "number")
        starts = one.offsets[:-1][same.one], other.offsets[:-1][same.other]
        rows = _unequal_rows(
            one.lengths[same.one], starts, (one.values, other.values), self.tolerance
        )
        self._differs[same.numbers[0][rows]] = True
        for row in rows[: self.keep].tolist():
            left, right = one[int(same.one[row])], other[int(same.other[row])]
            item = int(unequal(left, right, self.tolerance).argmax())
            path = f"{same.path(row)}.{field}[{item}]"
            self._add(same.place(row), Difference.of(path, left[item], right[item]))

    def result(self) -> Differences:
        """Return the differences."""
        first = tuple(found for _, _, found in sorted(self._found, key=lambda each: each[:2]))
        differing = int(self._differs.sum())
        return Differences(self._word, self._differs.size, differing, first[: self.keep])

    def _add(self, place: tuple[int, ...], difference: Difference) -> None:
        self._found.append((place, len(self._found), difference))

    def _same_counts(self, pairs: Pairs, field: str, one: Longs, other: Longs, noun: str) -> Pairs:
        """Return the pairs whose rows have equally many items. Add a difference for each other
        pair.

        one, other: the number of items of each row. noun: the word for an item in messages.
        """
        mask: Flags = one[pairs.one] != other[pairs.other]
        self.mark(
            pairs, mask, f".{field}", (one, other), lambda counts, row: counted(counts[row], noun)
        )
        return pairs.where(~mask)


def unequal(one: Numbers, other: Numbers, tolerance: float) -> Flags:
    """Return for each pair of numbers whether they differ by more than tolerance * max(1, |one|,
    |other|).

    NaN equals NaN. With a tolerance of 0, -0.0 differs from 0.0.
    """
    if not tolerance or one.dtype.kind not in "fiu":
        different: Flags = bits(one) != bits(other)
        return different
    a, b = one.astype(np.float64), other.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum(np.maximum(np.abs(a), np.abs(b)), 1)
        near = (np.abs(a - b) <= tolerance * size) & np.isfinite(a) & np.isfinite(b)
        alike: Flags = near | (a == b) | (np.isnan(a) & np.isnan(b))
    return ~alike


def unequal_strings(pairs: Pairs, one: Strings, other: Strings) -> Flags:
    """Return for each pair whether its strings differ."""
    a, b = one.lengths[pairs.one], other.lengths[pairs.other]
    mask: Flags = (a != b) | (one.present[pairs.one] != other.present[pairs.other])
    same = np.flatnonzero(~mask)
    starts = one.offsets[:-1][pairs.one[same]], other.offsets[:-1][pairs.other[same]]
    mask[same[_unequal_rows(a[same], starts, (one.data, other.data), 0)]] = True
    return mask


def text_of(column: Strings, row: int) -> str:
    """Return the string in a row of a column, in quotation marks. For a missing value, return
    `nothing`.
    """
    text = column.text(row)
    return "nothing" if text is None else repr(text)


def _unequal_rows(
    lengths: Longs, starts: tuple[Longs, Longs], values: tuple[Numbers, Numbers], tolerance: float
) -> Longs:
    """Return the indices of the pairs of rows that differ in at least one number.

    lengths: how many numbers a row has; the two rows of a pair have equally many. starts: where
    each row begins in `values`, for both models. tolerance: how much numbers may differ.
    """
    found = [np.zeros(0, np.int64)]
    for low, high in _chunks(lengths):
        size = lengths[low:high]
        x, y = (
            column[row_indices(start[low:high], size)]
            for column, start in zip(values, starts, strict=True)
        )
        if (apart := unequal(x, y, tolerance)).any():
            found.append(np.unique(np.repeat(np.arange(low, high), size)[apart]))
    return np.concatenate(found)


def _chunks(lengths: Longs) -> Iterator[tuple[int, int]]:
    """Divide rows into chunks of about `_CHUNK` elements, but at least one row. Yield (first row,
    row after the last).

    lengths: how many elements each row has.
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    marks = np.searchsorted(ends, np.arange(_CHUNK, total, _CHUNK), side="left") + 1
    yield from pairwise(dict.fromkeys([0, *marks.tolist(), lengths.size]))

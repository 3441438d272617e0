"""The fields of a file: a flat column for each field, and the offset of each element."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine.layout import Layout
from exset.core.errors import Place
from exset.core.source import Source
from exset.grammars.columns.arrays import Flags, Floats, Ints, Longs
from exset.grammars.columns.ragged import Ragged, Strings

Values: TypeAlias = NDArray[np.generic] | Strings


@dataclass(frozen=True, eq=False, repr=False)
class Fields(Mapping[str, Values]):
    """The columns of a file by path: numbers as arrays of native dtype, strings as Strings.

    - columns: the values of each field, in file order.
    - starts: int64, the offset of each value of a field, or of each element of an array of records.
      For an array of numbers: the offset of the array, for each time that the array occurs.
    - bounds: int64, for each array, where it begins in the column, for each time that it occurs;
      then the end of the column.
    - end: the offset after the last byte that was read.
    """

    layout: Layout
    columns: Mapping[str, Values]
    starts: Mapping[str, Longs]
    bounds: Mapping[str, Longs]
    end: int

    def __getitem__(self, path: str) -> Values:
        return self.columns[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.layout.leaves)

    def __len__(self) -> int:
        return len(self.layout.leaves)

    def __repr__(self) -> str:
        return f"Fields({len(self)} columns, {self.end} bytes)"

    def ints(self, path: str) -> Ints:
        """Return the column of 32-bit integers at a path."""
        return cast(Ints, self.columns[path])

    def reals(self, path: str) -> Floats:
        """Return the column of 32-bit reals at a path."""
        return cast(Floats, self.columns[path])

    def flags(self, path: str) -> Flags:
        """Return the column of flags at a path."""
        return cast(Flags, self.columns[path])

    def strings(self, path: str) -> Strings:
        """Return the column of strings at a path."""
        return cast(Strings, self.columns[path])

    def spans(self, path: str) -> tuple[Longs, Longs]:
        """Return the offset in the file, and the length in bytes, of each string of a column."""
        return self.starts[path], self.strings(path).lengths

    def counts(self, path: str) -> Longs | Ints:
        """Return the number of elements of the array at `path`, for each time that it occurs in the
        file.
        """
        return np.diff(self.bounds[path])

    def order(self, first: str, second: str) -> Longs:
        """Return the numbers of the elements of two columns or arrays, merged in file order: int64
        [n].

        The elements of `first` are numbered from 0. The numbers of the elements of `second` follow.
        """
        starts = [self.starts[first], self.starts[second]]
        return np.argsort(np.concatenate(starts), kind="stable")

    def merged(self, first: str, second: str) -> Values:
        """Return the values of two columns together, in file order.

        first, second: the names of the columns, which must have the same dtype.
        """
        order, a, b = self.order(first, second), self.columns[first], self.columns[second]
        if isinstance(a, Strings) and isinstance(b, Strings):
            return Strings.concat([a, b]).take(order)
        return np.concatenate([cast(NDArray[np.generic], a), cast(NDArray[np.generic], b)])[order]

    def merged_rows(self, first: str, second: str) -> Ragged[np.generic]:
        """Return the rows of two arrays of numbers together, in file order.

        first, second: the names of the arrays.
        """
        rows = Ragged.concat(
            [
                Ragged(cast(NDArray[np.generic], self.columns[path]), self.bounds[path])
                for path in (first, second)
            ]
        )
        return rows.take(self.order(first, second))

    def offset(self, path: str, index: int) -> int:
        """Return the offset in the file of element `index` of a column.

        Raises IndexError for an index out of bounds.
        """
        starts, leaf = self.starts[path], self.layout.leaves[path]
        if path not in self.layout.rows or not leaf.is_number:
            return int(starts[index])
        bounds = self.bounds[path]
        if not 0 <= index < bounds[-1]:
            raise IndexError(f"{path} has no element {index}")
        run = int(np.searchsorted(bounds, index, "right")) - 1
        return int(starts[run] + (index - bounds[run]) * leaf.dtype.itemsize)

    def place(self, source: Source, path: str, index: int) -> Place:
        """Return the place in `source` of element `index` of a column, for messages."""
        return self.place_at(source, path, self.offset(path, index))

    def place_at(self, source: Source, path: str, offset: int) -> Place:
        """Return the place of the field at `path` and `offset`. The place names indices: `a[3].b`.

        For each array, two binary searches in the offsets of its elements find the index. This
        works because no element is empty: all elements of a parent begin before the next parent.
        """
        text, prefix, begin = "", "", 0
        for name in path.split("."):
            prefix = f"{prefix}.{name}" if prefix else name
            text = f"{text}.{name}" if text else name
            rows = self.layout.rows.get(prefix)
            if rows is None or self.starts[prefix].size == 0:
                continue
            starts = self.starts[prefix]
            nth = int(np.searchsorted(starts, offset, "right")) - 1
            start = int(starts[nth])
            if rows.is_numbers:
                text += f"[{(offset - start) // rows.least}]"
                continue
            text += f"[{nth - int(np.searchsorted(starts, begin))}]"
            if rows.is_records:
                begin = start
        return Place.in_bytes(source, offset, text or None)


def quiet_nans(column: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return a column in which every NaN is the quiet NaN; copy it only if a NaN changes."""
    if column.dtype.kind != "f":
        return column
    nan = np.array([np.nan], column.dtype)
    unsigned = f"u{column.itemsize}"
    others = (column != column) & (column.view(unsigned) != nan.view(unsigned))
    return np.where(others, nan, column) if others.any() else column


def check_columns(layout: Layout, fields: Mapping[str, Values]) -> None:
    """Raise ValueError if `fields` does not have exactly the columns of the layout.

    Also raise ValueError for a column of a wrong dtype.
    """
    if fields.keys() != layout.leaves.keys():
        missing = sorted(layout.leaves.keys() - fields.keys())
        unknown = sorted(fields.keys() - layout.leaves.keys())
        problems = [
            f"{problem} columns: {', '.join(names)}"
            for problem, names in (("missing", missing), ("unknown", unknown))
            if names
        ]
        raise ValueError(f"write: {'; '.join(problems)}")
    for path, leaf in layout.leaves.items():
        column = fields[path]
        expected = leaf.native if leaf.is_number else "strings"
        actual = "strings" if isinstance(column, Strings) else column.dtype
        if actual != expected:
            raise ValueError(f"{path}: expected a column of {expected}, not {actual}")


def check_room(path: str, column: Values, needed: int) -> None:
    """Raise ValueError if the column at `path` has fewer than `needed` values."""
    if needed > len(column):
        raise ValueError(f"{path}: {len(column)} values, but at least {needed} are needed")


def check_end(path: str, column: Values, used: int) -> None:
    """Raise ValueError if the column at `path` has more than `used` values."""
    if used != len(column):
        raise ValueError(f"{path}: {len(column)} values, but only {used} are used")

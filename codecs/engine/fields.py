"""What a layout reads: one flat column a field, and where in the file each of its elements is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from exset.codecs.engine.layout import Layout
from exset.core.errors import Place
from exset.core.source import Source
from exset.grammars.columns.ragged import Flags, Floats, Ints, Longs, Ragged, Strings

Values: TypeAlias = NDArray[np.generic] | Strings


@dataclass(frozen=True, eq=False, repr=False)
class Fields(Mapping[str, Values]):
    """The columns of a file by path: numbers as arrays of native dtype, strings as Strings.

    columns: of each field, in file order. starts: int64, the offset of each element of a field or
    of an array of records; of an array of numbers, that of each such array. bounds: int64, of each
    array, where in its column each of its instances begins, and the end. end: the offset after the
    last byte that was read. merge: the order in which two rising lists of numbers rise together.
    """

    layout: Layout
    columns: Mapping[str, Values]
    starts: Mapping[str, Longs]
    bounds: Mapping[str, Longs]
    end: int
    merge: Callable[[Longs, Longs], Longs]

    def __getitem__(self, path: str) -> Values:
        return self.columns[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"Fields({len(self)} columns, {self.end} bytes)"

    def ints(self, path: str) -> Ints:
        """A column of 32-bit integers."""
        return cast(Ints, self.columns[path])

    def reals(self, path: str) -> Floats:
        """A column of 32-bit reals."""
        return cast(Floats, self.columns[path])

    def flags(self, path: str) -> Flags:
        """A column of flags."""
        return cast(Flags, self.columns[path])

    def strings(self, path: str) -> Strings:
        """A column of strings."""
        return cast(Strings, self.columns[path])

    def spans(self, path: str) -> tuple[Longs, Longs]:
        """Where the strings of a column begin, and how long they are: none is copied for it."""
        return self.starts[path], self.strings(path).lengths

    def counts(self, path: str) -> Longs | Ints:
        """How many elements each instance of an array has."""
        return np.diff(self.bounds[path])

    def order(self, first: str, second: str) -> Longs:
        """The order in which the elements of two columns or arrays are in the file: int64.

        Those of the second are numbered after those of the first.
        """
        return self.merge(self.starts[first], self.starts[second])

    def merged(self, first: str, second: str) -> Values:
        """Two columns of one kind as one, in the order of the file."""
        order, a, b = self.order(first, second), self.columns[first], self.columns[second]
        if isinstance(a, Strings) and isinstance(b, Strings):
            return Strings.concat([a, b]).take(order)
        return np.concatenate([cast(NDArray[np.generic], a), cast(NDArray[np.generic], b)])[order]

    def merged_rows(self, first: str, second: str) -> Ragged[np.generic]:
        """Two arrays of numbers as one, in the order of the file."""
        rows = Ragged.concat(
            [
                Ragged(cast(NDArray[np.generic], self.columns[path]), self.bounds[path])
                for path in (first, second)
            ]
        )
        return rows.take(self.order(first, second))

    def offset(self, path: str, index: int) -> int:
        """The offset of an element of a column; IndexError if there is none."""
        starts, leaf = self.starts[path], self.layout.leaves[path]
        if path not in self.bounds or not leaf.is_number:
            return int(starts[index])
        bounds = self.bounds[path]
        if not 0 <= index < bounds[-1]:
            raise IndexError(f"{path} has no element {index}")
        run = int(np.searchsorted(bounds, index, "right")) - 1
        return int(starts[run] + (index - bounds[run]) * leaf.dtype.itemsize)

    def place(self, source: Source, path: str, index: int) -> Place:
        """The place of an element of a column, for messages."""
        offset = self.offset(path, index)
        return Place.in_bytes(source, offset, indexed(self.layout, self.starts, path, offset))


def indexed(layout: Layout, starts: Mapping[str, Longs], path: str, offset: int) -> str:
    """The path of the field at an offset with the number of each array's element, such as a[3].b.

    Elements are never empty, so those of one parent are the ones that begin between its first byte
    and the next parent's: two searches an array, however large the file.
    """
    text, prefix, begin = "", "", 0
    for name in path.split("."):
        prefix = f"{prefix}.{name}" if prefix else name
        text = f"{text}.{name}" if text else name
        rows = layout.rows.get(prefix)
        if rows is None or starts[prefix].size == 0:
            continue
        nth = int(np.searchsorted(starts[prefix], offset, "right")) - 1
        start = int(starts[prefix][nth])
        if rows.is_numbers:
            text += f"[{(offset - start) // rows.least}]"
            continue
        text += f"[{nth - int(np.searchsorted(starts[prefix], begin))}]"
        if rows.is_records:
            begin = start
    return text


def quiet(column: Values) -> Values:
    """The column with every NaN the quiet one; copied only if that changes something."""
    return column if isinstance(column, Strings) else quiet_numbers(column)


def quiet_numbers(column: NDArray[np.generic]) -> NDArray[np.generic]:
    """As `quiet`, of numbers."""
    if column.dtype.kind != "f":
        return column
    nan = np.array([np.nan], column.dtype)
    unsigned = f"u{column.itemsize}"
    wrong = (column != column) & (column.view(unsigned) != nan.view(unsigned))
    return np.where(wrong, nan, column) if wrong.any() else column


def check_columns(layout: Layout, fields: Mapping[str, Values]) -> None:
    """ValueError unless these are the layout's columns, each of its kind."""
    if fields.keys() != layout.leaves.keys():
        wrong = sorted(fields.keys() ^ layout.leaves.keys())
        raise ValueError(f"write: missing or unknown columns: {', '.join(wrong)}")
    for path, leaf in layout.leaves.items():
        column = fields[path]
        wanted = leaf.native if leaf.is_number else "strings"
        found = "strings" if isinstance(column, Strings) else column.dtype
        if found != wanted:
            raise ValueError(f"{path}: a column of {wanted} is wanted, not {found}")

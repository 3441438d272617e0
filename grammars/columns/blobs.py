"""Blobs: a column of byte strings that are not copied, for example spans of a mapped file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from exset.core.text import counted
from exset.grammars.columns.arrays import (
    Bytes,
    Indices,
    Longs,
    check_column,
    compact,
    offsets_of,
    take,
)
from exset.grammars.columns.inputs import items_of, shown
from exset.grammars.columns.rows import Column


@dataclass(frozen=True, eq=False, repr=False)
class Blobs(Column[memoryview]):
    """A column of byte strings. Each is a span of the same bytes, which are not copied.

    data: uint8, such as a mapped file. starts, lengths: int64 [n]. Spans may overlap and be in any
    order. Raises ValueError for a span out of bounds.
    """

    data: Bytes
    starts: Longs
    lengths: Longs

    def __post_init__(self) -> None:
        check_column("data", self.data, np.uint8)
        check_column("starts", self.starts, np.int64)
        check_column("lengths", self.lengths, np.int64, self.starts.size)
        starts, lengths = self.starts, self.lengths
        if (
            (starts < 0).any()
            or (lengths < 0).any()
            or (lengths > self.data.size).any()
            or (starts > self.data.size - lengths).any()
        ):
            raise ValueError("starts: a blob is out of bounds")
        self._freeze()

    @classmethod
    def of(cls, blobs: Iterable[bytes | bytearray | memoryview]) -> Self:
        """Return a column of copies of the given byte strings."""
        rows = [bytes(blob) for blob in blobs]
        lengths = np.array([len(row) for row in rows], np.int64)
        data = np.frombuffer(b"".join(rows), np.uint8)
        return cls(data, offsets_of(lengths)[:-1], compact(lengths))

    @classmethod
    def listed(cls, what: str, items: object) -> Self:
        """Make a column of a list of byte strings.

        Raises ValueError for an item that is not bytes. what: the column's name, with which the
        message begins.
        """
        rows = []
        for i, row in enumerate(items_of(what, items, "bytes")):
            if not isinstance(row, bytes | bytearray | memoryview):
                raise ValueError(f"{what}[{i}]: expected bytes, not {shown(row)}")
            rows.append(row)
        return cls.of(rows)

    @classmethod
    def concat(cls, columns: Sequence[Self]) -> Self:
        """Join the blobs of one or more columns. The bytes are copied."""
        if len(columns) == 1:
            return columns[0]
        return cls.of(blob for column in columns for blob in column)

    def __len__(self) -> int:
        return self.starts.size

    def _item(self, row: int) -> memoryview:
        start = int(self.starts[row])
        return self.data.data[start : start + int(self.lengths[row])]

    def __iter__(self) -> Iterator[memoryview]:
        view = self.data.data
        for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=True):
            yield view[start : start + length]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        if self is other:
            return True
        if not np.array_equal(self.lengths, other.lengths):
            return False
        return all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"Blobs({len(self)}, {counted(self.nbytes, 'byte')})"

    def __getstate__(self) -> dict[str, object]:
        return super(Blobs, self.of(self)).__getstate__()

    @property
    def nbytes(self) -> int:
        """The number of bytes of all blobs."""
        return int(self.lengths.sum())

    def take(self, indices: Indices) -> Self:
        """Return the blobs at the indices, int64 [k]. The bytes are not copied.

        Raises IndexError for an index out of bounds.
        """
        return self.with_unchecked(
            starts=take(self.starts, indices), lengths=take(self.lengths, indices)
        )

    def tolist(self) -> list[bytes]:
        """Return the blobs as a list, copied."""
        return [bytes(blob) for blob in self]

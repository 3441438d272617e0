"""Compute the memory that the columns of a model need, from the model's chunks."""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.runtime.reports.report import memory_of


@dataclass
class ColumnMemory:
    """Computes the memory that a model would need if its chunks were joined.

    `memory_of` would return the same number for the joined model. offsets: names of columns that
    have one element more than rows, in addition to the name `offsets`. columns: {path: column}.
    chunks: how many chunks were added. first: the memory of the first chunk.
    """

    offsets: tuple[str, ...] = ()
    columns: "dict[str, Column]" = field(default_factory=dict)
    chunks: int = 0
    first: int = 0

    def add(self, chunk: object) -> None:
        """Add the columns of a chunk, a dataclass of arrays."""
        self.chunks += 1
        if self.chunks == 1:
            self.first = memory_of(chunk)
        self._add(chunk, "")

    def merge(self, other: "ColumnMemory") -> None:
        """Add the chunks of `other`. They follow the chunks of this object."""
        self.first = self.first if self.chunks else other.first
        self.chunks += other.chunks
        for path, column in other.columns.items():
            if path in self.columns:
                self.columns[path].merge(column)
            else:
                self.columns[path] = column

    def total(self, **joined: object) -> int:
        """Return the memory of the joined model in bytes.

        joined: fields of the joined model that are more than their chunks, joined; their memory is
        that of the arguments.
        """
        if self.chunks < 2:
            return self.first
        others = tuple(f".{name}." for name in joined)
        columns = [each for path, each in self.columns.items() if not path.startswith(others)]
        return sum(each.memory for each in columns) + sum(map(memory_of, joined.values()))

    def _add(self, part: object, path: str) -> None:
        if isinstance(part, np.ndarray):
            is_offsets = path.rpartition(".")[2] in ("offsets", *self.offsets)
            column = Column.of(part, is_offsets)
            if path in self.columns:
                self.columns[path].merge(column)
            else:
                self.columns[path] = column
        elif is_dataclass(part):
            for each in fields(part):
                self._add(getattr(part, each.name), f"{path}.{each.name}")


@dataclass
class Column:
    """The numbers that decide the memory of one joined column.

    first: the memory of the column's first chunk. size: the number of elements; for offsets, the
    number of rows. value: if all elements of the column are the same repeated element, its bytes;
    else None. last: the sum of the last elements of offsets. See `concat` and `concat_offsets` of
    `exset.grammars.columns.arrays`.
    """

    itemsize: int
    is_offsets: bool
    first: int
    size: int = 0
    value: bytes | None = None
    last: int = 0

    @classmethod
    def of(cls, array: NDArray[Any], is_offsets: bool) -> "Column":
        """Make the object for one chunk of a column.

        is_offsets: whether the column has offsets, which are joined in another way.
        """
        made = cls(array.itemsize, is_offsets, memory_of(array))
        if is_offsets:
            made.size, made.last = array.size - 1, int(array[-1])
        elif array.size:
            made.size = array.size
            made.value = array[:1].tobytes() if array.strides[0] == 0 else None
        return made

    def merge(self, other: "Column") -> None:
        """Add the next chunks of the same column."""
        if other.size and self.size and self.value != other.value:
            self.value = None
        elif other.size and not self.size:
            self.value = other.value
        self.size += other.size
        self.last += other.last

    @property
    def memory(self) -> int:
        """The memory of the joined column, in bytes."""
        if self.is_offsets:
            return self.itemsize * (self.size + 1 if self.last else 1)
        if not self.size:
            return self.first
        return self.itemsize * (self.size if self.value is None else 1)

"""The memory that the columns of a model take, from its chunks."""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.runtime.reports.report import memory_of


@dataclass
class ColumnMemory:
    """The memory that a model would take if its chunks were joined, as `memory_of` computes it.

    offsets: names of columns that, like those called `offsets`, have one element more than rows.
    columns: the columns by path. chunks: how many were added. first: the memory of the first
    chunk.
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
        """Add another memory, whose chunks follow the chunks of this one."""
        self.first = self.first if self.chunks else other.first
        self.chunks += other.chunks
        for path, column in other.columns.items():
            if path in self.columns:
                self.columns[path].merge(column)
            else:
                self.columns[path] = column

    def total(self, **joined: object) -> int:
        """Return the memory in bytes; `joined`: fields that differ in the joined model."""
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
    """One column: see `concat` and `concat_offsets` of `exset.grammars.columns.arrays`.

    first: the memory of its first chunk. size: the number of its elements, or of rows of offsets.
    value: the bytes of the repeated element of a constant column, else None. last: the sum of the
    last elements of offsets.
    """

    itemsize: int
    is_offsets: bool
    first: int
    size: int = 0
    value: bytes | None = None
    last: int = 0

    @classmethod
    def of(cls, array: NDArray[Any], is_offsets: bool) -> "Column":
        """Return the column of a chunk."""
        made = cls(array.itemsize, is_offsets, memory_of(array))
        if is_offsets:
            made.size, made.last = array.size - 1, int(array[-1])
        elif array.size:
            made.size = array.size
            made.value = array[:1].tobytes() if array.strides[0] == 0 else None
        return made

    def merge(self, other: "Column") -> None:
        """Add another column, whose elements follow the elements of this one."""
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

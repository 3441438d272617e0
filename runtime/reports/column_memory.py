"""The memory that the columns of a model take, from its chunks."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import same
from exset.runtime.reports.report import memory_of


class ColumnMemory:
    """The memory that a model would take if its chunks were joined, as `memory_of` computes it.

    Columns called `offsets`, and those whose names are given, have one element more than rows.
    """

    def __init__(self, *offsets: str) -> None:
        self._offsets = ("offsets", *offsets)
        self._columns: dict[str, _Column] = {}
        self._chunks = 0
        self._first = 0

    def add(self, chunk: object) -> None:
        """Add the columns of a chunk, a dataclass of arrays."""
        self._chunks += 1
        if self._chunks == 1:
            self._first = memory_of(chunk)
        self._add(chunk, "")

    def total(self, **joined: object) -> int:
        """Return the memory in bytes; `joined`: fields that differ in the joined model."""
        if self._chunks < 2:
            return self._first
        others = tuple(f".{name}." for name in joined)
        columns = [each for path, each in self._columns.items() if not path.startswith(others)]
        return sum(each.memory for each in columns) + sum(map(memory_of, joined.values()))

    def _add(self, part: object, path: str) -> None:
        if isinstance(part, np.ndarray):
            is_offsets = path.rpartition(".")[2] in self._offsets
            if path not in self._columns:
                self._columns[path] = _Column(part.itemsize, is_offsets, memory_of(part))
            self._columns[path].add(part)
        elif is_dataclass(part):
            for each in fields(part):
                self._add(getattr(part, each.name), f"{path}.{each.name}")


@dataclass
class _Column:
    """One column: see `concat` and `concat_offsets` of `exset.grammars.columns.arrays`."""

    itemsize: int
    is_offsets: bool
    first: int
    size: int = 0
    value: NDArray[Any] | None = None
    """The repeated value of a constant column."""

    def add(self, array: NDArray[Any]) -> None:
        if self.is_offsets:
            self.size += array.size - 1
            self.value = array[-1:] if self.value is None else self.value + array[-1:]
        elif array.size:
            # A single number is no constant: in the whole column, others may follow.
            if array.strides[0] == 0 and (not self.size or self._repeats(array)):
                self.value = array[:1].copy()
            else:
                self.value = None
            self.size += array.size

    @property
    def memory(self) -> int:
        if self.is_offsets:
            has_rows = self.value is not None and bool(self.value.any())
            return self.itemsize * (self.size + 1 if has_rows else 1)
        if not self.size:
            return self.first
        return self.itemsize * (self.size if self.value is None else 1)

    def _repeats(self, array: NDArray[Any]) -> bool:
        return self.value is not None and same(array[:1], self.value)

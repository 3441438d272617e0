"""Datasets of records: elements by columns, each of a type, as manifests and caches have them."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from exset.core.errors import LimitError, blaming
from exset.core.limits import Limits, remedy
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Bytes, Floats, Ints, Longs, chosen_rows
from exset.grammars.columns.inputs import shown
from exset.runtime.arrays import Device, namespace, padded, to_device
from exset.runtime.training.dataset import Dataset, Values

NUMBERS: Final = {ElementType.ASCII_INT: "<i4", ElementType.ASCII_FLOAT: "<f4"}
"""The types of elements that are numbers, and how their four bytes are read."""

Column: TypeAlias = Ints | Floats | tuple[Bytes, Longs]
"""The elements of a column: a number each, or bytes one after the other and their offsets."""


class RecordDataset(Dataset):
    """Records of elements: ASCII_INT is int32 [records], ASCII_FLOAT float32 [records].

    All others are uint8, as many as there are: NAME.values and NAME.offsets, or padded with 0 to
    the longest of the batch, NAME [records, longest], and NAME.mask.
    """

    def __init__(
        self,
        types: Sequence[ElementType],
        names: Iterable[str] | None,
        padded: bool,
        limits: Limits,
    ) -> None:
        """Take the types of the columns, and what they are called: by default by their numbers.

        Raises ValueError for names that are not as many, or the same, or no names.
        """
        self.types = tuple(types)
        self.names = tuple(map(str, range(len(self.types))) if names is None else names)
        self.padded = padded
        self._limits = limits
        if isinstance(names, str) or not all(isinstance(name, str) for name in self.names):
            raise ValueError(f"names: a list of names is wanted, not {shown(names)}")
        if len(self.names) != len(self.types):
            raise ValueError(f"names: {len(self.types)} are wanted, not {len(self.names)}")
        if len({*self.fields, *self.ragged}) < len(self.fields) + len(self.ragged):
            raise ValueError("names: two columns would have the same")

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in their order."""
        parts = ("", ".mask") if self.padded else (".values", ".offsets")
        return tuple(
            name + part
            for name, kind in zip(self.names, self.types, strict=True)
            for part in (("",) if kind in NUMBERS else parts)
        )

    @property
    def ragged(self) -> tuple[str, ...]:
        """The names of the columns that are given as values and offsets."""
        pairs = zip(self.names, self.types, strict=True)
        return () if self.padded else tuple(name for name, kind in pairs if kind not in NUMBERS)

    def __repr__(self) -> str:
        columns = ", ".join(f"{n} {t}" for n, t in zip(self.names, self.types, strict=True))
        return f"{type(self).__name__}({len(self)} records: {columns})"

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of some records; raises as `Dataset.batch`."""
        return self._made(np, chosen_rows(indices, len(self)))

    def to_arrays(self, device: Device = "cpu") -> dict[str, Values]:
        """Return the arrays of all records, padded on the device if they are to be."""
        return self._made(namespace(device), np.arange(len(self)))

    @abstractmethod
    def _columns(self, rows: Longs) -> Iterator[Column]:
        """Yield the elements of some records, column by column, in new arrays."""

    def _made(self, xp: ModuleType, rows: Longs) -> dict[str, Values]:
        with blaming(self.name, type(self).name):
            return self._arrays(xp, rows)

    def _arrays(self, xp: ModuleType, rows: Longs) -> dict[str, Values]:
        made: dict[str, Values] = {}
        for name, column in zip(self.names, self._columns(rows), strict=True):
            if not isinstance(column, tuple):
                made[name] = to_device(xp, column)
                continue
            values, offsets = column
            if self.padded:
                self._check(rows.size * int(np.diff(offsets).max(initial=0)), name)
                moved = to_device(xp, values), to_device(xp, offsets)
                made[name], made[f"{name}.mask"] = padded(xp, *moved)
            else:
                made[f"{name}.values"] = to_device(xp, values)
                made[f"{name}.offsets"] = to_device(xp, offsets)
        return made

    def _check(self, size: int, name: str) -> None:
        """Raises LimitError for a column of so many bytes, if they are too many."""
        if size > self._limits.max_array:
            raise LimitError(
                f"column {name} has {size:,} bytes, which is over {self._limits.max_array:,}",
                hint=f"take fewer records at a time; or {remedy('max_array')}",
            )

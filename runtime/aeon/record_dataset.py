"""The base class of datasets of aeon's records. Each column of elements has a type."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from exset.core.errors import LimitError, with_source_name
from exset.core.limits import Limits, limit_hint
from exset.core.text import counted
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
from exset.grammars.columns.arrays import Bytes, Floats, Ints, Longs, chosen_rows
from exset.runtime.arrays import Device, on_device, padded, to_device
from exset.runtime.training.dataset import Dataset, Values, checked_names

Column: TypeAlias = Ints | Floats | tuple[Bytes, Longs]
"""The elements of a column: numbers, or the bytes of all elements and their offsets."""


class RecordDataset(Dataset):
    """Records of elements. ASCII_INT becomes int32 [records], ASCII_FLOAT float32 [records].

    Elements of other types become two arrays of uint8 bytes and their limits: NAME.values and
    NAME.offsets. If `padded`, they become NAME [records, longest] and NAME.mask: elements are
    padded with 0 to the longest element of the batch.
    """

    def __init__(
        self,
        types: Sequence[ElementType],
        names: Iterable[str] | None,
        fields: Iterable[str] | None,
        padded: bool,
        limits: Limits,
    ) -> None:
        """Make a dataset with columns of these types. names: of the columns, by default their
        numbers.

        fields: the names of the columns to read into a batch. Raises ValueError if the names are
        not unique strings, one for each column, and for an unknown field.
        """
        self.types = tuple(types)
        numbers = range(len(self.types))
        self.names = checked_names("names", map(str, numbers) if names is None else names)
        if len(self.names) != len(self.types):
            expected = f"{counted(len(self.types), 'name')}, one for each column"
            raise ValueError(f"names: expected {expected}, not {len(self.names)}")
        self.padded = padded
        self._limits = limits
        chosen = self.names if fields is None else checked_names("fields", fields, self.names)
        self._chosen = tuple(map(self.names.index, chosen))
        if len({*self.fields, *self.ragged}) < len(self.fields) + len(self.ragged):
            raise ValueError("names: two columns would have the same name")

    @property
    def columns(self) -> tuple[tuple[int, str, ElementType], ...]:
        """The columns of a batch. A column is the tuple (number, name, type)."""
        return tuple((each, self.names[each], self.types[each]) for each in self._chosen)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch, in order."""
        parts = ("", ".mask") if self.padded else (".values", ".offsets")
        return tuple(
            name + part
            for _, name, kind in self.columns
            for part in (("",) if kind in NUMBER_DTYPES else parts)
        )

    @property
    def ragged(self) -> tuple[str, ...]:
        """The names of the columns that are returned as values and offsets."""
        of_bytes = (name for _, name, kind in self.columns if kind not in NUMBER_DTYPES)
        return () if self.padded else tuple(of_bytes)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {kind}" for _, name, kind in self.columns)
        return f"{type(self).__name__}({counted(len(self), 'record')}: {columns})"

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the arrays of the records with these indices. Raises the errors of
        `Dataset.batch`.
        """
        return self._arrays(np, chosen_rows(indices, len(self)))

    def to_arrays(self, device: Device = "cpu") -> dict[str, Values]:
        """Return the arrays of all records. Elements are padded on the device."""
        with on_device(device) as xp:
            return self._arrays(xp, np.arange(len(self)))

    @abstractmethod
    def _columns(self, rows: Longs) -> Iterator[Column]:
        """Yield the elements of the records `rows`, column by column, in new arrays."""

    def _arrays(self, xp: ModuleType, rows: Longs) -> dict[str, Values]:
        arrays: dict[str, Values] = {}
        with with_source_name(self.name, type(self).name):
            for (_, name, _), column in zip(self.columns, self._columns(rows), strict=True):
                if not isinstance(column, tuple):
                    arrays[name] = to_device(xp, column)
                    continue
                values, offsets = column
                moved = to_device(xp, values), to_device(xp, offsets)
                if self.padded:
                    self._check_size(rows.size * int(np.diff(offsets).max(initial=0)), name)
                    arrays[name], arrays[f"{name}.mask"] = padded(xp, *moved)
                else:
                    arrays[f"{name}.values"], arrays[f"{name}.offsets"] = moved
        return arrays

    def _check_size(self, size: int, name: str) -> None:
        if size > self._limits.max_batch:
            raise LimitError(
                f"column {name} of the batch has {size:,} bytes, more than the limit of"
                f" {self._limits.max_batch:,}",
                hint=f"take fewer records at a time; or {limit_hint('max_batch')}",
            )

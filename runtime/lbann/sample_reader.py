"""Read batches of samples: the fields that two schemas select, from the HDF5 files of a list.

Files are read one after the other, and the samples of each file in the order of their ids. Nothing
is read past the end of an array: a sample of another size is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.errors import Findings, FormatError, LimitError, Place, warn
from exset.core.limits import DEFAULT, Limits
from exset.core.text import counted
from exset.grammars.columns.arrays import Longs, chosen_rows
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.schema import Schema
from exset.grammars.lbann.schema_findings import finding_at
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.arrays import Device
from exset.runtime.lbann.fields import apply_transform, wraps_around
from exset.runtime.lbann.hdf5 import File
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.packing import plan
from exset.runtime.lbann.sample_layout import Column, Layout, find_column, lay_out, sample_group
from exset.runtime.lbann.transforms import Compat
from exset.runtime.training.dataset import Dataset, Values

Pair: TypeAlias = tuple[str, str | int]
"""The path of a file, and the id of a sample: its path in the file."""


def joined(base: str, name: str) -> str:
    """Join a base folder and the name of a file as LBANN does."""
    return name if not base else f"{base}{name}" if base.endswith("/") else f"{base}/{name}"


@runtime_checkable
class HasPairs(Protocol):
    """An object that lists samples, such as a sample list."""

    def __len__(self) -> int:
        """The number of samples."""
        ...

    def pairs(self) -> Iterator[Pair]:
        """Yield the file and the id of each sample."""
        ...


@dataclass(frozen=True)
class Batch:
    """The values of some samples: an array [samples, values] for each field or packed group.

    dims: the shape of one sample, channels first.
    """

    values: Mapping[str, NDArray[Any]]
    dims: Mapping[str, tuple[int, ...]]
    samples: int

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the values of a field or group, shape (samples, values); KeyError."""
        return self.values[name]

    def __len__(self) -> int:
        return self.samples

    def shaped(self, name: str) -> NDArray[Any]:
        """Return the values of a field or group, shape (samples, *dims); KeyError."""
        return self.values[name].reshape(self.samples, *self.dims[name])


class SampleReader(Dataset):
    """Reads batches of samples; merges the schemas and finds the layout once.

    Arrays of `batch` have the shape `(samples, *dims)`. A file is open only while it is read, so
    that no handle is shared between processes.
    """

    def __init__(
        self,
        samples: HasPairs | Iterable[Pair],
        data: Schema,
        experiment: Schema,
        *,
        base: str = "",
        keep_packed: bool = False,
        compat: Compat = None,
        access: Access = DEFAULT_ACCESS,
        limits: Limits = DEFAULT,
        findings: Findings | None = None,
    ) -> None:
        """Merge the schemas.

        samples: pairs of file and id, or an object with `pairs()`. base: the folder of the files.
        keep_packed: return packed fields separately, too. findings: collects the findings; without
        it, they are in the attribute `findings`, and the first batch issues one FormatWarning for
        all. Raises FormatError for schemas that do not fit together.
        """
        self._warns = findings is None
        self.findings = Findings() if findings is None else findings
        if not isinstance(samples, SampleList):
            samples = list(samples.pairs() if isinstance(samples, HasPairs) else samples)
        self._samples = samples
        self._base = base
        self._keep = keep_packed
        self._access = access
        self._limits = limits
        self.schema = merge_schemas(data, experiment, findings=self.findings)
        self.plan = plan(self.schema, compat=compat, findings=self.findings)
        self._layout: Layout | None = None

    def __len__(self) -> int:
        return len(self._samples)

    def __repr__(self) -> str:
        return f"SampleReader({len(self)} samples, {', '.join(self.fields)})"

    @property
    def layout(self) -> Layout:
        """The layout of the first sample, and so of all. Raises ValueError if there is none."""
        if self._layout is None:
            if not len(self):
                raise ValueError("the list has no samples")
            name, sample = self._pairs(np.zeros(1, np.int64))[0]
            with self._open(name) as file:
                self._layout = lay_out(file, sample, self.plan, self.findings)
            if self._warns:
                warn(self.findings, 4)
        return self._layout

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the arrays of a batch: fields, then packed groups."""
        if not len(self):
            return ()
        columns, groups = self.layout.columns, self.layout.groups
        separate = (each.name for each in columns if self._keep or each.transform.pack is None)
        return (*separate, *(each.name for each in groups))

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the values of some samples, shape `(samples, *dims)`; raises as `read`."""
        chosen = chosen_rows(indices, len(self))
        if not len(self):
            return {}
        _ = self.layout
        found = self.read(chosen)
        return {name: found.shaped(name) for name in found.values}

    def to_arrays(self, device: Device = "cpu") -> dict[str, Values]:
        """Return the arrays of all samples; raises as `read`."""
        if len(self):
            self._check(self.layout, len(self))
        return super().to_arrays(device)

    def read(self, which: ArrayLike | slice | None = None) -> Batch:
        """Return some samples, by default all. which: indices in any order, a mask, or a slice.

        Raises FormatError for a sample unlike the first one, LimitError for more than `max_array`
        bytes, OSError for files that cannot be opened, and IndexError and ValueError as
        `chosen_rows`.
        """
        which, layout = slice(None) if which is None else which, self.layout
        if isinstance(which, slice):
            self._check(layout, len(range(*which.indices(len(self)))))
        rows = chosen_rows(which, len(self))
        self._check(layout, rows.size)
        chosen = [(*pair, row) for row, pair in enumerate(self._pairs(rows))]
        columns = self._allocated(layout, len(chosen))
        for name, group in groupby(sorted(chosen), key=lambda each: each[0]):
            with self._open(name) as file:
                self._read_file(file, [(sample, row) for _, sample, row in group], layout, columns)
        return self._batch(layout, columns, len(chosen))

    def _check(self, layout: Layout, count: int) -> None:
        """Raise LimitError if so many samples take more than `max_array` bytes."""
        if layout.bytes * count > self._limits.max_array:
            size = f"{counted(count, 'sample')} of {layout.bytes:,} bytes each"
            raise LimitError(
                f"the batch is too large: {size}",
                hint="read fewer at a time, or raise the limit: limits=Limits(max_array=N)",
            )

    def _pairs(self, rows: Longs) -> list[tuple[str, str]]:
        """Return the file and the id of some samples."""
        if isinstance(self._samples, SampleList):
            pairs = self._samples.pairs_at(rows)
        else:
            pairs = [self._samples[at] for at in rows.tolist()]
        return [(name, str(sample)) for name, sample in pairs]

    def _open(self, name: str) -> File:
        return File(joined(self._base, name), self._access, self._limits)

    def _allocated(self, layout: Layout, count: int) -> dict[str, NDArray[Any]]:
        """Return an array for each column and group. A packed column is a view of its group."""
        arrays: dict[str, NDArray[Any]] = {}
        sizes = {column.name: column.count for column in layout.columns}
        for group in layout.groups:
            whole = np.empty((count, group.count), group.dtype)
            arrays[_GROUP + group.name] = whole
            for name, start in group.starts.items():
                arrays[name] = whole[:, start : start + sizes[name]]
        for column in layout.columns:
            if column.name not in arrays:
                dtype = object if column.dtype == "text" else column.dtype
                arrays[column.name] = np.empty((count, column.count), dtype)
        return arrays

    def _read_file(
        self,
        file: File,
        samples: Sequence[tuple[str, int]],
        layout: Layout,
        into: Mapping[str, NDArray[Any]],
    ) -> None:
        groups = {sample: sample_group(file, sample) for sample, _ in samples}
        for column in layout.columns:
            stored = column.stored
            dtype = object if stored.kind == "text" else stored.dtype
            values = np.empty((len(samples), stored.count), dtype)
            alike: list[int] = []
            for at, (sample, row) in enumerate(samples):
                dataset, found, where = find_column(file, sample, groups[sample], column)
                if found.kind == "text":
                    values[at] = file.read_strings(dataset, where)
                elif found.dtype == stored.dtype:
                    file.read(dataset, values[at].reshape(found.shape), where)
                else:
                    other = np.empty(found.shape, found.dtype)
                    file.read(dataset, other, where)
                    done = self._transformed(file, where, column, other.reshape(1, -1))
                    into[column.name][row] = done[0]
                    continue
                alike.append(at)
            rows = [samples[at][1] for at in alike]
            where = f"{samples[0][0]}/{column.name}"
            block = values if len(alike) == len(samples) else values[alike]
            into[column.name][rows] = self._transformed(file, where, column, block)

    def _transformed(
        self, file: File, where: str, column: Column, values: NDArray[Any]
    ) -> NDArray[Any]:
        if column.stored.kind == "text":
            return values
        transform, place = column.transform, Place(file.path, field=where)
        if transform.coerce is not None and wraps_around(values, transform.coerce):
            words = {"path": column.name, "dtype": transform.coerce}
            self.findings.add(finding_at("lbann-narrowed", place, **words))
        try:
            return apply_transform(values, transform)
        except ValueError as error:
            raise FormatError(
                f"{column.name}: {error}",
                place=place,
                hint="coerce to a wider type, or to float",
                code="schema-coerce",
            ) from None

    def _batch(self, layout: Layout, columns: Mapping[str, NDArray[Any]], count: int) -> Batch:
        values, dims = {}, {}
        for column in layout.columns:
            if self._keep or column.transform.pack is None:
                values[column.name] = columns[column.name]
                dims[column.name] = column.dims
        for group in layout.groups:
            values[group.name] = columns[_GROUP + group.name]
            dims[group.name] = (group.count,)
        return Batch(values, dims, count)


_GROUP: Final = "/"  # no name of a field starts with it

"""Batches of samples: what two schemas select, from the HDF5 files that a sample list names.

Files are read one after the other, the samples of each in the order of their ids, into arrays that
were made before. Nothing is read past the end: a sample of another size is an error.
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
from exset.io.access import USUAL, Access
from exset.runtime.arrays import Device
from exset.runtime.lbann.fields import narrows, prepared
from exset.runtime.lbann.hdf5 import File
from exset.runtime.lbann.list_pairs import pairs_at
from exset.runtime.lbann.merged_schema import resolve
from exset.runtime.lbann.packing import plan
from exset.runtime.lbann.sample_layout import Column, Layout, found, lay_out, located
from exset.runtime.lbann.transforms import Compat
from exset.runtime.training.dataset import Dataset, Values

Pair: TypeAlias = tuple[str, str | int]
"""A file and the id of a sample in it, which is a path there."""


def joined(base: str, name: str) -> str:
    """Return the path of a file that is named from a base folder, as LBANN joins them."""
    return name if not base else f"{base}{name}" if base.endswith("/") else f"{base}/{name}"


@runtime_checkable
class HasPairs(Protocol):
    """What names samples, such as a sample list."""

    def __len__(self) -> int:
        """How many samples there are."""
        ...

    def pairs(self) -> Iterator[Pair]:
        """Yield the file and the id of each sample."""
        ...


@dataclass(frozen=True)
class Batch:
    """The values of some samples: for each field or packed group an array of a row a sample.

    dims: the shape of one row where it is meant as more than a vector (channels first).
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
        """Return the values of a field or group in the shape (samples, *dims)."""
        return self.values[name].reshape(self.samples, *self.dims[name])


class SampleReader(Dataset):
    """Reads batches; what does not change from one to the next is found out once.

    As a dataset its batches are in shape, `(samples, *dims)`. A file is open only while it is read,
    so that no process has a handle of another's.
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
        access: Access = USUAL,
        limits: Limits = DEFAULT,
        findings: Findings | None = None,
    ) -> None:
        """Take what to read, and how.

        samples: pairs of file and id, or what has them; base: the folder that the files are named
        from; keep_packed: packed fields are given apart, too. Traps are added to `findings`;
        without it, they are in the attribute of that name, and one FormatWarning tells of them when
        the first batch is read. Raises FormatError for schemas that cannot be resolved.
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
        self.resolved = resolve(data, experiment, findings=self.findings)
        self.plan = plan(self.resolved, compat=compat, findings=self.findings)
        self._layout: Layout | None = None

    def __len__(self) -> int:
        return len(self._samples)

    def __repr__(self) -> str:
        return f"SampleReader({len(self)} samples, {', '.join(self.fields)})"

    @property
    def layout(self) -> Layout:
        """How the samples lie: the first of the list says it. ValueError if there is none."""
        if self._layout is None:
            if not len(self):
                raise ValueError("there are no samples")
            name, sample = self._pairs(np.zeros(1, np.int64))[0]
            with self._open(name) as file:
                self._layout = lay_out(file, sample, self.plan, self.findings)
            if self._warns:
                warn(self.findings, 4)
        return self._layout

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields and packed groups, as the first sample has them."""
        if not len(self):
            return ()
        columns, groups = self.layout.columns, self.layout.groups
        apart = (each.name for each in columns if self._keep or each.recipe.pack is None)
        return (*apart, *(each.name for each in groups))

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the values of some samples in the shape `(samples, *dims)`; raises as `read`."""
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
        """Return some samples, all if none are named: indices in any order, a mask, or a slice.

        Raises FormatError for what is not as in the first sample, LimitError for more than
        `max_array` bytes, OSError for files that cannot be opened, and IndexError and ValueError as
        `chosen_rows`.
        """
        which, layout = slice(None) if which is None else which, self.layout
        if isinstance(which, slice):
            self._check(layout, len(range(*which.indices(len(self)))))
        rows = chosen_rows(which, len(self))
        self._check(layout, rows.size)
        chosen = [(*pair, row) for row, pair in enumerate(self._pairs(rows))]
        columns = self._made(layout, len(chosen))
        for name, group in groupby(sorted(chosen), key=lambda each: each[0]):
            with self._open(name) as file:
                self._read_file(file, [(sample, row) for _, sample, row in group], layout, columns)
        return self._batch(layout, columns, len(chosen))

    def _check(self, layout: Layout, count: int) -> None:
        """Raises LimitError for so many samples, if that is too much."""
        if layout.bytes * count > self._limits.max_array:
            raise LimitError(
                f"{counted(count, 'sample')} of {layout.bytes:,} bytes each",
                hint="read fewer at a time, or say limits=Limits(max_array=N)",
            )

    def _pairs(self, rows: Longs) -> list[tuple[str, str]]:
        """The file and the path in it of some samples."""
        if isinstance(self._samples, SampleList):
            pairs = pairs_at(self._samples, rows)
        else:
            pairs = [self._samples[at] for at in rows.tolist()]
        return [(name, str(sample)) for name, sample in pairs]

    def _open(self, name: str) -> File:
        return File(joined(self._base, name), self._access, self._limits)

    def _made(self, layout: Layout, count: int) -> dict[str, NDArray[Any]]:
        """Make the arrays: that of a packed field is a part of its group's."""
        made: dict[str, NDArray[Any]] = {}
        sizes = {column.name: column.count for column in layout.columns}
        for group in layout.groups:
            whole = np.empty((count, group.count), group.dtype)
            made[_GROUP + group.name] = whole
            for name, start in group.starts.items():
                made[name] = whole[:, start : start + sizes[name]]
        for column in layout.columns:
            if column.name not in made:
                dtype = object if column.dtype == "text" else column.dtype
                made[column.name] = np.empty((count, column.count), dtype)
        return made

    def _read_file(
        self,
        file: File,
        samples: Sequence[tuple[str, int]],
        layout: Layout,
        into: Mapping[str, NDArray[Any]],
    ) -> None:
        groups = {sample: located(file, sample) for sample, _ in samples}
        for column in layout.columns:
            stored = column.stored
            kind = object if stored.kind == "text" else stored.dtype
            rows = np.empty((len(samples), stored.count), kind)
            usual: list[int] = []
            for at, (sample, row) in enumerate(samples):
                dataset, form, where = found(file, sample, groups[sample], column)
                if form.kind == "text":
                    rows[at] = file.texts(dataset, where)
                elif form.dtype == stored.dtype:
                    file.read(dataset, rows[at].reshape(form.shape), where)
                else:
                    other = np.empty(form.shape, form.dtype)
                    file.read(dataset, other, where)
                    values = other.reshape(1, -1)
                    into[column.name][row] = self._prepared(file, where, column, values)[0]
                    continue
                usual.append(at)
            targets = [samples[at][1] for at in usual]
            where = f"{samples[0][0]}/{column.name}"
            block = rows if len(usual) == len(samples) else rows[usual]
            into[column.name][targets] = self._prepared(file, where, column, block)

    def _prepared(self, file: File, where: str, column: Column, raw: NDArray[Any]) -> NDArray[Any]:
        recipe = column.recipe
        if recipe.coerce is not None and narrows(raw, recipe.coerce):
            place = Place(file.path, field=where)
            words = {"path": column.name, "kind": recipe.coerce}
            self.findings.add(finding_at("lbann-narrowed", place, **words))
        try:
            return prepared(raw, recipe) if column.stored.kind == "number" else raw
        except ValueError as error:
            raise FormatError(
                f"{column.name}: {error}",
                place=Place(file.path, field=where),
                hint="coerce to a type that can hold it",
                code="schema-coerce",
            ) from None

    def _batch(self, layout: Layout, columns: Mapping[str, NDArray[Any]], count: int) -> Batch:
        values, dims = {}, {}
        for column in layout.columns:
            if self._keep or column.recipe.pack is None:
                values[column.name] = columns[column.name]
                dims[column.name] = column.dims
        for group in layout.groups:
            values[group.name] = columns[_GROUP + group.name]
            dims[group.name] = (group.count,)
        return Batch(values, dims, count)


_GROUP: Final = "/"  # no name of a field begins so

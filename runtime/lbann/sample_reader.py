"""Read batches of samples from the HDF5 files of a list: the fields that two schemas select.

Files are read one after the other, and the samples of each file in the order of their ids. exset
never reads past the end of an array. A sample of another size is an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import groupby
from os import PathLike
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exset.core.errors import Findings, FormatError, LimitError, Place, warn
from exset.core.limits import DEFAULT, Limits
from exset.core.text import counted
from exset.grammars.columns.arrays import Longs, chosen_rows
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.schema import Schema
from exset.grammars.lbann.schema_findings import finding_at
from exset.io import files
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.files import FilePath
from exset.runtime.arrays import Device
from exset.runtime.hdf5.file import File, numpy_type
from exset.runtime.lbann.directives import Compat
from exset.runtime.lbann.fields import apply_transform, wraps_around
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.packing import plan
from exset.runtime.lbann.sample_layout import Column, Layout, Sample, lay_out
from exset.runtime.training.dataset import Dataset, Values, checked_names

Pair: TypeAlias = tuple[str, str | int]
"""The path of a file, and the id of a sample: its path in the file."""


def joined(base: str, name: str) -> str:
    """Return the path of the file `name` in the folder `base`, joined as LBANN does."""
    return name if not base else f"{base}{name}" if base.endswith("/") else f"{base}/{name}"


class SampleReader(Dataset):
    """Reads batches of samples. The schemas are merged and the layout is found only once.

    Arrays of `batch` have the shape `(samples, *dims)`. A file is open only while it is read, so
    that processes never share a file handle.
    """

    def __init__(
        self,
        samples: FilePath | Iterable[Pair],
        data: Schema | FilePath | None = None,
        experiment: Schema | FilePath | None = None,
        *,
        fields: Iterable[str] | None = None,
        base: str = "",
        keep_packed: bool = False,
        compat: Compat = None,
        access: Access = DEFAULT_ACCESS,
        limits: Limits = DEFAULT,
        findings: Findings | None = None,
    ) -> None:
        """Merge the schemas.

        samples: a sample list, its path, or pairs (file, id). data, experiment: the schemas, or
        their paths. fields: the names of the fields or packed groups in a batch. base: the folder
        in which the paths of the files start. keep_packed: also return packed fields separately.
        findings: collects the findings. By default, the attribute `findings` has them, and the
        first batch issues one FormatWarning for all.

        Raises FormatError for schemas that do not fit together, OSError for a list or schema that
        cannot be read, and TypeError without a schema. The first batch raises ValueError for
        unknown fields.
        """
        self._warns = findings is None
        self.findings = Findings() if findings is None else findings
        self._samples = _samples(samples, limits, self.findings)
        self._base = base
        self._keep = keep_packed
        self._chosen = None if fields is None else checked_names("fields", fields)
        self._access = access
        self._limits = limits
        schemas = [
            _schema(name, each, limits, self.findings)
            for name, each in (("data", data), ("experiment", experiment))
        ]
        self.schema = merge_schemas(*schemas, findings=self.findings)
        self.plan = plan(self.schema, compat=compat, findings=self.findings)
        self._layout: Layout | None = None

    def of_samples(self, samples: SampleList, findings: Findings) -> Self:
        """Return a reader of other samples, with the same layout.

        It adds findings to `findings`.
        """
        _ = self.layout
        reader = copy(self)
        reader._samples, reader.findings = samples, findings
        return reader

    def __len__(self) -> int:
        return len(self._samples)

    def __repr__(self) -> str:
        return f"SampleReader({counted(len(self), 'sample')}, {', '.join(self.fields)})"

    @property
    def layout(self) -> Layout:
        """The layout of all samples, which is that of the first sample.

        Raises ValueError if there are no samples.
        """
        if self._layout is None:
            if not len(self):
                raise ValueError("the list has no samples")
            name, sample = self._pairs(np.zeros(1, np.int64))[0]
            with self._open(name) as file:
                layout = lay_out(file, sample, self.plan, self.findings)
            if self._chosen is not None:
                checked_names("fields", self._chosen, layout.names)
                layout = layout.select(self._chosen)
            self._layout = layout
            if self._warns:
                warn(self.findings)
        return self._layout

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of a batch's arrays: the chosen fields, or all fields and packed groups."""
        if not len(self):
            return ()
        layout = self.layout
        if self._chosen is not None:
            return self._chosen
        separate = (c.name for c in layout.columns if self._keep or c.transform.pack is None)
        return (*separate, *(group.name for group in layout.groups))

    def batch(self, indices: ArrayLike) -> dict[str, Values]:
        """Return the values of the samples with these indices: `(samples, *dims)`, channels first.

        Raises FormatError for a sample that differs from the first one, LimitError for more than
        `max_batch` bytes, OSError for files that cannot be opened, and the IndexError and
        ValueError of `chosen_rows`.
        """
        rows = chosen_rows(indices, len(self))
        if not len(self):
            return {}
        layout, count = self.layout, rows.size
        self._check_size(layout, count)
        columns, groups = _allocated(layout, count)
        chosen = sorted((*pair, row) for row, pair in enumerate(self._pairs(rows)))
        for name, samples in groupby(chosen, key=lambda each: each[0]):
            with self._open(name) as file:
                self._read_file(file, [(sample, row) for _, sample, row in samples], columns)
        arrays = {c.name: columns[c.name].reshape(count, *c.dims) for c in layout.columns} | groups
        return {name: arrays[name] for name in self.fields}

    def to_arrays(self, device: Device = "cpu") -> dict[str, Values]:
        """Return the arrays of all samples; raise the errors of `batch`."""
        if len(self):
            self._check_size(self.layout, len(self))
        return super().to_arrays(device)

    def _check_size(self, layout: Layout, count: int) -> None:
        if layout.bytes * count > self._limits.max_batch:
            size = f"{counted(count, 'sample')} of {counted(layout.bytes, 'byte')} each"
            hint = "read fewer at a time, or raise the limit: limits=Limits(max_batch=N)"
            raise LimitError(f"the batch is too large: {size}", hint=hint)

    def _pairs(self, rows: Longs) -> list[tuple[str, str]]:
        if isinstance(self._samples, SampleList):
            pairs = self._samples.pairs_at(rows)
        else:
            pairs = [self._samples[at] for at in rows.tolist()]
        return [(name, str(sample)) for name, sample in pairs]

    def _open(self, name: str) -> File:
        return File(joined(self._base, name), self._access, self._limits)

    def _read_file(
        self, file: File, samples: Sequence[tuple[str, int]], into: Mapping[str, Values]
    ) -> None:
        """Read all columns of some samples of one file into the arrays `into`.

        samples: pairs of the sample's id and its row in the arrays.
        """
        opened = {path: Sample(file, path) for path, _ in samples}
        for column in self.layout.columns:
            blocks: dict[str, tuple[Values, list[int], str]] = {}
            for path, row in samples:
                dataset, found, where = opened[path].find_column(column)
                if found.dtype not in blocks:  # dtypes other than the first one are coerced
                    empty = np.empty((len(samples), column.count), numpy_type(found.dtype))
                    blocks[found.dtype] = empty, [], where
                values, rows, _ = blocks[found.dtype]
                if found.kind == "text":
                    values[len(rows)] = file.read_strings(dataset, where)
                else:
                    file.read(dataset, values[len(rows)].reshape(found.shape), where)
                rows.append(row)
            for values, rows, where in blocks.values():
                place = Place(file.path, field=where)
                into[column.name][rows] = self._transformed(column, values[: len(rows)], place)

    def _transformed(self, column: Column, values: NDArray[Any], place: Place) -> NDArray[Any]:
        if column.stored.kind == "text":
            return values
        transform = column.transform
        if transform.coerce is not None and wraps_around(values, transform.coerce):
            words = {"path": column.name, "dtype": transform.coerce}
            self.findings.add(finding_at("lbann-narrowed", place, **words))
        try:
            return apply_transform(values, transform)
        except ValueError as error:
            message = f"{column.name}: {error}"
            hint = "coerce to a wider type, or to float"
            raise FormatError(message, place=place, hint=hint, code="schema-coerce") from None


def _allocated(layout: Layout, count: int) -> tuple[dict[str, Values], dict[str, Values]]:
    """Return an array for each column and each group, for `count` (a number) samples.

    The arrays are [count, values of a sample]. If the layout has the group of a packed column, the
    column's array is a view of the group's array.
    """
    groups = {each.name: np.empty((count, each.count), each.dtype) for each in layout.groups}
    starts = {each.name: each.starts for each in layout.groups}
    columns = {}
    for column in layout.columns:
        if (pack := column.transform.pack) not in groups:
            columns[column.name] = np.empty((count, column.count), numpy_type(column.dtype))
        else:
            start = starts[pack][column.name]
            columns[column.name] = groups[pack][:, start : start + column.count]
    return columns, groups


def _samples(
    samples: FilePath | Iterable[Pair], limits: Limits, findings: Findings
) -> SampleList | list[Pair]:
    """Return the sample list or the pairs. If `samples` is a path, load the list from this file."""
    if isinstance(samples, SampleList):
        return samples
    if not isinstance(samples, str | bytes | PathLike):
        return list(samples)
    from exset.parsers.lbann.sample_list import parse

    return parse(files.read(samples, limits=limits), limits=limits, findings=findings)


def _schema(
    name: str, schema: Schema | FilePath | None, limits: Limits, findings: Findings
) -> Schema:
    """Return the schema. If `schema` is a path, load the schema from this file."""
    if isinstance(schema, Schema):
        return schema
    if not isinstance(schema, str | bytes | PathLike):
        if schema is None:
            needed = "a data schema (data=) and an experiment schema (experiment=)"
            raise TypeError(f"the argument {name} is missing: give {needed}, or the paths of both")
        raise TypeError(f"{name} must be a schema or its path, not {type(schema).__name__}")
    from exset.parsers.lbann.schema import parse

    return parse(files.read(schema, limits=limits), limits=limits, findings=findings)

"""The layout of a set of samples: the stored type of every field, and its place in a batch.

As in LBANN, the first sample defines the layout. exset checks all others against it; LBANN would
truncate them, or read past their end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.grammars.lbann.schema_findings import finding_at
from exset.runtime.lbann.hdf5 import DataType, File, is_group
from exset.runtime.lbann.packing import Plan
from exset.runtime.lbann.transforms import FieldTransform, add_refusal

_FLOATS: Final = ("float32", "float64")


@dataclass(frozen=True)
class Column:
    """A field of the samples.

    path: from the sample; stored: its type in the file; dtype: its type after the transform.
    """

    name: str
    path: tuple[str, ...]
    transform: FieldTransform
    stored: DataType
    dtype: str

    @property
    def count(self) -> int:
        """The number of values of a sample."""
        return self.stored.count

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of a sample: (channels, *dims) if the schema has channels, else flat."""
        transform = self.transform
        shape = () if transform.channels is None else (transform.channels, *transform.dims)
        return shape if shape and math.prod(shape) == self.count else (self.count,)


@dataclass(frozen=True)
class Packed:
    """A packed group: its type, its length, and the index of each member's first value."""

    name: str
    dtype: str
    count: int
    starts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The columns to read, and the groups packed from them."""

    columns: tuple[Column, ...]
    groups: tuple[Packed, ...]

    @property
    def bytes(self) -> int:
        """The bytes of one sample: all columns and all groups."""
        parts: tuple[Column | Packed, ...] = (*self.columns, *self.groups)
        return sum(each.count * _itemsize(each.dtype) for each in parts)


def lay_out(file: File, sample: str, plan: Plan, findings: Findings) -> Layout:
    """Return the layout of a sample; FormatError for missing or unsuitable fields."""
    columns = []
    for transform in plan.transforms:
        for path, dataset in _datasets(file, sample, transform):
            columns.append(_column(file, sample, path, dataset, transform, plan, findings))
    at = {column.name: column for column in columns}
    groups = []
    for group in plan.groups:
        starts, end = {}, 0
        dtypes = {at[name].dtype for name in group.members}
        if len(dtypes) > 1:
            names = ", ".join(f"{name} {at[name].dtype}" for name in group.members[:4])
            raise FormatError(
                f"the fields packed into {group.name} differ in type: {names}",
                place=at[group.members[0]].transform.field.metadata["pack"].place,
                hint="coerce them to one type",
                code="schema-pack",
            )
        for name in group.members:
            starts[name] = end
            end += at[name].count
        groups.append(Packed(group.name, dtypes.pop(), end, starts))
    return Layout(tuple(columns), tuple(groups))


def sample_group(file: File, sample: str) -> Any:
    """Return the group of a sample; FormatError if the file has none."""
    found = file.find(sample)
    if found is None or not is_group(found):
        raise FormatError(
            "the file has no such sample" if found is None else "the sample is not a group",
            place=Place(file.path, field=sample),
            hint="ids are exact paths in the file: LBANN pads no zeros",
            code="hdf5-no-sample",
        )
    return found


def find_column(file: File, sample: str, group: Any, column: Column) -> tuple[Any, DataType, str]:
    """Return the dataset of a column in a sample, its type and its path.

    Raises FormatError if it is missing, or differs from the sample that defined the layout.
    """
    dataset = group
    for name in column.path:
        dataset = None if dataset is None else file.find(name, dataset, sample)
    if dataset is None or is_group(dataset):
        raise missing(file, sample, column.name, column.transform.field.place)
    where = f"{sample}/{column.name}"
    found, stored = file.data_type(dataset, where), column.stored
    same = found.dtype == stored.dtype
    numbers = found.kind == stored.kind == "number"
    if found.count == stored.count and (same or (numbers and column.transform.coerce is not None)):
        return dataset, found, where
    raise FormatError(
        f"{column.name} is {found} here, but {stored} in the first sample",
        place=Place(file.path, field=where),
        hint="each field must have one size and type in all samples of a list",
        code="hdf5-odd-sample",
    )


def missing(file: File, sample: str, name: str, place: Place | None = None) -> FormatError:
    """Return the error of a field that a sample does not have."""
    return FormatError(
        f"the sample has no field {name}",
        place=Place(file.path, field=f"{sample}/{name}"),
        hint=None if place is None else f"{place} names it",
        code="hdf5-no-field",
    )


def _datasets(
    file: File, sample: str, transform: FieldTransform
) -> list[tuple[tuple[str, ...], Any]]:
    """Return the datasets of a field with their paths: itself, or all below it in a group."""
    path = transform.field.path
    found = sample_group(file, sample)
    for name in path:
        # One name at a time, because a name of a schema may be empty or contain a slash.
        found = None if found is None or not name or "/" in name else file.find(name, found, sample)
    if found is None:
        raise missing(file, sample, transform.name, transform.field.place)
    if not is_group(found):
        return [(path, found)]
    where = f"{sample}/{transform.name}"
    for name in ("coerce", "scale", "bias", "pack", "transpose"):
        if name in transform.field.metadata and (name != "transpose" or transform.repack):
            raise FormatError(
                f"{name} cannot apply to {transform.name}: it is a group in the file",
                place=transform.field.metadata[name].place,
                hint="name the fields below it in the data schema",
                code=f"schema-{name}",
            )
    below = sorted(file.datasets(found, where))
    if not below:
        raise missing(file, sample, f"{transform.name}/*", transform.field.place)
    return [((*path, *name.split("/")), dataset) for name, dataset in below]


def _column(
    file: File,
    sample: str,
    path: tuple[str, ...],
    dataset: Any,
    transform: FieldTransform,
    plan: Plan,
    findings: Findings,
) -> Column:
    name = transform.name if path == transform.field.path else "/".join(path)
    where = f"{sample}/{name}"
    stored = file.data_type(dataset, where)
    coerce = transform.field.metadata.get("coerce")
    if stored.kind == "text" and coerce is not None:
        raise FormatError(
            f"cannot coerce {name}: it is text", place=coerce.place, code="schema-coerce"
        )
    if stored.dtype == "float16":
        what, hint = "a field of type float16", "store it as float32"
        add_refusal(what, hint, None, transform.field, plan.compat, findings)
    dtype = transform.coerce or stored.dtype
    directive = transform.float_directive
    if directive is not None and dtype not in _FLOATS:
        raise FormatError(
            f"{directive} needs float32 or float64, but {name} is {dtype}",
            place=transform.field.metadata[directive].place,
            hint=None if stored.kind == "text" else "add `coerce: float`",
            code=f"schema-{directive}",
        )
    if np.dtype(object if stored.kind == "text" else dtype).kind != "f":
        hint = "coerce it to float if a network reads it"
        if stored.kind == "text":
            hint = "a network cannot read text: store numbers, or leave the field out"
        place = transform.field.place
        findings.add(finding_at("lbann-not-float", place, path=name, dtype=dtype, hint=hint))
    column = Column(name, path, transform, stored, dtype)
    _check_dims(column, findings)
    return column


def _check_dims(column: Column, findings: Findings) -> None:
    """Compare the shape in the schema with the number of values in the file."""
    transform = column.transform
    size = math.prod(transform.dims) * (transform.channels or 1)
    if not transform.dims or size == column.count:
        return
    place = transform.field.metadata["dims"].place
    finding = finding_at("lbann-dims", place, path=column.name, size=size, count=column.count)
    if transform.repack:
        hint = "correct dims: LBANN would read or write outside of the array"
        raise FormatError(finding.message, place=place, hint=hint, code="lbann-dims")
    findings.add(finding)


def _itemsize(dtype: str) -> int:
    return np.dtype(object if dtype == "text" else dtype).itemsize

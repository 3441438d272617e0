"""The layout of a set of samples: the stored type of every field, and its place in a batch.

As in LBANN, the first sample defines the layout. exset compares all other samples with it. LBANN
would truncate samples that differ, or read past their end.
"""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Final

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.grammars.lbann.schema_findings import finding_at
from exset.runtime.hdf5.file import DataType, File, numpy_type
from exset.runtime.hdf5.objects import is_group
from exset.runtime.lbann.directives import Compat, add_refusal, error_of
from exset.runtime.lbann.hdf5_prototype import path_hint
from exset.runtime.lbann.packing import Plan
from exset.runtime.lbann.transforms import FieldTransform

_FLOATS: Final = ("float32", "float64")


@dataclass(frozen=True)
class Column:
    """A field of the samples, as a column of a batch.

    path: the names from the sample to the field. transform: the steps to apply. stored: the field's
    type in the file. dtype: the type after the steps.
    """

    name: str
    path: tuple[str, ...]
    transform: FieldTransform
    stored: DataType
    dtype: str

    @property
    def count(self) -> int:
        """The number of values that the field has in a sample."""
        return self.stored.count

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of the field in a sample: (count,), or () for a scalar.

        If the schema has channels, it is (channels, *dims), provided that this shape has `count` (a
        number) values.
        """
        transform = self.transform
        shape = () if transform.channels is None else (transform.channels, *transform.dims)
        if shape and math.prod(shape) == self.count:
            return shape
        return (self.count,) if self.stored.shape else ()


@dataclass(frozen=True)
class Packed:
    """A packed group: its dtype, the number of its values, and the index at which each member
    begins.
    """

    name: str
    dtype: str
    count: int
    starts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The columns to read, and the groups into which they are packed."""

    columns: tuple[Column, ...]
    groups: tuple[Packed, ...]

    @property
    def bytes(self) -> int:
        """The size of one sample in bytes, with all columns and all groups."""
        parts: tuple[Column | Packed, ...] = (*self.columns, *self.groups)
        return sum(each.count * numpy_type(each.dtype).itemsize for each in parts)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns and groups."""
        return (*(each.name for each in self.columns), *(each.name for each in self.groups))

    def select(self, names: Container[str]) -> "Layout":
        """Return a layout with only the named columns and groups, and the columns that these groups
        need.
        """
        groups = tuple(each for each in self.groups if each.name in names)
        kept = {each.name for each in groups}
        columns = (c for c in self.columns if c.name in names or c.transform.pack in kept)
        return Layout(tuple(columns), groups)


class Sample:
    """A sample in an open HDF5 file, which is the group at a path. Raises FormatError if there is
    no such group.
    """

    def __init__(self, file: File, path: str) -> None:
        found = file.find(path)
        if found is None or not is_group(found):
            advice = "ids are exact paths in the file: LBANN adds no leading zeros"
            raise FormatError(
                "the file has no such sample" if found is None else "the sample is not a group",
                place=Place(file.path, field=path),
                hint=path_hint(file, path, advice),
                code="hdf5-no-sample",
            )
        self.file, self.path, self.group = file, path, found

    def find(self, names: tuple[str, ...]) -> Any:
        """Return the object at a path below the sample. Return None if there is no object.

        names: the names that make up the path.
        """
        found = self.group
        for name in names:
            # One name at a time, because a name of a schema may be empty or contain a slash.
            if found is None or not name or "/" in name:
                return None
            found = self.file.find(name, found, self.path)
        return found

    def find_column(self, column: Column) -> tuple[Any, DataType, str]:
        """Return the dataset of a column, its type, and its path in the file.

        Raises FormatError if the dataset is missing or differs from the layout.
        """
        dataset = self.find(column.path)
        if dataset is None or is_group(dataset):
            raise self.missing(column.name, column.transform.field.place)
        where = f"{self.path}/{column.name}"
        found, stored = self.file.data_type(dataset, where), column.stored
        numbers = found.kind == stored.kind == "number"
        coerced = numbers and column.transform.coerce is not None
        if found.count != stored.count or (found.dtype != stored.dtype and not coerced):
            place = Place(self.file.path, field=where)
            first = "the first sample"
            raise FormatError.of(unlike(column.name, column.stored, found, place, first))
        return dataset, found, where

    def missing(self, field: str, place: Place | None) -> FormatError:
        """Return the error for a field that the sample lacks.

        place: where a schema names the field.
        """
        return FormatError(
            f"the sample has no field {field}",
            place=Place(self.file.path, field=f"{self.path}/{field}"),
            hint=None if place is None else f"{place} names it",
            code="hdf5-no-field",
        )


def unlike(name: str, stored: DataType, found: DataType, place: Place, other: str) -> Finding:
    """Return the finding for a field that has another size or type than in another sample.

    name: the field. stored: its type in the other sample. other: the other sample. found: its type
    in this sample.
    """
    message = f"{name} is {found} here, but {stored} in {other}"
    hint = "each field must have one size and type in all samples of a list"
    return Finding("hdf5-odd-sample", Severity.ERROR, message, place, hint)


def lay_out(file: File, path: str, plan: Plan, findings: Findings) -> Layout:
    """Return the layout of the sample at a path.

    Raises FormatError for a field that is missing or cannot be read.
    """
    sample = Sample(file, path)
    columns = [
        _column(sample, names, dataset, transform, plan.compat, findings)
        for transform in plan.transforms
        for names, dataset in _datasets(sample, transform)
    ]
    at = {column.name: column for column in columns}
    groups = []
    for group in plan.groups:
        members = [at[name] for name in group.members]
        if len({each.dtype for each in members}) > 1:
            types = ", ".join(f"{each.name} {each.dtype}" for each in members[:4])
            raise FormatError(
                f"the fields packed into {group.name} differ in type: {types}",
                place=members[0].transform.field.metadata["pack"].place,
                hint="coerce them to one type",
                code="schema-pack",
            )
        *starts, end = accumulate((each.count for each in members), initial=0)
        begins = dict(zip(group.members, starts, strict=True))
        groups.append(Packed(group.name, members[0].dtype, end, begins))
    return Layout(tuple(columns), tuple(groups))


def _datasets(sample: Sample, transform: FieldTransform) -> list[tuple[tuple[str, ...], Any]]:
    """Return (path, dataset) for each dataset of a field.

    If the field is a group, these are all datasets in the group. Otherwise it is the field itself.
    """
    field = transform.field
    found = sample.find(field.path)
    if found is None:
        raise sample.missing(field.name, field.place)
    if not is_group(found):
        return [(field.path, found)]
    for name in ("coerce", "scale", "bias", "pack", "transpose"):
        if name in field.metadata and (name != "transpose" or transform.repack):
            raise FormatError(
                f"{field.name}: {name} needs a field, but this is a group in the file",
                place=field.metadata[name].place,
                hint="name the fields below it in the data schema",
                code=f"schema-{name}",
            )
    below = sorted(sample.file.datasets(found, f"{sample.path}/{field.name}"))
    if not below:
        raise sample.missing(f"{field.name}/*", field.place)
    return [((*field.path, *name.split("/")), dataset) for name, dataset in below]


def _column(
    sample: Sample,
    path: tuple[str, ...],
    dataset: Any,
    transform: FieldTransform,
    compat: Compat,
    findings: Findings,
) -> Column:
    """Return the column for a dataset of a field.

    path: the names from the sample to the dataset. Raises FormatError if the transform cannot
    convert the dataset's type.
    """
    field = transform.field
    name = field.name if path == field.path else "/".join(path)
    stored = sample.file.data_type(dataset, f"{sample.path}/{name}")
    coerce = field.metadata.get("coerce")
    if stored.kind == "text" and coerce is not None:
        message = f"{name}: text cannot be coerced"
        raise FormatError(message, place=coerce.place, code="schema-coerce")
    if stored.dtype == "float16":
        what, hint = "a field of type float16", "store it as float32"
        add_refusal(what, hint, field.name, field.place, compat, findings)
    dtype = transform.coerce or stored.dtype
    directive = transform.float_directive
    if directive is not None and dtype not in _FLOATS:
        raise FormatError(
            f"{name}: {directive} needs float32 or float64, not {dtype}",
            place=field.metadata[directive].place,
            hint=None if stored.kind == "text" else "add `coerce: float`",
            code=f"schema-{directive}",
        )
    if numpy_type(dtype).kind != "f":
        hint = "coerce the field to float if a network uses it"
        if stored.kind == "text":
            hint = "a network cannot read text: store numbers, or leave the field out"
        findings.add(finding_at("lbann-not-float", field.place, path=name, dtype=dtype, hint=hint))
    column = Column(name, path, transform, stored, dtype)
    _check_dims(column, findings)
    return column


def _check_dims(column: Column, findings: Findings) -> None:
    transform = column.transform
    size = math.prod(transform.dims) * (transform.channels or 1)
    if not transform.dims or size == column.count:
        return
    place = transform.field.metadata["dims"].place
    finding = finding_at("lbann-dims", place, path=column.name, size=size, count=column.count)
    if transform.repack:
        hint = "correct dims: LBANN would read or write outside of the array"
        raise error_of(replace(finding, hint=hint))
    findings.add(finding)

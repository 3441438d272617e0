"""How the samples of a set lie: the form of every field, and where each goes in a batch.

The layout is that of the first sample, as for LBANN; exset checks the others against it, where
LBANN would cut them or read on into other memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.grammars.lbann.schema_findings import finding_at
from exset.runtime.lbann.hdf5 import File, Form, is_group
from exset.runtime.lbann.packing import Plan
from exset.runtime.lbann.transforms import Recipe, doubt

_HALF: Final = "float16"
_PACKED: Final = ("float32", "float64")


@dataclass(frozen=True)
class Column:
    """A field as it lies in the samples.

    path: below the sample; stored: its form there; dtype: its type when all is done.
    """

    name: str
    path: tuple[str, ...]
    recipe: Recipe
    stored: Form
    dtype: str

    @property
    def count(self) -> int:
        """How many values a sample has."""
        return self.stored.count

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape of a sample: channels first where there are channels, else flat."""
        recipe = self.recipe
        shape = () if recipe.channels is None else (recipe.channels, *recipe.dims)
        return shape if shape and math.prod(shape) == self.count else (self.count,)


@dataclass(frozen=True)
class Packed:
    """A packed group: its type, and where in its vector each member begins."""

    name: str
    dtype: str
    count: int
    starts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The columns that are read, and the groups that are packed of them."""

    columns: tuple[Column, ...]
    groups: tuple[Packed, ...]

    @property
    def bytes(self) -> int:
        """How many bytes a sample takes, its packed fields apart and packed."""
        parts: tuple[Column | Packed, ...] = (*self.columns, *self.groups)
        return sum(each.count * _itemsize(each.dtype) for each in parts)


def lay_out(file: File, sample: str, plan: Plan, findings: Findings) -> Layout:
    """Return the layout of a sample; FormatError for fields that it lacks or that cannot be."""
    columns = []
    for recipe in plan.recipes:
        for path, dataset in _datasets(file, sample, recipe):
            columns.append(_column(file, sample, path, dataset, recipe, plan, findings))
    at = {column.name: column for column in columns}
    groups = []
    for group in plan.groups:
        starts, end = {}, 0
        kinds = {at[name].dtype for name in group.members}
        if len(kinds) > 1:
            names = ", ".join(f"{name} {at[name].dtype}" for name in group.members[:4])
            raise FormatError(
                f"the members of {group.name} differ in type: {names}",
                place=at[group.members[0]].recipe.field.metadata["pack"].place,
                hint="coerce them to one",
                code="schema-pack",
            )
        for name in group.members:
            starts[name] = end
            end += at[name].count
        groups.append(Packed(group.name, kinds.pop(), end, starts))
    return Layout(tuple(columns), tuple(groups))


def located(file: File, sample: str) -> Any:
    """Return the group of a sample; FormatError if the file has none."""
    found = file.find(sample)
    if found is None or not is_group(found):
        raise FormatError(
            "the file has no such sample" if found is None else "the sample is no group",
            place=Place(file.path, field=sample),
            hint="ids are paths in the file, taken as they are: no zeros are added",
            code="hdf5-no-sample",
        )
    return found


def found(file: File, sample: str, group: Any, column: Column) -> tuple[Any, Form, str]:
    """Return the dataset of a column in a sample, what it holds and where it is.

    Raises FormatError where it is missing, or not as in the sample that the layout is of.
    """
    dataset = group
    for name in column.path:
        dataset = None if dataset is None else file.find(name, dataset, sample)
    if dataset is None or is_group(dataset):
        raise missing(file, sample, column.name, column.recipe.field.place)
    where = f"{sample}/{column.name}"
    form, stored = file.form(dataset, where), column.stored
    same = form.dtype == stored.dtype
    numbers = form.kind == stored.kind == "number"
    if form.count == stored.count and (same or (numbers and column.recipe.coerce is not None)):
        return dataset, form, where
    raise FormatError(
        f"{column.name} is {form} here, but {stored} in the first sample",
        place=Place(file.path, field=where),
        hint="the samples of a list must have fields of one size and type",
        code="hdf5-odd-sample",
    )


def missing(file: File, sample: str, name: str, place: Place | None = None) -> FormatError:
    """The error of a field that a sample does not have."""
    return FormatError(
        f"the sample has no field {name}",
        place=Place(file.path, field=f"{sample}/{name}"),
        hint=None if place is None else f"{place} names it",
        code="hdf5-no-field",
    )


def _datasets(file: File, sample: str, recipe: Recipe) -> list[tuple[tuple[str, ...], Any]]:
    """Return the datasets of a field, by path: itself, or all below if it is a group."""
    path = recipe.field.path
    found = located(file, sample)
    for name in path:
        # One name at a time: a slash in it is no step down, and no name is empty.
        found = None if found is None or not name or "/" in name else file.find(name, found, sample)
    if found is None:
        raise missing(file, sample, recipe.name, recipe.field.place)
    if not is_group(found):
        return [(path, found)]
    where = f"{sample}/{recipe.name}"
    for name in ("coerce", "scale", "bias", "pack", "transpose"):
        if name in recipe.field.metadata and (name != "transpose" or recipe.repack):
            raise FormatError(
                f"{name} of a group: {recipe.name} holds other fields",
                place=recipe.field.metadata[name].place,
                hint="name the fields below it in the data schema",
                code=f"schema-{name}",
            )
    below = sorted(file.datasets(found, where))
    if not below:
        raise missing(file, sample, f"{recipe.name}/*", recipe.field.place)
    return [((*path, *name.split("/")), dataset) for name, dataset in below]


def _column(
    file: File,
    sample: str,
    path: tuple[str, ...],
    dataset: Any,
    recipe: Recipe,
    plan: Plan,
    findings: Findings,
) -> Column:
    name = recipe.name if path == recipe.field.path else "/".join(path)
    where = f"{sample}/{name}"
    form = file.form(dataset, where)
    given = recipe.field.metadata.get("coerce")
    if form.kind == "text" and given is not None:
        raise FormatError(
            f"{name} is text: it cannot be coerced", place=given.place, code="schema-coerce"
        )
    if form.dtype == _HALF:
        what, hint = "a field of type float16", "store it as float32"
        doubt(what, hint, None, recipe.field, plan.compat, findings)
    dtype = recipe.coerce or form.dtype
    wants = recipe.wants_reals
    if wants is not None and dtype not in _PACKED:
        hint = (
            f"float32 or float64 are wanted{'' if form.kind == 'text' else '; add `coerce: float`'}"
        )
        raise FormatError(
            f"{wants} of {name}, which is {dtype}",
            place=recipe.field.metadata[wants].place,
            hint=hint,
            code=f"schema-{wants}",
        )
    if np.dtype(object if form.kind == "text" else dtype).kind != "f":
        hint = "coerce it to float if it is to be fed to a network"
        place = recipe.field.place
        findings.add(finding_at("lbann-not-float", place, path=name, kind=dtype, hint=hint))
    column = Column(name, path, recipe, form, dtype)
    _check_dims(column, findings)
    return column


def _check_dims(column: Column, findings: Findings) -> None:
    """Hold what the schema says of the shape against what there is."""
    recipe = column.recipe
    said = math.prod(recipe.dims) * (recipe.channels or 1)
    if not recipe.dims or said == column.count:
        return
    place = recipe.field.metadata["dims"].place
    finding = finding_at("lbann-dims", place, path=column.name, said=said, count=column.count)
    if recipe.repack:
        hint = "mend dims; LBANN reads or writes other memory"
        raise FormatError(finding.message, place=place, hint=hint, code="lbann-dims")
    findings.add(finding)


def _itemsize(dtype: str) -> int:
    return np.dtype(object if dtype == "text" else dtype).itemsize

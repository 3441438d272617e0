"""The record of a family of formats: the class of its models, and the functions for them.

A record names code as text, "module:function"; exset imports it on first use.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from exset.core.protocols import ChunkReporter, FileCheck, Model, Reporter, Summary
from exset.core.text import counted, with_article
from exset.families.incremental import Units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from exset.runtime.reports.differences import Comparison, Differences
    from exset.runtime.training.dataset import Dataset


@dataclass(frozen=True)
class Family:
    """Formats that all hold the same kind of model.

    Required. `name`: the name in JSON. `noun`: the word for a model. `kind`: the class of models.
    `unit`: the word for a unit; `len(model)` counts units. `summary`: a `Reporter`, which
    summarises a model, or for a family with `units` a `ChunkReporter`.

    Optional functions. `files`: a `FileCheck`, which checks the files that a model names. `groups`:
    pairs of a name and a function of a model, which returns the group number of each unit.
    `columns`: returns the group numbers by the values of a column, for a model and a column number.
    `labels`: returns the label of each unit, for a model, a column name or None, and a file name.
    `names`: yields the name of each unit, as bytes. `differences`: a `Comparison` of two models.
    `dataset`: makes a `Dataset`. `folder`: opens a folder, for `dataset`, by its path and limits.

    Further: `units`: a module with the functions of `Units`, for streams and writers.
    `has_partial_formats`: whether formats store different parts of a model, without findings.
    """

    name: str
    noun: str
    kind: str
    unit: str
    summary: str
    files: str | None = None
    groups: tuple[tuple[str, str], ...] = ()
    columns: str | None = None
    labels: str | None = None
    dataset: str | None = None
    folder: str | None = None
    names: str | None = None
    differences: str | None = None
    units: str | None = None
    has_partial_formats: bool = False

    @property
    def model(self) -> type[Model]:
        """The class of the family's models."""
        return cast(type[Model], load(self.kind))

    @property
    def file_check(self) -> FileCheck | None:
        """The function that checks the files that a model names; None if models name no files."""
        return None if self.files is None else cast(FileCheck, load(self.files))

    def summarise(self, chunks: Iterable[Model], *, detailed: bool = False) -> Summary:
        """Return the summary of a model in chunks, of one chunk for a family without `units`.

        `detailed`: also numbers that take longer to compute.
        """
        if self.units is not None:
            return cast(ChunkReporter, load(self.summary))(chunks, detailed=detailed)
        [model] = chunks
        return cast(Reporter, load(self.summary))(model, detailed=detailed)

    def group_of(self, model: Model, by: str) -> "NDArray[np.int64]":
        """Return the group number of each unit, shape (units,); ValueError for an unknown `by`."""
        functions = dict(self.groups)
        if self.columns is not None and by.isdecimal():
            by_column = cast("Callable[[Model, int], NDArray[np.int64]]", load(self.columns))
            return by_column(model, int(by))
        if by not in functions:
            there = f"; there are {', '.join(functions)}" if functions else ""
            raise ValueError(f"{self.noun}s have no groups called {by!r}{there}")
        return cast("Callable[[Model], NDArray[np.int64]]", load(functions[by]))(model)

    def dataset_of(self, source: object, **options: object) -> "Dataset":
        """Return the dataset of `source`: a model, or another source that `dataset` accepts.

        Raises TypeError if the family has no datasets.
        """
        if self.dataset is None:
            raise TypeError(f"{with_article(self.noun)} names no samples that could be read")
        return cast("Callable[..., Dataset]", load(self.dataset))(source, **options)

    def names_of(self, model: Model) -> "Iterator[bytes]":
        """Yield the name of each unit, which may be empty; ValueError if units have no names."""
        if self.names is None:
            raise ValueError(f"the {self.unit}s of {with_article(self.noun)} have no names")
        return cast("Callable[[Model], Iterator[bytes]]", load(self.names))(model)

    def compare(self, one: Model, other: Model, tolerance: float, keep: int) -> "Differences":
        """Return the differences of two models, as `exset.diff` does."""
        target = self.differences or "exset.runtime.reports.differences:by_equality"
        return cast("Comparison", load(target))(one, other, tolerance, keep)

    def counted(self, count: int) -> str:
        """Return a number of units as text, such as `2 examples`."""
        return counted(count, self.unit)

    def unit_functions(self) -> Units:
        """Import the module `units`, which every family with a format that can be streamed has."""
        assert self.units is not None, f"the family {self.name} has no `units`"
        return cast(Units, import_module(self.units))


@cache
def load(target: str) -> object:
    """Import an object by its name, "module:name"."""
    module, _, function = target.partition(":")
    loaded: object = getattr(import_module(module), function)
    return loaded

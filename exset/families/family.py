"""The record of a family of formats: the class of its models, and the functions for models.

A record names functions as text, "module:function". exset imports a function when it is first used.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from exset.core.limits import Limits
from exset.core.protocols import (
    ChunkReporter,
    FileCheck,
    Joinable,
    Model,
    ModelCheck,
    Named,
    Reporter,
    Selectable,
    Summary,
    Tally,
)
from exset.core.text import counted, with_article
from exset.families.incremental import Units
from exset.families.option import Option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from exset.runtime.pictures.kinds import Picture
    from exset.runtime.pictures.options import PictureOptions
    from exset.runtime.reports.differences import Comparison, Differences
    from exset.runtime.training.dataset import Dataset

Values: TypeAlias = "NDArray[np.number] | Iterable[bytes]"
"""The value of each unit in a field: numbers, or byte strings."""

Change: TypeAlias = Callable[[str], str]
"""A function that returns the new name for a name."""

NAME: Final = "name"
"""The field with the names of units."""


@dataclass(frozen=True)
class Family:
    """Formats that all hold the same kind of model.

    Required:

    - `name`: the name in JSON. `noun`: the word for a model. `kind`: the class of models.
    - `unit`: the word for a unit, such as example. `len(model)` counts units.
    - `summary`: a `Reporter`, which summarises a model; or a `ChunkReporter`, if the family has
      `units`; or a class like `Tally`, which can also summarise a large file in parts.

    Optional functions:

    - `check`: returns a `ModelCheck` for the values of `check_options`. `validate` calls this with
      each model of a file.
    - `files`: a `FileCheck`, which checks the files that a model names.
    - `fields`: pairs of a field's name and a function, which returns the field's value of each unit
      of a model, as `values_of` does.
    - `column`: does the same for a field that is not in `fields`, from a model and the field's
      name. Raises ValueError for an unknown field.
    - `renames`: pairs of a kind of names and a function, which returns a model with changed names
      from a model and a `Change`. The first pair is the default.
    - `shuffle`: returns a model in another order, from a model, a seed and limits.
    - `labels`: returns the label of each unit, from a model, a column name or None, and a file
      name.
    - `differences`: a `Comparison` of two models.
    - `dataset`: makes a `Dataset`. `folder`: opens a folder for `dataset`, from its path and
      limits.
    - `pictures`: pairs of a name and a function, which returns a `Picture` from a model and
      `PictureOptions`. The first pair is the default.
    - `to_table`, `from_table`: convert a model to a table and back; see `ToTable` and `FromTable`.
    - `table_layout`, `table_chunks`: convert a model that comes in chunks to tables; see
      `TableLayoutOf` and `TablesOf`.
    - `cells`: returns the parts of a unit for people, as pairs of a name and a value, from a model
      and the index of the unit. By default, the parts are the unit's elements.

    Further:

    - `table_options`, `model_options`: the options of `to_table` and of `from_table` in `convert`.
      Both functions get the options `root`, `follow_links`, `allow_plugins` and `no_locking`
      together as one argument, `access`.
    - `tables_open_files`: whether a table may have the content of files that the model names. If
      so, a small model may become a large table.
    - `units`: a module with the functions of `Units`, for streams and writers.
    - `has_partial_formats`: whether some formats store only a part of a model without reporting a
      loss.
    """

    name: str
    noun: str
    kind: str
    unit: str
    summary: str
    check: str | None = None
    check_options: tuple[Option, ...] = ()
    files: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    column: str | None = None
    renames: tuple[tuple[str, str], ...] = ()
    shuffle: str | None = None
    labels: str | None = None
    dataset: str | None = None
    folder: str | None = None
    differences: str | None = None
    pictures: tuple[tuple[str, str], ...] = ()
    to_table: str | None = None
    from_table: str | None = None
    table_options: tuple[Option, ...] = ()
    model_options: tuple[Option, ...] = ()
    table_layout: str | None = None
    table_chunks: str | None = None
    tables_open_files: bool = False
    cells: str | None = None
    units: str | None = None
    has_partial_formats: bool = False

    @property
    def model(self) -> type[Model]:
        """The class of the family's models."""
        return cast(type[Model], load(self.kind))

    def model_check(self, **options: object) -> ModelCheck | None:
        """Return a check of the models of one file. Return None if the family has no check.

        `options`: the values, by name, of the `check_options` that the user set.
        """
        if self.check is None:
            return None
        return cast("Callable[..., ModelCheck]", load(self.check))(**options)

    @property
    def file_check(self) -> FileCheck | None:
        """The function that checks the files that a model names. None if models name no files."""
        return None if self.files is None else cast(FileCheck, load(self.files))

    def summarise(self, chunks: Iterable[Model], *, detailed: bool = False) -> Summary:
        """Return the summary of a model that comes in chunks.

        For a family without `units`, there must be exactly one chunk. `detailed`: whether to
        include numbers that take longer to compute.
        """
        if (tally_type := self.tally) is not None:
            tally = tally_type(detailed)
            for chunk in chunks:
                tally.add(chunk)
            return tally.report()
        if self.units is not None:
            return cast(ChunkReporter, load(self.summary))(chunks, detailed=detailed)
        [model] = chunks
        return cast(Reporter, load(self.summary))(model, detailed=detailed)

    @property
    def tally(self) -> Callable[[bool], Tally] | None:
        """The class like `Tally` that counts models. None if the family has no such class."""
        found = load(self.summary)
        return cast(Callable[[bool], Tally], found) if isinstance(found, type) else None

    def values_of(self, model: Model, field: str) -> "Values":
        """Return the field's value of each unit of a model: an array of numbers, or byte strings.

        The field `name` has the names of the units. Raises ValueError for an unknown field.
        """
        functions = dict(self.fields)
        if field in functions:
            return cast("Callable[[Model], Values]", load(functions[field]))(model)
        if field == NAME and isinstance(model, Named):
            return model.unit_names()
        if self.column is not None:
            return cast("Callable[[Model, str], Values]", load(self.column))(model, field)
        there = ", ".join([*([NAME] if isinstance(model, Named) else []), *functions]) or "none"
        raise ValueError(f"{with_article(self.noun)} has no field {field!r}: choose one of {there}")

    def names_of(self, model: Model) -> "Iterator[bytes]":
        """Yield the name of each unit; a name may be empty. Raises ValueError without names."""
        if not isinstance(model, Named):
            raise ValueError(f"the {self.unit}s of {with_article(self.noun)} have no names")
        return model.unit_names()

    def group_of(self, model: Model, by: str) -> "NDArray[np.int64]":
        """Return the group of each unit, shape (units,).

        A group is the units with equal values of the field `by`. Groups are numbered from 0, in the
        order in which they first occur. Raises ValueError for an unknown field.
        """
        import numpy as np

        values = self.values_of(model, by)
        if isinstance(values, np.ndarray):
            values = values.tolist()
        seen: dict[object, int] = {}
        numbers = (seen.setdefault(value, len(seen)) for value in values)
        return np.fromiter(numbers, np.int64, len(model))

    def cells_of(self, model: Model, index: int) -> list[tuple[str, object]]:
        """Return the parts of the unit `index` to show to people, as pairs of a name and a value.

        A name may be empty. Raises FormatError, TypeError or ValueError for a unit that cannot be
        shown.
        """
        if self.cells is not None:
            cells = cast("Callable[[Model, int], list[tuple[str, object]]]", load(self.cells))
            return cells(model, index)
        unit = cast("Sequence[object]", model)[index]
        if isinstance(unit, dict):
            return [*unit.items()]
        return [("", each) for each in (unit if isinstance(unit, tuple) else (unit,))]

    def renamed(self, model: Model, change: Change, what: str | None = None) -> Model:
        """Return a model with changed names. `what`: a kind of names, by default the first kind.

        Raises ValueError for an unknown kind of names, and for names that the model cannot have.
        """
        functions = dict(self.renames)
        if what is None and functions:
            what = next(iter(functions))
        if what not in functions:
            noun = with_article(self.noun)
            if not functions:
                raise ValueError(f"{noun} has no names to rename")
            there = " or ".join(functions)
            raise ValueError(f"exset can rename the {there} of {noun}, not {what!r}")
        function = cast("Callable[[Model, Change], Model]", load(functions[what]))
        return function(model, change)

    def joined(self, models: Iterable[Model]) -> Model:
        """Return one model with the units of all given models, in order.

        Units are the items that `len(model)` counts, such as examples. If the family has a module
        `units`, its function may read the models one at a time, to save memory. Raises ValueError
        for models that cannot be joined.
        """
        if self.units is not None:
            return self.unit_functions().joined(models)
        first, *others = cast("Iterable[Joinable]", models)
        return cast(Model, first.concat(*others) if others else first)

    def shuffled(self, model: Selectable, seed: int, limits: Limits) -> Model:
        """Return a model with the units in random order (NumPy's PCG64)."""
        import numpy as np

        if self.shuffle is not None:
            function = cast("Callable[[Model, int, Limits], Model]", load(self.shuffle))
            return function(model, seed, limits)
        return model.select(np.random.default_rng(seed).permutation(len(model)))

    def dataset_of(self, source: object, **options: object) -> "Dataset":
        """Return the dataset of `source`: a model, or another source that `dataset` accepts.

        Raises TypeError if the family has no datasets.
        """
        if self.dataset is None:
            raise TypeError(f"{with_article(self.noun)} names no samples that could be read")
        return cast("Callable[..., Dataset]", load(self.dataset))(source, **options)

    def compare(self, one: Model, other: Model, tolerance: float, keep: int) -> "Differences":
        """Return the differences between two models, as `exset.diff` does.

        tolerance: how much two numbers may differ. keep: how many differences to keep.
        """
        target = self.differences or "exset.runtime.reports.differences:by_equality"
        return cast("Comparison", load(target))(one, other, tolerance, keep)

    def picture(self, model: Model, name: str | None, options: "PictureOptions") -> "Picture":
        """Return a picture of a model. `name`: the kind of picture, by default the first.

        Raises ValueError for an unknown picture, and for a model with nothing to draw.
        """
        functions = dict(self.pictures)
        name = next(iter(functions), "") if name is None else name
        if name not in functions:
            there = ", ".join(functions) or "none"
            noun = with_article(self.noun)
            raise ValueError(f"{noun} has no picture {name!r}: choose one of {there}")
        draw = cast("Callable[[Model, PictureOptions], Picture]", load(functions[name]))
        return draw(model, options)

    def counted(self, count: int) -> str:
        """Return a number of units as text, such as `2 examples`."""
        return counted(count, self.unit)

    def unit_functions(self) -> Units:
        """Import the module `units`. A family needs this module if a format is read in chunks."""
        assert self.units is not None, f"the family {self.name} has no `units`"
        return cast(Units, import_module(self.units))


@cache
def load(target: str) -> object:
    """Import an object by its name, "module:name"."""
    module, _, function = target.partition(":")
    loaded: object = getattr(import_module(module), function)
    return loaded

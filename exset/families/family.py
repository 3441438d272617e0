"""Families of formats: what their models are, and what is known of them.

What is known of a model is named as text, "module:function", and imported on first use.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from exset.core.limits import Limits
from exset.core.protocols import FileCheck, Model, Reporter, Summary
from exset.core.text import counted, with_article
from exset.io.access import Access

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from exset.core.errors import Findings
    from exset.runtime.reports.differences import Comparison, Differences
    from exset.runtime.training.dataset import Dataset


@dataclass(frozen=True)
class Family:
    """Formats of one model: what the model is, what it counts, what sums it up.

    `kind` names the model's class, `noun` is what people call a model, `unit` one of what its
    length counts; `summary` names the function that reports a model (`Reporter`). `files` names
    the function that checks the files that a model names; `groups`
    are pairs of what units can be grouped by and the function that numbers the group of each;
    `columns` names one that does by a column of the model, which is called by its number. `names`
    is the function that yields what units are called, `differences` the one that compares two
    models. `dataset` names what makes a `Dataset` of a model.
    """

    name: str
    noun: str
    kind: str
    unit: str
    summary: str
    files: str | None = None
    groups: tuple[tuple[str, str], ...] = ()
    columns: str | None = None
    dataset: str | None = None
    names: str | None = None
    differences: str | None = None

    @property
    def model(self) -> type[Model]:
        """The class of its models."""
        return cast(type[Model], load(self.kind))

    def summarise(self, model: Model) -> Summary:
        """Return what a model of the family holds, in numbers."""
        return cast(Reporter, load(self.summary))(model)

    def describe(self, model: Model) -> Summary:
        """Return all that can be said of a model in numbers, which may take a while."""
        return cast(Reporter, load(self.summary))(model, detailed=True)

    def check_files(
        self,
        model: Model,
        findings: "Findings",
        *,
        name: str,
        base: str,
        access: Access,
        jobs: int,
        limits: Limits,
    ) -> None:
        """Add a finding for all that is wrong with the files that a model names, if it names any.

        name: what messages call the model. base: the folder that relative names count from. access:
        what may be done to get at them. jobs: how many processes look at files.
        """
        if self.files is not None:
            check = cast(FileCheck, load(self.files))
            check(model, findings, name=name, base=base, access=access, jobs=jobs, limits=limits)

    def group_of(self, model: Model, by: str) -> "NDArray[np.int64]":
        """Return the number of the group that each unit is in; ValueError for no such groups."""
        known = dict(self.groups)
        if self.columns is not None and by.isdecimal():
            by_column = cast("Callable[[Model, int], NDArray[np.int64]]", load(self.columns))
            return by_column(model, int(by))
        if by not in known:
            there = f"; there are {', '.join(known)}" if known else ""
            raise ValueError(f"{self.noun}s have no groups called {by!r}{there}")
        return cast("Callable[[Model], NDArray[np.int64]]", load(known[by]))(model)

    def dataset_of(self, given: object, **options: object) -> "Dataset":
        """Return the dataset of a model, or of what its class takes for one.

        TypeError for a family that has no samples.
        """
        if self.dataset is None:
            raise TypeError(f"{with_article(self.noun)} names no samples that could be read")
        return cast("Callable[..., Dataset]", load(self.dataset))(given, **options)

    def names_of(self, model: Model) -> "Iterator[bytes]":
        """Yield what each unit is called, perhaps nothing; ValueError if units have no names."""
        if self.names is None:
            raise ValueError(f"the {self.unit}s of {with_article(self.noun)} have no names")
        return cast("Callable[[Model], Iterator[bytes]]", load(self.names))(model)

    def compare(self, one: Model, other: Model, tolerance: float, keep: int) -> "Differences":
        """Return in what two models differ, as in `exset.diff`."""
        target = self.differences or "exset.runtime.reports.differences:by_equality"
        return cast("Comparison", load(target))(one, other, tolerance, keep)

    def counted(self, count: int) -> str:
        """Return so many units in words, `2 examples`."""
        return counted(count, self.unit)


LENS = Family(
    name="lens",
    noun="example set",
    kind="exset.grammars.lens.examples:ExampleSet",
    unit="example",
    summary="exset.runtime.lens.report:report",
    dataset="exset.runtime.lens.dataset:ExampleDataset",
    names="exset.runtime.lens.report:names",
    differences="exset.runtime.lens.differences:differences",
)

SAMPLE_LISTS = Family(
    name="lbann-list",
    noun="sample list",
    kind="exset.grammars.lbann.sample_list:SampleList",
    unit="sample",
    summary="exset.runtime.lbann.report:sample_list",
    files="exset.runtime.lbann.list_files:check",
    groups=(("file", "exset.grammars.lbann.sample_list:file_of"),),
    dataset="exset.runtime.lbann.sample_reader:SampleReader",
    names="exset.runtime.lbann.report:sample_names",
    differences="exset.runtime.lbann.differences:sample_lists",
)

SCHEMA = Family(
    name="schema",
    noun="schema",
    kind="exset.grammars.lbann.schema:Schema",
    unit="field",
    summary="exset.runtime.lbann.report:schema",
    differences="exset.runtime.lbann.differences:schemas",
)

MANIFEST = Family(
    name="aeon-manifest",
    noun="manifest",
    kind="exset.grammars.aeon.manifest:Manifest",
    unit="record",
    summary="exset.runtime.aeon.report:manifest",
    files="exset.runtime.aeon.manifest_files:check_files",
    groups=(("label", "exset.runtime.aeon.manifest_classes:label_groups"),),
    columns="exset.runtime.aeon.manifest_classes:column_groups",
    dataset="exset.runtime.aeon.manifest_dataset:ManifestDataset",
    names="exset.runtime.aeon.report:record_names",
    differences="exset.runtime.aeon.differences:manifests",
)

BLOCKS = Family(
    name="cpio",
    noun="block",
    kind="exset.grammars.aeon.block:Block",
    unit="record",
    summary="exset.runtime.aeon.report:block",
    dataset="exset.runtime.aeon.cache_dataset:CacheDataset",
    names="exset.runtime.aeon.report:element_names",
    differences="exset.runtime.aeon.differences:blocks",
)

CONFIG = Family(
    name="aeon-config",
    noun="loader configuration",
    kind="exset.grammars.aeon.config.model:LoaderConfig",
    unit="etl object",
    summary="exset.runtime.aeon.report:config",
    differences="exset.runtime.aeon.differences:configs",
)


@cache
def load(target: str) -> object:
    """Import what "module:function" names."""
    module, _, function = target.partition(":")
    loaded: object = getattr(import_module(module), function)
    return loaded

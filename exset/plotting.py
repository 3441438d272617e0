"""`plot`: draw a picture of a file, a model or a sampler, as a figure of matplotlib."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, cast

from exset import api, formats
from exset.core.callers import public
from exset.core.errors import Findings, collect_findings, warn, with_source_name
from exset.core.limits import DEFAULT, Limits
from exset.core.protocols import Model
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.files import FilePath

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from exset.runtime.pictures.kinds import Picture
    from exset.runtime.pictures.options import PictureOptions
    from exset.runtime.samplers.base import NxMSampler

BATCHES = "batches"
"""The picture of a sampler's batches, which needs labels, not a model."""


@dataclass(frozen=True)
class BatchOptions:
    """How to draw batches: N classes, M samples of each, the name of the sampler, and its seed."""

    classes: int
    samples: int
    sampler: str = "planned"
    seed: int = 1234


@public
def plot(
    source: "Model | NxMSampler | FilePath",
    picture: str | None = None,
    *,
    which: "ArrayLike | slice | None" = None,
    inputs: Mapping[str, int] | int | None = None,
    targets: Mapping[str, int] | int | None = None,
    side: str | None = None,
    ticks: int | None = None,
    grid: tuple[int, int] | None = None,
    column: str | None = None,
    batches: tuple[int, int] | None = None,
    sampler: str = "planned",
    seed: int = 1234,
    base: FilePath = "",
    access: Access = DEFAULT_ACCESS,
    format: str | None = None,
    pixels: int = 2_000,
    findings: Findings | None = None,
    limits: Limits = DEFAULT,
) -> "Figure":
    """Draw a picture, and return a figure of matplotlib, which notebooks show.

    `source`: a path, a model, or a sampler. `picture`: a name from this list, by default the first
    name for the kind of source.

    - an example set: "units" (heat maps of inputs and targets), "timeline", "grid" (each pattern as
      a small picture), "similarity" (cosines of patterns), "dendrogram", "pca";
    - a table: "units", "grid", "similarity", "dendrogram", "pca", "classes";
    - a manifest: "classes", "images"; a cache, a block and a loader configuration: "images";
    - a sample list: "files" (the samples of each file), "classes", "fields" (of HDF5 samples);
    - a sampler, or a file with labels: "batches" (the class of each item).

    The other arguments:

    - `which`: what to draw, such as some examples: indices, a mask or a slice.
    - `inputs`, `targets`: the layout of the network, as in `to_arrays`.
    - `side`: "inputs" or "targets", for patterns of an example set.
    - `ticks`: the number of ticks in an interval of time.
    - `grid`: (height, width) of a pattern.
    - `column`: the column of the classes, images or numbers.
    - `batches`: (N, M): the number of classes in a batch, and of samples of each class.
    - `sampler`, `seed`: the name and the seed of the sampler that draws these batches.
    - `base`, `access`: as in `validate`.
    - `pixels`: the largest width and height of the saved figure.

    Raises the errors of `load`; ValueError for an unknown picture, and if there is nothing to draw;
    and ImportError without matplotlib, and for images without OpenCV.
    """
    from exset.grammars.columns.arrays import chosen_rows
    from exset.runtime.pictures.drawing import figure
    from exset.runtime.pictures.options import PictureOptions
    from exset.runtime.samplers.base import NxMSampler

    found = collect_findings(False, findings)
    is_path = isinstance(source, str | bytes | PathLike)
    name = os.fsdecode(cast(FilePath, source)) if is_path else ""
    options = PictureOptions(
        name=name or "<model>",
        inputs=inputs,
        targets=targets,
        side=side,
        ticks=ticks,
        grid=grid,
        column=column,
        base=os.fsdecode(base),
        access=access,
        limits=limits,
        findings=found,
    )
    if isinstance(source, NxMSampler):
        made = of_sampler(source)
    elif is_path and (picture == BATCHES or batches is not None):
        made = of_batches(name, options, BatchOptions(*(batches or (0, 0)), sampler, seed))
    else:
        model = cast(Model, source)
        if is_path:
            model = api.load(name, format=format, limits=limits, findings=found)
        if which is not None:
            options = replace(options, which=chosen_rows(which, len(model)))
        made = of_model(model, picture or ("grid" if grid else None), options)
    drawn = figure(made, title_of(name), pixels)
    if findings is None:
        warn(found)
    return drawn


def of_model(model: Model, picture: str | None, options: "PictureOptions") -> "Picture":
    """Return a picture of a model, without drawing it yet.

    Raises ValueError for an unknown picture, and if there is nothing to draw.
    """
    family = formats.family_of(model)
    if picture == BATCHES:
        raise ValueError("a picture of batches needs a file with labels, or a sampler")
    with with_source_name(options.name, family.noun, findings=options.findings) as named:
        return family.picture(model, picture, replace(options, findings=named))


def of_batches(path: str, options: "PictureOptions", batches: BatchOptions) -> "Picture":
    """Return a picture of the first batches that a sampler draws from the labels in a file.

    Raises ValueError without N and M, and the errors of `read_labels`.
    """
    from exset.labels import read_labels
    from exset.runtime.samplers.registry import build_sampler

    if not (batches.classes and batches.samples):
        raise ValueError("a picture of batches needs N classes and M samples of each")
    labels = read_labels(path, options.column, limits=options.limits, findings=options.findings)
    size = batches.classes, batches.samples
    return of_sampler(build_sampler(batches.sampler, labels, *size, seed=batches.seed))


def of_sampler(sampler: "NxMSampler") -> "Picture":
    """Return a picture of the first batches of a sampler."""
    from exset.runtime.samplers.pictures import composition

    return composition(sampler)


def title_of(path: str) -> str:
    """Return the file name in a path, for the title of a picture. Return "" for `-`."""
    name = os.path.basename(path.rstrip("/")) or path
    return "" if path == "-" else name.removeprefix("exset::")

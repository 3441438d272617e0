"""Get the data for pictures of sample lists: classes, samples of each file, fields of a sample."""

import os

import numpy as np

from exset.core.errors import FormatError, Place
from exset.core.jobs import Execution
from exset.core.text import counted
from exset.grammars.lbann.sample_list import SampleList
from exset.io import files
from exset.parsers.lbann.labels import parse
from exset.runtime.lbann.hdf5_prototype import Prototype, find_prototype
from exset.runtime.pictures.counting import bars, class_balance
from exset.runtime.pictures.kinds import Bars
from exset.runtime.pictures.options import PictureOptions

_FILES = 4
"""The number of HDF5 files that are opened for a picture of fields."""


def samples_of_files(samples: SampleList, options: PictureOptions) -> Bars:
    """Return the number of samples of each file, in the order of the list."""
    names = [os.path.basename(each.path) for each in samples.files]
    if not names:
        raise ValueError("there is nothing to draw: no files")
    counts = zip(names, samples.included.tolist(), strict=True)
    return bars(counts, f"samples of {counted(len(names), 'file')}", "samples")


def classes(samples: SampleList, options: PictureOptions) -> Bars:
    """Return the number of files of each label in the label file.

    Raises FormatError and OSError.
    """
    if not samples.label_file:
        hint = "choose the picture `files`, or name a label file in line 4 of the list"
        raise FormatError(
            "the list names no label file", place=Place(options.name), hint=hint, code="labels"
        )
    path = os.path.join(options.base, os.fsdecode(samples.label_file))
    source = files.read(files.local(path), limits=options.limits, roots=options.access.roots)
    labels = parse(source, limits=options.limits, findings=options.findings)
    found, present = labels.of(samples)
    return class_balance(found[present].tolist(), "labels", "files")


def fields(samples: SampleList, options: PictureOptions) -> Bars:
    """Return the number of values of each field of a sample. Raises FormatError and OSError."""
    found = prototype(samples, options)
    rows = [(f"{name}: {kind}", kind.count) for name, kind in found.fields.items()]
    return bars(rows, f"fields of the sample {found.sample}", "values")


def prototype(samples: SampleList, options: PictureOptions) -> Prototype:
    """Return the fields of a sample in the first files. Another process reads these files.

    Raises FormatError, OSError, and ValueError for a list without HDF5 files.
    """
    if samples.kind.is_single or not len(samples.name):
        message = f"this list of the type {samples.kind.value} names no HDF5 samples"
        raise ValueError(f"there is nothing to draw: {message}")
    paths = [os.path.join(options.base, each.path) for each in samples.files[:_FILES]]
    sample = None
    if not (samples.has_integer_ids or samples.kind.is_exclusion):
        [(_, first)] = samples.pairs_at(np.zeros(1, np.int64))
        sample = str(first)
    return find_prototype(
        paths,
        options.findings,
        sample=sample,
        access=options.access,
        limits=options.limits,
        jobs=Execution(isolated=True),
    )

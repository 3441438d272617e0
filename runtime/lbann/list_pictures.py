"""Build SINGLE-SAMPLE lists of pictures, from a folder or from a label file."""

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.labels import Labels
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io import files
from exset.io.access import DEFAULT_ACCESS, Access
from exset.io.beneath import check_regular_file
from exset.io.class_folders import class_folders, files_below
from exset.parsers.lbann.labels import parse
from exset.runtime.lbann.hdf5_probe import Probe
from exset.runtime.lbann.list_build import is_skipped
from exset.runtime.lbann.list_files import check_names


class Pictures(NamedTuple):
    """A SINGLE-SAMPLE list, the labels of its files, and the classes' names in label order."""

    samples: SampleList
    labels: Labels
    classes: tuple[str, ...]


def from_folder(
    folder: str, findings: Findings, *, suffixes: Sequence[str] = (), label_file: str = ""
) -> Pictures:
    """Return the list of the files in a folder, which may have one subfolder for each class.

    Classes and files are sorted by name. A label is the number of a class, from 0. Without
    subfolders, there are no labels. suffixes: include only files with these suffixes, in lower
    case. label_file: the file that will have the labels. Raises OSError, and FormatError if there
    are no files.
    """
    classes = class_folders(folder)
    found = [
        (path, number)
        for number, name in enumerate(classes or [""])
        for path in files_below(folder, name, suffixes)
        if not is_skipped("file", path, Place(os.path.join(folder, path)), findings)
    ]
    if not found:
        expected = f" with the suffix {' or '.join(suffixes)}" if suffixes else ""
        message = f"the folder contains no files{expected}"
        raise FormatError(message, place=Place(folder), code="list-empty")
    names = Strings.of(path for path, _ in found)
    labels = np.array([number for _, number in found if classes], np.int64)
    if not (classes and label_file):
        findings.add(finding_at("lbann-no-label-file", Place(folder)))
    samples = _list_of(folder, names, label_file if classes else "")
    return Pictures(samples, Labels(names if classes else Strings.empty(0), labels), tuple(classes))


def from_labels(
    path: str,
    directory: str,
    findings: Findings,
    *,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
) -> SampleList:
    """Return a list of the files that a label file names. Each file occurs once.

    directory: the base directory, below which the files are. A file that does not exist is a
    finding. Raises OSError, and FormatError for a label file that is invalid or has no labels.
    """
    check_regular_file(path)
    labels = parse(files.read(files.local(path), limits=limits), limits=limits, findings=findings)
    if not len(labels):
        raise FormatError("the label file is empty", place=Place(path), code="list-empty")
    samples = _list_of(directory, labels.name.distinct()[0], path)
    check_names(samples, Probe(access=access, limits=limits), findings)
    return samples


def _list_of(directory: str, names: Strings, label_file: str) -> SampleList:
    rows = ((name or b"",) for name in names)
    return SampleList.of(Kind.SINGLE_SAMPLE, directory, rows, label_file=label_file)

"""In what two sample lists differ: which samples of which files, however a list says it."""

from __future__ import annotations

import numpy as np

from exset.core.errors import FormatError
from exset.core.text import counted
from exset.grammars.columns.spans import Spans
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.runtime.reports.differences import Comparer, Differences, Pairs


def differences(one: SampleList, other: SampleList, tolerance: float, keep: int, /) -> Differences:
    """Compare lists file by file; see `exset.diff`.

    What only one of two types can say, such as how many samples are excluded, is not compared.
    FormatError for a list that names what is included and one that names what is not.
    """
    if one.kind.is_exclusion != other.kind.is_exclusion:
        raise FormatError(
            "an exclusion list does not say what its samples are called",
            hint="exset convert --kind CONDUIT_HDF5_INCLUSION looks them up in the files",
            code="lbann-exclusion",
        )
    if one.kind.is_single != other.kind.is_single:
        one, other = _with_ids(one), _with_ids(other)
    found = Comparer("files", len(one.name), len(other.name), tolerance, keep)
    files = found.units
    found.strings(files, "path", *_paths(one, other))
    if one.kind.has_label_file and other.kind.has_label_file and one.label_file != other.label_file:
        found.differ("label_file", one.label_file, other.label_file)
    if one.kind.has_excluded and other.kind.has_excluded:
        what = "included" if one.kind.is_exclusion else "excluded"
        found.numbers(files, what, one.others, other.others)
    a, b = one.named, other.named
    mask = a[files.one] != b[files.other]
    found.at(
        files, mask, ".ids", lambda row: counted(a[row], "id"), lambda row: counted(b[row], "id")
    )
    _ids(found, files.where(~mask), one, other)
    return found.done()


def _ids(found: Comparer, files: Pairs, one: SampleList, other: SampleList) -> None:
    """Compare the ids of files that have as many."""
    if isinstance(one.ids, Spans) != isinstance(other.ids, Spans):
        # As text, which takes no more space than that of the list whose ids are text.
        one, other = (
            each.select_files(rows).with_text_ids()
            for each, rows in ((one, files.one), (other, files.other))
        )
        rows = np.arange(files.one.size)
        files = Pairs(rows, rows, files.words, files.trail)
    ids = found.rows(files, "ids", one.id_offsets, other.id_offsets, "range")
    a, b = one.ids, other.ids
    if isinstance(a, Strings) and isinstance(b, Strings):
        found.strings(ids, "", a, b)
    elif isinstance(a, Spans) and isinstance(b, Spans):
        mask = (a.first[ids.one] != b.first[ids.other]) | (a.last[ids.one] != b.last[ids.other])
        found.at(
            ids,
            mask,
            "",
            lambda row: f"{a.first[row]} ... {a.last[row]}",
            lambda row: f"{b.first[row]} ... {b.last[row]}",
        )


def _paths(one: SampleList, other: SampleList) -> tuple[Strings, Strings]:
    """The names of the files, with their directories where these differ."""
    if one.directory.rstrip(b"/") == other.directory.rstrip(b"/"):
        return one.name, other.name
    first, second = (Strings.of(file.path for file in each.files) for each in (one, other))
    return first, second


def _with_ids(samples: SampleList) -> SampleList:
    """A list of files that are samples as one whose samples have ids: the names of the files."""
    if not samples.kind.is_single:
        return samples
    one_each = np.arange(len(samples.name) + 1, dtype=np.int64)
    return samples.with_columns(
        kind=Kind.MULTI_SAMPLE_INCLUSION_V2,
        label_file=None,
        ids=samples.name,
        id_offsets=one_each,
    )

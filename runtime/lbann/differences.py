"""Compare two sample lists or schemas; see `exset.diff`."""

import numpy as np

from exset.core.errors import FormatError
from exset.core.text import counted
from exset.grammars.columns.spans import Spans
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.schema import METADATA, Schema, path_text, to_json
from exset.runtime.reports.column_diff import ColumnDiff, Pairs
from exset.runtime.reports.differences import Differences, leaves, of_trees


def sample_lists(one: SampleList, other: SampleList, tolerance: float, keep: int, /) -> Differences:
    """Compare the samples that two lists name, file by file. The types of the lists may differ.

    A count that is stored in only one of the two types is not compared. Raises FormatError if one
    list is an inclusion list and the other an exclusion list.
    """
    if one.kind.is_exclusion != other.kind.is_exclusion:
        message = "an exclusion list does not name its samples"
        hint = "exset convert --kind CONDUIT_HDF5_INCLUSION looks them up in the files"
        raise FormatError(message, hint=hint, code="lbann-exclusion")
    if one.kind.is_single != other.kind.is_single:
        one, other = _with_ids(one), _with_ids(other)
    diff = ColumnDiff("files", len(one.name), len(other.name), tolerance, keep)
    files = diff.units
    diff.strings(files, "path", *_paths(one, other))
    if one.kind.has_label_file and other.kind.has_label_file and one.label_file != other.label_file:
        diff.add("label_file", one.label_file, other.label_file)
    if one.kind.has_excluded and other.kind.has_excluded:
        what = "included" if one.kind.is_exclusion else "excluded"
        diff.numbers(files, what, one.others, other.others)
    a, b = one.named, other.named
    mask = a[files.one] != b[files.other]
    diff.mark(files, mask, ".ids", (a, b), lambda counts, row: counted(counts[row], "id"))
    _ids(diff, files.where(~mask), one, other)
    return diff.result()


def _ids(diff: ColumnDiff, files: Pairs, one: SampleList, other: SampleList) -> None:
    """Compare the ids of files. If two files have different numbers of ids, compare only these
    numbers.

    files: the pairs of files to compare.
    """
    if isinstance(one.ids, Spans) != isinstance(other.ids, Spans):
        # Compare ids as text; this takes not more memory than the list with text ids.
        one = one.select_files(files.one).with_text_ids()
        other = other.select_files(files.other).with_text_ids()
        rows = np.arange(files.one.size)
        files = Pairs(rows, rows, files.words, files.numbers)
    ids = diff.rows(files, "ids", one.id_offsets, other.id_offsets, "range")
    a, b = one.ids, other.ids
    if isinstance(a, Strings) and isinstance(b, Strings):
        diff.strings(ids, "", a, b)
    elif isinstance(a, Spans) and isinstance(b, Spans):
        mask = (a.first[ids.one] != b.first[ids.other]) | (a.last[ids.one] != b.last[ids.other])
        diff.mark(ids, mask, "", (a, b), _range)


def _paths(one: SampleList, other: SampleList) -> tuple[Strings, Strings]:
    """Return the names of the files of each list. If the base directories differ, they are part of
    the names.
    """
    if one.directory.rstrip(b"/") == other.directory.rstrip(b"/"):
        return one.name, other.name
    first, second = (Strings.of(file.path for file in each.files) for each in (one, other))
    return first, second


def _with_ids(samples: SampleList) -> SampleList:
    """Return a SINGLE-SAMPLE list as a list whose ids are the file names. Return other lists
    unchanged.
    """
    if not samples.kind.is_single:
        return samples
    offsets, kind = np.arange(len(samples.name) + 1), Kind.MULTI_SAMPLE_INCLUSION_V2
    return samples.with_unchecked(kind=kind, label_file=None, ids=samples.name, id_offsets=offsets)


def _range(spans: Spans, row: int) -> str:
    return f"{spans.first[row]} ... {spans.last[row]}"


def schemas(one: Schema, other: Schema, tolerance: float, keep: int, /) -> Differences:
    """Compare the fields and the metadata of two schemas. The order of fields does not matter.

    tolerance: how much two numbers may differ. keep: how many differences to keep.
    """
    return of_trees(_values(one), _values(other), tolerance, keep)


def _values(schema: Schema) -> dict[str, object]:
    found: dict[str, object] = {}
    for path, node in schema.root.nodes():
        where = path_text(path)
        found[where or "/"] = "a group" if node.children else "a field"
        for name, directive in node.metadata.items():
            at = f"{where}/{METADATA}/{name}".lstrip("/")
            found.update(leaves(at, to_json(directive.value)))
    return found

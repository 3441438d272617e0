"""Examine the HDF5 files that a sample list names, and find problems that LBANN refuses."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from exset.core.errors import Finding, FormatError, LimitError, Place, Severity
from exset.core.jobs import Jobs
from exset.core.limits import DEFAULT, Limits
from exset.core.outcome import Outcome, Value
from exset.core.parts import FilePart, divided, whole
from exset.core.text import counted
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.hdf5.file import File
from exset.runtime.hdf5.objects import is_group
from exset.runtime.lbann.hdf5_files import failure, run_on_files

_PART = 4096
"""The most ids in a part of a file."""


@dataclass(frozen=True)
class ListedFile:
    """A file that a list names: its ids in the list, and its numbers of samples.

    included, excluded: the numbers of included and of excluded samples. part: which part of the ids
    this object has, such as `2/8`. None if it has all ids.
    """

    path: str
    ids: Strings
    included: int
    excluded: int
    part: str | None = None

    def __fspath__(self) -> str:
        """Return the path of the file."""
        return self.path

    def part_of(self, rank: int, count: int) -> "ListedFile":
        """Return this file with the part `rank` of its ids. count: the number of parts."""
        part = FilePart(self.path, rank, count)
        ids = self.ids.take(np.arange(len(self.ids))[part.of(len(self.ids))])
        return replace(self, ids=ids, part=part.part)

    def texts(self) -> list[str]:
        """Return the ids as text."""
        return [self.ids.text(row) or "" for row in range(len(self.ids))]


class _ListedFiles(Sequence[ListedFile]):
    """The files of a list with text ids. Each access creates a `ListedFile`."""

    def __init__(self, samples: SampleList, base: str) -> None:
        self._files, self._ends = samples.files, samples.id_offsets
        self._counts = samples.included, samples.excluded
        assert isinstance(samples.ids, Strings)
        self._ids = samples.ids
        self._base = base

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> ListedFile: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ListedFile]: ...
    def __getitem__(self, index: int | slice) -> ListedFile | Sequence[ListedFile]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        path = os.path.join(self._base, self._files[index].path)
        ids = self._ids.take(np.arange(*self._ends[index : index + 2].tolist()))
        included, excluded = (int(each[index]) for each in self._counts)
        return ListedFile(path, ids, included, excluded)


@dataclass(frozen=True)
class Probe:
    """How to find and read the files of lists. Each method examines one file.

    base: the folder in which relative base directories start; by default the current folder, as in
    LBANN. jobs: the number of processes that read files. The methods raise the errors of `File`.
    """

    base: str = ""
    jobs: Jobs = 1
    access: Access = DEFAULT_ACCESS
    limits: Limits = DEFAULT

    def path(self, path: str) -> str:
        """Return the path at which to open a file. path: the file's path in the list, relative to
        `base`.
        """
        return os.path.join(self.base, path)

    def run(
        self,
        work: Callable[[ListedFile], Value],
        samples: SampleList,
        returns: object = None,
        join: Callable[[ListedFile, Sequence[Value]], Value] | None = None,
    ) -> Iterator[Outcome[ListedFile, Value]]:
        """Run the function `work` on every file of a list with text ids. Yield the outcomes in
        order.

        returns: the type of the function's result, for journals. join: a function that joins the
        results for the parts of a file. With `join`, files with many ids are divided into parts.
        """
        listed: Sequence[ListedFile] = _ListedFiles(samples, self.base)
        if join is None:
            yield from run_on_files(work, listed, jobs=self.jobs, returns=returns)
            return
        counts = np.maximum(-(-np.diff(samples.id_offsets) // _PART), 1).tolist()
        units = divided(listed, counts, ListedFile.part_of)
        outcomes = run_on_files(work, units, jobs=self.jobs, returns=returns)
        yield from whole(outcomes, listed, units, join)

    def top_level(self, listed: ListedFile) -> list[str] | None:
        """Return the names at the top level of a file, in creation order.

        Return None if the file does not keep the creation order.
        """
        with File(listed.path, self.access, self.limits) as file:
            root = file.find("")
            return file.names(root, "") if file.is_ordered(root, "") else None

    def paths_at(self, listed: ListedFile, depth: int) -> list[str] | None:
        """Return the paths of all objects in a file that are inside exactly `depth` nested groups.

        For depth 0, return the result of `top_level`.
        """
        if depth == 0:
            return self.top_level(listed)
        with File(listed.path, self.access, self.limits) as file:
            return file.paths_at(depth)

    def exclusion_problems(self, listed: ListedFile) -> list[Finding]:
        """Return the reasons why LBANN rejects a file of an exclusion list."""
        return list(exclusion_problems(listed, self.top_level(listed)))

    def missing_ids(self, listed: ListedFile) -> list[Finding]:
        """Return a finding for each id that is missing in the file, or is not a valid path."""
        findings = []
        message = "the file has no sample with this id: LBANN fails when it reads the sample"
        hint = "ids are exact paths in the file; exset list build finds the correct ids"
        with File(listed.path, self.access, self.limits) as file:
            parents = {"": file.find("")}
            for each in listed.texts():
                above, _, name = each.rpartition("/")
                try:
                    if above not in parents:
                        parents[above] = file.find(above)
                    parent = parents[above]
                    if not name or (is_group(parent) and file.has(parent, name, each)):
                        continue
                    found = file_finding("lbann-missing-id", message, listed.path, each, hint=hint)
                except LimitError:
                    raise
                except FormatError as error:
                    found = error.finding
                findings.append(found)
        return findings


def joined_findings(listed: ListedFile, parts: Sequence[list[Finding]]) -> list[Finding]:
    """Join the findings of the parts of a file."""
    return [finding for part in parts for finding in part]


def unreadable_file(path: str, error: FormatError | OSError, kind: Kind) -> Finding:
    """Return the finding for a file that cannot be opened. It says what LBANN does in this case.

    kind: the type of the list, which decides what LBANN does.
    """
    if isinstance(error, LimitError):
        return error.finding
    if isinstance(error, FormatError) and error.code == "hdf5-roots":
        return outside_roots(path)
    found = failure(path, error)
    drops = kind.is_exclusion
    consequence = "drops it and has fewer samples" if drops else "fails when it reads this file"
    absent = isinstance(error, FileNotFoundError)
    hint = (
        "correct the name of the file or the base directory, or remove the file from the list"
        if absent
        else None
    )
    return replace(
        found,
        code="lbann-missing-file" if absent else "lbann-unreadable-file",
        severity=Severity.WARNING if drops else Severity.ERROR,
        message=f"{found.message}: LBANN {consequence}",
        hint=found.hint or hint,
    )


def outside_roots(path: str) -> Finding:
    """Return the finding for a file outside the folders that exset may read."""
    hint = "if you trust it, add its folder with <--root or Access(roots=...)>"
    message = f"{path} is outside the allowed folders"
    return file_finding("hdf5-roots", message, path, hint=hint)


def exclusion_problems(
    listed: ListedFile, names: list[str] | None, depth: int = 0
) -> Iterator[Finding]:
    """Yield the reasons why LBANN rejects a file of an exclusion list.

    names: the paths of all objects inside exactly `depth` nested groups; None if the file does not
    keep the creation order. LBANN itself uses the top level, depth 0.
    """
    path, included, excluded = listed.path, listed.included, listed.excluded
    if names is None:
        yield no_creation_order(path)
        return
    if len(names) != included + excluded:
        objects = f"objects inside {counted(depth, 'group')}" if depth else "top-level objects"
        message = (
            f"the file has {len(names):,} {objects}, but the list counts {included:,} included"
            f" and {excluded:,} excluded samples"
        )
        hint = "exset counts all objects at the depth of the ids as samples" if depth else None
        hint = hint or "LBANN can exclude only top-level objects"
        yield file_finding("lbann-file-size", message, path, hint=hint)
        return
    for each in sorted(set(listed.texts()).difference(names)):
        top = "" if depth else " top-level"
        message = f"the list excludes this id, but the file has no such{top} object"
        yield file_finding("lbann-missing-id", message, path, each)


def no_creation_order(path: str) -> Finding:
    """Return the finding for a file whose samples LBANN cannot list."""
    return file_finding(
        "lbann-no-creation-order",
        "the file does not keep the creation order of its groups: LBANN cannot list its samples",
        path,
        hint="write the file with track_order=True in h5py, or use an inclusion list",
    )


def why_no_exclusion(path: str, names: list[str], ids: list[str]) -> Finding:
    """Return the finding for samples of a file that no exclusion list can select. It gives the
    reason.

    names: the objects in the file. ids: the samples to select, in this order.
    """
    present = set(names)
    missing = [each for each in ids if each not in present]
    if len(set(ids)) < len(ids):
        message = "the list includes a sample twice, but an exclusion list cannot"
    elif any("/" in each for each in missing):
        message = f"{missing[0]} is not at the top level: LBANN can exclude only top-level objects"
    elif missing:
        message = f"the file has no object {missing[0]}"
    else:
        message = "the samples are not in creation order: an exclusion list cannot reorder them"
    hint = "no exclusion list is equivalent: keep the inclusion list"
    return file_finding("lbann-exclusion", message, path, hint=hint)


def file_finding(
    code: str, message: str, path: str, field: str | None = None, hint: str | None = None
) -> Finding:
    """Return an error about a file. field: the path of an object in the file, if the error is about
    it.
    """
    return Finding(code, Severity.ERROR, message, Place(path, field=field), hint)

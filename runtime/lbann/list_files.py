"""Check sample lists against the files that they name, and convert inclusion to exclusion lists.

An error is a problem that LBANN refuses when it loads the list, or fails on when it reads the
sample. A warning is a problem that LBANN ignores: it drops an unreadable file of an exclusion list.
LBANN lists the top level of a file in creation order and fails if the file does not keep it; h5py
keeps it with `track_order=True` only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Outcome, Value
from exset.core.limits import DEFAULT, Limits
from exset.core.text import counted
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_files import check_words
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io import files
from exset.io.access import DEFAULT_ACCESS, Access, check_regular_file, is_folder, is_inside
from exset.runtime.lbann.hdf5_files import run_in_batches
from exset.runtime.lbann.hdf5_probe import (
    ListedFile,
    Probe,
    exclusion_problems,
    no_creation_order,
    outside_roots,
    unreadable_file,
    why_no_exclusion,
)

_SHOWN = 3


@dataclass(frozen=True)
class Checker:
    """How to find and probe the files of lists.

    base: the folder of relative base directories, by default the current folder, as in LBANN.
    jobs: the number of processes that probe files.
    """

    base: str = ""
    jobs: int = 1
    access: Access = DEFAULT_ACCESS
    limits: Limits = DEFAULT

    def check(self, samples: SampleList, findings: Findings, name: str = "sample list") -> None:
        """Add a finding for each problem with the files of a list. name: that of the list."""
        directory = self.path(_text(samples.directory))
        if len(samples.name) and not is_folder(directory):
            message = f"the base directory {directory} does not exist: no file was checked"
            hint = "a relative path starts at the current folder, or at --base"
            place = Place.of(name)
            findings.add(Finding("lbann-missing-directory", Severity.ERROR, message, place, hint))
        elif samples.kind.is_single or samples.has_integer_ids:
            self._check_names(samples, findings)
        else:
            self._check_samples(samples, findings)

    def to_inclusion(self, samples: SampleList, findings: Findings) -> SampleList:
        """Return the CONDUIT_HDF5_INCLUSION list of the same samples as an exclusion list.

        As in LBANN, a file that cannot be opened is dropped, with a finding. Raises FormatError
        where LBANN refuses the list, and for a file outside the roots.
        """
        kept: list[int] = []
        rows: list[list[str]] = []
        for index, outcome in enumerate(self._run(self._probe.top_level, samples)):
            listed = outcome.item
            if outcome.error is not None:
                finding = unreadable_file(listed.path, outcome.error, samples.kind)
                if finding.code == "hdf5-roots":
                    raise FormatError.of(finding)
                findings.add(finding)
                continue
            names = outcome.result()
            for finding in exclusion_problems(listed, names):
                raise FormatError.of(finding)
            excluded = set(listed.texts())
            rows.append([name for name in names or () if name not in excluded])
            kept.append(index)
        part = samples.select_files(np.array(kept, np.int64))
        return _with_ids(part, Kind.CONDUIT_HDF5_INCLUSION, rows, part.excluded)

    def to_exclusion(self, samples: SampleList) -> SampleList:
        """Return the CONDUIT_HDF5_EXCLUSION list from which LBANN makes the same samples.

        Raises FormatError if there is none, and OSError.
        """
        rows: list[list[str]] = []
        for outcome in self._run(self._probe.top_level, samples):
            names, path, ids = outcome.result(), outcome.item.path, outcome.item.texts()
            included = set(ids)
            if names is None:
                raise FormatError.of(no_creation_order(path))
            if [name for name in names if name in included] != ids:
                raise FormatError.of(why_no_exclusion(path, names, ids))
            rows.append([name for name in names if name not in included])
        return _with_ids(samples, Kind.CONDUIT_HDF5_EXCLUSION, rows, samples.included)

    @property
    def _probe(self) -> Probe:
        return Probe(self.access, self.limits)

    def _run(
        self, work: Callable[[ListedFile], Value], samples: SampleList
    ) -> Iterator[Outcome[ListedFile, Value]]:
        """Run a function on every file of a list, and yield the outcomes in order."""
        column, ends = samples.ids, samples.id_offsets
        assert isinstance(column, Strings)
        listed = [
            ListedFile(self.path(file.path), column.take(np.arange(begin, end)), *counts)
            for file, begin, end, *counts in zip(
                *(samples.files, ends[:-1], ends[1:]),
                *(samples.included.tolist(), samples.excluded.tolist()),
                strict=True,
            )
        ]
        yield from run_in_batches(work, listed, jobs=self.jobs)

    def path(self, path: str) -> str:
        """Return the path of a file that a list names."""
        return os.path.join(self.base, path)

    def _check_names(self, samples: SampleList, findings: Findings) -> None:
        """Check that files exist whose samples have no ids in HDF5, and their labels."""
        for file in samples.files:
            path = self.path(file.path)
            if not is_inside(path, self.access.roots):
                findings.add(outside_roots(path))
                continue
            try:
                check_regular_file(path)
            except OSError as error:
                findings.add(unreadable_file(path, error, samples.kind))
        if samples.kind.is_single:
            self._check_labels(samples, findings)

    def _check_samples(self, samples: SampleList, findings: Findings) -> None:
        """Check that every id is in its file, and what LBANN requires of exclusion lists."""
        probe = self._probe
        work = probe.exclusion_problems if samples.kind.is_exclusion else probe.missing_ids
        for outcome in self._run(work, samples):
            if outcome.error is not None:
                findings.add(unreadable_file(outcome.item.path, outcome.error, samples.kind))
            for finding in outcome.value or ():
                findings.add(finding)

    def _check_labels(self, samples: SampleList, findings: Findings) -> None:
        """Check that the label file exists and has a label for every sample."""
        from exset.parsers.lbann.labels import parse

        if not samples.label_file:
            return
        path = self.path(_text(samples.label_file))
        if not is_inside(path, self.access.roots):
            findings.add(outside_roots(path))
            return
        place, code = Place.of(path), "lbann-missing-labels"
        try:
            check_regular_file(path)
            source = files.read(files.local(path), limits=self.limits)
            labels = parse(source, findings=findings)
        except OSError as error:
            message = f"the label file cannot be read: {error.strerror}"
            hint = "line 4 of the list names it; a relative path starts where the others start"
            findings.add(Finding(code, Severity.ERROR, message, place, hint))
            return
        without = np.flatnonzero(~labels.of(samples)[1])
        if without.size:
            some = ", ".join(samples.name.text(row) or "" for row in without[:_SHOWN].tolist())
            message = (
                f"{counted(without.size, 'sample')} without label, which LBANN reads as 0: {some}"
            )
            findings.add(Finding(code, Severity.WARNING, message, place))


def check(
    samples: SampleList,
    findings: Findings,
    *,
    name: str = "sample list",
    base: str = "",
    access: Access = DEFAULT_ACCESS,
    jobs: int = 1,
    limits: Limits = DEFAULT,
) -> None:
    """Add a finding for each problem with the files that a list names; see `Checker`."""
    Checker(base, jobs, access, limits).check(samples, findings, name)


def _with_ids(samples: SampleList, kind: Kind, rows: list[list[str]], others: object) -> SampleList:
    """Return a list of another kind, with ids for each file; FormatError for an id with a blank."""
    ids = Strings.of(each for row in rows for each in row)
    try:
        check_words("the id of a sample", ids)
    except ValueError as error:
        raise FormatError(str(error), code="lbann-blank") from None
    offsets = np.cumsum([0, *map(len, rows)])
    return samples.with_columns(
        kind=kind, label_file=None, totals=None, others=others, ids=ids, id_offsets=offsets
    )


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")

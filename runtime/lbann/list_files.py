"""Sample lists and the files that they name: whether LBANN could use the ones with the others.

An error is what LBANN refuses when it loads the list, or fails on when it comes to the sample; a
warning what it goes on without, as it does without a file of an exclusion list (and, told to
check, refuses at once: `strict`). LBANN lists the top of a file in the order in which its groups
were made; a file that does not keep it fails, and h5py does not unless asked to with
`track_order=True`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Outcome
from exset.core.limits import DEFAULT, Limits
from exset.grammars.columns.strings import Strings
from exset.grammars.lbann.list_files import check_words
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io import files
from exset.io.access import USUAL, Access, check_plain, lies_in
from exset.runtime.lbann.hdf5_probe import Look, Looking, Task
from exset.runtime.lbann.list_problems import (
    file_finding,
    missing_file,
    no_order,
    outside_roots,
    refusals,
    why_no_exclusion,
)
from exset.runtime.lbann.small_files import run_in_batches

_SHOWN = 3


@dataclass(frozen=True)
class Checker:
    """How the files of lists are found and looked at.

    base: the folder that relative base directories are in, by default the current one, as for
    LBANN. jobs: how many processes look at files.
    """

    base: str = ""
    jobs: int = 1
    access: Access = USUAL
    limits: Limits = DEFAULT

    def check(self, samples: SampleList, findings: Findings, name: str = "sample list") -> None:
        """Add a finding for all that is wrong with the files of a list; name: the list's."""
        if not self._has_directory(samples, findings, name):
            return
        kind = samples.kind
        if kind.is_single or samples.has_integer_ids:
            for file in samples.files:
                path = self.path(file.path)
                if not lies_in(path, self.access.roots):
                    findings.add(outside_roots(path))
                elif not os.path.isfile(path):
                    findings.add(missing_file(path, FileNotFoundError(), kind))
            if kind.is_single:
                self._check_labels(samples, findings)
            return
        counts = zip(samples.included.tolist(), samples.excluded.tolist(), strict=True)
        for outcome, count in zip(self.looks(samples, ids=True), counts, strict=True):
            path = outcome.item.path
            if outcome.error is not None:
                findings.add(missing_file(path, outcome.error, kind))
                continue
            look = outcome.result()
            if kind.is_exclusion:
                for finding in refusals(path, look, outcome.item.texts(), *count):
                    findings.add(finding)
                continue
            for each in look.missing:
                message = "the file has no sample of this id: LBANN fails when it reads it"
                hint = "ids are paths in the file, taken as they are; exset list build finds them"
                findings.add(file_finding("lbann-missing-id", message, path, each, hint=hint))
            for finding in look.refused:
                findings.add(finding)

    def resolved(self, samples: SampleList, findings: Findings) -> SampleList:
        """The inclusion list (CONDUIT) that an exclusion list is, looked up in the files.

        As in LBANN, files that cannot be opened are left out with a finding. Raises FormatError
        where LBANN refuses the list, and for a file outside of the roots.
        """
        kept: list[int] = []
        rows: list[list[str]] = []
        counts = list(zip(samples.included.tolist(), samples.excluded.tolist(), strict=True))
        for index, outcome in enumerate(self.looks(samples, names=True)):
            if outcome.error is not None:
                finding = missing_file(outcome.item.path, outcome.error, samples.kind)
                if finding.code == "hdf5-roots":
                    raise FormatError.of(finding)
                findings.add(finding)
                continue
            look, ids = outcome.result(), outcome.item.texts()
            for finding in refusals(outcome.item.path, look, ids, *counts[index]):
                raise FormatError.of(finding)
            left = set(ids)
            rows.append([name for name in look.names if name not in left])
            kept.append(index)
        part = samples.select_files(np.array(kept, np.int64))
        return part.with_columns(
            label_file=None,
            kind=Kind.CONDUIT_HDF5_INCLUSION,
            others=part.excluded,
            ids=_words(rows),
            id_offsets=np.cumsum([0, *map(len, rows)]),
        )

    def excluding(self, samples: SampleList) -> SampleList:
        """The exclusion list (CONDUIT) that an inclusion list is, if LBANN makes the same of it.

        Raises FormatError that says why not, and OSError.
        """
        rows: list[list[str]] = []
        for index, outcome in enumerate(self.looks(samples, names=True)):
            look, path = outcome.result(), outcome.item.path
            ids = samples.ids_of(index)
            chosen = {str(each) for each in ids}
            if not look.is_ordered:
                raise FormatError.of(no_order(path))
            if [name for name in look.names if name in chosen] != ids:
                raise FormatError.of(why_no_exclusion(path, look, [str(each) for each in ids]))
            rows.append([name for name in look.names if name not in chosen])
        return samples.with_columns(
            label_file=None,
            kind=Kind.CONDUIT_HDF5_EXCLUSION,
            totals=None,
            others=samples.included,
            ids=_words(rows),
            id_offsets=np.cumsum([0, *map(len, rows)]),
        )

    def looks(
        self, samples: SampleList, *, ids: bool = False, names: bool = False
    ) -> Iterator[Outcome[Task, Look]]:
        """Look at every file, in order; of an exclusion list always at all that is at its top."""
        exclusion = samples.kind.is_exclusion
        yield from run_in_batches(
            Looking(self.access, self.limits),
            list(self._tasks(samples, ids or exclusion, names or exclusion)),
            jobs=self.jobs,
        )

    def path(self, path: str) -> str:
        """Where a path of a list is."""
        return os.path.join(self.base, path)

    def _tasks(self, samples: SampleList, ids: bool, names: bool) -> Iterable[Task]:
        none, column = Strings.none(0), samples.ids
        assert isinstance(column, Strings)
        for file, begin, end in zip(
            samples.files, samples.id_offsets[:-1], samples.id_offsets[1:], strict=True
        ):
            wanted = column.take(np.arange(begin, end)) if ids else none
            yield Task(self.path(file.path), wanted, names)

    def _has_directory(self, samples: SampleList, findings: Findings, name: str) -> bool:
        directory = self.path(samples.directory.decode("utf-8", "surrogateescape"))
        if os.path.isdir(directory) or not len(samples.name):
            return True
        message = f"there is no base directory {directory}, so its files are not looked at"
        hint = "a relative one counts from the current folder, or from --base"
        findings.add(
            Finding("lbann-missing-directory", Severity.ERROR, message, Place.of(name), hint)
        )
        return False

    def _check_labels(self, samples: SampleList, findings: Findings) -> None:
        """Whether the label file is there, and has a label for every sample."""
        from exset.parsers.lbann.labels import parse

        path = (samples.label_file or b"").decode("utf-8", "surrogateescape")
        if not path:
            return
        if not lies_in(self.path(path), self.access.roots):
            findings.add(outside_roots(self.path(path)))
            return
        try:
            check_plain(self.path(path))
            source = files.read(files.local(self.path(path)), limits=self.limits)
            labels = parse(source, findings=findings)
        except OSError as error:
            message = f"the label file cannot be read: {error.strerror}"
            place = Place.of(self.path(path))
            hint = "the fourth line of the list names it; a relative one counts as the others do"
            findings.add(Finding("lbann-missing-labels", Severity.ERROR, message, place, hint))
            return
        without = np.flatnonzero(~labels.of(samples)[1])
        if without.size:
            some = ", ".join(samples.name.text(row) or "" for row in without[:_SHOWN].tolist())
            message = f"{without.size:,} samples have no label, which is then 0: {some}"
            place = Place.of(self.path(path))
            findings.add(Finding("lbann-missing-labels", Severity.WARNING, message, place))


def check(
    samples: SampleList,
    findings: Findings,
    *,
    name: str = "sample list",
    base: str = "",
    access: Access = USUAL,
    jobs: int = 1,
    limits: Limits = DEFAULT,
) -> None:
    """Add a finding for all that is wrong with the files that a list names; see `Checker`."""
    Checker(base, jobs, access, limits).check(samples, findings, name)


def _words(rows: list[list[str]]) -> Strings:
    """All ids of some files; FormatError for one that no list can name."""
    ids = Strings.of(each for row in rows for each in row)
    try:
        check_words("the id of a sample", ids)
    except ValueError as error:
        raise FormatError(str(error), code="lbann-blank") from None
    return ids

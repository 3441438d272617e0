"""Sample lists and the files that they name: whether LBANN could use the ones with the others.

An error is what LBANN refuses when it loads the list, or fails on when it comes to the sample; a
warning what it goes on without, as it does without a file of an exclusion list (and, told to
check, refuses at once: `strict`). LBANN lists the top of a file
in the order in which its groups were made; a file that does not keep it fails, and h5py does not
unless asked to with `track_order=True`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from exset import files
from exset.access import USUAL, Access, lies_in
from exset.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.grammars.sample_kinds import Kind
from exset.grammars.sample_words import check_words
from exset.grammars.samples import SampleList
from exset.grammars.strings import Strings
from exset.jobs import Outcome
from exset.limits import DEFAULT, Limits
from exset.runtime.hdf5 import File, is_group
from exset.runtime.hdf5_files import failure
from exset.runtime.small_files import run_in_batches

_SHOWN = 3


@dataclass(frozen=True)
class Task:
    """What to look for in a file; names: whether all that is at its top is wanted."""

    path: str
    ids: Strings
    names: bool = False

    def __fspath__(self) -> str:
        """Return the path of the file."""
        return self.path

    def texts(self) -> list[str]:
        """The ids as text."""
        return [self.ids.text(row) or "" for row in range(len(self.ids))]


@dataclass(frozen=True)
class Look:
    """What was seen of a file; of its top nothing if that was not asked for."""

    count: int
    names: tuple[str, ...]
    is_ordered: bool
    missing: tuple[str, ...] = ()
    """Ids that it does not have."""
    refused: tuple[Finding, ...] = ()
    """Ids that were not looked up, and why not."""


@dataclass(frozen=True)
class _Looking:
    """How files are looked at."""

    access: Access
    limits: Limits

    def __call__(self, task: Task) -> Look:
        """Look at one file; FormatError and OSError as those of `File`."""
        with File(task.path, self.access, self.limits) as file:
            root = file.find("")
            names = file.names(root, "") if task.names else []
            missing: list[str] = []
            refused: list[Finding] = []
            parents = {"": root}
            for each in task.texts():
                above, _, name = each.rpartition("/")
                try:
                    if above not in parents:
                        parents[above] = file.find(above)
                    parent = parents[above]
                    if name and (
                        parent is None or not is_group(parent) or not file.has(parent, name, each)
                    ):
                        missing.append(each)
                except LimitError:
                    raise
                except FormatError as error:
                    refused.append(error.finding)
            return Look(
                count=len(names),
                names=tuple(names),
                is_ordered=task.names and file.is_ordered(root, ""),
                missing=tuple(missing),
                refused=tuple(refused),
            )


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
                    findings.add(_outside(path))
                elif not os.path.isfile(path):
                    findings.add(_missing(path, FileNotFoundError(), kind))
            if kind.is_single:
                self._check_labels(samples, findings, name)
            return
        counts = zip(samples.included.tolist(), samples.excluded.tolist(), strict=True)
        for outcome, count in zip(self.looks(samples, ids=True), counts, strict=True):
            path = outcome.item.path
            if outcome.error is not None:
                findings.add(_missing(path, outcome.error, kind))
                continue
            look = outcome.result()
            if kind.is_exclusion:
                for finding in _refusals(path, look, outcome.item.texts(), *count):
                    findings.add(finding)
                continue
            for each in look.missing:
                message = "the file has no sample of this id: LBANN fails when it reads it"
                hint = "ids are paths in the file, taken as they are; exset list build finds them"
                findings.add(_finding("lbann-missing-id", message, path, each, hint=hint))
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
                finding = _missing(outcome.item.path, outcome.error, samples.kind)
                if finding.code == "hdf5-roots":
                    raise FormatError.of(finding)
                findings.add(finding)
                continue
            look, ids = outcome.result(), outcome.item.texts()
            for finding in _refusals(outcome.item.path, look, ids, *counts[index]):
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
                raise FormatError.of(_no_order(path))
            if [name for name in look.names if name in chosen] != ids:
                raise FormatError.of(_why_not(path, look, [str(each) for each in ids]))
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
            _Looking(self.access, self.limits),
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

    def _check_labels(self, samples: SampleList, findings: Findings, name: str) -> None:
        """Whether the label file is there, and has a label for every sample."""
        from exset.parsers.labels import parse

        path = (samples.label_file or b"").decode("utf-8", "surrogateescape")
        if not path:
            return
        if not lies_in(self.path(path), self.access.roots):
            findings.add(_outside(self.path(path)))
            return
        try:
            source = files.read(files.here(self.path(path)), limits=self.limits)
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


def _missing(path: str, error: FormatError | OSError, kind: Kind) -> Finding:
    """The finding of a file that cannot be opened."""
    if isinstance(error, LimitError):
        return error.finding
    if isinstance(error, FormatError) and error.code == "hdf5-roots":
        return _outside(path)
    found = failure(path, error)
    drops = kind.is_exclusion
    then = "drops it, and has fewer samples" if drops else "fails when it reads from it"
    absent = isinstance(error, FileNotFoundError)
    hint = "mend its name or the base directory, or take it out of the list" if absent else None
    return replace(
        found,
        code="lbann-missing-file" if absent else "lbann-unreadable-file",
        severity=Severity.WARNING if drops else Severity.ERROR,
        message=f"{found.message}: LBANN {then}",
        hint=found.hint or hint,
    )


def _outside(path: str) -> Finding:
    hint = "name its folder with --root, or Access(roots=...), if it is trusted"
    return _finding("hdf5-roots", f"{path} lies outside of the roots", path, hint=hint)


def _refusals(
    path: str, look: Look, ids: list[str], included: int, excluded: int
) -> Iterator[Finding]:
    """Why LBANN refuses a file of an exclusion list."""
    if not look.is_ordered:
        yield _no_order(path)
        return
    if look.count != included + excluded:
        message = (
            f"{look.count:,} objects are at the top of the file; the list counts {included:,}"
            f" included and {excluded:,} excluded"
        )
        hint = "LBANN excludes only what is at the top of a file"
        yield _finding("lbann-file-size", message, path, hint=hint)
        return
    for each in sorted(set(ids) - set(look.names)):
        message = "this id is to be excluded, and is not at the top of the file"
        yield _finding("lbann-missing-id", message, path, each)


def _no_order(path: str) -> Finding:
    return _finding(
        "lbann-no-creation-order",
        "the file does not keep in which order its samples were made: LBANN cannot list them",
        path,
        hint="write it with track_order=True, or use an inclusion list",
    )


def _why_not(path: str, look: Look, ids: list[str]) -> Finding:
    """Why an exclusion list cannot have these samples of a file."""
    names = set(look.names)
    missing = [each for each in ids if each not in names]
    if len(set(ids)) < len(ids):
        message = "a sample is included twice, which an exclusion list cannot say"
    elif any("/" in each for each in missing):
        message = f"{missing[0]} is not at the top of the file: LBANN can exclude nothing else"
    elif missing:
        message = f"the file has no {missing[0]}"
    else:
        message = "the samples are not in the order in which they were made"
    hint = "no exclusion list is the same as this one: keep it an inclusion list"
    return _finding("lbann-exclusion", message, path, hint=hint)


def _finding(
    code: str,
    message: str,
    path: str,
    field: str | None = None,
    hint: str | None = None,
) -> Finding:
    return Finding(code, Severity.ERROR, message, Place(path, field=field), hint)

"""Build a sample list from HDF5 files.

A journal can keep the results of each file, so that an interrupted search resumes where it stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, TextIO

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Outcome
from exset.core.limits import DEFAULT, Limits
from exset.grammars.lbann.list_files import File as Record
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.lbann.hdf5 import File, is_group
from exset.runtime.lbann.hdf5_files import failure, run_in_batches
from exset.runtime.lbann.hdf5_scan import (
    Prototype,
    ScanResult,
    find_prototype,
    groups,
    scan,
)

_BLANKS = frozenset(" \t\n\v\f\r")
_NAMES_SHOWN = 12


@dataclass(frozen=True)
class Search:
    """What to search for in every file.

    prototype: a sample with the structure of all samples; or pattern: a shell pattern of their
    paths. finite: fields that a sample must have, without NaN.
    """

    prototype: Prototype | None = None
    pattern: str | None = None
    finite: tuple[str, ...] = ()
    access: Access = DEFAULT_ACCESS
    limits: Limits = DEFAULT

    def __call__(self, path: str) -> ScanResult:
        """Search one file; raises FormatError and OSError as `File`."""
        if self.prototype is not None:
            result = scan(path, self.prototype, access=self.access, limits=self.limits)
        else:
            result = ScanResult(self._matching(path))
        return self._without_nan(path, result) if self.finite else result

    def _matching(self, path: str) -> list[str]:
        pattern = self.pattern or ""
        with File(path, self.access, self.limits) as file:
            found = groups(file, lambda where, _: fnmatchcase(where, pattern), self.limits)
            return [where for where, _ in found]

    def _without_nan(self, path: str, result: ScanResult) -> ScanResult:
        kept, rejected = [], list(result.rejected)
        with File(path, self.access, self.limits) as file:
            for sample in result.samples:
                group = file.find(sample)
                reasons = (_not_finite(file, group, sample, name) for name in self.finite)
                reason = next(filter(None, reasons), None)
                if reason is None:
                    kept.append(sample)
                else:
                    rejected.append((sample, reason))
        return ScanResult(kept, rejected)


def _not_finite(file: File, group: Any, sample: str, name: str) -> str | None:
    """Return why a field of a sample is rejected, or None."""
    dataset = file.find(name, group, sample)
    if dataset is None or is_group(dataset):
        return f"it lacks {name}"
    stored = file.data_type(dataset, f"{sample}/{name}")
    if stored.kind != "number" or not stored.count:
        return None
    values = np.empty(stored.shape, stored.dtype)
    file.read(dataset, values, f"{sample}/{name}")
    return f"{name} contains NaN" if np.isnan(values).any() else None


def search_for(
    paths: Sequence[str],
    findings: Findings,
    *,
    sample: str | None = None,
    pattern: str | None = None,
    finite: Sequence[str] = (),
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: int = 1,
) -> Search:
    """Return a search for a path pattern, or for samples like a prototype.

    sample: the path of the prototype; by default, a sample that most others are like. Raises the
    FormatError or OSError of the first file if no file has a sample, and FormatError for a
    prototype without a field of `finite`.
    """
    if pattern is not None:
        return Search(None, pattern, tuple(finite), access, limits)
    prototype = find_prototype(
        paths, findings, sample=sample, access=access, limits=limits, jobs=jobs
    )
    if lacking := [name for name in finite if name not in prototype.fields]:
        raise FormatError(
            f"samples like {prototype.sample} have no field {lacking[0]}",
            hint=f"their fields are {', '.join([*prototype.fields][:_NAMES_SHOWN])}",
            code="hdf5-no-field",
        )
    return Search(prototype, pattern, tuple(finite), access, limits)


def searched(
    search: Search, paths: Sequence[str], *, jobs: int = 1, journal: str | None = None
) -> Generator[Outcome[str, ScanResult], None, None]:
    """Yield the result of each file, in order.

    journal: a file that keeps results; files that have not changed since are not searched again.
    """
    if journal is None:
        yield from run_in_batches(search, paths, jobs=jobs)
        return
    kept = _read_journal(journal, search)
    stamps = {path: _stamp(path) for path in paths}
    left = [path for path in paths if path not in kept or kept[path][0] != stamps[path]]
    fresh = run_in_batches(search, left, jobs=jobs)
    with open(journal, "a", encoding="ascii") as file:
        if file.tell() == 0:
            _append(file, {"search": _digest(search)})
        else:
            file.write("\n")  # the last line may be incomplete
        waiting = set(left)
        for path in paths:
            if path not in waiting:
                yield Outcome(path, kept[path][1])
                continue
            outcome = next(fresh)
            if outcome.value is not None:
                _append(file, {"path": path, "stamp": stamps[path], **asdict(outcome.value)})
            yield outcome


def built(
    outcomes: Sequence[Outcome[str, ScanResult]],
    findings: Findings,
    *,
    directory: str | None = None,
) -> SampleList:
    """Return the CONDUIT_HDF5_INCLUSION list of the samples; rejected groups become findings.

    directory: the base directory, by default the longest that all files share. Raises FormatError
    if there are no samples.
    """
    paths = [outcome.item for outcome in outcomes]
    base = directory
    if base is None:
        base = (
            os.path.commonpath([os.path.dirname(path) or "." for path in paths]) if paths else "."
        )
    rows = []
    for outcome in outcomes:
        if outcome.value is None:
            findings.add(failure(outcome.item, outcome.error))
            continue
        for sample, reason in outcome.value.rejected:
            message = f"this group is not a sample: {reason}"
            place = Place(outcome.item, field=sample)
            findings.add(Finding("list-odd-sample", Severity.WARNING, message, place))
        name = os.path.relpath(outcome.item, base)
        if _BLANKS & set(name):
            message = "a list cannot name this file, because its path contains a blank: skipped"
            findings.add(Finding("lbann-blank", Severity.WARNING, message, Place.of(outcome.item)))
            continue
        ids = []
        for sample in outcome.value.samples:
            if not _BLANKS & set(sample):
                ids.append(sample)
                continue
            message = "a list cannot name this sample, because its path contains a blank: skipped"
            place = Place(outcome.item, field=sample)
            findings.add(Finding("lbann-blank", Severity.WARNING, message, place))
        if ids:
            rows.append(Record(name, ids, len(outcome.value.rejected)))
    if not rows:
        hint = "name a sample with --sample PATH, or match the paths of all samples with"
        hint += " --pattern 'RUN_ID/*'"
        if any(outcome.value is not None and outcome.value.rejected for outcome in outcomes):
            hint = "the warnings say why exset rejected each group"
        raise FormatError("the files contain no samples", hint=hint, code="list-empty")
    return SampleList.of(Kind.CONDUIT_HDF5_INCLUSION, base or ".", rows)


def _read_journal(path: str, search: Search) -> dict[str, tuple[list[int], ScanResult]]:
    """Return the results in a journal by path; incomplete lines are ignored."""
    kept: dict[str, tuple[list[int], ScanResult]] = {}
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return kept
    for number, line in enumerate(filter(None, lines)):
        try:
            row = json.loads(line)
            if number == 0:
                if row["search"] != _digest(search):
                    raise FormatError(
                        "the journal belongs to another search",
                        place=Place.of(path),
                        hint="name another file, or delete this one",
                        code="list-journal",
                    )
                continue
            rejected = [(str(sample), str(reason)) for sample, reason in row["rejected"]]
            result = ScanResult([str(sample) for sample in row["samples"]], rejected)
            kept[str(row["path"])] = [int(each) for each in row["stamp"]], result
        except FormatError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError):
            if number == 0:
                raise FormatError(
                    "the file is not a journal", place=Place.of(path), code="list-journal"
                ) from None
    return kept


def _digest(search: Search) -> str:
    """Return a line that two equal searches share."""
    prototype = search.prototype
    fields = "" if prototype is None else {n: str(f) for n, f in prototype.fields.items()}
    return repr((fields, search.pattern, search.finite))


def _stamp(path: str) -> list[int]:
    try:
        status = os.stat(path)
    except OSError:
        return [0, 0]
    return [status.st_size, status.st_mtime_ns]


def _append(file: TextIO, row: dict[str, object]) -> None:
    file.write(json.dumps(row) + "\n")
    file.flush()

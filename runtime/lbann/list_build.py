"""Sample lists built from HDF5 files: which samples are in them, and which nearly are.

What is found in a file can be kept in a journal, so that a search that is broken off goes on where
it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any, TextIO

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Outcome
from exset.core.limits import DEFAULT, Limits
from exset.grammars.lbann.list_files import File as Record
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.io.access import USUAL, Access
from exset.runtime.lbann.hdf5 import File, is_group
from exset.runtime.lbann.hdf5_files import failure
from exset.runtime.lbann.hdf5_scan import Prototype, groups, guessed, prototype_of, scan
from exset.runtime.lbann.small_files import run_in_batches

_BLANKS = frozenset(" \t\n\v\f\r")


@dataclass(frozen=True)
class Search:
    """What is looked for in every file.

    prototype: a sample that all others are like; or pattern: what their paths are like, in the
    manner of a shell. finite: fields without which, or with NaN in which, a sample is left out.
    """

    prototype: Prototype | None = None
    pattern: str | None = None
    finite: tuple[str, ...] = ()
    access: Access = USUAL
    limits: Limits = DEFAULT

    def __call__(self, path: str) -> Found:
        """Search one file; FormatError and OSError as those of `File`."""
        if self.prototype is not None:
            tally = scan(path, self.prototype, access=self.access, limits=self.limits)
            found = Found(tally.samples, tally.odd)
        else:
            found = Found(self._matching(path))
        return self._without_nan(path, found) if self.finite else found

    def _matching(self, path: str) -> list[str]:
        with File(path, self.access, self.limits) as file:
            found = groups(
                file, lambda where, _: fnmatchcase(where, self.pattern or ""), self.limits
            )
            return [where for where, _ in found]

    def _without_nan(self, path: str, found: Found) -> Found:
        kept, odd = [], list(found.odd)
        with File(path, self.access, self.limits) as file:
            for sample in found.samples:
                group = file.find(sample)
                why = next(filter(None, (_nan(file, group, sample, n) for n in self.finite)), None)
                if why is None:
                    kept.append(sample)
                else:
                    odd.append((sample, why))
        return Found(kept, odd)


@dataclass(frozen=True)
class Found:
    """The samples of a file, and what is none of them and why."""

    samples: list[str]
    odd: list[tuple[str, str]] = field(default_factory=list)


def _nan(file: File, group: Any, sample: str, name: str) -> str | None:
    dataset = file.find(name, group, sample)
    if dataset is None or is_group(dataset):
        return f"it lacks {name}"
    form = file.form(dataset, f"{sample}/{name}")
    if form.kind != "number" or not form.count:
        return None
    values = np.empty(form.shape, form.dtype)
    file.read(dataset, values, f"{sample}/{name}")
    return f"there is NaN in {name}" if np.isnan(values).any() else None


def search_for(
    paths: Sequence[str],
    findings: Findings,
    *,
    sample: str | None = None,
    pattern: str | None = None,
    finite: Sequence[str] = (),
    access: Access = USUAL,
    limits: Limits = DEFAULT,
) -> Search:
    """What to look for: a pattern, or samples like one of the first file that has one.

    sample: its path; guessed if not said. Raises FormatError or OSError for the first file if none
    has one.
    """
    prototype, first = None, None
    for path in paths if pattern is None else ():
        try:
            with File(path, access, limits) as file:
                prototype = prototype_of(file, sample or guessed(file), findings)
            break
        except (FormatError, OSError) as error:
            first = first or error
    if first is not None and prototype is None:
        raise first
    return Search(prototype, pattern, tuple(finite), access, limits)


def searched(
    search: Search, paths: Sequence[str], *, jobs: int = 1, journal: str | None = None
) -> Generator[Outcome[str, Found], None, None]:
    """Yield what is found in each file, in order.

    journal: a file that keeps what was found; of a file that has not changed since it is taken
    from there.
    """
    if journal is None:
        yield from run_in_batches(search, paths, jobs=jobs)
        return
    known = _journal(journal, search)
    stamps = {path: _stamp(path) for path in paths}
    left = [path for path in paths if path not in known or known[path][0] != stamps[path]]
    fresh = run_in_batches(search, left, jobs=jobs)
    with open(journal, "a", encoding="ascii") as file:
        if file.tell() == 0:
            _note(file, {"search": _digest(search)})
        else:
            file.write("\n")  # the last line may have been broken off
        waiting = set(left)
        for path in paths:
            if path not in waiting:
                yield Outcome(path, known[path][1])
                continue
            outcome = next(fresh)
            if outcome.value is not None:
                found = {"path": path, "stamp": stamps[path], **asdict(outcome.value)}
                _note(file, found)
            yield outcome


def built(
    outcomes: Sequence[Outcome[str, Found]],
    findings: Findings,
    *,
    directory: str | None = None,
) -> SampleList:
    """The list of what was found, a CONDUIT_HDF5_INCLUSION; what is none of it is a finding.

    directory: the base directory, by default the longest that all files share. Raises FormatError
    for files that lie outside of it.
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
        for sample, why in outcome.value.odd:
            message = f"not taken for a sample: {why}"
            place = Place(outcome.item, field=sample)
            findings.add(Finding("list-odd-sample", Severity.WARNING, message, place))
        name = os.path.relpath(outcome.item, base)
        if _BLANKS & set(name):
            message = "a list cannot name a file with a blank in its path: left out"
            findings.add(Finding("lbann-blank", Severity.WARNING, message, Place.of(outcome.item)))
            continue
        ids = []
        for sample in outcome.value.samples:
            if not _BLANKS & set(sample):
                ids.append(sample)
                continue
            message = "a list cannot name a sample with a blank in its path: left out"
            place = Place(outcome.item, field=sample)
            findings.add(Finding("lbann-blank", Severity.WARNING, message, place))
        if ids:
            rows.append(Record(name, ids, len(outcome.value.odd)))
    if not rows:
        raise FormatError(
            "no samples were found",
            hint="say what one is: --sample with its path, or --pattern with what all paths are"
            " like, from the top of the file: RUN_ID/*",
            code="list-empty",
        )
    return SampleList.of(Kind.CONDUIT_HDF5_INCLUSION, base or ".", rows)


def _journal(path: str, search: Search) -> dict[str, tuple[list[int], Found]]:
    """What a journal keeps; a line that was broken off is passed over."""
    known: dict[str, tuple[list[int], Found]] = {}
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return known
    for number, line in enumerate(filter(None, lines)):
        try:
            row = json.loads(line)
            if number == 0:
                if row["search"] != _digest(search):
                    raise FormatError(
                        "this journal is of another search",
                        place=Place.of(path),
                        hint="name another, or delete it",
                        code="list-journal",
                    )
                continue
            odd = [(str(sample), str(why)) for sample, why in row["odd"]]
            found = Found([str(sample) for sample in row["samples"]], odd)
            known[str(row["path"])] = [int(each) for each in row["stamp"]], found
        except FormatError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError):
            if number == 0:
                raise FormatError(
                    "this is no journal", place=Place.of(path), code="list-journal"
                ) from None
    return known


def _digest(search: Search) -> str:
    """What a search is, in a line."""
    prototype = search.prototype
    forms = "" if prototype is None else {n: str(f) for n, f in prototype.forms.items()}
    return repr((forms, search.pattern, search.finite))


def _stamp(path: str) -> list[int]:
    try:
        status = os.stat(path)
    except OSError:
        return [0, 0]
    return [status.st_size, status.st_mtime_ns]


def _note(file: TextIO, row: dict[str, object]) -> None:
    file.write(json.dumps(row) + "\n")
    file.flush()

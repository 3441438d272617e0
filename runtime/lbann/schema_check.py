"""Schemas against the files: every field of every sample, without reading the values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.grammars.lbann.schema import Schema
from exset.io.access import USUAL, Access
from exset.runtime.lbann.hdf5 import File
from exset.runtime.lbann.hdf5_files import failure
from exset.runtime.lbann.merged_schema import resolve
from exset.runtime.lbann.packing import Plan, plan
from exset.runtime.lbann.sample_layout import Column, found, lay_out, located
from exset.runtime.lbann.sample_reader import HasPairs, Pair, joined
from exset.runtime.lbann.small_files import run_in_batches
from exset.runtime.lbann.transforms import Compat


@dataclass(frozen=True)
class Samples(os.PathLike[str]):
    """The samples of one file."""

    path: str
    ids: tuple[str, ...]

    def __fspath__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Seen:
    """What was found in one file: the columns of its first sample, and what is wrong."""

    columns: tuple[Column, ...]
    findings: Findings


def check_files(
    samples: HasPairs | Iterable[Pair],
    data: Schema,
    experiment: Schema,
    *,
    base: str = "",
    compat: Compat = None,
    access: Access = USUAL,
    limits: Limits = DEFAULT,
    jobs: int = 1,
) -> Findings:
    """Return what is wrong with schemas and with the files and samples that a list names.

    With more than one job each file is looked at in another process, and one on which HDF5 itself
    crashes is a finding like others. Raises nothing but LimitError for more nodes than allowed.
    """
    findings = Findings()
    try:
        resolved = resolve(data, experiment, findings=findings)
        wanted = plan(resolved, compat=compat, findings=findings)
    except FormatError as error:
        findings.add(error.finding)
        return findings
    files: dict[str, list[str]] = {}
    for name, sample in samples.pairs() if isinstance(samples, HasPairs) else samples:
        files.setdefault(joined(base, name), []).append(str(sample))
    items = [Samples(path, tuple(ids)) for path, ids in files.items()]
    look = partial(_look, wanted=wanted, access=access, limits=limits)
    first: tuple[str, tuple[Column, ...]] | None = None
    told = {_key(finding) for finding in findings}
    for outcome in run_in_batches(look, items, jobs=jobs):
        if outcome.error is not None:
            findings.add(failure(outcome.item.path, outcome.error))
            continue
        seen = outcome.result()
        for finding in seen.findings:
            if _key(finding) not in told:
                told.add(_key(finding))
                findings.add(finding)
        if first is None and seen.columns:
            first = outcome.item.path, seen.columns
        elif first is not None and seen.columns:
            _compare(outcome.item, seen.columns, *first, findings)
    return findings


def _look(item: Samples, wanted: Plan, access: Access, limits: Limits) -> Seen:
    findings = Findings()
    columns: tuple[Column, ...] = ()
    with File(item.path, access, limits) as file:
        for sample in dict.fromkeys(item.ids):
            try:
                if not columns:
                    columns = lay_out(file, sample, wanted, findings).columns
                    continue
                group = located(file, sample)
                for column in columns:
                    found(file, sample, group, column)
            except FormatError as error:
                findings.add(error.finding)
    return Seen(columns, findings)


def _compare(
    item: Samples,
    columns: tuple[Column, ...],
    path: str,
    usual: tuple[Column, ...],
    findings: Findings,
) -> None:
    """Hold the first sample of a file against the first of all."""
    forms = {column.name: column for column in columns}
    for column in usual:
        other = forms.get(column.name)
        if other is None or (other.count, other.dtype) == (column.count, column.dtype):
            continue
        message = f"{column.name} is {other.stored} here, but {column.stored} in {path}"
        place = Place(item.path, field=f"{item.ids[0]}/{column.name}")
        hint = "the samples of a list must have fields of one size and type"
        findings.add(Finding("hdf5-odd-sample", Severity.ERROR, message, place, hint))


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.message, str(finding.place)

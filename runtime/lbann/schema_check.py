"""Check schemas against HDF5 files: every field of every sample, without reading values."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT, Limits
from exset.grammars.lbann.schema import Schema
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.lbann.hdf5 import File
from exset.runtime.lbann.hdf5_files import failure, run_in_batches
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.packing import Plan, plan
from exset.runtime.lbann.sample_layout import Column, find_column, lay_out, sample_group
from exset.runtime.lbann.sample_reader import HasPairs, Pair, joined
from exset.runtime.lbann.transforms import Compat


@dataclass(frozen=True)
class Samples(os.PathLike[str]):
    """The samples of one file."""

    path: str
    ids: tuple[str, ...]

    def __fspath__(self) -> str:
        return self.path


@dataclass(frozen=True)
class FileResult:
    """The columns of the first sample of a file, and the findings of all."""

    columns: tuple[Column, ...]
    findings: Findings


def check_files(
    samples: HasPairs | Iterable[Pair],
    data: Schema,
    experiment: Schema,
    *,
    base: str = "",
    compat: Compat = None,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: int = 1,
) -> Findings:
    """Return all problems of two schemas, and of the files and samples that a list names.

    With several jobs, each file is read in another process, so that a crash of the HDF5 library
    becomes a finding. Raises LimitError for more nodes than allowed.
    """
    findings = Findings()
    try:
        merged = merge_schemas(data, experiment, findings=findings)
        planned = plan(merged, compat=compat, findings=findings)
    except FormatError as error:
        findings.add(error.finding)
        return findings
    files: dict[str, list[str]] = {}
    for name, sample in samples.pairs() if isinstance(samples, HasPairs) else samples:
        files.setdefault(joined(base, name), []).append(str(sample))
    items = [Samples(path, tuple(ids)) for path, ids in files.items()]
    work = partial(_check_file, planned=planned, access=access, limits=limits)
    first: tuple[str, tuple[Column, ...]] | None = None
    reported = {_key(finding) for finding in findings}
    for outcome in run_in_batches(work, items, jobs=jobs):
        if outcome.error is not None:
            findings.add(failure(outcome.item.path, outcome.error))
            continue
        result = outcome.result()
        for finding in result.findings:
            if _key(finding) not in reported:
                reported.add(_key(finding))
                findings.add(finding)
        if first is None and result.columns:
            first = outcome.item.path, result.columns
        elif first is not None and result.columns:
            _compare(outcome.item, result.columns, *first, findings)
    return findings


def _check_file(item: Samples, planned: Plan, access: Access, limits: Limits) -> FileResult:
    findings = Findings()
    columns: tuple[Column, ...] = ()
    with File(item.path, access, limits) as file:
        for sample in dict.fromkeys(item.ids):
            try:
                if not columns:
                    columns = lay_out(file, sample, planned, findings).columns
                    continue
                group = sample_group(file, sample)
                for column in columns:
                    find_column(file, sample, group, column)
            except FormatError as error:
                findings.add(error.finding)
    return FileResult(columns, findings)


def _compare(
    item: Samples,
    columns: tuple[Column, ...],
    path: str,
    expected: tuple[Column, ...],
    findings: Findings,
) -> None:
    """Compare the first sample of a file with the first sample of the list."""
    here = {column.name: column for column in columns}
    for column in expected:
        other = here.get(column.name)
        if other is None or (other.count, other.dtype) == (column.count, column.dtype):
            continue
        message = f"{column.name} is {other.stored} here, but {column.stored} in {path}"
        place = Place(item.path, field=f"{item.ids[0]}/{column.name}")
        hint = "each field must have one size and type in all samples of a list"
        findings.add(Finding("hdf5-odd-sample", Severity.ERROR, message, place, hint))


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.message, str(finding.place)

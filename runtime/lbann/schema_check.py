"""Check schemas against HDF5 files: every field of every sample, but not the values."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from exset.core.errors import Finding, Findings, FormatError, Place
from exset.core.jobs import Jobs
from exset.core.limits import DEFAULT, Limits
from exset.core.parts import divided, parts_of, whole
from exset.grammars.lbann.schema import Schema
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.hdf5.file import DataType, File
from exset.runtime.lbann.directives import Compat
from exset.runtime.lbann.hdf5_files import failure, run_on_files
from exset.runtime.lbann.listed_samples import FileSamples, ListedSamples
from exset.runtime.lbann.merged_schema import merge_schemas
from exset.runtime.lbann.packing import Plan, plan
from exset.runtime.lbann.sample_layout import Column, Sample, lay_out, unlike
from exset.runtime.lbann.sample_reader import Pair


@dataclass(frozen=True)
class _Field:
    """A field of the first sample of a file.

    stored: the field's type in the file. dtype: the dtype after reading.
    """

    name: str
    stored: DataType
    dtype: str


_PART = 1024
"""The most samples in a part of a file."""

_Checked: TypeAlias = tuple[list[_Field], list[Finding]]


def check_files(
    samples: Iterable[Pair] | ListedSamples,
    data: Schema,
    experiment: Schema,
    *,
    base: str = "",
    compat: Compat = None,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: Jobs = 1,
) -> Findings:
    """Return all problems of two schemas, of the files that a list names, and of their samples.

    With several jobs or `Execution(isolated=True)`, each file is read in another process, so that a
    crash of the HDF5 library becomes a finding. Raises LimitError for more nodes than allowed.
    """
    findings = Findings()
    try:
        merged = merge_schemas(data, experiment, findings=findings)
        planned = plan(merged, compat=compat, findings=findings)
    except FormatError as error:
        findings.add_all(error.findings)
        return findings
    listed = samples if isinstance(samples, ListedSamples) else ListedSamples(samples)
    items = listed.files(base)
    units = divided(items, [parts_of(len(each.ids), _PART) for each in items], FileSamples.part_of)
    work = partial(_check_file, planned=planned, access=access, limits=limits)
    identity = repr((*data.root.leaves(), *experiment.root.leaves()))
    first: tuple[str, list[_Field]] | None = None
    reported = set(findings)
    outcomes = run_on_files(work, units, jobs=jobs, returns=_Checked, identity=identity)
    for outcome in whole(outcomes, items, units, _joined):
        if outcome.error is not None:
            findings.add(failure(outcome.item.path, outcome.error))
            continue
        here, found = outcome.result()
        if first is None and here:
            first = outcome.item.path, here
        elif first is not None:
            found += _differences(outcome.item, here, *first)
        for finding in dict.fromkeys(found):
            if finding not in reported:
                findings.add(finding)
                # No other file has a finding whose place is this file.
                if finding.place is None or finding.place.source != outcome.item.path:
                    reported.add(finding)
    return findings


def _check_file(item: FileSamples, planned: Plan, access: Access, limits: Limits) -> _Checked:
    """Return the fields of a file's first sample, and the findings of the samples of `item`.

    If the first sample has an error, use the first good sample of `item` instead.
    """
    findings = Findings()
    with File(item.path, access, limits) as file:
        columns: list[Column] = []
        if item.first != item.ids[0]:
            with suppress(FormatError):
                columns = [*lay_out(file, item.first, planned, Findings()).columns]
        for path in item.ids:
            try:
                if not columns:
                    columns = [*lay_out(file, path, planned, findings).columns]
                    continue
                sample = Sample(file, path)
                for column in columns:
                    sample.find_column(column)
            except FormatError as error:
                findings.add(error.finding)
    return [_Field(each.name, each.stored, each.dtype) for each in columns], list(findings)


def _joined(item: FileSamples, parts: Sequence[_Checked]) -> _Checked:
    """Join the results of the parts of a file."""
    fields = next((fields for fields, _ in parts if fields), [])
    return fields, [finding for _, found in parts for finding in found]


def _differences(
    item: FileSamples, fields: list[_Field], path: str, expected: list[_Field]
) -> Iterator[Finding]:
    """Yield findings where the first sample of a file differs from the first sample of the list.

    fields: of the file's first sample. expected: of the list's first sample, which is in the file
    `path`.
    """
    here = {each.name: each for each in fields}
    for each in expected:
        other = here.get(each.name, each)
        if (other.stored.count, other.dtype) != (each.stored.count, each.dtype):
            place = Place(item.path, field=f"{item.ids[0]}/{each.name}")
            yield unlike(each.name, each.stored, other.stored, place, path)

"""Find the samples in HDF5 files: groups, at any depth, with the same fields as a prototype.

LBANN's own generator silently drops a group whose fields differ from the prototype's in size or
type (generate_schema_and_sample_list.cpp); here such a group is a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.grammars.lbann.schema import METADATA
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.lbann.hdf5 import DEEPEST, DataType, File, is_group
from exset.runtime.lbann.hdf5_files import run_in_batches
from exset.runtime.reports.statistics import Spread

_MOST_REASONS = 4
_COMPARED = 64
_FILES_COMPARED = 16
_SAMPLES_COMPARED = 8


@dataclass(frozen=True)
class Prototype:
    """The structure of a sample: its fields in file order, and the names directly below it."""

    sample: str
    fields: Mapping[str, DataType]
    names: frozenset[str]

    @property
    def structure(self) -> frozenset[tuple[str, int, str]]:
        """Name, count and dtype of each field: equal for samples that are alike."""
        return frozenset((name, each.count, each.dtype) for name, each in self.fields.items())


@dataclass
class ScanResult:
    """The samples of one file, the groups that are nearly samples, and the spread of each field."""

    samples: list[str] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    """The path of each group that is nearly a sample, and how it differs."""
    spreads: dict[str, Spread] = field(default_factory=dict)


def guess_sample(file: File) -> str:
    """Return the path of a group that is probably a sample.

    The search goes down from the root, always into the first group, and ends at the first group
    that contains a dataset, or groups that differ. Raises FormatError for a file without datasets.
    """
    path, group = "", file.find("")
    while True:
        names = file.names(group, path)
        step = max(1, len(names) // _COMPARED)
        children = [(name, file.find(name, group, path)) for name in names[::step]]
        if any(not is_group(child) for _, child in children):
            break
        inside = [_field_names(file, child, f"{path}/{name}") for name, child in children]
        too_deep = path.count("/") >= DEEPEST  # as in a circle of hard links
        if not children or too_deep or any(each != inside[0] for each in inside):
            break
        path, group = f"{path}/{names[0]}".lstrip("/"), children[0][1]
    if next(file.datasets(group, path), None) is None:
        raise FormatError(
            "the file contains no sample",
            place=Place.of(file.path),
            hint="name a sample with --sample PATH",
            code="hdf5-no-sample",
        )
    if path == "":
        raise FormatError(
            "the file itself looks like one sample",
            place=Place.of(file.path),
            hint="samples are groups: name one with --sample PATH",
            code="hdf5-no-sample",
        )
    return path


def find_prototype(
    paths: Sequence[str],
    findings: Findings,
    *,
    sample: str | None = None,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: int = 1,
) -> Prototype:
    """Return the structure of the samples in some files.

    sample: the path of the prototype in the first file that has it. By default, exset compares some
    samples of some files, and takes the most frequent structure, so that one unusual sample does
    not reject all others. Raises the FormatError or OSError of the first file if no file has a
    sample.
    """
    work = partial(_candidates, sample=sample, access=access, limits=limits)
    step = 1 if sample is not None else -(-len(paths) // _FILES_COMPARED)
    first: FormatError | OSError | None = None
    found: list[tuple[Prototype, Findings]] = []
    for part in (paths[::step], paths if step > 1 else ()):
        for outcome in run_in_batches(work, part, jobs=jobs if sample is None else 1):
            found += outcome.value or ()
            first = first or outcome.error
            if found and (sample is not None or part is paths):
                break
        if found:
            break
    else:
        raise first or ValueError("paths must not be empty")
    counts = Counter(prototype.structure for prototype, _ in found)
    [(most, _)] = counts.most_common(1)
    chosen, reserved = next(pair for pair in found if pair[0].structure == most)
    for finding in reserved:
        findings.add(finding)
    return chosen


def _candidates(
    path: str, sample: str | None, access: Access, limits: Limits
) -> list[tuple[Prototype, Findings]]:
    """Return the structures of some samples of a file, with the findings of each."""
    with File(path, access, limits) as file:
        first = guess_sample(file) if sample is None else sample
        found = [_candidate(file, first)]
        if sample is not None:
            return found
        parent = first.rpartition("/")[0]
        names = file.names(file.find(parent), parent)
        for name in names[:: -(-len(names) // _SAMPLES_COMPARED)]:
            other = f"{parent}/{name}".lstrip("/")
            with suppress(FormatError):
                found += [_candidate(file, other)] if other != first else []
        return found


def _candidate(file: File, sample: str) -> tuple[Prototype, Findings]:
    findings = Findings()
    return prototype_of(file, sample, findings), findings


def _field_names(file: File, group: Any, path: str) -> frozenset[str]:
    return frozenset(name for name, _ in file.datasets(group, path))


def _fields(file: File, group: Any, path: str) -> dict[str, DataType]:
    return {
        name: file.data_type(each, f"{path}/{name}") for name, each in file.datasets(group, path)
    }


def prototype_of(file: File, sample: str, findings: Findings) -> Prototype:
    """Return the structure of a sample; FormatError if it is no group, or has no fields."""
    group = file.find(sample)
    if group is None or not is_group(group):
        raise FormatError(
            "the file has no such group",
            place=Place(file.path, field=sample),
            hint="a sample is a group; write its path from the root of the file",
            code="hdf5-no-sample",
        )
    fields = _fields(file, group, sample)
    for name in [name for name in fields if METADATA in name.split("/")]:
        message = f"no schema can name the field {name}, because {METADATA} is reserved: skipped"
        place = Place(file.path, field=f"{sample}/{name}")
        findings.add(Finding("schema-reserved", Severity.WARNING, message, place))
        del fields[name]
    if not fields:
        raise FormatError(
            "the sample has no fields",
            place=Place(file.path, field=sample),
            code="hdf5-no-sample",
        )
    return Prototype(sample.strip("/"), fields, frozenset(file.names(group, sample)))


def scan(
    path: str,
    prototype: Prototype,
    *,
    spread: bool = False,
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
) -> ScanResult:
    """Find the samples of one file, depth first; samples inside samples are ignored.

    spread: read all numbers and collect their spread. Raises FormatError and OSError.
    """
    result = ScanResult()
    with File(path, access, limits) as file:
        for where, group in groups(
            file, lambda _, names: not prototype.names.isdisjoint(names), limits
        ):
            _compare(file, where, group, prototype, spread, result)
    return result


def groups(
    file: File, matches: Callable[[str, Sequence[str]], bool], limits: Limits = DEFAULT
) -> Iterator[tuple[str, Any]]:
    """Yield the groups that match, depth first, with their paths, but none inside another.

    matches: called with the path of a group and the names in it. Raises FormatError for groups
    that are nested too deep, as in a cycle of hard links, and LimitError for too many groups.
    """
    stack = [("", file.find(""))]
    left = limits.max_nodes
    while stack:
        where, group = stack.pop()
        left -= 1
        if left < 0:
            raise LimitError(
                f"the file has more than {limits.max_nodes:,} groups",
                place=Place.of(file.path),
                hint=limit_hint("max_nodes"),
            )
        if where.count("/") > DEEPEST:
            raise FormatError(
                f"groups are nested more than {DEEPEST} deep, or form a cycle",
                place=Place(file.path, field=f"{where[:40]}..."),
                code="hdf5",
            )
        names = file.names(group, where)
        if where and matches(where, names):
            yield where, group
            continue
        for name in reversed(names):
            child = file.find(name, group, where)
            if child is not None and is_group(child):
                stack.append((f"{where}/{name}" if where else name, child))


def _compare(
    file: File, where: str, group: Any, prototype: Prototype, spread: bool, result: ScanResult
) -> None:
    """Add a group to the samples, or to the rejected groups with the reasons."""
    fields, expected = _fields(file, group, where), prototype.fields
    reasons = [f"it lacks {name}" for name in expected if name not in fields]
    reasons += [f"it also has {n}" for n in fields if n not in expected and METADATA not in n]
    for name, wanted in expected.items():
        other = fields.get(name)
        if other is not None and (other.count, other.dtype) != (wanted.count, wanted.dtype):
            reasons.append(f"{name} is {other}, not {wanted}")
    if reasons:
        hidden = len(reasons) - _MOST_REASONS
        more = f" and {hidden} more" if hidden > 0 else ""
        result.rejected.append((where, "; ".join(reasons[:_MOST_REASONS]) + more))
        return
    result.samples.append(where)
    if not spread:
        return
    for name, wanted in expected.items():
        if wanted.kind == "number" and wanted.count:
            values = np.empty(fields[name].shape, wanted.dtype)
            file.read(file.find(name, group, where), values, f"{where}/{name}")
            result.spreads.setdefault(name, Spread()).add(Spread.of(values))

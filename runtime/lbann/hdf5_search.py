"""Find samples in HDF5 files: groups at any depth that equal a prototype, or match a path pattern.

If a group's fields differ from the prototype's in size or type, LBANN's own generator silently
drops the group (generate_schema_and_sample_list.cpp). exset reports a finding.
"""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exset.core.errors import Finding, Findings, Place, Severity
from exset.core.jobs import Jobs, execution
from exset.core.limits import DEFAULT, Limits
from exset.core.outcome import Outcome
from exset.core.parts import FilePart, divided, whole
from exset.grammars.lbann.schema import METADATA
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.hdf5.file import DataType, File
from exset.runtime.hdf5.objects import is_group
from exset.runtime.lbann.hdf5_files import failure, run_on_files
from exset.runtime.lbann.hdf5_prototype import Prototype, fields_of
from exset.runtime.lbann.hdf5_walk import LARGE, Walk, check_count
from exset.runtime.reports.statistics import Spread

_MOST_REASONS = 4


@dataclass
class SearchResult:
    """The results of the search in one file.

    samples: the paths of the samples. rejected: the groups that are nearly samples, and why they
    are not. spreads: statistics of each field. groups: how many groups the search visited.
    """

    samples: list[str] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    """The path of each group that is nearly a sample, and how it differs."""
    spreads: dict[str, Spread] = field(default_factory=dict)
    groups: int = 0
    """How many groups the search visited."""


@dataclass(frozen=True)
class Search:
    """A search for the samples of a file. Call it with a path.

    prototype: a sample that has the structure of all samples. pattern: without a prototype, a
    sample is a group whose path matches this shell pattern. finite: names of fields that each
    sample must have, and that must not contain NaN. spread: also read all numbers, and collect
    their statistics.
    """

    prototype: Prototype | None = None
    pattern: str | None = None
    finite: tuple[str, ...] = ()
    spread: bool = False
    access: Access = DEFAULT_ACCESS
    limits: Limits = DEFAULT

    @property
    def identity(self) -> str:
        """A text that is the same for equal searches."""
        fields = {} if self.prototype is None else self.prototype.fields
        described = {name: str(each) for name, each in fields.items()}
        return repr((described, self.pattern, self.finite, self.spread))

    def __call__(self, item: str | FilePart) -> SearchResult:
        """Search a file, or a part of it, depth first. Do not search inside samples.

        Raises the errors of `File`.
        """
        result = SearchResult()
        described = self.prototype.fields if self.prototype is not None and self.spread else ()
        with File(os.fspath(item), self.access, self.limits) as file:
            walk = Walk(file, self._is_candidate, self._sought)
            for where, group in walk.found(item if isinstance(item, FilePart) else None):
                fields = self._fields(file, where, group)
                if reason := self._difference(fields) or self._nan(file, where, group, fields):
                    result.rejected.append((where, reason))
                    continue
                result.samples.append(where)
                for name in described:
                    values = _numbers(file, where, group, name, fields)
                    if values.size:
                        result.spreads.setdefault(name, Spread()).add(Spread.of(values))
            result.groups = walk.groups
        return result

    def parts(self, path: str) -> int:
        """Return the number of parts into which a file is divided."""
        with File(path, self.access, self.limits) as file:
            return Walk(file, self._is_candidate, self._sought).parts()

    def joined(self, path: str, results: Sequence[SearchResult]) -> SearchResult:
        """Join the results of the parts of a file. Raises LimitError for too many groups."""
        whole = SearchResult()
        for each in results:
            whole.samples += each.samples
            whole.rejected += each.rejected
            whole.groups += each.groups
            for name, spread in each.spreads.items():
                whole.spreads.setdefault(name, Spread()).add(spread)
        check_count(whole.groups, path, self.limits.max_objects)
        return whole

    @property
    def _sought(self) -> object:
        """What `_is_candidate` depends on."""
        return self.pattern if self.prototype is None else self.prototype.names

    def _is_candidate(self, where: str, names: Sequence[str]) -> bool:
        if self.prototype is None:
            return fnmatchcase(where, self.pattern or "")
        return not self.prototype.names.isdisjoint(names)

    def _fields(self, file: File, where: str, group: Any) -> dict[str, DataType]:
        """Return the types of the fields of a group. where: the path of the group.

        Without a prototype, return only the fields in `finite`.
        """
        if self.prototype is not None:
            return fields_of(file, group, where)
        found = [(name, file.find(name, group, where)) for name in self.finite]
        return {
            name: file.data_type(dataset, f"{where}/{name}")
            for name, dataset in found
            if dataset is not None and not is_group(dataset)
        }

    def _difference(self, fields: dict[str, DataType]) -> str:
        expected = dict.fromkeys(self.finite) if self.prototype is None else self.prototype.fields
        reasons = [f"it lacks {name}" for name in expected if name not in fields]
        reasons += [f"it also has {n}" for n in fields if n not in expected and METADATA not in n]
        for name, type_ in expected.items():
            other = fields.get(name, type_)
            if type_ and other and (other.count, other.dtype) != (type_.count, type_.dtype):
                reasons.append(f"{name} is {other}, not {type_}")
        hidden = len(reasons) - _MOST_REASONS
        more = f" and {hidden} more" if hidden > 0 else ""
        return "; ".join(reasons[:_MOST_REASONS]) + more

    def _nan(self, file: File, where: str, group: Any, fields: dict[str, DataType]) -> str:
        """Return "NAME contains NaN" for the first field in `finite` that has a NaN in this group.

        Return "" if there is no NaN. where: the path of the group. fields: the type of each field.
        """
        for name in self.finite:
            if np.isnan(_numbers(file, where, group, name, fields)).any():
                return f"{name} contains NaN"
        return ""


def _numbers(
    file: File, where: str, group: Any, name: str, fields: dict[str, DataType]
) -> NDArray[Any]:
    """Return the numbers in the field `name` of a group. Return an empty array if the field is
    text.

    where: the path of the group. fields: the type of each field.
    """
    stored = fields[name]
    if stored.kind == "text":
        return np.empty(0)
    values = np.empty(stored.shape, stored.dtype)
    if values.size:
        file.read(file.find(name, group, where), values, f"{where}/{name}")
    return values


def run_search(
    search: Search, paths: Sequence[str], *, jobs: Jobs = 1
) -> Generator[Outcome[str, SearchResult], None, None]:
    """Search files with `run_on_files`, and yield the outcome of each file. Divide large files into
    parts.
    """
    how = execution(jobs)
    counts = how.known_parts(paths) or _counts(search, paths, how.first_pass)
    units: Sequence[str | FilePart] = divided(paths, counts, FilePart.of_file)
    outcomes = run_on_files(search, units, jobs=how, returns=SearchResult, identity=search.identity)
    yield from whole(outcomes, paths, units, search.joined)


def _counts(search: Search, paths: Sequence[str], jobs: Jobs) -> list[int]:
    """Return for each file the number of parts into which its search is divided."""
    counts = [1] * len(paths)
    large = [rank for rank, path in enumerate(paths) if _size(path) >= LARGE]
    found = run_on_files(search.parts, [paths[rank] for rank in large], jobs=jobs)
    for rank, outcome in zip(large, found, strict=True):
        counts[rank] = outcome.value or 1  # the search itself reports the error
    return counts


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0


def results_of(
    outcomes: Iterable[Outcome[str, SearchResult]], code: str, findings: Findings
) -> Iterator[tuple[str, SearchResult]]:
    """Yield (path, result) for each file that could be read.

    Add a finding for each file that could not be read. Also add a finding with the code `code` for
    each rejected group.
    """
    for outcome in outcomes:
        if outcome.value is None:
            findings.add(failure(outcome.item, outcome.error))
            continue
        for group, reason in outcome.value.rejected:
            place = Place(outcome.item, field=group)
            message = f"this group is not a sample: {reason}"
            findings.add(Finding(code, Severity.WARNING, message, place))
        yield outcome.item, outcome.value

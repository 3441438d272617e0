"""Build a sample list from HDF5 files."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.jobs import Jobs
from exset.core.limits import DEFAULT, Limits
from exset.core.outcome import Outcome
from exset.grammars.lbann.list_files import BLANKS
from exset.grammars.lbann.list_files import File as Record
from exset.grammars.lbann.list_types import Kind
from exset.grammars.lbann.sample_list import SampleList
from exset.grammars.lbann.units import joined
from exset.io.access import DEFAULT_ACCESS, Access
from exset.runtime.lbann.hdf5_prototype import find_prototype
from exset.runtime.lbann.hdf5_search import Search, SearchResult, results_of

_NAMES_SHOWN = 12
_ROWS = 4096
_REJECTED = "list-odd-sample"


def search_for(
    paths: Sequence[str],
    findings: Findings,
    *,
    sample: str | None = None,
    pattern: str | None = None,
    finite: Sequence[str] = (),
    access: Access = DEFAULT_ACCESS,
    limits: Limits = DEFAULT,
    jobs: Jobs = 1,
) -> Search:
    """Return a search for a path pattern, or for samples with the structure of a prototype.

    sample: the path of the prototype; by default, a sample with the most frequent structure. If no
    file has a sample, raises the FormatError or OSError of the first file. Raises FormatError for a
    prototype that lacks a field of `finite`.
    """
    if pattern is not None:
        return Search(None, pattern, tuple(finite), access=access, limits=limits)
    prototype = find_prototype(
        paths, findings, sample=sample, access=access, limits=limits, jobs=jobs
    )
    if lacking := [name for name in finite if name not in prototype.fields]:
        message = f"samples like {prototype.sample} have no field {lacking[0]}"
        hint = f"their fields are {', '.join([*prototype.fields][:_NAMES_SHOWN])}"
        raise FormatError(message, hint=hint, code="hdf5-no-field")
    return Search(prototype, None, tuple(finite), access=access, limits=limits)


def built(
    paths: Sequence[str],
    outcomes: Iterable[Outcome[str, SearchResult]],
    findings: Findings,
    *,
    directory: str | None = None,
) -> SampleList:
    """Return the CONDUIT_HDF5_INCLUSION list of the samples that searches found.

    outcomes: the results of the files `paths`; a result is freed once it is in the list. Rejected
    groups become findings. directory: the base directory, by default the longest that all files
    share. Raises FormatError if there are no samples.
    """
    if directory is None:
        folders = {os.path.dirname(path) or "." for path in paths}
        directory = os.path.commonpath(folders) if folders else "."
    chunks = _chunks(outcomes, findings, directory)
    if (first := next(chunks, None)) is not None:
        return joined(chain((first,), chunks))
    hint = "name a sample with <--sample PATH or sample=PATH>, or match the paths of all"
    hint += " samples with <--pattern 'RUN_ID/*' or pattern='RUN_ID/*'>"
    if findings.count(_REJECTED):
        hint = "the warnings say why exset rejected each group"
    raise FormatError("exset found no samples in the files", hint=hint, code="list-empty")


def _chunks(
    outcomes: Iterable[Outcome[str, SearchResult]], findings: Findings, directory: str
) -> Iterator[SampleList]:
    """Yield the list in chunks of some files each.

    This needs less memory, because a list is much smaller than the results of the searches.
    """
    rows = _rows(outcomes, findings, directory)
    while some := [*islice(rows, _ROWS)]:
        yield SampleList.of(Kind.CONDUIT_HDF5_INCLUSION, directory or ".", some)


def _rows(
    outcomes: Iterable[Outcome[str, SearchResult]], findings: Findings, directory: str
) -> Iterator[Record]:
    for path, result in results_of(outcomes, _REJECTED, findings):
        name = os.path.relpath(path, directory)
        if is_skipped("file", name, Place(path), findings):
            continue
        ids = [
            sample
            for sample in result.samples
            if not is_skipped("sample", sample, Place(path, field=sample), findings)
        ]
        if ids:
            yield Record(name, ids, len(result.rejected))


def is_skipped(what: str, name: str, place: Place, findings: Findings) -> bool:
    """Return whether to skip a file or sample because its name contains white space.

    If so, add a finding. what: "file" or "sample".
    """
    if BLANKS.isdisjoint(name):
        return False
    message = f"a list cannot name this {what}, because its path contains a space: exset skips it"
    findings.add(Finding("lbann-blank", Severity.WARNING, message, place))
    return True

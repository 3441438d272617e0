"""Search HDF5 files with a journal, so that an interrupted search resumes where it stopped.

A journal is a text file of JSON lines: the search, then the result of each file.
"""

import json
import os
from collections.abc import Generator, Sequence
from dataclasses import asdict

from exset.core.errors import FormatError, Place
from exset.core.jobs import Jobs
from exset.core.outcome import Outcome
from exset.runtime.lbann.hdf5_files import run_on_files
from exset.runtime.lbann.hdf5_search import Search, SearchResult


def searched(
    search: Search, paths: Sequence[str], *, jobs: Jobs = 1, journal: str | None = None
) -> Generator[Outcome[str, SearchResult], None, None]:
    """Yield the result of each file, in order.

    journal: a file that keeps results; files that have not changed since are not searched again.
    """
    if journal is None:
        yield from run_on_files(search, paths, jobs=jobs)
        return
    kept = _read_journal(journal, search)
    stamps = {path: _stamp(path) for path in paths}
    left = [path for path in paths if path not in kept or kept[path][0] != stamps[path]]
    fresh = run_on_files(search, left, jobs=jobs)
    with open(journal, "a", buffering=1, encoding="ascii") as file:  # writes line by line
        if file.tell() == 0:
            file.write(_header(search) + "\n")
        else:
            file.write("\n")  # the last line may be incomplete
        waiting = set(left)
        for path in paths:
            if path not in waiting:
                yield Outcome(path, kept[path][1])
                continue
            outcome = next(fresh)
            if outcome.value is not None:
                row = {"path": path, "stamp": stamps[path], **asdict(outcome.value)}
                file.write(json.dumps(row) + "\n")
            yield outcome


def _read_journal(path: str, search: Search) -> dict[str, tuple[list[int], SearchResult]]:
    """Return the stamp and the result of each file; incomplete lines are ignored.

    Raises FormatError for the journal of another search.
    """
    kept: dict[str, tuple[list[int], SearchResult]] = {}
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            lines = list(filter(None, file.read().splitlines()))
    except FileNotFoundError:
        return kept
    if lines and lines[0] != _header(search):
        message = "the file is not a journal of this search"
        hint = "name another file, or delete this one"
        raise FormatError(message, place=Place(path), hint=hint, code="list-journal")
    for line in lines[1:]:
        try:
            row = json.loads(line)
            rejected = [(str(sample), str(reason)) for sample, reason in row["rejected"]]
            result = SearchResult([str(sample) for sample in row["samples"]], rejected)
            kept[str(row["path"])] = [int(each) for each in row["stamp"]], result
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return kept


def _header(search: Search) -> str:
    """Return the first line of a journal, which is the same for equal searches."""
    prototype = search.prototype
    fields = "" if prototype is None else {n: str(f) for n, f in prototype.fields.items()}
    return json.dumps({"search": repr((fields, search.pattern, search.finite))})


def _stamp(path: str) -> list[int]:
    try:
        status = os.stat(path)
    except OSError:
        return [0, 0]
    return [status.st_size, status.st_mtime_ns]

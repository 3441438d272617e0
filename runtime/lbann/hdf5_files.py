"""Find HDF5 files, and run a task on many of them."""

import errno
import os
from collections.abc import Callable, Generator, Sequence
from functools import partial

from exset.core.errors import Finding, FormatError, Place, Severity
from exset.core.jobs import Item, Outcome, Value, cores, run
from exset.grammars.lbann.list_files import HDF5_SUFFIXES
from exset.io.access import is_folder, raise_error

_LARGEST_BATCH = 32


def files_in(paths: Sequence[str]) -> list[str]:
    """Return the files in `paths`, and all files with an HDF5 suffix in the folders in `paths`.

    Raises FormatError if there is none, and OSError for a folder that cannot be read.
    """
    found: dict[str, None] = {}
    for path in paths:
        if path == "-":
            raise OSError(errno.ESPIPE, "HDF5 files cannot be read from standard input", path)
        try:
            is_file = not is_folder(path)
        except OSError:  # the error is reported when the file is read
            is_file = True
        if is_file:
            found[path] = None
            continue
        inside = [
            os.path.join(folder, name)
            for folder, _, names in os.walk(path, onerror=raise_error)
            for name in names
            if name.lower().endswith(HDF5_SUFFIXES)
        ]
        found.update(dict.fromkeys(sorted(inside)))
    if not found:
        raise FormatError(
            "the folder contains no HDF5 files",
            place=Place(paths[0]) if paths else None,
            hint=f"exset looks for the suffixes {', '.join(HDF5_SUFFIXES)}; name other files"
            " one by one",
            code="hdf5-no-files",
        )
    return list(found)


def failure(path: str, error: FormatError | OSError | None) -> Finding:
    """Return the finding for a file that could not be read."""
    if isinstance(error, FormatError):
        return error.finding
    place = Place(path)
    if isinstance(error, ChildProcessError):
        message = "the HDF5 library crashed on this file: it is damaged, or hostile"
        return Finding("hdf5-crash", Severity.ERROR, message, place, "remove the file")
    if isinstance(error, FileNotFoundError):
        return Finding("hdf5-file", Severity.ERROR, "the file does not exist", place)
    message = "unknown error" if error is None else error.strerror or str(error)
    return Finding("hdf5-file", Severity.ERROR, f"the file cannot be read: {message}", place)


class _Batch(tuple[Item, ...]):
    """Some files, for one task; its path is that of the first file."""

    def __fspath__(self) -> str:
        return os.fsdecode(self[0])


def run_in_batches(
    work: Callable[[Item], Value], items: Sequence[Item], *, jobs: int = 1
) -> Generator[Outcome[Item, Value], None, None]:
    """Run `work` on every file as `exset.core.jobs.run` does, and yield the outcomes in order.

    A process gets several files at a time, because for a small file communication takes as long as
    reading. If a process dies, its files run again one by one, to find the file with the crash.
    """
    size = min(len(items) // (4 * (jobs or cores())), _LARGEST_BATCH)
    if jobs == 1 or size < 2:
        yield from run(work, items, jobs=jobs)
        return
    batches = [_Batch(items[at : at + size]) for at in range(0, len(items), size)]
    for outcome in run(partial(_run_batch, work), batches, jobs=jobs):
        if outcome.value is not None:
            yield from outcome.value
        elif isinstance(outcome.error, ChildProcessError):
            yield from run(work, outcome.item, jobs=max(jobs, 2))
        else:
            yield from (Outcome(item, error=outcome.error) for item in outcome.item)


def _run_batch(work: Callable[[Item], Value], batch: _Batch[Item]) -> list[Outcome[Item, Value]]:
    return list(run(work, batch))

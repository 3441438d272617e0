"""Find HDF5 files, and run a task on many of them."""

import errno
import os
from collections.abc import Callable, Generator, Iterator, Sequence

from exset.core.errors import Finding, FormatError, Place, Severity
from exset.core.isolation import is_allowed
from exset.core.jobs import Jobs, execution, run
from exset.core.outcome import Item, Outcome, Value
from exset.grammars.lbann.list_files import HDF5_SUFFIXES
from exset.io.access import is_folder, raise_error
from exset.io.many_paths import Paths


def files_in(paths: Sequence[str]) -> Paths:
    """Return the files in `paths`. For each folder in `paths`, return all files in it with an HDF5
    suffix.

    Raises FormatError if there is no file, and OSError for a folder that cannot be read.
    """
    found = Paths(_found(paths)).distinct()
    if not found:
        raise FormatError(
            "the folder contains no HDF5 files",
            place=Place(paths[0]) if paths else None,
            hint=f"exset looks for the suffixes {', '.join(HDF5_SUFFIXES)}; name other files"
            " one by one",
            code="hdf5-no-files",
        )
    return found


def _found(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if path == "-":
            raise OSError(errno.ESPIPE, "HDF5 files cannot be read from standard input", path)
        try:
            is_file = not is_folder(path)
        except OSError:  # the error is reported when the file is read
            is_file = True
        if is_file:
            yield path
            continue
        inside = [
            os.path.join(folder, name)
            for folder, _, names in os.walk(path, onerror=raise_error)
            for name in names
            if name.lower().endswith(HDF5_SUFFIXES)
        ]
        inside.sort()
        yield from inside


def failure(path: str, error: FormatError | OSError | None) -> Finding:
    """Return the finding for a file that could not be read.

    error: the reason, None if it is unknown.
    """
    if isinstance(error, FormatError):
        return error.finding
    place = Place(path)
    if isinstance(error, ChildProcessError):
        message = "the HDF5 library crashed on this file: it is damaged, or hostile"
        return Finding("hdf5-crash", Severity.ERROR, message, place, "remove the file")
    if isinstance(error, TimeoutError):
        message = f"{error.strerror}: it is damaged, hostile, or on a slow disk"
        hint = "remove the file; or use <--jobs 2 or jobs=2>, which sets no time limit"
        return Finding("hdf5-timeout", Severity.ERROR, message, place, hint)
    if isinstance(error, FileNotFoundError):
        return Finding("hdf5-file", Severity.ERROR, "the file does not exist", place)
    message = "unknown error" if error is None else error.strerror or str(error)
    return Finding("hdf5-file", Severity.ERROR, f"the file cannot be read: {message}", place)


def run_on_files(
    work: Callable[[Item], Value],
    items: Sequence[Item],
    *,
    jobs: Jobs = 1,
    returns: object = None,
    identity: str = "",
    limited: bool = True,
) -> Generator[Outcome[Item, Value], None, None]:
    """Run `work` on HDF5 files as `exset.core.jobs.run` does, and yield the outcomes in order.

    With several processes, or in isolation, this process itself reads no file, because the HDF5
    library may crash. returns, identity, limited: as in `run`.
    """
    how = execution(jobs)
    isolated = how.workers > 1 or (how.isolated and is_allowed())
    yield from run(
        work,
        items,
        jobs=how,
        isolated=isolated,
        limited=limited,
        returns=returns,
        identity=identity,
    )

"""HDF5 files among others: those in folders, and why one of them cannot be looked at."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from exset.core.errors import Finding, FormatError, Place, Severity
from exset.grammars.lbann.list_files import HDF5_SUFFIXES


def files_in(paths: Sequence[str]) -> list[str]:
    """The files among some paths, and those of HDF5 suffixes in the folders, at any depth.

    FormatError if there is none.
    """
    found: dict[str, None] = {}
    for path in paths:
        if path == "-":
            raise OSError(errno.ESPIPE, "HDF5 files are not read from standard input", path)
        if not os.path.isdir(path):
            found[path] = None
            continue
        inside = [
            os.path.join(folder, name)
            for folder, _, names in os.walk(path)
            for name in names
            if name.lower().endswith(HDF5_SUFFIXES)
        ]
        found.update(dict.fromkeys(sorted(inside)))
    if not found:
        raise FormatError(
            "there are no HDF5 files in it",
            place=Place.of(paths[0]) if paths else None,
            hint=f"from folders those are taken that end in {', '.join(HDF5_SUFFIXES)}:"
            " name others one by one",
            code="hdf5-no-files",
        )
    return list(found)


def failure(path: str, error: FormatError | OSError | None) -> Finding:
    """Why a file could not be looked at, as a finding."""
    if isinstance(error, FormatError):
        return error.finding
    place = Place.of(path)
    if isinstance(error, ChildProcessError):
        message = "HDF5 crashed on it: the file is broken, or made to do harm"
        return Finding("hdf5-crash", Severity.ERROR, message, place, "leave it out")
    if isinstance(error, FileNotFoundError):
        return Finding("hdf5-file", Severity.ERROR, "there is no such file", place)
    message = "nobody knows why" if error is None else error.strerror or str(error)
    return Finding("hdf5-file", Severity.ERROR, f"it cannot be read: {message}", place)

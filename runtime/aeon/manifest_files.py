"""Read and check the files that a manifest names, as aeon finds them."""

import os
import stat
from collections.abc import Iterator
from typing import Final

from exset.core.errors import Findings, LimitError, Place
from exset.core.limits import DEFAULT, Limits, limit_hint
from exset.core.text import counted, safe
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.io.access import DEFAULT_ACCESS, Access, is_inside

HUGE: Final = 1 << 31
"""The size of a file, in bytes, from which the dialect `head` reads zeros."""


def check_files(
    manifest: Manifest,
    findings: Findings,
    *,
    name: str = "manifest",
    base: str = "",
    access: Access = DEFAULT_ACCESS,
    jobs: int = 1,
    limits: Limits = DEFAULT,
) -> None:
    """Add a finding for each file that aeon cannot find, or does not read correctly.

    name: the manifest in messages. base: aeon's manifest_root; by default, paths are relative to
    the current folder. access: its roots are the folders that must contain all files. Only the
    status of files is read, so `jobs` and `limits` are not used.
    """
    for record, column, path in _named(manifest, os.fsencode(base)):
        line = int(manifest.lines[record])
        place = Place(name, line=line or None, field=f"[{record}][{column}]")
        if is_inside(os.fsdecode(path), access.roots):
            code, hint = _problem(path, manifest.dialect)
        else:
            code, hint = "aeon-file-outside", ""
        if code:
            findings.add(finding_at(code, place, path=safe(os.fsdecode(path)), hint=hint))


def _named(manifest: Manifest, base: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield each file once: the first record and column that name the file, and its path."""
    seen: set[bytes] = set()
    for column in manifest.columns(ElementType.FILE):
        for record, field in enumerate(manifest.column(column)):
            path = path_of(joined(base, field or b""))
            if field and path not in seen:
                seen.add(path)
                yield record, column, path


def _problem(path: bytes, dialect: Dialect) -> tuple[str, str]:
    """Return the code of a file's finding and advice; empty texts if there is no problem."""
    try:
        status = os.stat(path)
    except OSError as error:
        if path.endswith(b"\r") and os.path.exists(path[:-1]):
            return "aeon-file-missing", (
                "the file exists without the carriage return at the end of this name: save the"
                " manifest with Unix line ends, as dos2unix does"
            )
        why = safe(error.strerror or str(error))
        return (
            "aeon-file-missing",
            f"{why}; paths are relative to manifest_root, <--base FOLDER or base=FOLDER>",
        )
    if stat.S_ISDIR(status.st_mode):
        return "aeon-file-folder", ""
    if not stat.S_ISREG(status.st_mode):
        return "aeon-file-irregular", ""
    if not os.access(path, os.R_OK):
        return "aeon-file-closed", ""
    if status.st_size == 0:
        return "aeon-file-empty", ""
    if status.st_size >= HUGE and dialect is Dialect.HEAD:
        return "aeon-file-huge", ""
    return "", ""


def path_of(field: bytes) -> bytes:
    """Return the path that aeon opens: it ends at a NUL, as in all C programs."""
    return field.partition(b"\0")[0]


def size_of(path: bytes, dialect: Dialect) -> int:
    """Return the size of a file. Raises OSError if aeon fails, hangs or reads other bytes."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise OSError(f"it is {what}, on which aeon hangs")
    if status.st_size >= HUGE and dialect is Dialect.HEAD:
        raise OSError("it has 2 GiB or more, and aeon reads only zeros")
    return status.st_size


def read_file(path: bytes, dialect: Dialect, max_bytes: int | None) -> bytes:
    """Read a file. Raises the OSError of `size_of`, and LimitError for more than `max_bytes`."""
    size = size_of(path, dialect)
    if max_bytes is not None and size > max_bytes:
        raise LimitError(
            f"{safe(os.fsdecode(path))} has {counted(size, 'byte')}, but only"
            f" {max_bytes:,} are left",
            hint=f"take fewer records at a time; or {limit_hint('max_array')}",
        )
    with open(path, "rb") as file:
        return file.read(size)

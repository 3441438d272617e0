"""Find, read and check the files that a manifest names, as aeon finds them."""

import os
import stat
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from exset.core.errors import Finding, Findings, LimitError, Place
from exset.core.limits import limit_hint
from exset.core.protocols import CheckOptions
from exset.core.text import counted, safe
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.io.beneath import OutsideError, read_regular, status
from exset.runtime.aeon.missing_files import Folder, Mistake

HUGE: Final = 1 << 31
"""aeon of the dialect `head` reads a file of this size, in bytes, or more as zeros."""


def check_files(manifest: Manifest, findings: Findings, options: CheckOptions, /) -> None:
    """Add a finding for each file that aeon cannot find, or does not read correctly.

    `options.base` is aeon's manifest_root. The contents of the files are not read.
    """
    base = Folder(os.fsencode(options.base), options.access)
    check_named(manifest, findings, options.name, base)


def check_named(manifest: Manifest, findings: Findings, name: str, base: Folder) -> None:
    """Add the findings of `check_files`. name: the manifest's name in messages.

    base: the folder in which relative paths start.
    """
    missing: dict[tuple[str, bool], list[_Missing]] = {}
    count = 0
    for file in _named(manifest, name, base.path):
        count += 1
        code, why = _problem(file.path, manifest.dialect, base.access.roots)
        if code == "aeon-file-missing":
            mistake = base.mistake(file.field)
            missing.setdefault((mistake.advice, file.is_absolute), []).append((file, mistake))
        elif code:
            words = {"path": safe(os.fsdecode(file.path)), "why": why}
            findings.add(finding_at(code, file.place, **words))
    for files in missing.values():
        _report(files, count, base, name, findings)


def _report(
    files: "Sequence[_Missing]", count: int, base: Folder, name: str, findings: Findings
) -> None:
    """Report missing files whose paths have the same likely mistake.

    count: the number of all files that the manifest names. If `files` are most of them, one finding
    reports all of `files`.
    """
    (first, mistake), are_most = files[0], 2 * len(files) > count
    hint = base.hint(first.field, source=name) if are_most else str(mistake)
    if are_most and count > 1:
        share = f"{len(files):,} of the {count:,} files do not exist"
        words = {
            "share": f"none of the {count:,} files exists" if len(files) == count else share,
            "where": "" if first.is_absolute else f" in {base}",
            "path": safe(os.fsdecode(first.field)),
        }
        findings.add(finding_at("aeon-files-missing", first.place, **words, hint=hint))
        return

    def finding(missing: "_Missing") -> Finding:
        file, mistake = missing
        advice = hint if file is first else mistake.correction  # the same advice is given once
        path = safe(os.fsdecode(file.path))
        return finding_at("aeon-file-missing", file.place, path=path, hint=advice)

    findings.add_each(files, finding)


class _File(NamedTuple):
    """A file that a manifest names. place, field: of the first field with this path. path: what
    aeon opens.
    """

    place: Place
    field: bytes
    path: bytes

    @property
    def is_absolute(self) -> bool:
        return self.field.startswith(b"/")


_Missing: TypeAlias = tuple[_File, Mistake]
"""A file that does not exist, and the likely mistake in its path."""


def _named(manifest: Manifest, name: str, base: bytes) -> Iterator[_File]:
    """Yield each file that the manifest names. A file that several fields name is yielded once,
    with the first of these fields.
    """
    seen: set[bytes] = set()
    for column in manifest.columns(ElementType.FILE):
        for record, raw in enumerate(manifest.column(column)):
            field = path_of(raw or b"")
            path = joined(base, field)
            if raw and path not in seen:
                seen.add(path)
                line = int(manifest.lines[record]) or None
                place = Place(name, line=line, field=f"[{record}][{column}]")
                yield _File(place, field, path)


def _problem(path: bytes, dialect: Dialect, roots: tuple[str, ...]) -> tuple[str, str]:
    """Return why aeon cannot read a file: the code of the finding, and the system's error as text.

    The code is "" if aeon can read the file. The text is "" if the system gives no error. dialect:
    the version of aeon. roots: the folders that must contain the file.
    """
    try:
        found = status(path, roots)
    except OutsideError:
        return "aeon-file-outside", ""
    except (FileNotFoundError, NotADirectoryError):
        return "aeon-file-missing", ""
    except PermissionError:
        return "aeon-file-closed", ""
    except OSError as error:
        return "aeon-file", safe(error.strerror or str(error))
    if stat.S_ISDIR(found.st_mode):
        return "aeon-file-folder", ""
    if not stat.S_ISREG(found.st_mode):
        return "aeon-file-irregular", ""
    if not (roots or os.access(path, os.R_OK)):
        return "aeon-file-closed", ""
    if found.st_size == 0:
        return "aeon-file-empty", ""
    if found.st_size >= HUGE and dialect is Dialect.HEAD:
        return "aeon-file-huge", ""
    return "", ""


def path_of(field: bytes) -> bytes:
    """Return the path that aeon opens: the bytes of a field up to the first NUL, as in all C
    programs.
    """
    return field.partition(b"\0")[0]


def size_of(path: bytes, dialect: Dialect, roots: tuple[str, ...] = ()) -> int:
    """Return the size of a file that a manifest of this dialect names.

    roots: as in `exset.io.beneath`. Raises OSError if aeon fails on the file, hangs, or reads wrong
    bytes. Raises OutsideError for a file outside the roots.
    """
    return _checked_size(status(path, roots), dialect)


def read_file(
    path: bytes, dialect: Dialect, max_bytes: int | None, roots: tuple[str, ...] = ()
) -> bytes:
    """Read a file. Raises the OSError of `size_of`, and LimitError for more than `max_bytes`."""

    def size_within(found: os.stat_result) -> int:
        size = _checked_size(found, dialect)
        if max_bytes is not None and size > max_bytes:
            raise LimitError(
                f"{safe(os.fsdecode(path))} has {counted(size, 'byte')}, but the limit leaves"
                f" room for only {max_bytes:,}",
                hint=f"take fewer records at a time; or {limit_hint('max_batch')}",
            )
        return size

    return read_regular(path, size_within, roots)


def _checked_size(found: os.stat_result, dialect: Dialect) -> int:
    """Return a file's size, from the file's status.

    Raises OSError if aeon cannot read such a file.
    """
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file"
        raise OSError(f"this is {what}, on which aeon hangs")
    if found.st_size >= HUGE and dialect is Dialect.HEAD:
        raise OSError("the file has 2 GiB or more, so aeon reads only zeros")
    return found.st_size

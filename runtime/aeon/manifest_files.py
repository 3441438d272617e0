"""Manifests and the files that they name: what aeon would find there."""

import os
import stat
from collections.abc import Iterator

from exset.core.errors import Findings, Place, safe
from exset.core.limits import DEFAULT, Limits
from exset.grammars.aeon.manifest import Manifest, joined
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.io.access import USUAL, Access, lies_in
from exset.runtime.aeon.elements import HUGE, path_of


def check_files(
    manifest: Manifest,
    findings: Findings,
    *,
    name: str = "manifest",
    base: str = "",
    access: Access = USUAL,
    jobs: int = 1,
    limits: Limits = DEFAULT,
) -> None:
    """Add a finding for each file that aeon would not find, or not as it is; name: the manifest's.

    base: aeon's manifest_root; without it names count from the current folder. access: its roots
    are the folders that all files must lie in. Files are looked at, by their status alone, and
    not read, so neither `jobs` nor `limits` matter.
    """
    for record, column, path in _named(manifest, os.fsencode(base)):
        line = int(manifest.lines[record])
        place = Place(name, line=line or None, field=f"[{record}][{column}]")
        if lies_in(os.fsdecode(path), access.roots):
            code, hint = _trouble(path, manifest.dialect)
        else:
            code, hint = "aeon-file-outside", ""
        if code:
            findings.add(finding_at(code, place, path=safe(os.fsdecode(path)), hint=hint))


def _named(manifest: Manifest, root: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Where each file is first named: record, column, path."""
    seen: set[bytes] = set()
    for column in manifest.columns(ElementType.FILE):
        for record, field in enumerate(manifest.column(column)):
            path = path_of(joined(root, field or b""))
            if field and path not in seen:
                seen.add(path)
                yield record, column, path


def _trouble(path: bytes, dialect: Dialect) -> tuple[str, str]:
    """The trap that a file is, or none, and what may help."""
    try:
        status = os.stat(path)
    except OSError as error:
        if path.endswith(b"\r") and os.path.exists(path[:-1]):
            return "aeon-file-missing", (
                "the name ends in a carriage return, and without it there is such a file: save the"
                " manifest with Unix line ends, as dos2unix does"
            )
        why = safe(error.strerror or str(error))
        return "aeon-file-missing", f"{why}; names count from manifest_root (--base FOLDER)"
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

"""Turn the findings of checked files into the rows of a report."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import exset
from exset.core.errors import STOPPED, Finding, Findings, Severity
from exset.core.text import counted, safe
from exset.reports import rows
from exset.reports.rows import Row, Run

_SEVERITIES: Final[dict[Severity, rows.Severity]] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}


@dataclass(frozen=True)
class CheckedFile:
    """A file that was checked: its findings, and whether it failed the check.

    `error`: why the file could not be checked at all, for example because it is missing.
    """

    path: str
    findings: Findings
    failed: bool
    error: Finding | None = None


def files_run(files: Sequence[CheckedFile]) -> Run:
    """Return a run with a row for each file. The messages of a row are its file's findings."""
    return _run(files, [_file_row(file) for file in files])


def findings_run(files: Sequence[CheckedFile]) -> Run:
    """Return a run with a row for each finding."""
    return _run(files, [row for file in files for row in _finding_rows(file)])


def fingerprint(finding: Finding) -> str:
    """Return 16 hexadecimal digits that stay the same if the finding moves to another line."""
    place = finding.place
    where = "" if place is None else place.text or place.field or ""
    parts = (finding.code, finding.message, where.strip())
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def _run(files: Sequence[CheckedFile], rows: Sequence[Row]) -> Run:
    failed = sum(file.failed for file in files)
    summary = f"{counted(len(files), 'file')}, {failed:,} not valid"
    return Run("exset validate", exset.__version__, summary, rows)


def _file_row(file: CheckedFile) -> Row:
    messages = [str(finding.for_command_line()) for finding in file.findings]
    if file.error is not None:
        messages.append(str(file.error))
    return Row(
        name=safe(file.path),
        status="error" if file.error else "failed" if file.failed else "passed",
        rule="valid",
        groups=["exset validate"],
        messages=messages + [text for _, text in _more(file.findings)],
        path=file.path,
    )


def _finding_rows(file: CheckedFile) -> Iterator[Row]:
    if file.error is not None:
        yield _row(file, file.error)
    last = {}
    for finding in file.findings:
        last[finding.code] = finding
        yield _row(file, finding)
    for code, text in _more(file.findings):
        severity = _SEVERITIES[last[code].severity] if code in last else "error"
        name = f"{safe(file.path)}: more [{code}]"
        yield Row(name, "failed", code, severity=severity, messages=[text], path=file.path)


def _row(file: CheckedFile, finding: Finding) -> Row:
    place = finding.place
    is_text = place is not None and place.line is not None
    where = f"{safe(place.field)}: " if place is not None and place.field and not is_text else ""
    hint = finding.for_command_line().hint
    message = where + safe(finding.message) + (f"\nhint: {safe(hint)}" if hint else "")
    byte = None if place is None or place.span is None or is_text else place.span.start
    return Row(
        name=safe(file.path) if place is None else str(place),
        status="failed",
        rule=finding.code,
        about=_meaning(finding.code),
        severity=_SEVERITIES[finding.severity],
        messages=[message],
        path=file.path if place is None else place.source,
        line=None if place is None else place.line,
        column=None if place is None else place.column,
        byte=byte,
        fingerprint=fingerprint(finding),
    )


@cache
def _meaning(code: str) -> str:
    """Return the meaning of a finding's code. Return "" for a code of another package."""
    from exset.explain import codes, explain

    return explain(code).means if code in codes() else ""


def _more(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield a code and a text for findings that exset counted but did not keep.

    The text says how many such findings of the code there are.
    """
    for code, count in findings.unkept().items():
        yield code, f"... and {count:,} more"
    if findings.stopped:
        yield "syntax", f"... and more: {STOPPED}"

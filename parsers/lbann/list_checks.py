"""Check that the header of a sample list fits its files; hints for syntax errors."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from exset.core.errors import Findings, FormatError
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.lbann.list_files import Totals
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.parsers.engine.errors import Unexpected, shown
from exset.parsers.engine.recovery import in_order
from exset.parsers.lbann.list_header import Header

_LINE: Final = re.compile(rb"\n[ \t\r\f\v]*+[^ \t\r\n\f\v]")
_TYPES: Mapping[str, str] = MappingProxyType({kind.replace("-", "_"): kind for kind in Kind})


def hint(unexpected: Unexpected) -> str | None:
    """Return a hint for a word that the grammar rejects."""
    before, found, expected = unexpected.before, unexpected.word, unexpected.expected
    if "SINGLE_SAMPLE" in expected:
        meant = get_close_matches(shown(found)[1:-1].upper().replace("-", "_"), _TYPES, 1, 0.5)
        which = f": {_TYPES[meant[0]]}?" if meant else "; comments are not allowed"
        return f"line 1 is the type of the list, in upper or lower case{which}"
    kind = Kind(before.split(None, 1)[0].decode("ascii").upper())
    if expected == {"WORD"}:
        return "line 3 is the base directory: write `.` for the current folder"
    if expected == {"NUMBER"}:
        *lines, line = before.split(b"\n")
        if len(lines) > 1 and not lines[1].strip():
            return "line 2 is empty, but must contain the numbers of samples and files"
        if b"," in line:
            return "separate words by spaces, not by commas"
        if line.lstrip().startswith(b"#"):
            return "a sample list cannot contain comments: remove the line"
        counts = "included samples"
        if kind.has_excluded or kind.is_single:
            counts += ", excluded samples"
        advice = f"write: file, {counts}, ids"
        if before.count(b"\n") == 3 and found in (b"\n", b"") and not kind.has_label_file:
            advice += f"; if the line names a label file, remove it: a {kind} list has none"
        if kind.is_single:
            advice += "; if each line names only a file, use"
            advice += ' <--reader image or reader="image">'
        return advice + "; LBANN hangs on this, or reads uninitialised memory"
    return None


def with_file_count(error: FormatError, header: Header | None, source: Source) -> FormatError:
    """Return the error of a list. If the header also has a wrong number of files, return both
    errors.

    The errors are in the order of the text. A line with a syntax error may be a file or, for
    example, a comment. So the header may count such lines as files, or leave them out.
    """
    if header is None or error.findings.stopped:
        return error
    lines, found = _count_lines(header, source), list(error.findings)
    if lines - error.findings.count(FormatError.default_code) <= header.counts["files"] <= lines:
        return error
    try:
        _check_file_count(header, lines, source)
    except FormatError as wrong:
        found.append(wrong.finding)
    return in_order(found)


def _count_lines(header: Header, source: Source) -> int:
    """Return the number of lines after the header that are not blank, including wrong lines."""
    end = -1
    for _ in range(4 if header.kind.has_label_file else 3):
        end = source.data.find(b"\n", end + 1)
    return sum(1 for _ in _LINE.finditer(source.data, end)) if end >= 0 else 0


def check_counts(header: Header, kind: Kind, files: int, source: Source) -> None:
    """Raise FormatError if the header has a wrong number of files.

    kind: the type that the reader assumes for the list. files: the number of files in the list.
    """
    _check_file_count(header, files, source)
    if kind.is_single and not header.kind.is_single:
        _check_included(header, files, source)


def _check_file_count(header: Header, count: int, source: Source) -> None:
    declared, kind = header.counts["files"], header.kind
    if declared == count:
        return
    hint = f"if no file is missing, write {count:,} as the number of files in the header"
    if kind.has_label_file and count == declared - 1:
        hint = "line 4 names the label file: is it missing?"
    elif not kind.has_label_file and count == declared - 1:
        hint = f"line 3 names the base directory: is it missing? {hint.capitalize()}"
    elif kind is Kind.MULTI_SAMPLE_INCLUSION_V2 and "files" in header.spans:
        hint = f"a {kind} list counts included samples and files, not excluded samples"
    message = f"the header counts {counted(declared, 'file')}, but the list has {count:,}"
    place = header.place("files", source)
    raise FormatError(message, place=place, hint=hint, code="lbann-file-count")


def _check_included(header: Header, count: int, source: Source) -> None:
    """Check the header's number of samples for the image reader, which reads each file as one
    sample.

    count: the number of files in the list.
    """
    declared = header.counts["included"]
    if declared == count:
        return
    samples = counted(declared, "included sample")
    message = f"the header counts {samples}, but the image reader finds {count:,}, one in each file"
    hint = 'if its samples have ids, read the list with <--reader hdf5 or reader="hdf5">'
    place = header.place("included", source)
    raise FormatError(message, place=place, hint=hint, code="lbann-file-count")


def check_totals(
    header: Header, kind: Kind, found: Totals, source: Source, findings: Findings
) -> None:
    """Add a finding for each total of the header that differs from the sum over the files."""
    if kind is not header.kind:  # for this reader, the header has no totals
        return
    for what, real in found._asdict().items():
        said = header.counts.get(what, real)
        if said != real:
            place = header.place(what, source)
            findings.add(finding_at("lbann-totals", place, what=what, declared=said, found=real))

"""The header of a sample list: type, counts, base directory, label file."""

from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.core.source import Span
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lbann.list_tokens import GRAMMAR, KINDS, Words

LINES: Final = ("type", "count", "base directory", "label file")


class Header(NamedTuple):
    """The content of the header. spans: of the counts in line 2."""

    kind: Kind
    counts: dict[str, int]
    spans: dict[str, Span]
    directory: bytes
    label_file: bytes | None


def count_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the counts in line 2, in order."""
    if kind.is_single:
        return ("files",)
    return ("included", "excluded", "files") if kind.has_excluded else ("included", "files")


def header_of(words: Words, stream: ParseStream, findings: Findings) -> Header:
    """Return the header, from the first chunk of a list."""
    terminals = [GRAMMAR.terminals[kind] for kind in words.kinds[:2].tolist()]
    kind = KINDS[terminals[1]]
    ends = stream.tokens_before[: 4 if kind.has_label_file else 3].tolist()
    lines = list(zip([0, *ends[:-1]], ends, strict=True))
    for row, line in enumerate(lines):
        _check_length(words, row, *line)
    type_line, count_line, directory_line = lines[:3]
    _report_ignored(words, *type_line, 2, findings, "the type is one word")
    counts, spans = _counts(words, kind, *count_line, findings)
    start, end = directory_line
    if end > start + 2:
        words.report("lbann-path-cut", np.array([start + 2]), findings)
    label_file = _label_file(words, kind, *lines[3], findings) if kind.has_label_file else None
    return Header(kind, counts, spans, words.raw(start + 1), label_file)


def _counts(
    words: Words, kind: Kind, start: int, end: int, findings: Findings
) -> tuple[dict[str, int], dict[str, Span]]:
    """Return the counts of line 2, and their spans; missing counts are 0."""
    names = count_names(kind)
    is_number = words.is_a("NUMBER")
    found = [word for word in range(start + 1, end) if is_number[word]][: len(names)]
    values, negative = words.counts(np.array(found, np.int64))
    for number in negative.tolist():
        value = int(values[number])
        findings.add(finding_at("lbann-wrapped-count", words.place(found[number]), value=value))
    if len(found) < len(names):
        at = min(start + 1 + len(found), end - 1)
        expected = " ".join(f"<{name}>" for name in names)
        findings.add(finding_at("lbann-no-number", words.place(at), expected=expected))
    else:
        hint = f"a {kind} list counts {', '.join(names)}"
        _report_ignored(words, start, end, 1 + len(names), findings, hint)
    counts = dict.fromkeys(names, 0) | dict(zip(names, values.tolist(), strict=False))
    return counts, {name: words.span(word) for name, word in zip(names, found, strict=False)}


def _label_file(words: Words, kind: Kind, start: int, end: int, findings: Findings) -> bytes:
    """Return the path of the label file in line 4, which may be empty."""
    label_file = words.raw(start + 1) if end > start + 1 else b""
    if end > start + 2:
        findings.add(finding_at("lbann-label-line", words.place(start + 1), kind=kind))
    elif not label_file:
        findings.add(finding_at("lbann-no-label-file", words.place(start)))
    return label_file


def _check_length(words: Words, row: int, start: int, end: int) -> None:
    """Raise FormatError for an empty header line; LBANN accepts one of blanks."""
    if end > start + 1:
        return
    at = int(words.ends[start])
    data = words.source.data
    if at >= len(data) or data[at] == 0x0A:
        raise FormatError(
            f"the {LINES[row]} line is empty",
            source=words.source,
            span=Span(min(at, len(data)), min(at, len(data))),
            hint="each header line is required",
            code="lbann-header",
        )


def _report_ignored(
    words: Words, start: int, end: int, used: int, findings: Findings, hint: str
) -> None:
    """Report words of a line after those that LBANN uses."""
    if end - start > used:
        words.report("lbann-header-words", np.array([start + used]), findings, hint=hint)

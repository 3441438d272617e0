"""The header of a sample list: type, counts, base directory, label file."""

from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.core.source import Span
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind
from exset.parsers.engine.errors import shown
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lbann.list_tokens import GRAMMAR, KINDS, Words

LINES: Final = ("type", "counts", "base directory", "label file")
(DIRECTORY_LINE, LABEL_LINE) = (2, 3)


class Header(NamedTuple):
    """What the header says; spans: of the counts, by their names."""

    kind: Kind
    counts: dict[str, int]
    spans: dict[str, Span]
    directory: bytes
    label_file: bytes | None


def counted(kind: Kind) -> tuple[str, ...]:
    """What the second line of a list counts, in its order."""
    if kind.is_single:
        return ("files",)
    return ("included", "excluded", "files") if kind.has_excluded else ("included", "files")


def header_of(words: Words, stream: ParseStream, findings: Findings) -> Header:
    """The header, which the first part has."""
    terminals = [GRAMMAR.terminals[kind] for kind in words.kinds[:2].tolist()]
    kind = KINDS[terminals[1]]
    count = 4 if kind.has_label_file else 3
    ends = stream.tokens_before[:count].tolist()
    lines = list(zip([0, *ends[:-1]], ends, strict=True))
    for row, (start, end) in enumerate(lines):
        _check_length(words, row, start, end)

    _ignored(words, *lines[0], 2, findings, "the type is one word")
    start, end = lines[1]
    wanted = counted(kind)
    given = [word for word in range(start + 1, end) if words.is_a("NUMBER")[word]][: len(wanted)]
    values, negative = words.counts(np.array(given, np.int64))
    counts = dict.fromkeys(wanted, 0) | dict(zip(wanted, values.tolist(), strict=False))
    spans = {name: words.span(word) for name, word in zip(wanted, given, strict=False)}
    for number in negative.tolist():
        value = int(values[number])
        findings.add(finding_at("lbann-wrapped-count", words.place(given[number]), value=value))
    if len(given) < len(wanted):
        at = min(start + 1 + len(given), end - 1)
        said = " ".join(f"<{name}>" for name in wanted)
        findings.add(finding_at("lbann-no-number", words.place(at), wanted=said))
    else:
        said = ", ".join(wanted)
        _ignored(words, start, end, 1 + len(wanted), findings, f"a {kind} list counts {said}")

    start, end = lines[DIRECTORY_LINE]
    directory = words.raw(start + 1)
    if end > start + 2:
        findings.add(
            finding_at("lbann-path-cut", words.place(start + 2), raw=shown(words.raw(start + 2)))
        )
    label_file = None
    if kind.has_label_file:
        start, end = lines[LABEL_LINE]
        label_file = words.raw(start + 1) if end > start + 1 else b""
        if end > start + 2:
            findings.add(finding_at("lbann-label-line", words.place(start + 1), kind=kind))
        elif not label_file:
            findings.add(finding_at("lbann-no-label-file", words.place(start)))
    return Header(kind, counts, spans, directory, label_file)


def _check_length(words: Words, row: int, start: int, end: int) -> None:
    """Raise FormatError for a header line of no length: one of blanks passes."""
    if end > start + 1:
        return
    at = int(words.ends[start])
    data = words.source.data
    if at >= len(data) or data[at] == 0x0A:
        raise FormatError(
            f"the line of the {LINES[row]} is empty",
            source=words.source,
            span=Span(min(at, len(data)), min(at, len(data))),
            hint="no line of the header may be left out or left empty",
            code="lbann-header",
        )


def _ignored(
    words: Words, start: int, end: int, wanted: int, findings: Findings, advice: str
) -> None:
    """Tell of words after those that are wanted."""
    if end - start > wanted:
        word = start + wanted
        raw = shown(words.raw(word))
        findings.add(finding_at("lbann-header-words", words.place(word), raw=raw, hint=advice))

"""The header of a sample list: type, counts, base directory, label file."""

from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import FormatError, Place
from exset.core.source import Source, Span
from exset.grammars.lbann.list_files import Totals
from exset.grammars.lbann.list_types import Kind
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lbann.list_tokens import KINDS, Words

LINES: Final = ("type", "count", "base directory", "label file")


class Header(NamedTuple):
    """The content of the header of a list.

    counts: the numbers in line 2, by name. spans: where each of these numbers is in the text.
    """

    kind: Kind
    counts: dict[str, int]
    spans: dict[str, Span]
    directory: bytes
    label_file: bytes | None

    @property
    def totals(self) -> Totals | None:
        """The numbers of samples in line 2. None if a list of this type has no such numbers."""
        if self.kind.is_single:
            return None
        return Totals(self.counts["included"], self.counts.get("excluded", 0))

    def place(self, count: str, source: Source) -> Place:
        """Return the place of the number `count` in line 2, or of the source if line 2 lacks this
        number.
        """
        if count not in self.spans:
            return Place(source.name)
        return Place.in_text(source, self.spans[count])


def count_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of the counts in line 2, in order, for a type of list."""
    if kind.is_single:
        return ("files",)
    return ("included", "excluded", "files") if kind.has_excluded else ("included", "files")


def header_of(words: Words, stream: ParseStream) -> Header:
    """Return the header of a list, read from the first chunk."""
    kind = KINDS[words.grammar.terminals[words.kinds[1]]]
    ends = stream.tokens_before[: 4 if kind.has_label_file else 3].tolist()
    # The words of each line, after the line break.
    lines = [range(start + 1, end) for start, end in pairwise([0, *ends])]
    for name, line in zip(LINES, lines, strict=False):
        _check_length(words, name, line)
    type_line, count_line, directory_line, *label_lines = lines
    words.report("lbann-header-words", type_line[1:2], hint="the type is one word")
    counts, spans = _counts(words, kind, count_line)
    words.report("lbann-path-cut", directory_line[1:2])
    label_file = None
    for line in label_lines:  # a line may be empty
        label_file = words.raw(line[0]) if line else b""
        if len(line) > 1:
            words.report("lbann-label-line", line[:1], kind=kind)
        elif not line:
            words.report("lbann-no-label-file", [line.start - 1])
    return Header(kind, counts, spans, words.raw(directory_line[0]), label_file)


def _counts(words: Words, kind: Kind, line: range) -> tuple[dict[str, int], dict[str, Span]]:
    """Return the numbers in line 2 and their spans, both by name. A missing number is 0.

    line: the indices of the line's words.
    """
    names = count_names(kind)
    numbers = words.is_a("NUMBER", among=np.array(line, np.int64)).tolist()
    found = [word for word, is_number in zip(line, numbers, strict=True) if is_number]
    found = found[: len(names)]
    values, negative = words.counts(np.array(found, np.int64))
    for number in negative.tolist():
        words.report("lbann-wrapped-count", [found[number]], value=int(values[number]))
    if len(found) < len(names):
        at = min(line.start + len(found), line.stop - 1)
        expected = " ".join(f"<{name}>" for name in names)
        words.report("lbann-no-number", [at], expected=expected)
    else:
        hint = f"line 2 of a {kind} list has these numbers: {', '.join(names)}"
        words.report("lbann-header-words", line[len(names) :][:1], hint=hint)
    counts = dict.fromkeys(names, 0) | dict(zip(names, values.tolist(), strict=False))
    return counts, {name: words.span(word) for name, word in zip(names, found, strict=False)}


def _check_length(words: Words, name: str, line: range) -> None:
    """Raise FormatError for an empty line of the header. LBANN accepts a line of white space.

    name: what the line should have, for the message. line: the indices of the line's words.
    """
    data = words.source.data
    at = min(int(words.ends[line.start - 1]), len(data))
    if not line and data[at : at + 1] in (b"", b"\n"):
        place = Place.in_text(words.source, Span(at, at))
        message, hint = f"the {name} line is empty", "each header line is required"
        raise FormatError(message, place=place, hint=hint, code="lbann-header")

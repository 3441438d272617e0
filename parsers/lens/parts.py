"""Read a large text in parts. Each part begins after an example, and ends with an example.

A semicolon at the end of a line usually ends an example, but it may also be in a string or a
comment. Each part is parsed as if an example began at its start. If no part has an error, each part
really ends with an example, so the next part really begins with one. Otherwise the text must be
read as a whole.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from exset.core.errors import ChangedFindings, Finding, Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.parts import FilePart, PartState
from exset.core.source import Source, Span
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.grammars.lens.findings import MAX_GROUPS
from exset.io.blocks import Blocks
from exset.parsers.engine.window import Window
from exset.parsers.lens.parse import Reading, stream
from exset.parsers.lens.write_fields import set_fields

SIZE: Final = 1 << 24
"""About the bytes of a part."""

_END: Final = re.compile(rb";[ \t]*\r?\n")
_BLOCK: Final = 1 << 19


def count(blocks: Blocks) -> int:
    """Return the number of parts into which to divide a text. Return 1 for a compressed text."""
    return 1 if blocks.file is None else max(1, (blocks.size or 0) // SIZE)


def read(
    blocks: Blocks, part: FilePart, findings: Findings, limits: Limits, engine: Engine
) -> Generator[ExampleSet, None, PartState]:
    """Yield the examples of one part of a text, in sets; return the state of the part.

    Lines and offsets in findings count from the start of the part. Only the sets of the first part
    have the `proc` of the text's header.
    """
    file, name = blocks.file, blocks.name
    if file is None:
        return PartState(is_certain=False)
    start, end = (_boundary(file, part, rank) for rank in (part.rank, part.rank + 1))
    header = _header(file, name, limits, engine) if part.rank and start < end else SetHeader()
    file.seek(start)
    text = file.read(end - start)
    lines = text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
    above = b"" if header is None or not part.rank else set_fields(replace(header, proc=None), True)
    if header is None or not text or limits.max_events < len(above):
        return PartState(is_certain=not text and part.rank > 0, start=start)
    findings = _Below(findings, len(above))
    limits = limits.with_(max_events=limits.max_events - len(above))
    slices = Blocks(name, [above, *_blocks(text)], len(above) + len(text))
    head = Source(name, slices.head(_BLOCK))
    reading = Reading(head, limits, findings, engine, Window(slices, b";"))
    examples = 0
    try:
        for each in reading.sets():
            examples += len(each)
            yield each
    except FormatError:
        return PartState(is_certain=False)
    # If the examples of the first part alternate, those of the whole text may do so, too.
    may_alternate = not part.rank and reading.alternation.holds
    is_certain = examples > 0 and reading.before.events <= len(text) and not may_alternate
    groups = tuple(sorted(name for name in reading.groups if name is not None))
    return PartState(is_certain, start, lines, reading.expanded, groups)


def joined(parts: Sequence[tuple[PartState, Findings]], limits: Limits) -> Findings | None:
    """Return the findings of a whole text, given the state and the findings of each of its parts.

    Return None if the text must be read as a whole. This is so if the division is not certain for a
    part, or if the parts together reach a limit.
    """
    groups = {name for state, _ in parts for name in state.names}
    expanded = sum(state.expanded for state, _ in parts)
    is_certain = all(state.is_certain for state, _ in parts)
    if not is_certain or len(groups) >= MAX_GROUPS or expanded > limits.max_expand:
        return None
    findings, lines = Findings(), 0
    for state, found in parts:
        ChangedFindings(findings, _Moved(state.start, lines)).add_all(found)
        lines += state.lines
    return findings


@dataclass(frozen=True)
class _Moved:
    """Moves the place of a finding by a number of bytes and of lines; both may be negative."""

    start: int
    lines: int

    def __call__(self, finding: Finding) -> Finding:
        place = finding.place
        if place is None or place.span is None or place.line is None:
            return finding
        span = Span(place.span.start + self.start, place.span.end + self.start)
        return replace(finding, place=replace(place, span=span, line=place.line + self.lines))


class _Below(ChangedFindings):
    """Adds findings to another collection, except findings about the header.

    The places of the added findings count from the end of the header.
    """

    def __init__(self, findings: Findings, size: int) -> None:
        """Wrap the collection `findings`.

        size: the number of bytes of the header, which is one line put before the part. It is 0 for
        the first part, which already begins with the header of the text.
        """
        super().__init__(findings, _Moved(-size, -1 if size else 0))
        self._size = size

    def add(self, finding: Finding, times: int = 1) -> None:
        """Add a finding that occurs `times` times, unless its place is in the header."""
        place = finding.place
        if not self._size or (place is not None and place.span and place.span.start >= self._size):
            super().add(finding, times)


def _header(file: BinaryIO, name: str, limits: Limits, engine: Engine) -> SetHeader | None:
    """Return the header of the set, from the beginning of the text.

    Return None if the header has an error.
    """
    file.seek(0)
    blocks = Blocks(name, iter(lambda: file.read(_BLOCK), b""), None)
    try:
        return next(stream(blocks, limits=limits, engine=engine)).header
    except FormatError:
        return None


def _boundary(file: BinaryIO, part: FilePart, rank: int) -> int:
    """Return the offset at which part `rank` of the text begins.

    The part begins after the first likely end of an example that is in or after the part's share of
    the bytes. If there is none, the result is the end of the text.
    """
    size = file.seek(0, 2)
    at = size * rank // part.count
    if not 0 < rank < part.count:
        return at
    file.seek(at)
    known = b""
    while block := file.read(_BLOCK):
        known = known[-2 * _BLOCK :] + block
        if found := _END.search(known):
            return file.tell() - len(known) + found.end()
    return size


def _blocks(text: bytes) -> list[bytes]:
    return [text[at : at + _BLOCK] for at in range(0, len(text), _BLOCK)]

"""What the fields of a manifest hold that aeon reads oddly, or fails to read."""

from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.source import Source, Span
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import ElementType
from exset.parsers.aeon import base64
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon.manifest_columns import Bytes, Longs
from exset.parsers.aeon.numbers import int32s, reals
from exset.parsers.engine.errors import shown

NUMBER_FINDINGS: Final = MappingProxyType(
    {
        c.TAIL: "aeon-number-tail",
        c.FRACTION: "aeon-int-fraction",
        c.OVERFLOW: "aeon-int-overflow",
        c.NO_NUMBER: "aeon-no-number",
        c.RANGE: "aeon-number-range",
    }
)
"""What is odd about a number, by its code there."""

BASE64_TRAPS: Final = MappingProxyType(
    {base64.LAX: "aeon-lax-base64", base64.MEMORY: "aeon-base64-memory"}
)
"""What is odd about base64."""


def check_elements(
    source: Source,
    buffer: Bytes,
    types: tuple[ElementType, ...],
    width: int,
    starts: Longs,
    ends: Longs,
    compiled: bool,
    findings: Findings,
) -> None:
    """Check fields, record after record, of which starts and ends say where they are."""
    last_byte = buffer[ends[width - 1 :: width] - 1]
    for column, kind in enumerate(types):
        first, end = starts[column::width], ends[column::width]
        odd: dict[str, Longs] = {}
        if kind is ElementType.FILE:
            odd["aeon-empty-path"] = np.flatnonzero(first == end)
        elif kind is ElementType.BINARY:
            kinds = base64.kinds(buffer, first, end, compiled)
            odd = {name: np.flatnonzero(kinds == code) for code, name in BASE64_TRAPS.items()}
        elif kind is not ElementType.STRING:
            if column == width - 1:  # that the line ends in CR is told once
                end = end - ((last_byte == 13) & (end > first))
            read = int32s if kind is ElementType.ASCII_INT else reals
            odds = read(buffer, first, end, compiled).odds
            if odds.any():
                odd = {name: np.flatnonzero(odds == code) for code, name in NUMBER_FINDINGS.items()}
        for name, rows in odd.items():
            _tell(name, source, first[rows], end[rows], findings)


def _tell(name: str, source: Source, starts: Longs, ends: Longs, findings: Findings) -> None:
    """Tell of the fields that a trap is in: of so many by themselves as are kept."""
    for i in range(min(starts.size, findings.keep)):
        span = Span(int(starts[i]), int(ends[i]))
        place = Place.in_text(source, span)
        raw = shown(source.data[span.start : span.end])
        times = starts.size - i if i == findings.keep - 1 else 1
        findings.add(finding_at(name, place, raw=raw), times)

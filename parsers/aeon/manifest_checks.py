"""Check the fields of a manifest: numbers, base64 and empty paths."""

from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Finding, Findings, Place
from exset.core.source import Source, Span
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import ElementType
from exset.grammars.columns.arrays import Bytes, Flags, Longs
from exset.parsers.aeon import base64
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon.numbers import numbers
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
"""The codes of the findings, by the issue with a number."""

BASE64_FINDINGS: Final = MappingProxyType(
    {base64.LAX: "aeon-lax-base64", base64.MEMORY: "aeon-base64-memory"}
)
"""The codes of the findings, by the issue with base64."""


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
    """Add findings for the fields buffer[starts:ends], record after record."""
    last_byte = buffer[ends[width - 1 :: width] - 1]
    for column, kind in enumerate(types):
        first, end = starts[column::width], ends[column::width]
        if kind is ElementType.FILE:
            _report("aeon-empty-path", first == end, source, first, end, findings)
        elif kind is ElementType.BINARY:
            issues = base64.issues(buffer, first, end, compiled)
            for issue, code in BASE64_FINDINGS.items():
                _report(code, issues == issue, source, first, end, findings)
        elif kind is not ElementType.STRING:
            if column == width - 1:  # a CR at the end of the line has a finding of its own
                end = end - ((last_byte == 13) & (end > first))
            issues = numbers(kind, buffer, first, end, compiled).issues
            if issues.any():
                for issue, code in NUMBER_FINDINGS.items():
                    _report(code, issues == issue, source, first, end, findings)


def _report(
    code: str, mask: Flags, source: Source, starts: Longs, ends: Longs, findings: Findings
) -> None:
    """Add a finding for each field of a mask."""

    def finding(row: int) -> Finding:
        span = Span(int(starts[row]), int(ends[row]))
        raw = shown(source.data[span.start : span.end])
        return finding_at(code, Place.in_text(source, span), raw=raw)

    findings.add_each(np.flatnonzero(mask).tolist(), finding)

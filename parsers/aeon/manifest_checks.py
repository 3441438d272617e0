"""Check the fields of a manifest: numbers, base64 and empty paths."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.source import Source, Span
from exset.grammars.aeon.manifest_findings import finding_at
from exset.grammars.aeon.manifest_types import NUMBER_DTYPES, ElementType
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
"""The codes of the findings, by the issue of a number."""

BASE64_FINDINGS: Final = MappingProxyType(
    {base64.LAX: "aeon-lax-base64", base64.MEMORY: "aeon-base64-memory"}
)
"""The codes of the findings, by the issue of base64."""


def check_elements(
    source: Source,
    buffer: Bytes,
    types: tuple[ElementType, ...],
    width: int,
    starts: Longs,
    ends: Longs,
    *,
    compiled: bool,
    findings: Findings,
) -> None:
    """Add findings for the fields of records, which are the elements that aeon will decode.

    The fields are buffer[start:end], one record after another. types: the type of each field of a
    record. width: the number of fields of a record.
    """
    if len(types) == width and types[-1] in NUMBER_DTYPES:
        # A CR at the end of the line has another finding.
        last = slice(width - 1, None, width)
        is_return = (buffer[ends[last] - 1] == 13) & (ends[last] > starts[last])
        ends = ends.copy()
        ends[last] -= is_return
    found: dict[str, Flags] = {}  # a flag for each field: there may be a column for each byte
    for column, kind in enumerate(types):
        first, end = starts[column::width], ends[column::width]
        for code, mask in _issues(kind, buffer, first, end, compiled):
            if mask.any():
                flags = found.setdefault(code, np.zeros(starts.size, np.bool_))
                flags[column::width] = mask
    rows: list[tuple[int, str, int]] = []  # a field, the code, and how many findings it represents
    for code, flags in found.items():
        fields = np.flatnonzero(flags)
        kept, more = fields[: findings.keep].tolist(), max(fields.size - findings.keep, 0)
        rows += ((field, code, 1 + more * (field == kept[-1])) for field in kept)
    for field, code, times in sorted(rows):
        span = Span(int(starts[field]) + source.start, int(ends[field]) + source.start)
        raw = shown(buffer[starts[field] : ends[field]].tobytes())
        findings.add(finding_at(code, Place.in_text(source, span), raw=raw), times)


def _issues(
    kind: ElementType, buffer: Bytes, starts: Longs, ends: Longs, compiled: bool
) -> Iterator[tuple[str, Flags]]:
    """Yield pairs for fields of one type: the code of a finding, and which fields have the finding.

    kind: the type of the fields. starts, ends: where each field is in `buffer`.
    """
    if kind is ElementType.FILE:
        yield "aeon-empty-path", starts == ends
    elif kind is ElementType.BINARY:
        issues = base64.issues(buffer, starts, ends, compiled)
        for issue, code in BASE64_FINDINGS.items():
            yield code, issues == issue
    elif kind in NUMBER_DTYPES:
        issues = numbers(kind, buffer, starts, ends, compiled).issues
        if issues.any():
            for issue, code in NUMBER_FINDINGS.items():
                yield code, issues == issue

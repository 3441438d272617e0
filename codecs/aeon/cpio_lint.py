"""What aeon reads in a block of its cache but people are caught by, as findings."""

import numpy as np

from exset.core.errors import Findings, Place
from exset.core.source import Source
from exset.grammars.aeon.block import Block, record_numbers
from exset.grammars.aeon.block_findings import finding_at

_SHOWN = 5


def report(block: Block, source: Source, begin: int, findings: Findings) -> None:
    """Add a finding for every trap; begin: where in the source the header is."""
    header = block.header
    assert header is not None

    def at(offset: int, field: str) -> Place:
        return Place.in_bytes(source, begin + offset, f"entries[0].data.{field}")

    if header.format_version != 1:
        findings.add(
            finding_at("aeon-block-version", at(4, "format_version"), version=header.format_version)
        )
    if any(header.rest):
        findings.add(finding_at("aeon-block-2016", at(28, "rest")))
    if len(block) == 0:
        findings.add(finding_at("aeon-block-empty", at(20, "record_count")))
    if len(block.frame) == 2:
        findings.add(finding_at("aeon-block-no-trailer", Place.of(source.name)))
    elements, records, whose = len(block.elements), len(block), short_records(block)
    if block.width is None or whose:
        place = at(20, "record_count")
        findings.add(
            finding_at("aeon-block-shift", place, elements=elements, records=records, whose=whose)
        )


def short_records(block: Block) -> str:
    """Which records lack elements that others have, by the names that aeon gave them; in words."""
    numbers = record_numbers(block.elements.name)
    if numbers is None or numbers.max() >= len(block):
        return ""
    counts = np.bincount(numbers, minlength=len(block))
    short = np.flatnonzero(counts < counts.max()).tolist()
    if not short:
        return ""
    shown = ", ".join(map(str, short[:_SHOWN])) + (" ..." if len(short) > _SHOWN else "")
    return f": by the names, record {shown} has fewer than others"

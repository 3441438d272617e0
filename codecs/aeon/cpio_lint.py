"""Check blocks of aeon's cache for likely mistakes that aeon accepts."""

from typing import Final

import numpy as np

from exset.codecs.aeon.layout import header_offset
from exset.core.errors import Findings, Place
from exset.core.source import Source
from exset.grammars.aeon.block import Block, record_numbers
from exset.grammars.aeon.block_findings import finding_at

_SHOWN: Final = 5  # record numbers in a message


def report(block: Block, source: Source, begin: int, findings: Findings) -> None:
    """Add the findings about a block. begin: the offset of the block's header in the source."""
    header = block.header
    assert header is not None

    def at(field: str) -> Place:
        offset = begin + header_offset(field)
        return Place.in_bytes(source, offset, f"entries[0].data.{field}")

    if header.format_version != 1:
        place, version = at("format_version"), header.format_version
        findings.add(finding_at("aeon-block-version", place, version=version))
    if any(header.rest):
        findings.add(finding_at("aeon-block-2016", at("rest")))
    if len(block) == 0:
        findings.add(finding_at("aeon-block-empty", at("record_count")))
    if len(block.frame) == 2:
        findings.add(finding_at("aeon-block-no-trailer", Place(source.name)))
    elements, records, whose = len(block.elements), len(block), short_records(block)
    if block.width is None or whose:
        place = at("record_count")
        findings.add(
            finding_at("aeon-block-shift", place, elements=elements, records=records, whose=whose)
        )


def short_records(block: Block) -> str:
    """Return the end of a message, which says which records have fewer elements than the others.

    The names of the elements show to which record each element belongs. Returns "" if they do not.
    """
    numbers = record_numbers(block.elements.name)
    if numbers is None or numbers.max() >= len(block):
        return ""
    counts = np.bincount(numbers, minlength=len(block))
    short = np.flatnonzero(counts < counts.max()).tolist()
    if not short:
        return ""
    shown = ", ".join(map(str, short[:_SHOWN])) + (" ..." if len(short) > _SHOWN else "")
    return f": the names of the elements show that record {shown} has fewer elements than others"

"""Find the intact records of a block, even of a damaged block."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exset.codecs.aeon.cpio import decode, salvage
from exset.codecs.aeon.cpio_lint import short_records
from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.aeon.block import Block, Entries, record_numbers


@dataclass(frozen=True)
class Records:
    """The intact records of a block: the elements of the records, and the records' numbers in the
    block.

    width: the number of elements of a record. is_damaged: whether the block also has records that
    are not intact.
    """

    elements: Entries
    width: int
    numbers: Sequence[int]
    is_damaged: bool = False

    @classmethod
    def of(cls, block: Block, width: int) -> "Records":
        """Return all records of an intact block. width: the number of elements of a record."""
        return cls(block.elements, width, range(len(block)))

    @classmethod
    def rescued(cls, source: Source, limits: Limits, width: int, findings: Findings) -> "Records":
        """Return the intact records of a block, which may be damaged.

        width: the number of elements of a record, 0 if unknown. aeon gives each element a name that
        contains the number of its record. If the elements have no such names, exset finds records
        only in two cases: no element is missing, or only the end of the block is damaged and the
        width is known.
        """
        is_cut, is_damaged = False, True
        try:
            block = decode(source, limits=limits, findings=findings)
            entries = block.elements
            width = width or block.width or 0
            is_damaged = block.width != width or bool(short_records(block))
        except FormatError as error:
            is_cut = True
            findings.add(error.finding)
            entries = salvage(source, limits=limits)
        owners = record_numbers(entries.name)
        if owners is None:
            count = len(entries) // width if width and (is_cut or not is_damaged) else 0
            return cls(entries.take(np.arange(count * width)), width, range(count), is_damaged)
        counts = np.bincount(owners)
        width = width or int(counts.max())
        whole = np.flatnonzero(counts == width)
        elements = entries.take(np.flatnonzero(np.isin(owners, whole)))
        return cls(elements, width, whole.tolist(), is_damaged)

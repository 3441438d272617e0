"""Blocks as archives and archives as blocks: which record an element is of goes into its name."""

import re
from typing import Final

import numpy as np

from exset.core.errors import Findings, FormatError
from exset.grammars.aeon.block import (
    END_NAME,
    Block,
    BlockHeader,
    Entries,
    element_names,
    framed,
    record_numbers,
)
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.columns.arrays import constant
from exset.grammars.columns.blobs import Blobs
from exset.grammars.columns.strings import Strings
from exset.io.content_types import suffix_of

_PLACE: Final = re.compile(rb"(?:\./)?(\d{7,})\.(\d+)(?:\.\w+)?", re.ASCII)
_HEADING: Final = 26
_BLOCKING: Final = 512


def place_name(record: int, element: int, suffix: str) -> bytes:
    """The name of an element by its place: `0000012.1.jpg`."""
    return b"%07d.%d%s" % (record, element, suffix.encode())


def as_archive(block: Block, lossy: bool, findings: Findings) -> Block:
    """The elements of a block as the files of an archive, named for their places and contents.

    An archive stays as it is. Raises FormatError if there is no telling which record an element
    is of; and for a header that says more than aeon's does now, or names that aeon has not given,
    unless `lossy`.
    """
    if block.header is None:
        return block
    width = block.known_width()
    header = block.header
    usual = BlockHeader(len(block), header.elements_per_record)
    losses = ["the words of the header"] if header != usual else []
    if record_numbers(block.elements.name) is None and len(block.elements):
        losses.append("the names of the elements")
    for what in losses:
        finding = finding_at("cpio-loss", None, what=what)
        if not lossy:
            raise FormatError.of(finding)
        findings.add(finding)
    names = [
        place_name(i // width, i % width, suffix_of(data))
        for i, data in enumerate(block.elements.data)
    ]
    one = constant(1, len(names), np.uint16)
    elements = block.elements.with_columns(name=Strings.of(names), nlink=one)
    end = Entries.of(Strings.of([END_NAME]), Blobs.of([b""]))
    sizes = [elements.name.lengths + 1, elements.data.lengths]
    total = sum(int((each + each % 2).sum()) for each in sizes) + _HEADING * len(names)
    total += _HEADING + len(END_NAME) + 2
    return Block(None, elements, end, -total % _BLOCKING)


def as_block(archive: Block, lossy: bool, findings: Findings) -> Block:
    """The files of an archive as the elements of a block; a block stays as it is.

    If all are named for their places, these are restored; otherwise each is a record of its own.
    Raises FormatError for an entry that is no plain file, which is left out if `lossy`.
    """
    if archive.header is not None:
        return archive
    files = archive.elements
    others = np.flatnonzero(~files.is_regular).tolist()
    for i in others:
        finding = finding_at("cpio-not-a-file", None, name=files.name.text(i))
        if not lossy:
            raise FormatError.of(finding)
        findings.add(finding)
    if others:
        files = files.take(np.flatnonzero(files.is_regular))
    width = _width(files.name.tolist())
    count = len(files) // width
    names = Strings.of(element_names(count, width))
    elements = Entries.of(names, files.data, files.time)
    last = int(files.time[-1]) if len(files) else 0
    return Block(BlockHeader(count, count), elements, framed(last))


def _width(names: list[bytes | None]) -> int:
    """How many elements a record has, by names that say the place of each; 1 if these do not."""
    places = []
    for name in names:
        found = _PLACE.fullmatch(name or b"")
        if found is None:
            return 1
        places.append((int(found[1]), int(found[2])))
    width = 1 + max((element for _, element in places), default=0)
    return width if places == [divmod(i, width) for i in range(len(places))] else 1

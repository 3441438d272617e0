"""Convert blocks to archives of files, and archives to blocks. A file is an element; its name has
the numbers of the record and of the element.
"""

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


def place_name(record: int, element: int, suffix: str) -> bytes:
    """Return the name of the file for an element, such as `0000012.1.jpg`.

    record: the number of the record. element: the number of the element in the record. suffix: such
    as `.jpg`.
    """
    return b"%07d.%d%s" % (record, element, suffix.encode())


def as_archive(block: Block, lossy: bool, findings: Findings) -> Block:
    """Convert a block to an archive with a file for each element. Return an archive unchanged.

    A file name has the number of the record, the number of the element, and a suffix for the type
    of the contents. Raises FormatError if records have different numbers of elements. Unless
    `lossy`, also raises FormatError for a header with values that aeon's last version does not
    write, and for element names that do not follow aeon's rule.
    """
    if block.header is None:
        return block
    width = block.known_width()
    header = block.header
    usual = BlockHeader(len(block), header.elements_per_record)
    losses = ["header values other than the defaults of aeon"] if header != usual else []
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
    elements = block.elements.with_unchecked(name=Strings.of(names), nlink=one)
    end = Entries.of(Strings.of([END_NAME]), Blobs.of([b""]))
    return Block(None, elements, end)


def as_block(archive: Block, lossy: bool, findings: Findings) -> Block:
    """Convert an archive to a block with an element for each file. Return a block unchanged.

    If all names are those that `as_archive` makes, the records are restored. Otherwise each file
    becomes a record. Raises FormatError for an entry that is not a regular file; with `lossy`, such
    entries are dropped instead.
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
    """Return the number of elements per record, by the names of the files in an archive.

    Return 1 if a name is not one that `as_archive` makes, or if files are missing or in another
    order.
    """
    places = []
    for name in names:
        found = _PLACE.fullmatch(name or b"")
        if found is None:
            return 1
        places.append((int(found[1]), int(found[2])))
    width = 1 + max((element for _, element in places), default=0)
    return width if places == [divmod(i, width) for i in range(len(places))] else 1

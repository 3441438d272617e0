"""The layouts of cpio archives in the old binary format, and of the header of aeon's cache blocks.

Names and order of fields are as in the manual, cpio(5), and in aeon (cpio.cpp).
"""

from functools import lru_cache
from typing import Final

import construct as cs
from construct import obj_, this

from exset.codecs.engine import Layout

MAGIC: Final = 0o070707

# A number of 32 bits is stored as two words, the high word first.
EntryHeading = cs.Struct(
    "magic" / cs.Const(MAGIC, cs.Int16ul),
    "dev" / cs.Int16ul,
    "ino" / cs.Int16ul,
    "mode" / cs.Int16ul,
    "uid" / cs.Int16ul,
    "gid" / cs.Int16ul,
    "nlink" / cs.Int16ul,
    "rdev" / cs.Int16ul,
    "mtime_high" / cs.Int16ul,
    "mtime_low" / cs.Int16ul,
    "namesize" / cs.Int16ul,
    cs.Check(this.namesize > 0),
    "filesize_high" / cs.Int16ul,
    "filesize_low" / cs.Int16ul,
)
Name = cs.Aligned(2, cs.Bytes(this.namesize))  # ends with a NUL, which namesize includes
Data = cs.Aligned(2, cs.Bytes(this.filesize_high * 65536 + this.filesize_low))
Entry = cs.Struct(*EntryHeading.subcons, "name" / Name, "data" / Data)

Archive = cs.Struct("entries" / cs.RepeatUntil(obj_.name == b"TRAILER!!!\0", Entry))

BlockHeader = cs.Struct(
    "magic" / cs.Const(b"MACR"),
    "format_version" / cs.Int32ul,
    "writer_version" / cs.Int32ul,
    "data_type" / cs.Bytes(8),
    "record_count" / cs.Int32ul,
    "elements_per_record" / cs.Int32ul,
    "rest" / cs.Bytes(36),
)

ARCHIVE: Final = Layout(Archive)
HEADER: Final = Layout(BlockHeader)

HEADING_SIZE: Final[int] = EntryHeading.sizeof()
"""The number of bytes of an entry before the name."""
LEAST_ENTRY: Final[int] = HEADING_SIZE + Name.sizeof(namesize=1)
"""The number of bytes of an entry with an empty name and no data."""
HEADER_SIZE: Final[int] = BlockHeader.sizeof()


def header_offset(field: str) -> int:
    """Return the offset of a field in the header of a block."""
    names = [member.name for member in BlockHeader.subcons]
    return int(cs.Struct(*BlockHeader.subcons[: names.index(field)]).sizeof())


@lru_cache(maxsize=8)
def first_entries(count: int) -> Layout:
    """Return a layout that reads the first `count` entries of an archive."""
    return Layout(cs.Struct("entries" / cs.Array(count, Entry)))


@lru_cache(maxsize=8)
def headings(count: int) -> Layout:
    """Return a layout that writes `count` headings, each with the entry's name but without its
    data.
    """
    return Layout(
        cs.Struct("entries" / cs.Array(count, cs.Struct(*EntryHeading.subcons, "name" / Name)))
    )

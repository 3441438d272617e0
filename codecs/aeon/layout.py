"""The layouts of cpio archives in the old binary format, and of the header of aeon's cache blocks.

The words and the order are those of the manual, cpio(5), and of aeon (cpio.cpp).
"""

from functools import lru_cache
from typing import Final

from construct import (
    Aligned,
    Array,
    Bytes,
    Check,
    Const,
    Int16ul,
    Int32ul,
    RepeatUntil,
    Struct,
    obj_,
    this,
)

from exset.codecs.engine import Layout

MAGIC: Final = 0o070707

# A number of 32 bits is two words, the high one first.
EntryHeading = Struct(
    "magic" / Const(MAGIC, Int16ul),
    "dev" / Int16ul,
    "ino" / Int16ul,
    "mode" / Int16ul,
    "uid" / Int16ul,
    "gid" / Int16ul,
    "nlink" / Int16ul,
    "rdev" / Int16ul,
    "mtime_high" / Int16ul,
    "mtime_low" / Int16ul,
    "namesize" / Int16ul,
    Check(this.namesize > 0),
    "filesize_high" / Int16ul,
    "filesize_low" / Int16ul,
)
Name = Aligned(2, Bytes(this.namesize))  # it ends with a NUL, which namesize counts
Data = Aligned(2, Bytes(this.filesize_high * 65536 + this.filesize_low))
Entry = Struct(*EntryHeading.subcons, "name" / Name, "data" / Data)

Archive = Struct("entries" / RepeatUntil(obj_.name == b"TRAILER!!!\0", Entry))

BlockHeader = Struct(
    "magic" / Const(b"MACR"),
    "format_version" / Int32ul,
    "writer_version" / Int32ul,
    "data_type" / Bytes(8),
    "record_count" / Int32ul,
    "elements_per_record" / Int32ul,
    "rest" / Bytes(36),
)

ARCHIVE: Final = Layout(Archive)
HEADER: Final = Layout(BlockHeader)

HEADING_SIZE: Final[int] = EntryHeading.sizeof()
"""Bytes of an entry before its name."""
LEAST_ENTRY: Final[int] = HEADING_SIZE + Name.sizeof(namesize=1)
"""Bytes of an entry without a name or data."""
HEADER_SIZE: Final[int] = BlockHeader.sizeof()


def header_offset(field: str) -> int:
    """Return the offset of a field in the header of a block."""
    names = [member.name for member in BlockHeader.subcons]
    return int(Struct(*BlockHeader.subcons[: names.index(field)]).sizeof())


@lru_cache(maxsize=8)
def first_entries(count: int) -> Layout:
    """Return the layout of the first `count` entries of an archive."""
    return Layout(Struct("entries" / Array(count, Entry)))


@lru_cache(maxsize=8)
def headings(count: int) -> Layout:
    """Return the layout of the headings and the names of `count` entries, without data."""
    return Layout(Struct("entries" / Array(count, Struct(*EntryHeading.subcons, "name" / Name))))

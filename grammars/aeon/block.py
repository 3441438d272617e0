"""The contents of a cpio file: a block of aeon's cache, or an archive in the old binary format.

An archive has entries, and each entry has a name, a time and data. A block has records of elements,
and each element is an entry. Only the position of an entry shows to which record it belongs: aeon
cuts the names of entries, so several entries can have the same name.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from exset.core.errors import FormatError, Place
from exset.core.html import table, text
from exset.core.text import counted
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.columns.arrays import Longs, check_column, chosen_rows, constant
from exset.grammars.columns.blobs import Blobs
from exset.grammars.columns.inputs import check_kind
from exset.grammars.columns.rows import FrozenColumns, Rows
from exset.grammars.columns.sequence import NamedSequence
from exset.grammars.columns.strings import Strings

Words = NDArray[np.uint16]
Record: TypeAlias = tuple[memoryview, ...]
"""The data of the elements of a record."""

HEADER_NAME: Final = b"cpiohdr"
TRAILER_NAME: Final = b"cpiotlr"
TRAILER_NAMES: Final = (TRAILER_NAME, b"cpiotrl")  # aeon's network server writes the second
END_NAME: Final = b"TRAILER!!!"
TRAILER_SIZE: Final = 16

REGULAR: Final = 0o100644
MOST: Final = 2**32 - 1
"""The largest number in two words of 16 bits, such as the size of an entry, or a time."""

_KIND: Final = 0o170000
_LONGEST: Final = 15

STATUS: Final = ("dev", "ino", "mode", "uid", "gid", "nlink", "rdev")
"""The words of an entry to which aeon writes zero, except for `mode`."""


@dataclass(frozen=True, eq=False, repr=False)
class Entries(Rows):
    """The entries of an archive, with one row for each of the n entries.

    name: Strings, without the NUL with which cpio ends each name. data: Blobs. time: int64, seconds
    since 1970. dev, ino, mode, uid, gid, nlink, rdev: uint16, the fields of cpio with these names.
    Raises ValueError for a column of another type or length, and for a value that cpio cannot
    store.
    """

    name: Strings
    data: Blobs
    time: Longs
    dev: Words
    ino: Words
    mode: Words
    uid: Words
    gid: Words
    nlink: Words
    rdev: Words

    def __post_init__(self) -> None:
        check_kind("name", self.name, Strings)
        check_kind("data", self.data, Blobs)
        count = len(self.name)
        if len(self.data) != count:
            raise ValueError(f"data: expected {counted(count, 'row')}, not {len(self.data)}")
        check_column("time", self.time, np.int64, count)
        for word in STATUS:
            check_column(word, getattr(self, word), np.uint16, count)
        if not self.name.present.all():
            raise ValueError("name: an entry has no name")
        if ((self.time < 0) | (self.time > MOST)).any():
            raise ValueError("time: a time is outside 0 to 2**32 - 1")
        if (self.data.lengths > MOST).any():
            raise ValueError("data: an entry has 2**32 bytes or more")
        if (self.name.lengths >= 0xFFFF).any():
            raise ValueError("name: a name has 65,535 bytes or more")
        self._freeze()

    @classmethod
    def of(cls, name: Strings, data: Blobs, time: int | Longs = 0) -> Self:
        """Make entries from names and contents as aeon does: as regular files without an owner.

        time: in seconds since 1970, a single time for all entries or an array of times. Raises
        ValueError as the class does.
        """
        count = len(name)
        times = constant(time, count, np.int64) if isinstance(time, int) else time
        none = constant(0, count, np.uint16)
        mode = constant(REGULAR, count, np.uint16)
        return cls(name, data, times, none, none, mode, none, none, none, none)

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_regular(self) -> NDArray[np.bool_]:
        """Whether each entry is a regular file: bool [n]."""
        regular: NDArray[np.bool_] = (self.mode & _KIND) == (REGULAR & _KIND)
        return regular


@dataclass(frozen=True)
class BlockHeader:
    """The 64 bytes at the start of a block, without the first four, `MACR`.

    elements_per_record: aeon's name of this field, in which aeon stores the number of records.
    rest: 36 bytes; zero, except in files of May 2016, when aeon wrote the sizes of the items here.
    """

    record_count: int
    elements_per_record: int
    format_version: int = 1
    writer_version: int = 1
    data_type: bytes = b" " * 8
    rest: bytes = bytes(36)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and not 0 <= value <= MOST:
                raise ValueError(f"{field.name} must be from 0 to 2**32 - 1, not {value}")
        sizes = len(self.data_type), len(self.rest)
        if sizes != (8, 36):
            raise ValueError(f"data_type and rest must have (8, 36) bytes, not {sizes}")


@dataclass(frozen=True, eq=False, repr=False)
class Block(FrozenColumns, NamedSequence[Record, "Block"]):
    """A block of aeon's cache, or an archive.

    header: the header of a block; None for an archive. elements: the entries that contain elements
    or files. frame: the other entries, which are kept for their times: the header of a block, its
    trailer, and the last entry, `TRAILER!!!`. padding: the number of zero bytes after the archive.

    The length is the number of records. In an archive each entry is a record. A record is the tuple
    of its elements, and its name is the name of its first entry. Raises ValueError for fields that
    do not fit together.
    """

    header: BlockHeader | None
    elements: Entries
    frame: Entries
    padding: int = 0

    def __post_init__(self) -> None:
        check_kind("elements", self.elements, Entries)
        check_kind("frame", self.frame, Entries)
        names = self.frame.name.tolist()
        expected: list[list[bytes]] = [[END_NAME]]
        if self.header is not None:
            expected = [[HEADER_NAME, END_NAME]]
            expected += [[HEADER_NAME, name, END_NAME] for name in TRAILER_NAMES]
        if names not in expected:
            raise ValueError(f"frame: {names} are not the names of a header, trailer and end")
        if self.padding < 0:
            raise ValueError(f"padding must not be negative, but is {self.padding}")

    @classmethod
    def of(cls, records: Iterable[Sequence[bytes | memoryview]], *, time: int = 0) -> Self:
        """Make a block from records as aeon does. Each record is a sequence of elements.

        time: the time of each entry, in seconds since 1970. Raises ValueError if the records have
        different numbers of elements.
        """
        rows = [tuple(record) for record in records]
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            between = f"range from {min(widths)} to {max(widths)}"
            raise ValueError(f"records: the numbers of elements must be equal, but {between}")
        width = widths.pop() if widths else 0
        data = Blobs.of(element for row in rows for element in row)
        names = Strings.of(element_names(len(rows), width))
        header = BlockHeader(len(rows), len(rows))
        return cls(header, Entries.of(names, data, time), framed(time))

    @classmethod
    def archive(cls, files: Iterable[tuple[bytes, bytes]], *, time: int = 0) -> Self:
        """Make an archive of regular files. files: pairs (name, contents).

        time: the time of each file, in seconds since 1970. Raises ValueError for a name, contents
        or time that cpio cannot store.
        """
        rows = list(files)
        names = Strings.of(name for name, _ in rows)
        entries = Entries.of(names, Blobs.of(data for _, data in rows), time)
        end = Entries.of(Strings.of([END_NAME]), Blobs.of([b""]))
        return cls(None, entries, end)

    def __len__(self) -> int:
        return len(self.elements) if self.header is None else self.header.record_count

    def __repr__(self) -> str:
        kind = "archive" if self.header is None else "aeon"
        records, elements = counted(len(self), "record"), counted(len(self.elements), "element")
        return f"Block({records}, {elements}, {kind})"

    def _repr_html_(self) -> str:
        names, sizes = self.elements.name, self.elements.data.lengths
        rows = ((text(names[i]), sizes[i]) for i in range(len(names)))
        return table(repr(self), ("entry", "bytes"), rows, len(names))

    @property
    def width(self) -> int | None:
        """The number of elements of a record. None if records differ in this number."""
        count, elements = len(self), len(self.elements)
        if count == 0:
            return 0 if elements == 0 else None
        width, left = divmod(elements, count)
        return None if left or (width == 0) else width

    def known_width(self, place: Place | None = None) -> int:
        """Return the number of elements of a record.

        Raises FormatError if records differ in this number. place: of the error.
        """
        width = self.width
        if width is None:
            elements, records = counted(len(self.elements), "element"), counted(len(self), "record")
            finding = finding_at("aeon-block-width", place, elements=elements, records=records)
            raise FormatError.of(finding)
        return width

    def __iter__(self) -> Iterator[Record]:
        each = iter(self.elements.data)
        return zip(*[each] * self.known_width(), strict=True)

    def _unit(self, row: int) -> Record:
        width = self.known_width()
        return tuple(self.elements.data[row * width : (row + 1) * width])

    def _some(self, rows: slice) -> "Block":
        return self.select(rows)

    def unit_names(self) -> Iterator[bytes]:
        """Yield the name of each record's first entry.

        If the records have different numbers of elements, the names are empty.
        """
        count, width = len(self), self.width
        names = self.elements.name.tolist()[: count * (width or 0) : width or 1]
        return (name or b"" for name in names or [b""] * count)

    def select(self, which: ArrayLike | slice) -> Self:
        """Return the chosen records. which: indices in any order, a mask or a slice.

        The elements of a block are renamed by aeon's rule. Raises IndexError for an index out of
        bounds, ValueError for another type of `which`, and FormatError if records have different
        numbers of elements.
        """
        width = self.known_width()
        rows = chosen_rows(which, len(self))
        elements = self.elements.take((rows[:, None] * width + np.arange(width)).reshape(-1))
        if self.header is None:
            return self.with_unchecked(elements=elements)
        count = int(rows.size)
        header = replace(self.header, record_count=count, elements_per_record=count)
        names = Strings.of(element_names(count, width))
        return self.with_unchecked(header=header, elements=elements.with_unchecked(name=names))

    def concat(self, *others: "Block") -> Self:
        """Return a block with the records of this block, followed by the records of the others.

        The elements of a block are renamed by aeon's rule. An archive keeps its names. Raises
        ValueError for a block joined with an archive, and for blocks of different widths. Raises
        FormatError if the records within a block have different numbers of elements.
        """
        for other in others:
            check_kind("concat", other, Block, "a Block")
            if (other.header is None) != (self.header is None):
                raise ValueError("concat: a block and an archive cannot be joined")
        blocks: list[Block] = [self, *others]
        elements = Entries.concat([block.elements for block in blocks])
        if self.header is None:
            return self.with_unchecked(elements=elements)
        widths = {block.known_width() for block in blocks if len(block)}
        if len(widths) > 1:
            between = f"range from {min(widths)} to {max(widths)}"
            message = "concat: the numbers of elements of all records must be equal, but"
            raise ValueError(f"{message} {between}")
        count = sum(map(len, blocks))
        header = replace(self.header, record_count=count, elements_per_record=count)
        names = Strings.of(element_names(count, max(widths, default=0)))
        return self.with_unchecked(header=header, elements=elements.with_unchecked(name=names))


def element_name(record: int, element: int) -> bytes:
    """Return aeon's name of an element. It has the record's number, and the element's number in the
    block.

    aeon cuts the name at 15 bytes, so names repeat from element 1000 on.
    """
    return (b"rec_%07d.%02d" % (record, element))[:_LONGEST]


def element_names(count: int, width: int) -> Iterator[bytes]:
    """Yield aeon's names of all elements of a block.

    count: the number of records. width: the number of elements of a record.
    """
    for element in range(count * width):
        yield element_name(element // width, element)


def record_numbers(names: Strings) -> Longs | None:
    """Return the number of the record that is in the name of each element: int64 [n].

    Return None if a name does not follow aeon's rule, or if there are no names.
    """
    if len(names) == 0 or names.lengths.min() < 12:
        return None
    letters = sliding_window_view(names.data, 11)[names.offsets[:-1]]
    digits = letters[:, 4:] - np.uint8(ord("0"))
    if (letters[:, :4] != np.frombuffer(b"rec_", np.uint8)).any() or (digits > 9).any():
        return None
    numbers = np.zeros(len(names), np.int64)
    for column in range(7):
        numbers = 10 * numbers + digits[:, column]
    return numbers


def framed(time: int) -> Entries:
    """Make the three entries that aeon writes around the elements of a block: the block's header
    and trailer, and the end of the archive.

    time: the time of each entry, in seconds since 1970.
    """
    names = Strings.of([HEADER_NAME, TRAILER_NAME, END_NAME])
    return Entries.of(names, Blobs.of([b"", bytes(TRAILER_SIZE), b""]), time)

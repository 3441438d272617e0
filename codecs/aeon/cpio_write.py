"""Writing cpio archives and blocks of aeon's cache: in one piece, or as their elements come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import BinaryIO, Final

import numpy as np
from construct import Array, Struct

from exset.codecs.aeon.cpio import HEADER, HEADER_SIZE, HEADING, HEADING_SIZE, LEAST
from exset.codecs.engine import Layout, Values, write
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.grammars.aeon.block import (
    END_NAME,
    HEADER_NAME,
    MOST,
    REGULAR,
    STATUS,
    TRAILER_NAME,
    TRAILER_SIZE,
    Block,
    BlockHeader,
    Entries,
    Words,
    element_name,
)
from exset.grammars.aeon.block_archive import as_archive, as_block
from exset.grammars.columns.arrays import Longs, constant, offsets_of
from exset.grammars.columns.blobs import Blobs
from exset.grammars.columns.strings import Strings

Piece = bytes | memoryview

_AT_ONCE: Final = 4096  # entries
_BYTES_AT_ONCE: Final = 1 << 25
_DATA_OF_HEADER: Final = HEADING_SIZE + len(HEADER_NAME) + 1


def encode(
    block: Block,
    *,
    lossy: bool = False,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> bytes:
    """The bytes of a block of aeon's, as aeon would write them at its times.

    The entries of an archive become records of one element; those that exset has named for their
    places in a block, such as `0000012.1.jpg`, become that block again. engine: the driver.
    Raises FormatError for an entry that is no plain file; with `lossy` it is left out, and
    `findings` has it. And for a header that counts more records than the file can hold.
    """
    heard = Findings() if findings is None else findings
    made = as_block(block, lossy, heard)
    data = b"".join(_pieces(made, engine))
    if made.header is not None and made.header.record_count > len(data) // LEAST:
        raise FormatError(
            f"record_count is {made.header.record_count:,}, more than the file would hold",
            code="aeon-block-width",
            hint="exset cache extract --damaged saves the elements one by one",
        )
    return data


def encode_archive(
    block: Block,
    *,
    lossy: bool = False,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> bytes:
    """The bytes of an archive as GNU cpio would write it, to a multiple of 512.

    The elements of a block are named for their places, and get a suffix that their contents say:
    `0000012.1.jpg` is the second element of record 12. Raises FormatError for a block whose records
    cannot be told apart, or that says what no archive can; with `lossy` that is left out, and
    `findings` has it.
    """
    heard = Findings() if findings is None else findings
    return b"".join(_pieces(as_archive(block, lossy, heard), engine))


def _pieces(block: Block, engine: Engine) -> Iterator[Piece]:
    """The bytes of a file; those of its elements are not copied."""
    names = block.elements.name
    if END_NAME in names.take(np.flatnonzero(names.lengths == len(END_NAME))).tolist():
        raise FormatError(
            f"an element is called {END_NAME.decode()}, which ends an archive",
            hint="rename it",
            code="cpio-loss",
        )
    frame = block.frame
    if block.header is not None:
        first = frame.take(np.array([0]))
        data = Blobs.of([header_bytes(block.header, engine)])
        yield from entry_pieces(first.with_columns(data=data), engine)
        frame = frame.take(np.arange(1, len(frame)))
    yield from entry_pieces(block.elements, engine)
    yield from entry_pieces(frame, engine)
    yield bytes(block.padding)


def entry_pieces(entries: Entries, engine: Engine = "auto") -> Iterator[Piece]:
    """The bytes of some entries; those of their data are not copied."""
    for begin in range(0, len(entries), _AT_ONCE):
        part = entries.take(np.arange(begin, min(begin + _AT_ONCE, len(entries))))
        status = {word: getattr(part, word) for word in STATUS}
        headings = _headings(part.name, part.data.lengths, part.time, status, engine)
        yield from _interleaved(*headings, part.data)


def _interleaved(headings: bytes, ends: Longs, data: Iterable[Piece]) -> Iterator[Piece]:
    """Entries, from what stands before the data of each, and the data."""
    start = 0
    for end, each in zip(ends.tolist(), data, strict=True):
        yield headings[start:end]
        yield each
        if len(each) % 2:
            yield b"\0"
        start = end


def _headings(
    name: Strings, lengths: Longs, times: Longs, status: Mapping[str, Words], engine: Engine
) -> tuple[bytes, Longs]:
    """What stands before the data of each entry, one after the other, and where each ends."""
    count = len(name)
    ended = np.insert(name.data, name.offsets[1:], 0)
    offsets = name.offsets + np.arange(count + 1)
    names = Strings.unchecked(data=ended, offsets=offsets, given=name.given)
    columns: dict[str, Values] = {**status, "name": names}
    columns["namesize"] = names.lengths.astype(np.uint16)
    for word, column in (("mtime", times), ("filesize", lengths)):
        columns[f"{word}_high"] = (column >> 16).astype(np.uint16)
        columns[f"{word}_low"] = (column & 0xFFFF).astype(np.uint16)
    fields = {f"entries.{word}": column for word, column in columns.items()}
    sizes = names.lengths + names.lengths % 2 + HEADING_SIZE
    return write(_layout(count), fields, engine=engine), offsets_of(sizes)[1:]


@lru_cache(maxsize=8)
def _layout(count: int) -> Layout:
    """The layout of what stands before the data of so many entries."""
    return Layout(Struct("entries" / Array(count, Struct(*HEADING))))


def header_bytes(header: BlockHeader, engine: Engine = "auto") -> bytes:
    """The data of the first entry of a block."""
    words = ("format_version", "writer_version", "record_count", "elements_per_record")
    columns = {word: np.array([getattr(header, word)], np.uint32) for word in words}
    raw = {word: Strings.of([getattr(header, word)]) for word in ("data_type", "rest")}
    return write(HEADER, {**columns, **raw}, engine=engine)


class BlockWriter:
    """Writes a block of aeon's, record by record, to a file that can be rewound.

    As aeon does, it writes a header of zeros first, and what the header says when it is closed.
    clock: the time that each entry gets. Raises what the file raises.
    """

    def __init__(self, file: BinaryIO, clock: Callable[[], float] = time.time) -> None:
        """Begin a block where the file is."""
        self.records = 0
        self._file = file
        self._clock = clock
        self._begin = file.tell()
        self._element = 0
        self._names: list[bytes] = []
        self._data: list[Piece] = []
        self._times: list[int] = []
        self._bytes = 0
        self._add(HEADER_NAME, bytes(HEADER_SIZE))

    def write(self, record: Sequence[Piece]) -> None:
        """Add a record; its elements must not change until the block is closed."""
        for data in record:
            self._add(element_name(self.records, self._element), data)
            self._element += 1
        self.records += 1

    def close(self) -> None:
        """End the block; the file is not closed."""
        for name, data in ((TRAILER_NAME, bytes(TRAILER_SIZE)), (END_NAME, b"")):
            self._add(name, data)
        self._flush()
        end = self._file.tell()
        self._file.seek(self._begin + _DATA_OF_HEADER)
        self._file.write(header_bytes(BlockHeader(self.records, self.records)))
        self._file.seek(end)

    def _add(self, name: bytes, data: Piece) -> None:
        self._names.append(name)
        self._data.append(data)
        self._times.append(int(self._clock()))
        self._bytes += len(data)
        if self._bytes > _BYTES_AT_ONCE or len(self._names) == _AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        count = len(self._names)
        lengths = np.array([len(each) for each in self._data], np.int64)
        if lengths.max(initial=0) > MOST:
            message = "an element has 4 GiB or more: no cpio entry can hold it"
            raise FormatError(message, code="cpio-loss")
        times = np.array(self._times, np.int64)
        status = {word: constant(0, count, np.uint16) for word in STATUS}
        status["mode"] = constant(REGULAR, count, np.uint16)
        headings = _headings(Strings.of(self._names), lengths, times, status, "auto")
        for piece in _interleaved(*headings, self._data):
            self._file.write(piece)
        self._names, self._data, self._times, self._bytes = [], [], [], 0

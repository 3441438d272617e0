"""Write cpio archives and blocks of aeon's cache: all at once, or record by record."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, Final

import numpy as np

from exset.codecs.aeon.layout import HEADER, HEADER_SIZE, HEADING_SIZE, LEAST_ENTRY, headings
from exset.codecs.engine import Values, write
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.text import counted
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
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.columns.arrays import Longs, constant, offsets_of
from exset.grammars.columns.blobs import Blobs
from exset.grammars.columns.strings import Strings

Data = bytes | memoryview

_BLOCKING: Final = 512
_CHUNK: Final = 4096  # entries
_CHUNK_BYTES: Final = 1 << 25
_HEADER_DATA: Final = HEADING_SIZE + len(HEADER_NAME) + 1


def encode(
    block: Block, *, lossy: bool = False, findings: Findings | None = None, engine: Engine = "auto"
) -> bytes:
    """Encode a block as aeon would write it, with the times of its entries.

    If `block` is an archive, each entry becomes a record of one element. But if the names of all
    entries contain record and element numbers, such as `0000012.1.jpg`, the original block is
    restored.

    engine: the driver. Raises FormatError for an entry that is not a regular file. With `lossy`,
    such an entry is dropped instead, and `findings` collects the loss. Also raises FormatError if
    the block has more records than a file of its size can have.
    """
    made = as_block(block, lossy, Findings() if findings is None else findings)
    data = b"".join(_encoded(made, engine))
    if len(made) > len(data) // LEAST_ENTRY:
        words = {"elements": counted(len(made.elements), "element")}
        words["records"] = counted(len(made), "record")
        raise FormatError.of(finding_at("aeon-block-width", None, **words))
    return data


def encode_archive(
    block: Block, *, lossy: bool = False, findings: Findings | None = None, engine: Engine = "auto"
) -> bytes:
    """Encode an archive as GNU cpio would write it, padded to a multiple of 512 bytes.

    The elements of a block get names that contain record and element numbers, and a suffix for the
    type of contents: `0000012.1.jpg` is the second element of record 12. Raises FormatError for a
    block whose records have different numbers of elements. Also raises FormatError for data that an
    archive cannot store. With `lossy`, such data are dropped instead, and `findings` collects the
    losses.
    """
    archive = as_archive(block, lossy, Findings() if findings is None else findings)
    chunks = list(_encoded(archive, engine))
    if archive is not block:
        chunks.append(bytes(-sum(map(len, chunks)) % _BLOCKING))
    return b"".join(chunks)


def _encoded(block: Block, engine: Engine) -> Iterator[Data]:
    """Yield the bytes of a block or an archive, without copying its elements."""
    names = block.elements.name
    if END_NAME in names.take(np.flatnonzero(names.lengths == len(END_NAME))).tolist():
        message = f"an element is named {END_NAME.decode()}, which ends an archive"
        raise FormatError(message, hint="rename the element", code="cpio-loss")
    frame = block.frame
    if block.header is not None:
        first = frame.take(np.array([0]))
        data = Blobs.of([_header_bytes(block.header, engine)])
        yield from _encode_entries(first.with_unchecked(data=data), engine)
        frame = frame.take(np.arange(1, len(frame)))
    yield from _encode_entries(block.elements, engine)
    yield from _encode_entries(frame, engine)
    yield bytes(block.padding)


def _encode_entries(entries: Entries, engine: Engine = "auto") -> Iterator[Data]:
    """Yield the bytes of the entries, one piece after another, without copying their data."""
    for begin in range(0, len(entries), _CHUNK):
        chunk = entries.take(np.arange(begin, min(begin + _CHUNK, len(entries))))
        status = {word: getattr(chunk, word) for word in STATUS}
        encoded = _headings(chunk.name, chunk.data.lengths, chunk.time, status, engine)
        yield from _interleaved(*encoded, chunk.data)


def _interleaved(encoded: bytes, ends: Longs, data: Iterable[Data]) -> Iterator[Data]:
    """Yield the heading of each entry, followed by its data.

    encoded: all headings, one after another. ends: int64, where each heading ends in `encoded`.
    """
    start = 0
    for end, each in zip(ends.tolist(), data, strict=True):
        yield encoded[start:end]
        yield each
        if len(each) % 2:
            yield b"\0"
        start = end


def _headings(
    name: Strings, lengths: Longs, times: Longs, status: Mapping[str, Words], engine: Engine
) -> tuple[bytes, Longs]:
    """Encode the heading of each entry, which includes the entry's name.

    Return all headings, one after another, and the offset at which each heading ends. lengths: the
    sizes of the entries' data. times: in seconds since 1970. status: the other fields of the
    headings.
    """
    count = len(name)
    terminated = np.insert(name.data, name.offsets[1:], 0)
    offsets = name.offsets + np.arange(count + 1)
    names = Strings.unchecked(data=terminated, offsets=offsets, present=name.present)
    columns: dict[str, Values] = {**status, "name": names}
    columns["namesize"] = names.lengths.astype(np.uint16)
    for word, column in (("mtime", times), ("filesize", lengths)):
        columns[f"{word}_high"] = (column >> 16).astype(np.uint16)
        columns[f"{word}_low"] = (column & 0xFFFF).astype(np.uint16)
    fields = {f"entries.{word}": column for word, column in columns.items()}
    sizes = names.lengths + names.lengths % 2 + HEADING_SIZE
    return write(headings(count), fields, engine=engine), offsets_of(sizes)[1:]


def _header_bytes(header: BlockHeader, engine: Engine = "auto") -> bytes:
    columns: dict[str, Values] = {}
    for name, leaf in HEADER.leaves.items():
        value = getattr(header, name)
        columns[name] = np.array([value], leaf.native) if leaf.is_number else Strings.of([value])
    return write(HEADER, columns, engine=engine)


class BlockWriter:
    """Writes a block of aeon's cache, record by record, to a seekable file.

    Like aeon, it first writes a header of zeros; `close` replaces this header. clock: a function
    that returns the time to store in a new entry. Raises OSError if `file` cannot be written.
    """

    def __init__(self, file: BinaryIO, clock: Callable[[], float] = time.time) -> None:
        self.records = 0
        self._file = file
        self._clock = clock
        self._begin = file.tell()
        self._element = 0
        self._names: list[bytes] = []
        self._data: list[Data] = []
        self._times: list[int] = []
        self._bytes = 0
        self._add(HEADER_NAME, bytes(HEADER_SIZE))

    def write(self, record: Sequence[Data]) -> None:
        """Add a record. `record`: the data of its elements, unchanged until `close`."""
        for data in record:
            self._add(element_name(self.records, self._element), data)
            self._element += 1
        self.records += 1

    def close(self) -> None:
        """Write the end of the block, and its header. The file stays open."""
        for name, data in ((TRAILER_NAME, bytes(TRAILER_SIZE)), (END_NAME, b"")):
            self._add(name, data)
        self._flush()
        end = self._file.tell()
        self._file.seek(self._begin + _HEADER_DATA)
        self._file.write(_header_bytes(BlockHeader(self.records, self.records)))
        self._file.seek(end)

    def _add(self, name: bytes, data: Data) -> None:
        self._names.append(name)
        self._data.append(data)
        self._times.append(int(self._clock()))
        self._bytes += len(data)
        if self._bytes > _CHUNK_BYTES or len(self._names) == _CHUNK:
            self._flush()

    def _flush(self) -> None:
        count = len(self._names)
        lengths = np.array([len(each) for each in self._data], np.int64)
        if lengths.max(initial=0) > MOST:
            message = "an element has 4 GiB or more: a cpio entry cannot store it"
            raise FormatError(message, code="cpio-loss")
        times = np.array(self._times, np.int64)
        status = {word: constant(0, count, np.uint16) for word in STATUS}
        status["mode"] = constant(REGULAR, count, np.uint16)
        encoded = _headings(Strings.of(self._names), lengths, times, status, "auto")
        for data in _interleaved(*encoded, self._data):
            self._file.write(data)
        self._names, self._data, self._times, self._bytes = [], [], [], 0

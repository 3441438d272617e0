"""Read cpio archives in the old binary format, and blocks of aeon's cache, as a `Block`.

An entry has a heading of thirteen 16-bit words in little-endian byte order, then a name, then data.
The last entry is `TRAILER!!!`. A block of aeon's cache (cpio.cpp) has two special entries more. Its
first entry is the header, with the number of records. The entry before `TRAILER!!!` has 16 zero
bytes. All other entries are elements.
"""

from typing import Final, cast

import numpy as np

from exset.codecs.aeon import layout
from exset.codecs.aeon.cpio_lint import report
from exset.codecs.engine import Fields, read
from exset.codecs.engine.failures import TruncatedError
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.lookalikes import converted
from exset.core.source import Source
from exset.core.text import counted
from exset.grammars.aeon.block import (
    END_NAME,
    HEADER_NAME,
    STATUS,
    TRAILER_NAMES,
    TRAILER_SIZE,
    Block,
    BlockHeader,
    Entries,
    Words,
)
from exset.grammars.aeon.block_findings import finding_at
from exset.grammars.columns.arrays import Flags, Longs, compact, frozen
from exset.grammars.columns.blobs import Blobs
from exset.grammars.columns.strings import Strings

_MAGIC: Final = layout.MAGIC.to_bytes(2, "little")
_INSPECTED: Final = 1 << 16  # bytes to examine for conversion of line ends


def decode(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Block:
    """Decode a block of aeon's cache, without copying the data of its elements.

    engine: the driver, see `exset.codecs.engine.reader`. `findings` collects likely mistakes that
    aeon accepts. Raises FormatError for a file that aeon rejects, or on which aeon crashes, or from
    which aeon makes elements that are not in the file.
    """
    findings = Findings() if findings is None else findings
    fields, is_whole = _fields(source, limits, engine)
    entries = _entries(fields, source, findings)
    header = _header(entries, source, limits, engine)
    count = len(entries)
    if not is_whole:
        findings.add(finding_at("aeon-block-no-end", Place.in_bytes(source, fields.end)))
        end = Entries.of(Strings.of([END_NAME]), Blobs.of([b""]))
        entries = Entries.concat([entries, end])
        count += 1
    frame = [0, count - 1]
    if entries.name[count - 2] in TRAILER_NAMES and entries.data.lengths[count - 2] == TRAILER_SIZE:
        frame = [0, count - 2, count - 1]
    block = Block.unchecked(
        header=header,
        elements=entries.take(np.arange(1, frame[1])),
        frame=_without_header(entries.take(np.array(frame))),
        padding=_padding(fields, source, findings) if is_whole else 0,
    )
    report(block, source, int(entries.data.starts[0]), findings)
    return block


def decode_archive(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Block:
    """Decode an archive, without copying the data of its files.

    Parameters and errors are those of `decode`.
    """
    findings = Findings() if findings is None else findings
    fields = read(layout.ARCHIVE, source, limits=limits, engine=engine)
    entries = _entries(fields, source, findings)
    count = len(entries)
    return Block.unchecked(
        header=None,
        elements=entries.take(np.arange(count - 1)),
        frame=entries.take(np.array([count - 1])),
        padding=_padding(fields, source, findings),
    )


def salvage(source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto") -> Entries:
    """Decode the complete elements at the beginning of a damaged block.

    Raises FormatError if the header is not complete.
    """
    try:
        fields = read(layout.ARCHIVE, source, limits=limits, engine=engine)
    except FormatError as error:
        fields = _complete(source, error, limits, engine)
    entries = _entries(fields, source, Findings())
    _header(entries, source, limits, engine)
    names = entries.name.tolist()
    end = len(names)
    while end > 1 and names[end - 1] in (*TRAILER_NAMES, END_NAME):
        end -= 1
    return entries.take(np.arange(1, end))


def _fields(source: Source, limits: Limits, engine: Engine) -> tuple[Fields, bool]:
    """Return a block as columns, and whether the block is complete.

    A block is incomplete if it ends without the last entry. aeon does not read this entry.
    """
    try:
        return read(layout.ARCHIVE, source, limits=limits, engine=engine), True
    except FormatError as error:
        if source.view[: len(_MAGIC)] == _MAGIC:
            fields = _complete(source, error, limits, engine)
            names = fields.strings("entries.name")
            if len(names) > 1 and names[-1] in [name + b"\0" for name in TRAILER_NAMES]:
                return fields, False
            hint = converted(bytes(source.view[:_INSPECTED]))
            if isinstance(error, TruncatedError):
                raise _truncated(error, max(0, len(names) - 1), hint or error.hint) from None
            if hint:
                raise FormatError(error.message, place=error.place, hint=hint) from None
        raise


def _complete(source: Source, error: FormatError, limits: Limits, engine: Engine) -> Fields:
    """Read only the entries that precede the error."""
    count = error.place.index("entries") if error.place is not None else None
    if not count:
        raise error
    return read(layout.first_entries(count), source, limits=limits, engine=engine)


def _truncated(error: FormatError, complete: int, why: str | None) -> FormatError:
    saved = "this is the first element, so that none is whole"
    if complete:
        saved = f"exset cache extract --damaged saves the {counted(complete, 'element')} before it"
    hint = f"{why}; {saved}; for elements that are not whole, aeon gives zeros"
    message = f"element {complete} goes beyond the end of the file ({error.message})"
    return FormatError(message, place=error.place, hint=hint)


def _entries(fields: Fields, source: Source, findings: Findings) -> Entries:
    """Make the entries from the columns that were read. The columns include the last entry."""
    starts, lengths = fields.spans("entries.data")
    data = Blobs.unchecked(
        data=np.frombuffer(source.view, np.uint8), starts=starts, lengths=compact(lengths)
    )
    return Entries.unchecked(
        name=_names(fields, source, findings),
        data=data,
        time=compact(_long(fields, "mtime")),
        **{word: compact(cast(Words, fields[f"entries.{word}"])) for word in STATUS},
    )


def _long(fields: Fields, name: str) -> Longs:
    """Return the 32-bit numbers in the field `name`.

    The file stores each number as two 16-bit words.
    """
    high, low = (cast(Words, fields[f"entries.{name}_{half}"]) for half in ("high", "low"))
    return high.astype(np.int64) << 16 | low


def _names(fields: Fields, source: Source, findings: Findings) -> Strings:
    """Return the names of the entries, each without the NUL at its end.

    Adds a finding for each name that does not end with a NUL.
    """
    raw = fields.strings("entries.name")
    last = raw.offsets[1:] - 1
    findings.add_each(
        np.flatnonzero(raw.data[last]).tolist(),
        lambda i: finding_at("cpio-name", fields.place(source, "entries.name", i)),
    )
    keep: Flags = np.ones(raw.data.size, np.bool_)
    keep[last] = False
    offsets = raw.offsets - np.arange(raw.offsets.size)
    return Strings.unchecked(data=raw.data[keep], offsets=frozen(offsets), present=raw.present)


def _header(entries: Entries, source: Source, limits: Limits, engine: Engine) -> BlockHeader:
    """Read the header in the first entry.

    Raises FormatError if this entry is not a header of aeon.
    """
    at, size = int(entries.data.starts[0]), int(entries.data.lengths[0])
    if size != layout.HEADER_SIZE:
        place = Place.in_bytes(source, 0, "entries[0]")
        has = counted(size, "byte")
        message = f"the first entry has {has}, but the header of a block has {layout.HEADER_SIZE}"
        hint = 'if the file is another cpio archive, use <--from cpio or format="cpio">'
        raise FormatError(message, place=place, hint=hint)
    inner = Source(source.name, bytes(source.view[at : at + size]))
    try:
        fields = read(layout.HEADER, inner, limits=limits, engine=engine)
    except FormatError as error:
        place = Place.in_bytes(source, at, "entries[0].data.magic")
        raise FormatError(error.message, place=place) from None
    words = {
        name: int(cast(Longs, fields[name])[0])
        for name, leaf in layout.HEADER.leaves.items()
        if leaf.is_number
    }
    data_type, rest = (fields.strings(name)[0] or b"" for name in ("data_type", "rest"))
    header = BlockHeader(**words, data_type=data_type, rest=rest)
    if header.record_count > len(source.view) // layout.LEAST_ENTRY:
        offset = at + layout.header_offset("record_count")
        place = Place.in_bytes(source, offset, "entries[0].data.record_count")
        message = f"record_count is {header.record_count}, more than the file can hold"
        raise FormatError(message, place=place)
    return header


def _without_header(frame: Entries) -> Entries:
    """Return `frame` with an empty and renamed first entry, which was the header of the block."""
    names = [HEADER_NAME, *frame.name.tolist()[1:]]
    data = [b"", *frame.data.tolist()[1:]]
    return frame.with_unchecked(name=Strings.of(names), data=Blobs.of(data))


def _padding(fields: Fields, source: Source, findings: Findings) -> int:
    """Return the number of zero bytes after the archive.

    If any other byte follows the archive, add a finding and return 0.
    """
    after = source.view[fields.end :]
    if not np.any(np.frombuffer(after, np.uint8)):
        return len(after)
    place = Place.in_bytes(source, fields.end)
    findings.add(finding_at("cpio-trailing-bytes", place, count=len(after)))
    return 0

"""cpio archives in the old binary format, and the blocks of aeon's cache: bytes to `Block`.

An entry is thirteen 16-bit words, low byte first, the name with a NUL, and the data, both padded to
an even length; a number of 32 bits is two words, the high one first. The last entry is
`TRAILER!!!`. In a block of aeon's (cpio.cpp) a first entry says how many records there are, and
one before the last is 16 zero bytes; every other one is an element.
"""

import re
from functools import lru_cache
from typing import Final, cast

import numpy as np
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

from exset.codecs.aeon.cpio_lint import report
from exset.codecs.engine import Fields, Layout, read
from exset.codecs.engine.failures import Cut
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.lookalikes import converted
from exset.core.source import Source
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

MAGIC: Final = 0o070707
HEADER_SIZE: Final = 64
HEADING_SIZE: Final = 26
"""Bytes of an entry before its name."""
LEAST: Final = 28
"""Bytes of an entry, its name being one byte and empty."""

HEADING = (
    "magic" / Const(MAGIC, Int16ul),
    *(word / Int16ul for word in STATUS),
    "mtime_high" / Int16ul,
    "mtime_low" / Int16ul,
    "namesize" / Int16ul,
    Check(this.namesize > 0),
    "filesize_high" / Int16ul,
    "filesize_low" / Int16ul,
    "name" / Aligned(2, Bytes(this.namesize)),
)

Entry = Struct(*HEADING, "data" / Aligned(2, Bytes(this.filesize_high * 65536 + this.filesize_low)))

Archive = Struct("entries" / RepeatUntil(obj_.name == END_NAME + b"\0", Entry))

Header = Struct(
    "magic" / Const(b"MACR"),
    "format_version" / Int32ul,
    "writer_version" / Int32ul,
    "data_type" / Bytes(8),
    "record_count" / Int32ul,
    "elements_per_record" / Int32ul,
    "rest" / Bytes(36),
)

LAYOUT: Final = Layout(Archive)
HEADER: Final = Layout(Header)

_RECORD_COUNT: Final = 20  # where it is in the header


def decode(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Block:
    """A block of aeon's cache; its elements stay in the source.

    engine: the driver, see `exset.codecs.engine.reader`. `findings` collects what aeon accepts but
    people are caught by. Raises FormatError where aeon refuses, crashes or makes elements up.
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
    """An archive; its files stay in the source. Otherwise as `decode`."""
    findings = Findings() if findings is None else findings
    fields = read(LAYOUT, source, limits=limits, engine=engine)
    entries = _entries(fields, source, findings)
    count = len(entries)
    return Block.unchecked(
        header=None,
        elements=entries.take(np.arange(count - 1)),
        frame=entries.take(np.array([count - 1])),
        padding=_padding(fields, source, findings),
    )


def salvage(source: Source, *, limits: Limits = DEFAULT, engine: Engine = "auto") -> Entries:
    """The elements of a block that are whole, before the place at which it is broken.

    Raises FormatError if not even its header is whole.
    """
    try:
        fields = read(LAYOUT, source, limits=limits, engine=engine)
    except FormatError as error:
        fields = _whole(source, error, limits, engine)
    entries = _entries(fields, source, Findings())
    _header(entries, source, limits, engine)
    names = entries.name.tolist()
    end = len(names)
    while end > 1 and names[end - 1] in (*TRAILER_NAMES, END_NAME):
        end -= 1
    return entries.take(np.arange(1, end))


def _fields(source: Source, limits: Limits, engine: Engine) -> tuple[Fields, bool]:
    """The fields of a block, and whether it has the last entry, at which aeon does not look."""
    try:
        return read(LAYOUT, source, limits=limits, engine=engine), True
    except FormatError as error:
        if source.view[: len(_MAGIC)] == _MAGIC:
            fields = _whole(source, error, limits, engine)
            names = fields.strings("entries.name")
            if len(names) > 1 and names[-1] in [name + b"\0" for name in TRAILER_NAMES]:
                return fields, False
            advice = converted(bytes(source.view[:_LOOKED_AT]))
            if isinstance(error, Cut):
                raise _cut(error, max(0, len(names) - 1), advice or error.hint) from None
            if advice:
                raise FormatError(error.message, place=error.place, hint=advice) from None
        raise


def _whole(source: Source, error: FormatError, limits: Limits, engine: Engine) -> Fields:
    """The fields of all entries before an error."""
    field = error.place.field if error.place is not None else None
    found = re.match(r"entries\[(\d+)\]", field or "")
    if found is None or found[1] == "0":
        raise error
    return read(_first(int(found[1])), source, limits=limits, engine=engine)


@lru_cache(maxsize=8)
def _first(count: int) -> Layout:
    """The layout of so many entries."""
    return Layout(Struct("entries" / Array(count, Entry)))


def _cut(error: FormatError, whole: int, why: str | None) -> FormatError:
    hint = (
        f"{why}; {whole} elements before it are whole, aeon makes up the others from zeros:"
        " exset cache extract --damaged saves what there is"
    )
    message = f"element {whole} goes beyond the end of the file ({error.message})"
    return FormatError(message, place=error.place, hint=hint)


def _entries(fields: Fields, source: Source, findings: Findings) -> Entries:
    """All entries, the last among them."""
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
    """A number of two words."""
    high, low = (cast(Words, fields[f"entries.{name}_{half}"]) for half in ("high", "low"))
    return high.astype(np.int64) << 16 | low


def _names(fields: Fields, source: Source, findings: Findings) -> Strings:
    """The names without the byte that ends each, which should be a NUL."""
    raw = fields.strings("entries.name")
    last = raw.offsets[1:] - 1
    for i in np.flatnonzero(raw.data[last]).tolist():
        findings.add(finding_at("cpio-name", fields.place(source, "entries.name", i)))
    keep: Flags = np.ones(raw.data.size, np.bool_)
    keep[last] = False
    offsets = raw.offsets - np.arange(raw.offsets.size)
    return Strings.unchecked(data=raw.data[keep], offsets=frozen(offsets), given=raw.given)


def _header(entries: Entries, source: Source, limits: Limits, engine: Engine) -> BlockHeader:
    """What the first entry says. Raises FormatError if it is none of aeon's."""
    at, size = int(entries.data.starts[0]), int(entries.data.lengths[0])
    if size != HEADER_SIZE:
        place = Place.in_bytes(source, 0, "entries[0]")
        raise FormatError(
            f"the first entry has {size} bytes, the header of a block has {HEADER_SIZE}",
            place=place,
            hint="if it is an archive of other files, read it as one: --from cpio",
        )
    inner = Source(source.name, bytes(source.view[at : at + size]))
    try:
        fields = read(HEADER, inner, limits=limits, engine=engine)
    except FormatError as error:
        place = Place.in_bytes(source, at, "entries[0].data.magic")
        raise FormatError(error.message, place=place) from None
    words = {name: int(cast(Longs, fields[name])[0]) for name in _WORDS}
    if words["record_count"] > len(source.view) // LEAST:
        place = Place.in_bytes(source, at + _RECORD_COUNT, "entries[0].data.record_count")
        message = f"record_count is {words['record_count']}, more than the file can hold"
        raise FormatError(message, place=place)
    data_type, rest = (fields.strings(name)[0] or b"" for name in ("data_type", "rest"))
    return BlockHeader(**words, data_type=data_type, rest=rest)


def _without_header(frame: Entries) -> Entries:
    """The frame with its header's data, which are known, left out and its name as it should be."""
    names = [HEADER_NAME, *frame.name.tolist()[1:]]
    data = [b"", *frame.data.tolist()[1:]]
    return frame.with_columns(name=Strings.of(names), data=Blobs.of(data))


def _padding(fields: Fields, source: Source, findings: Findings) -> int:
    """How many bytes follow the archive, if all of them are zero."""
    after = source.view[fields.end :]
    if not np.any(np.frombuffer(after, np.uint8)):
        return len(after)
    place = Place.in_bytes(source, fields.end)
    findings.add(finding_at("cpio-trailing-bytes", place, count=len(after)))
    return 0


_LOOKED_AT: Final = 1 << 16  # bytes, for a block that was copied as a text
_MAGIC: Final = MAGIC.to_bytes(2, "little")
_WORDS: Final = ("format_version", "writer_version", "record_count", "elements_per_record")

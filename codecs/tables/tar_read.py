"""Read the members of tar archives: the names and the data of the regular files.

Python's `tarfile`, which webdataset uses, reads some kinds of damage as the end of the archive.
exset adds a finding for such damage.
"""

from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from exset.codecs.engine import Fields, Layout, read
from exset.codecs.tables.tar_names import entry_names
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Bytes, Flags, Longs
from exset.grammars.tables.shard_findings import finding_at

_ARCHIVE: Final = Layout("exset.codecs.tables.tar_layout:Archive")
_ENTRIES: Final = Layout("exset.codecs.tables.tar_layout:Entries")
_COUNT: Final = 8  # bytes of the number of entries, which an archive does not have
_BLOCK: Final = 512
_SUM: Final = slice(148, 156)
_CHUNK: Final = 1 << 14  # headers whose checksums are computed at once
_FILES: Final = np.frombuffer(b"\x0007", np.uint8)


@dataclass(frozen=True)
class Members:
    """The regular files of an archive.

    names: the names, as they are in the archive. starts, lengths: int64, the offsets and lengths of
    their data in the source. headers: int64, the offsets of their headers.
    """

    names: list[bytes]
    starts: Longs
    lengths: Longs
    headers: Longs


def read_members(
    source: Source, *, limits: Limits, findings: Findings, engine: Engine, before: int = 0
) -> Members:
    """Read the members of an archive.

    before: the number of entries before the source, if it is a chunk of an archive. Raises
    FormatError if the file ends within a member's data, and if it is not a tar archive.
    """
    data: Bytes = np.frombuffer(source.view, np.uint8)
    fields, shift, is_ended = _fields(source, limits, engine)
    headers = fields.starts["entries"] - shift
    starts, lengths = fields.spans("entries.data")
    starts, count = starts - shift, headers.size - is_ended
    if (wrong := first_unsound(data, headers[:count])) is not None:
        _stop("tar-checksum", source, int(headers[wrong]), wrong, before, findings)
        count = wrong
    elif is_ended:
        _check_end(source, data, int(headers[-1]), findings)
    elif fields.end - shift < data.size or not count:
        _check_cut(source, data, fields.end - shift, count, before, findings)
    kinds = cast(Bytes, fields["entries.typeflag"])[:count]
    names = entry_names(fields, kinds, data, starts, lengths)
    files = np.flatnonzero(np.isin(kinds, _FILES))
    named = [names[row] for row in files.tolist()]
    return Members(named, starts[files], lengths[files], headers[files])


def _fields(source: Source, limits: Limits, engine: Engine) -> tuple[Fields, int, bool]:
    """Read all entries; in a truncated archive, only those before the first incomplete entry.

    Also return a number to subtract from all offsets, and whether the archive ends with an empty
    block, as it should; this block is then the last entry.
    """
    try:
        return read(_ARCHIVE, source, limits=limits, engine=engine), 0, True
    except FormatError as error:
        count = (error.place.index("entries") if error.place is not None else None) or 0
    numbered = count.to_bytes(_COUNT, "big") + source.data
    fields = read(_ENTRIES, Source(source.name, numbered), limits=limits, engine=engine)
    return fields, _COUNT, False


def _check_end(source: Source, data: Bytes, end: int, findings: Findings) -> None:
    """Add a finding if other bytes than zeros follow the empty block that ends an archive.

    end: the offset of this block.
    """
    others = data[end:] != 0
    if (at := int(others.argmax()) if others.size else 0) or others[:1].any():
        place = Place.in_bytes(source, source.start + end + at)
        findings.add(finding_at("tar-after-end", place, count=others.size - at))


def _check_cut(
    source: Source, data: Bytes, end: int, count: int, before: int, findings: Findings
) -> None:
    """Add a finding for a file that ends within a header, and raise FormatError for other damage.

    A wrong checksum also gives a finding. end: the offset of the incomplete entry. count, before:
    the number of complete entries in the source, and before it.
    """
    header = data[end : end + _BLOCK]
    if header.size < _BLOCK:
        _stop("tar-cut", source, end, count, before, findings)
    elif not _are_sound(header.reshape(1, _BLOCK)).all():
        _stop("tar-checksum", source, end, count, before, findings)
    else:
        message = f"the data end within member {before + count}"
        hint = "the file is truncated: write or download it again"
        place = Place.in_bytes(source, source.start + end, f"entries[{before + count}]")
        raise FormatError(message, place=place, hint=hint, code="tar-cut")


def _stop(
    code: str, source: Source, offset: int, count: int, before: int, findings: Findings
) -> None:
    """Add a finding for damage at an offset, at which `tarfile` stops without an error.

    count, before: the number of complete entries in the source, and before it. Raises FormatError
    if both are 0.
    """
    count += before
    place = Place.in_bytes(source, source.start + offset, f"entries[{count}]")
    found = finding_at(code, place, count=count, size=len(source.view) - offset)
    if not count:
        raise FormatError.of(found)
    findings.add(found)


def first_unsound(data: Bytes, headers: Longs) -> int | None:
    """Return the index of the first header with a wrong checksum; None if all are right.

    headers: their offsets in `data`.
    """
    blocks = sliding_window_view(data, _BLOCK) if headers.size else data
    for begin in range(0, headers.size, _CHUNK):
        unsound = ~_are_sound(blocks[headers[begin : begin + _CHUNK]])
        if unsound.any():
            return begin + int(unsound.argmax())
    return None


def _are_sound(headers: NDArray[np.uint8]) -> Flags:
    """Return for each header, uint8 [n, 512], whether its checksum is right.

    The checksum may be a sum of signed or of unsigned bytes.
    """
    field = headers[:, _SUM]
    stored = np.zeros(len(headers), np.int64)
    is_digit = (field >= ord("0")) & (field < ord("8"))
    for i in range(field.shape[1]):
        digit = field[:, i] & 7
        stored = np.where(is_digit[:, i], stored * 8 + digit, stored)
    rest = 8 * ord(" ") - field.sum(axis=1, dtype=np.int64)
    signed = 8 * ord(" ") - field.view(np.int8).sum(axis=1, dtype=np.int64)
    sums = headers.sum(axis=1, dtype=np.int64) + rest
    other = headers.view(np.int8).sum(axis=1, dtype=np.int64) + signed
    return cast(Flags, is_digit.any(axis=1) & ((stored == sums) | (stored == other)))

"""Decode base64 as aeon does: in groups of four bytes of any value.

A byte outside the alphabet decodes as zero. `=` as the third or fourth byte of a group ends the
field. If the last group of a field is incomplete, aeon reads past the end of the field. For a byte
above 127, it reads past the end of its table. In both cases, the result depends on other data in
memory.
"""

import binascii
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import Bytes, Longs, constant, offsets_of
from exset.grammars.columns.strings import Strings
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon.manifest_columns import KERNELS

CLEAN, LAX, MEMORY = range(3)
"""The issue of a field: none; invalid base64 that aeon decodes; aeon reads undefined memory."""

_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES: Final = np.array(
    [_ALPHABET.index(byte) if byte in _ALPHABET else 0x80 for byte in range(256)], np.uint8
)
_AS_READ: Final = bytes(byte if byte in _ALPHABET else _ALPHABET[0] for byte in range(256))


def decode(field: bytes | memoryview) -> tuple[bytes, int]:
    """Return the bytes that aeon makes from a field, and a verdict: `CLEAN`, `LAX` or `MEMORY`.

    CLEAN: the field is valid base64. LAX: the field is invalid, but aeon decodes it. MEMORY: aeon
    reads undefined memory, so this function returns no bytes.
    """
    try:
        return binascii.a2b_base64(field, strict_mode=True), CLEAN
    except binascii.Error:
        return _decode_invalid(bytes(field))


def issues(buffer: Bytes, starts: Longs, ends: Longs, compiled: bool) -> Bytes:
    """Return the verdict of `decode` on each field buffer[start:end]: uint8 [fields].

    compiled: whether to use the compiled kernel.
    """
    found = np.zeros(starts.size, np.uint8)
    invalid = _invalid(buffer, starts, ends) if compiled else np.ones(starts.size, np.bool_)
    for field in np.flatnonzero(invalid).tolist():
        found[field] = decode(buffer[starts[field] : ends[field]].data)[1]
    return found


def decoded(buffer: Bytes, starts: Longs, ends: Longs, compiled: bool) -> Strings:
    """Decode each field buffer[start:end]. A field with the verdict `MEMORY` has no value.

    compiled: whether to use the compiled kernel.
    """
    if compiled and not _invalid(buffer, starts, ends).any():
        sizes = (ends - starts) // 4 * 3
        some = np.flatnonzero(sizes)
        for back in (1, 2):
            sizes[some] -= buffer[ends[some] - back] == ord("=")
        offsets = offsets_of(sizes)
        data = np.empty(int(offsets[-1]), np.uint8)
        run = KERNELS.compiled(c.decode_plain)
        run(buffer, np.ascontiguousarray(starts), _VALUES, data, offsets)
        return Strings(data, offsets, constant(True, starts.size, np.bool_))
    pairs = zip(starts.tolist(), ends.tolist(), strict=True)
    made = [decode(buffer[start:end].data) for start, end in pairs]
    return Strings.of(None if issue == MEMORY else blob for blob, issue in made)


def _invalid(buffer: Bytes, starts: Longs, ends: Longs) -> NDArray[np.bool_]:
    """Return for each field, buffer[starts[i]:ends[i]], whether it is not valid base64."""
    invalid = np.empty(starts.size, np.bool_)
    run = KERNELS.compiled(c.find_invalid)
    run(buffer, np.ascontiguousarray(starts), np.ascontiguousarray(ends), _VALUES, invalid)
    return invalid


def _decode_invalid(field: bytes) -> tuple[bytes, int]:
    whole, last = len(field) & ~3, b""
    marks: list[int] = []
    at = field.find(b"=")
    while at >= 0:
        if at & 3 >= 2:
            whole = at & ~3
            last = field[whole:at]
            break
        if at & 3 == 1:
            marks.append(at)
        at = field.find(b"=", at + 1)
    else:
        if whole < len(field):
            return b"", MEMORY
    read = field[:whole] + last
    if not read.isascii():
        return b"", MEMORY
    padded = read.translate(_AS_READ) + b"=" * (-len(read) % 4)
    found = bytearray(binascii.a2b_base64(padded))
    for at in marks:
        found[at // 4 * 3] |= 4  # aeon's value of `=` is 64: its only bit falls into this byte
    return bytes(found), LAX

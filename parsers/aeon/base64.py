"""Base64 as aeon decodes it: four bytes at a time, whatever they are.

A byte outside the alphabet is a zero; padding in the third or fourth place ends the field. Where a
group is cut short aeon reads on beyond the field, and a byte above 127 is looked up beyond its
table: what comes of it depends on what lies there.
"""

import binascii
from typing import Final

import numpy as np
from numpy.typing import NDArray

from exset.grammars.columns.arrays import constant, offsets_of
from exset.grammars.columns.strings import Strings
from exset.parsers.aeon import manifest_columns as c
from exset.parsers.aeon.manifest_columns import KERNELS, Bytes, Longs

CLEAN, LAX, MEMORY = range(3)
"""What a field is: base64, something that is decoded all the same, something that is not."""

_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUES: Final = np.array(
    [_ALPHABET.index(byte) if byte in _ALPHABET else 0x80 for byte in range(256)], np.uint8
)
_AS_READ: Final = bytes(byte if byte in _ALPHABET else _ALPHABET[0] for byte in range(256))


def decode(field: bytes | memoryview) -> tuple[bytes, int]:
    """What aeon makes of a field, and what the field is; nothing where that depends on memory."""
    try:
        return binascii.a2b_base64(field, strict_mode=True), CLEAN
    except binascii.Error:
        return _as_read(bytes(field))


def kinds(buffer: Bytes, starts: Longs, ends: Longs, compiled: bool) -> Bytes:
    """What each field buffer[start:end] is: uint8 [fields]."""
    found = np.zeros(starts.size, np.uint8)
    odd = _odd(buffer, starts, ends) if compiled else np.ones(starts.size, np.bool_)
    for field in np.flatnonzero(odd).tolist():
        found[field] = decode(buffer[starts[field] : ends[field]].data)[1]
    return found


def decoded(buffer: Bytes, starts: Longs, ends: Longs, compiled: bool) -> Strings:
    """What aeon makes of each field buffer[start:end]; not given where that depends on memory."""
    if compiled and not _odd(buffer, starts, ends).any():
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
    return Strings.of(None if kind == MEMORY else blob for blob, kind in made)


def _odd(buffer: Bytes, starts: Longs, ends: Longs) -> NDArray[np.bool_]:
    odd = np.empty(starts.size, np.bool_)
    run = KERNELS.compiled(c.find_odd)
    run(buffer, np.ascontiguousarray(starts), np.ascontiguousarray(ends), _VALUES, odd)
    return odd


def _as_read(field: bytes) -> tuple[bytes, int]:
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
        found[at // 4 * 3] |= 4  # the value of `=` is 64, of which its neighbour gets a bit
    return bytes(found), LAX

"""Base64 as aeon decodes it: four bytes at a time, whatever they are.

A byte outside the alphabet is a zero; padding in the third or fourth place ends the field. Where a
group is cut short aeon reads on beyond the field, and a byte above 127 is looked up beyond its
table: what comes of it depends on what lies there.
"""

import binascii
from collections.abc import Iterable, Iterator
from typing import Final

CLEAN, LAX, MEMORY = range(3)
"""What a field is: base64, something that is decoded all the same, something that is not."""

_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_AS_READ: Final = bytes(byte if byte in _ALPHABET else _ALPHABET[0] for byte in range(256))


def decode(field: bytes | memoryview) -> tuple[bytes, int]:
    """What aeon makes of a field, and what the field is; nothing where that depends on memory."""
    try:
        return binascii.a2b_base64(field, strict_mode=True), CLEAN
    except binascii.Error:
        return _as_read(bytes(field))


def decoded(data: bytes | memoryview, bounds: Iterable[tuple[int, int]]) -> Iterator[bytes | None]:
    """What aeon makes of each field data[start:end]; None where that depends on memory."""
    view = memoryview(data)
    for start, end in bounds:
        found, kind = decode(view[start:end])
        yield None if kind == MEMORY else found


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

"""The layout of tar archives, with the names and the order of POSIX (pax, the format ustar).

This module imports only Construct and the engine, so that the engine can cache the programs that
it makes from the layout.
"""

from typing import Final

import construct as cs
from construct import obj_, this

_BLOCK: Final = 512
_LINK, _PIPE, _LARGE, _DIGIT = ord("1"), ord("6"), 128, ord("0")
_DIGITS: Final = 11

# A size is 10, 11 or 12 octal digits, before them spaces or NULs, which count as 0; or, if its
# first byte is 128 or more, as GNU tar has it, a number at its end.
_octal = (this.size_0 & 7) * 8 ** (_DIGITS - 1)
_number = this.size_11
for _i in range(1, _DIGITS):
    _octal += (this[f"size_{_i}"] & 7) * 8 ** (_DIGITS - 1 - _i)
for _i in range(6, _DIGITS):
    _number += this[f"size_{_i}"] * 256 ** (_DIGITS - _i)
_is_short, _is_long = this.size_10 < _DIGIT, this.size_11 >= _DIGIT
_octal += _octal * (_is_long * 7) - (_octal - _octal // 8) * _is_short
_octal += (this.size_11 & 7) * _is_long
_size = _octal * (this.size_0 < _LARGE) + _number * (this.size_0 >= _LARGE)
# Links, devices, folders and pipes have no data, whatever their size.
_has_data = (this.typeflag < _LINK) | (this.typeflag > _PIPE)

Header = cs.Struct(
    "name" / cs.Bytes(100),
    "mode" / cs.Bytes(8),
    "uid" / cs.Bytes(8),
    "gid" / cs.Bytes(8),
    *(f"size_{i}" / cs.Int8ub for i in range(_DIGITS + 1)),
    "mtime" / cs.Bytes(12),
    "chksum" / cs.Bytes(8),
    "typeflag" / cs.Int8ub,
    "linkname" / cs.Bytes(100),
    "magic" / cs.Bytes(6),
    "version" / cs.Bytes(2),
    "uname" / cs.Bytes(32),
    "gname" / cs.Bytes(32),
    "devmajor" / cs.Bytes(8),
    "devminor" / cs.Bytes(8),
    "prefix" / cs.Bytes(155),
    "rest" / cs.Bytes(12),
)
Entry = cs.Struct(*Header.subcons, "data" / cs.Aligned(_BLOCK, cs.Bytes(_size * _has_data)))

Archive = cs.Struct("entries" / cs.RepeatUntil(obj_.name == bytes(100), Entry))

# To write entries, and to read those before an error: their number comes first.
Entries = cs.Struct("count" / cs.Int64ub, "entries" / cs.Array(this.count, Entry))

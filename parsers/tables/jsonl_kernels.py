"""Kernels for JSON Lines: write texts, lists and objects from the texts of their parts.

The text of a value is a cell: `data` has the cells of a column one after another, and `ends` says
where each ends. No JSON value is empty, so an empty cell is a row without a value; it becomes null
in a list or an object.
"""

from typing import Final

import numpy as np

from exset.core.kernels import Kernels, entry_kernel, inline_kernel
from exset.grammars.columns.arrays import Bytes, Flags, Longs

KERNELS: Final = Kernels("exset.parsers.tables.jsonl_kernels")

NULL: Final = 4
"""The bytes of null."""
LIST_ROOM: Final = 2
"""The bytes of a list besides its items and after each of them, at most."""

(_QUOTE, _BACKSLASH, _ZERO, _LETTER_U, _COMMA, _SPACE, _OPEN, _CLOSE) = b'"\\0u, []'
_NULL: Final = np.frombuffer(b"null", np.uint8)
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_SHORT: Final = {8: b"b", 9: b"t", 10: b"n", 12: b"f", 13: b"r", _QUOTE: b'"', _BACKSLASH: b"\\"}


def _escapes() -> Bytes:
    """Return for each byte the letter after the backslash that replaces it, 0 for plain bytes."""
    found = np.zeros(256, np.uint8)
    found[:32] = _LETTER_U
    for byte, letter in _SHORT.items():
        found[byte] = letter[0]
    return found


_ESCAPES: Final = _escapes()
MORE: Final = np.where(_ESCAPES == _LETTER_U, 5, _ESCAPES > 0).astype(np.uint8)
"""For each byte, how many more bytes its escape has: uint8 [256]."""


@entry_kernel
def put_strings(data: Bytes, offsets: Longs, present: Flags, out: Bytes, ends: Longs) -> None:
    """Write texts, which are UTF-8, as JSON strings to `out`.

    data, offsets: the texts. ends: filled with where each cell ends in `out`.
    """
    at = 0
    for row in range(len(present)):
        if present[row]:
            out[at] = _QUOTE
            at += 1
            for place in range(offsets[row], offsets[row + 1]):
                byte = data[place]
                escape = _ESCAPES[byte]
                if escape == 0:
                    out[at] = byte
                    at += 1
                    continue
                out[at], out[at + 1] = _BACKSLASH, escape
                at += 2
                if escape == _LETTER_U:
                    out[at], out[at + 1] = _ZERO, _ZERO
                    out[at + 2], out[at + 3] = _HEX[byte >> 4], _HEX[byte & 15]
                    at += 4
            out[at] = _QUOTE
            at += 1
        ends[row] = at


@entry_kernel
def put_lists(
    data: Bytes, items: Longs, offsets: Longs, present: Flags, out: Bytes, ends: Longs
) -> None:
    """Write lists to `out`.

    data, items: the cells of all items, and where each ends. offsets: row i has the items
    offsets[i]:offsets[i + 1]. ends: filled with where each cell ends in `out`.
    """
    at = 0
    for row in range(len(present)):
        if present[row]:
            out[at] = _OPEN
            at += 1
            for item in range(offsets[row], offsets[row + 1]):
                if item > offsets[row]:
                    out[at], out[at + 1] = _COMMA, _SPACE
                    at += 2
                at = _put_cell(data, items[item - 1] if item else 0, items[item], out, at)
            out[at] = _CLOSE
            at += 1
        ends[row] = at


@entry_kernel
def put_members(
    before: Bytes, data: Bytes, ends: Longs, after: Bytes, present: Flags, out: Bytes, at: Longs
) -> None:
    """Write one member of each object to its place in `out`.

    before, after: the bytes around the value. data, ends: the values. present: which rows are
    objects. at: where in `out` the member of each row goes; then set to where it ends.
    """
    begin, to = 0, 0
    for row in range(len(ends)):
        if present[row]:
            to = _copy(before, 0, len(before), out, at[row])
            to = _put_cell(data, begin, ends[row], out, to)
            at[row] = _copy(after, 0, len(after), out, to)
        begin = ends[row]


@inline_kernel
def _put_cell(data: Bytes, begin: int, end: int, out: Bytes, at: int) -> int:
    """Write the cell data[begin:end], or null if it is empty; return where it ends in `out`."""
    if begin == end:
        return _copy(_NULL, 0, NULL, out, at)
    return _copy(data, begin, end, out, at)


@inline_kernel
def _copy(data: Bytes, begin: int, end: int, out: Bytes, at: int) -> int:
    for place in range(end - begin):
        out[at + place] = data[begin + place]
    return at + end - begin

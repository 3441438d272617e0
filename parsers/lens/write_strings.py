"""Write strings as Lens text, with delimiters if needed; find bytes that text cannot represent.

Source: Lens, util.c: readBlock. Delimiters of all four kinds nest and must balance. A quotation
mark is a closing mark if the innermost open delimiter is a quotation mark. A backslash protects
the next character; at the end of a line, it protects the first character of the next line that is
not empty.
"""

import re
from typing import Final

import numpy as np

from exset.core.limits import DEFAULT
from exset.grammars.columns.arrays import Flags, constant, offsets_of
from exset.grammars.columns.strings import Strings

BARE: Final = re.compile(rb"[A-Za-z_][A-Za-z0-9_.+-]*")
"""Strings that exset writes without delimiters. Lens would read more strings as words."""
# The bytes with which a bare word may begin, and those that it cannot have.
_BEGINS_BARE: Final = np.array([BARE.fullmatch(bytes([i])) is not None for i in range(256)])
_ENDS_BARE: Final = np.array([BARE.fullmatch(b"a%c" % i) is None for i in range(256)])
_WORD: Final = re.compile(rb"[^ \t\r\n\f\v{}()\[\]\"\0]+")
_GROUP: Final = re.compile(rb"(?![0-9]|-?\.?[0-9]|-;)" + _WORD.pattern)  # no number (isNumber)
_PLAIN: Final = re.compile(rb"[^\\{}()\[\]\"\r\n\0]*")
_MARK: Final = re.compile(rb"\\\n*|[{}()\[\]\"\r\0]|(?<=\n)#")
_OPENS: Final = {b"}": b"{", b")": b"(", b"]": b"["}


def is_bare(raw: bytes) -> bool:
    """Return whether to write a string without delimiters.

    A string that ends in a backslash cannot have delimiters: the backslash would protect the
    closing delimiter. The string must be one that text can represent.
    """
    return BARE.fullmatch(raw) is not None or _ends_in_escape(raw)


def quoted(raw: bytes) -> bytes:
    """Return a string as Lens text: in braces, unless it needs no delimiters.

    The string must be one that text can represent.
    """
    return raw if is_bare(raw) else b"{%s}" % raw


def are_in_braces(column: Strings) -> Flags:
    """Return for each string of a column whether Lens text has it in braces: see `quoted`."""
    if not column.present.any():
        return constant(False, len(column), np.bool_)
    data, starts, ends = np.append(column.data, 0), column.offsets[:-1], column.offsets[1:]
    others = offsets_of(_ENDS_BARE[data])
    has_bytes = ends > starts
    are_bare = _BEGINS_BARE[data[starts]] & has_bytes & (others[ends] == others[starts])
    for row in np.flatnonzero((data[ends - 1] == ord("\\")) & has_bytes):
        are_bare[row] = is_bare(column[row] or b"")
    in_braces: Flags = column.present & ~are_bare
    return in_braces


def quoted_group(raw: bytes) -> bytes:
    """Return a group name as Lens text: see `quoted`, but with `"` as delimiters if it has no
    `"`.
    """
    if is_bare(raw):
        return raw
    return b"{%s}" % raw if b'"' in raw else b'"%s"' % raw


def may_have_faults(raw: bytes) -> bool:
    """Return whether a string may have bytes that text cannot represent, after a quick test."""
    return _PLAIN.fullmatch(raw) is None


def _ends_in_escape(raw: bytes) -> bool:
    return (len(raw) - len(raw.rstrip(b"\\"))) % 2 == 1


def faults(raw: bytes, is_group: bool = False) -> list[tuple[int, str]]:
    """Return the offset of each byte of a string that text cannot represent, and why, in
    ascending order.

    is_group: whether the string is the name of a group, for which text has other rules.
    """
    if not may_have_faults(raw):
        return []
    found = [(i, "it begins with a line break") for i in range(len(raw) - len(raw.lstrip(b"\n")))]
    open_marks: list[tuple[int, bytes]] = []
    protected = -1  # the offset of the byte that a backslash protects
    escape = -1
    for match in _MARK.finditer(raw):
        at, mark = match.start(), match[0]
        if mark == b"#":
            found.append((at, "a line of it begins with #, as a comment does"))
        elif mark == b"\0":
            found.append((at, "it has a NUL byte"))
        elif mark == b"\r":
            found.append((at, "it has a carriage return, which reads back as a line break"))
        elif at == protected:
            continue
        elif mark[0] == ord("\\"):
            escape, protected = at, match.end()
        elif mark in _OPENS or (mark == b'"' and open_marks and open_marks[-1][1] == mark):
            if open_marks and open_marks[-1][1] == _OPENS.get(mark, mark):
                open_marks.pop()
            else:
                found.append((at, f"it has an unmatched {mark.decode()}"))
        elif len(open_marks) == DEFAULT.max_depth - 1:
            found.append((at, "its brackets are nested too deeply"))
        else:
            open_marks.append((at, mark))
    word = _GROUP if is_group else _WORD
    if protected == len(raw) and not word.fullmatch(raw):
        found.append((escape, "it ends in a backslash"))
    found += [(at, f"it has an unmatched {mark.decode()}") for at, mark in open_marks]
    return sorted(found)


def without_faults(raw: bytes, is_group: bool = False) -> bytes:
    """Return the string with a question mark for each byte that text cannot represent.
    is_group: as for `faults`.
    """
    patched = bytearray(raw)
    for at, _ in faults(raw, is_group):
        patched[at] = ord("?")
    return bytes(patched)

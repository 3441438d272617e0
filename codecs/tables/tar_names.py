"""The names of the entries of tar archives, including prefixes and the long names of GNU tar and
pax.

Source: POSIX, pax, and Python's `tarfile`, with which webdataset reads archives.
"""

from typing import Final

import numpy as np

from exset.codecs.engine import Fields
from exset.grammars.columns.arrays import Bytes, Longs
from exset.grammars.columns.strings import Strings

_LONG: Final = ord("L")
_RENAMES: Final = np.frombuffer(b"LxX", np.uint8)
_MOST_DIGITS: Final = 20
_GNU: Final = frozenset(b"LKS")


def entry_names(
    fields: Fields, kinds: Bytes, data: Bytes, starts: Longs, lengths: Longs
) -> list[bytes]:
    """Return the names of the first entries of an archive.

    fields: all entries. kinds: the type flag of each of the first entries. data: the archive.
    starts, lengths: where the data of each entry are in the archive.
    """
    names = until_nul(fields.strings("entries.name"), kinds.size)
    prefixes = fields.strings("entries.prefix")
    if prefixes.data.any():
        pairs = zip(names, until_nul(prefixes, kinds.size), kinds.tolist(), strict=True)
        names = [
            prefix + b"/" + name if prefix and kind not in _GNU else name
            for name, prefix, kind in pairs
        ]
    for row in np.flatnonzero(np.isin(kinds, _RENAMES)).tolist():
        content = data[starts[row] : starts[row] + lengths[row]].tobytes()
        found = content.split(b"\0", 1)[0] if kinds[row] == _LONG else pax_path(content)
        if found is not None and row + 1 < len(names):
            names[row + 1] = found
    return names


def until_nul(strings: Strings, count: int) -> list[bytes]:
    """Return the first `count` strings, each cut at its first NUL.

    All strings must have the same length.
    """
    width = int(strings.offsets[1]) if len(strings) else 1
    rows = np.ascontiguousarray(strings.data[: count * width]).view(f"S{width}")
    return [row.split(b"\0", 1)[0] for row in rows.tolist()]


def pax_path(content: bytes) -> bytes | None:
    """Return the name that a pax header gives to the next entry.

    content: the header's records; that of the name is `LENGTH path=NAME` and a line break.
    """
    at, path = 0, None
    while at < len(content):
        digits, space, _ = content[at : at + _MOST_DIGITS].partition(b" ")
        if not space or not digits.isdigit() or int(digits) <= len(digits) + 1:
            break
        key, equals, value = content[at + len(digits) + 1 : at + int(digits) - 1].partition(b"=")
        if equals and key == b"path":
            path = value
        at += int(digits)
    return path

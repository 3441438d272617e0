"""Find where samples of WebDataset begin in a tar archive of which only the beginning was read."""

import re
from typing import Final

import numpy as np

from exset.codecs.tables.tar_read import first_unsound
from exset.grammars.columns.arrays import Bytes

_BLOCK: Final = 512
_OCTAL: Final = re.compile(rb"[ \0]*([0-7]{1,12})[ \0]*")
_LINK, _PIPE = ord("1"), ord("6")
_FILES: Final = b"\x0007"
_RENAMES: Final = b"LKxXgS"
_NAME: Final = re.compile(rb"((?:.*/|)[^.]+)[.][^/]*", re.DOTALL)
_META: Final = re.compile(rb"__[^/]*__(?:$|/)")


def whole_samples(data: Bytes) -> tuple[int, int] | None:
    """Return where the last sample that begins in `data` starts, and how many entries precede it.

    The start is 0 if there are fewer than two samples. Return None if the archive ends in the
    data, or at a header that only `read_members` can judge: then no later sample is known.
    """
    content = data.data
    headers: list[int] = []
    at = count = begin = before = 0
    last: bytes | None = None
    is_renamed = False
    while at + _BLOCK <= len(content):
        header = bytes(content[at : at + _BLOCK])
        size = _OCTAL.fullmatch(header[124:136])
        if size is None or not header[:100].strip(b"\0"):
            break
        headers.append(at)
        kind = header[156]
        has_data = kind < _LINK or kind > _PIPE
        length = -(-int(size[1], 8) // _BLOCK) * _BLOCK if has_data else 0
        if kind in _FILES:
            key = None if is_renamed else _key(header)
            if is_renamed:
                last = None
            elif key is not None:
                if last is not None and key != last:
                    begin, before = at, count
                last = key
        is_renamed = kind in _RENAMES
        at += _BLOCK + length
        count += 1
    has_end = at + _BLOCK <= len(content)
    if first_unsound(data, np.array(headers[:before], np.int64)) is not None:
        return None
    return None if has_end and not begin else (begin, before)


def _key(header: bytes) -> bytes | None:
    """Return the key of the sample to which a member belongs; None if webdataset skips the
    member.
    """
    name, prefix = (part.split(b"\0", 1)[0] for part in (header[:100], header[345:500]))
    match = _NAME.fullmatch(prefix + b"/" + name if prefix else name)
    return None if match is None or _META.match(match[0]) else match[1]

"""Text for people: counts, sizes, nouns, and escapes of control characters."""

import math
import re

# Control characters (C0, DEL, C1), writing direction, Unicode line ends, the byte order mark, and
# lone surrogates, which represent bytes that are not UTF-8.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]"
)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 event`, `2,000 events`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """Return a number of bytes as text: `12 bytes`, `3.4 MB`."""
    if count < 1000:
        return counted(count, "byte")
    power = min(int(math.log10(count)) // 3, 4)
    return f"{count / 1000**power:.1f} {' kMGT'[power]}B"


def with_article(noun: str) -> str:
    """Return a noun with its article: `a manifest`, `an example set`."""
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def safe(text: str) -> str:
    r"""Escape control characters and line ends as \xNN or \uNNNN, for terminals."""
    return _UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

"""The rules for strings in Lens text (util.c: readBlock, isNumber), written a second time."""

import re

MAX_DEPTH = 31  # Lens nests 32 deep, and the delimiters around a string are the first

_CLOSERS = {ord("{"): ord("}"), ord("("): ord(")"), ord("["): ord("]")}
_BARE = re.compile(rb"[^ \t\r\n\f\v{}()\[\]\"\0]+")
_NUMERIC = re.compile(rb"-?\.?[0-9]|-;")
_QUOTE, _BACKSLASH, _LF = b'"\\\n'


def text_can_hold(string: bytes, *, group: bool = False) -> bool:
    """Return whether a text file can hold exactly these bytes as a name or proc, or as a group.

    They are written between delimiters, or as a bare word, where a backslash is a character like
    any other. A group that is a bare word must not look like a number.
    """
    if _BARE.fullmatch(string) and not (group and _NUMERIC.match(string)):
        return True
    lines = string.split(b"\n")
    if b"\r" in string or b"\0" in string or string.startswith(b"\n"):
        return False
    if any(line.startswith(b"#") for line in lines[1:]):
        return False
    closers: list[int] = []
    escaped = False
    for byte in string:
        if escaped:
            escaped = byte == _LF
        elif byte == _BACKSLASH:
            escaped = True
        elif closers and byte == closers[-1]:
            closers.pop()
        elif byte == _QUOTE or byte in _CLOSERS:
            closers.append(_CLOSERS.get(byte, _QUOTE))
        elif byte in _CLOSERS.values():
            return False
        if len(closers) > MAX_DEPTH:
            return False
    return not (closers or escaped)

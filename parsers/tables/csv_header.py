"""Find the delimiter of a CSV file, and whether it is a table, from its first rows only."""

import re
from itertools import islice
from typing import Final

DELIMITERS: Final = (b",", b";", b"\t")
BOM: Final = b"\xef\xbb\xbf"

_QUOTED: Final = rb'"(?:[^"]|"")*+(?:"|\Z)'
_LINE: Final = re.compile(rb'(?:[^"\r\n]++|' + _QUOTED + rb")*+[\r\n]*+", re.DOTALL)
_IN_QUOTES: Final = re.compile(_QUOTED, re.DOTALL)
_NUMBER: Final = re.compile(rb"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*", re.I)
_SUFFIX: Final = re.compile(rb".*(\.[A-Za-z][A-Za-z0-9]{0,4})", re.DOTALL)
_FILES: Final = frozenset(
    b".jpg .jpeg .png .bmp .gif .tif .tiff .webp .wav .flac .mp3 .ogg .mp4 .avi .mkv".split()
    + b".txt .bin .json .xml .npy .csv .tsv".split()
)
_TYPES: Final = frozenset((b"FILE", b"BINARY", b"STRING", b"ASCII_INT", b"ASCII_FLOAT"))


def delimiter_of(data: bytes) -> bytes:
    """Return the delimiter that occurs most often in the first row; a comma if none occurs."""
    [line] = islice(_lines(data), 1)
    plain = _IN_QUOTES.sub(b"", line)
    return max(DELIMITERS, key=plain.count)


def first_row_ends(head: bytes) -> bool:
    """Return whether the first row of a file ends within `head`, the first bytes of the file."""
    found = _LINE.match(head.removeprefix(BOM).lstrip(b"\r\n"))
    return found is not None and found[0].endswith((b"\r", b"\n"))


def is_number(name: bytes) -> bool:
    """Return whether the name of a column is a number."""
    return _NUMBER.fullmatch(name) is not None


def is_table(head: bytes) -> bool:
    """Return whether a file begins with names of columns, and then a row with the same number of
    cells.

    A name is not a number, not a path of a file, and not a type of aeon's manifests. If no row
    follows the names, there must be at least two names.
    """
    rows = [line for line in islice(_lines(head), 3) if line]
    delimiter = delimiter_of(head)
    if not rows or head.startswith((b"@", b"#")) or b"\0" in rows[0]:
        return False
    names = _cells(rows[0], delimiter)
    if any(is_number(name) or b"/" in name for name in names) or _TYPES.issuperset(names):
        return False
    if not any(names):
        return False
    if len(rows) == 1:
        return len(names) > 1 and not any(_suffix(name) in _FILES for name in names)
    cells = _cells(rows[1], delimiter)
    is_whole = len(rows) > 2 or head.endswith((b"\n", b"\r"))
    if cells == names or len(cells) > len(names) or (is_whole and len(cells) < len(names)):
        return False
    below = [*cells, *[b""] * (len(names) - len(cells))]
    return not any(
        _suffix(name) and (_suffix(name) in _FILES or _suffix(name) == _suffix(cell))
        for name, cell in zip(names, below, strict=True)
    )


def _lines(data: bytes) -> list[bytes]:
    """Return the first rows of a file, as far as `data` contains them, without line breaks."""
    lines: list[bytes] = []
    at = len(BOM) if data.startswith(BOM) else 0
    while len(lines) < 3:
        found = _LINE.match(data, at)
        assert found is not None
        if line := found[0].rstrip(b"\r\n"):
            lines.append(line)
        if found.end() == at or found.end() == len(data):
            break
        at = found.end()
    return lines or [b""]


def _cells(line: bytes, delimiter: bytes) -> list[bytes]:
    """Split a line of CSV at the delimiter into cells, without their quotation marks."""
    marked = _IN_QUOTES.sub(lambda found: found[0].replace(delimiter, b"\0"), line)
    return [cell.replace(b"\0", delimiter).strip(b'"') for cell in marked.split(delimiter)]


def _suffix(cell: bytes) -> bytes:
    found = _SUFFIX.fullmatch(cell)
    return found[1].lower() if found else b""

"""Draw a line of a file with carets under a place in it, for terminals."""

import unicodedata

from exset.core.text import safe

WIDTH = 100
"""The widest line, in columns of a terminal."""
_TAB = 8


def pointer(text: str, at: int, size: int, is_cut: bool) -> list[str]:
    """Return a line, cut to `WIDTH`, and the carets below it; nothing for a blank line.

    `at`: the index of the first character to point at. `size`: its bytes and those after it to
    point at. `is_cut`: whether the line has more text before.
    """
    if not text.strip(" \t"):
        return []
    begin = min(max(at, 0), len(text))
    end = begin
    while size > 0 and end < len(text):
        size -= _size(text[end])
        end += 1

    cells: list[str] = []
    edges = [0]
    for char in text:
        cell = " " * (_TAB - edges[-1] % _TAB) if char == "\t" else safe(char)
        cells.append(cell)
        edges.append(edges[-1] + _width(cell))

    low, high = 0, len(cells)
    if edges[-1] > WIDTH:
        while edges[begin] - edges[low] > WIDTH // 2 and edges[-1] - edges[low] > WIDTH:
            low += 1
        while edges[high] - edges[low] > WIDTH:
            high -= 1
    before = "..." if low or is_cut else ""
    after = "..." if high < len(cells) else ""
    blank = " " * (len(before) + edges[begin] - edges[low])
    carets = "^" * max(1, edges[min(end, high)] - edges[begin])
    return [before + "".join(cells[low:high]) + after, blank + carets]


def _size(char: str) -> int:
    """Return how many bytes a character has in the file."""
    return 1 if "\udc80" <= char <= "\udcff" else len(char.encode("utf-8", "surrogatepass"))


def _width(cell: str) -> int:
    """Return how many columns of a terminal an escaped character takes."""
    if cell.isascii():
        return len(cell)
    if unicodedata.category(cell) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1

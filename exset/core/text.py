"""Text for people: counts, sizes, nouns, escapes, and carets under a place in a line."""

import math
import re
import unicodedata

WIDTH = 100
"""The width of the widest line, in columns of a terminal."""
_TAB = 8
_CHUNK = 1 << 20

# Control characters (C0, DEL, C1), writing direction, Unicode line ends, the byte order mark, and
# lone surrogates, which represent bytes that are not UTF-8.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff]"
)
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_NO_BYTES = re.compile(r"[\ud800-\udc7f\udd00-\udfff]")


# What to do in both worlds, as in `use <--lossy or lossy=True>`.
_SPELLED = re.compile(r"<((?:--|exset ).+?) or (.+?)>")


class Advice(str):
    """Advice for a user of Python. `command` is the same advice for a user of the command line."""

    command: str

    @classmethod
    def of(cls, text: str) -> "Advice":
        """Return the advice in a text that names both an option and an argument.

        Such a text has, for example, `<--to ex or to="ex">`.
        """
        return cls.both(_SPELLED.sub(r"\2", text), _SPELLED.sub(r"\1", text))

    @classmethod
    def both(cls, python: str, command: str) -> "Advice":
        """Return advice from the texts for users of Python and of the command line."""
        advice = cls(python)
        advice.command = command
        return advice

    def followed_by(self, more: str) -> "Advice":
        """Return this advice with more advice after it."""
        return Advice.both(f"{self}; {more}", f"{self.command}; {for_command_line(more)}")


def for_command_line(text: str) -> str:
    """Return a text for the command line: the `command` of an `Advice`; else the text itself."""
    return text.command if isinstance(text, Advice) else text


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 event`, `2,000 events`, `3 classes`."""
    ending = "es" if noun.endswith(("s", "ch")) else "s"
    return f"{count:,} {noun}{'' if count == 1 else ending}"


def out_of_bounds(what: str, index: object, count: int) -> str:
    """Return the message for an index that is out of range for `count` items.

    `what`: what the index counts, such as `row` or `index`.
    """
    last = f"the last {what} is {count - 1:,}" if count else "there are none"
    return f"no {what} {index}: {last}"


class Count(int):
    """A count that writes its noun: `format(Count(2), "event")` is `2 events`."""

    def __format__(self, noun: str) -> str:
        return (
            counted(self, noun)
            if noun[-1:].isalpha() and len(noun) > 1
            else super().__format__(noun)
        )


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


def has_surrogates(text: str) -> bool:
    """Return whether a text has lone surrogates, which UTF-8 cannot store."""
    return _SURROGATES.search(text) is not None


def has_bytes(text: str) -> bool:
    """Return whether `surrogateescape` can turn a text into bytes."""
    return _NO_BYTES.search(text) is None


def invalid_utf8(data: bytes | memoryview) -> int | None:
    """Return the offset of the first byte that is not UTF-8. Return None if all bytes are valid."""
    begin = 0
    while begin < len(data):
        chunk = bytes(data[begin : begin + _CHUNK])
        try:
            if not chunk.isascii():
                chunk.decode()
        except UnicodeDecodeError as error:
            is_cut = error.end == len(chunk) and begin + len(chunk) < len(data)
            if not is_cut or error.reason != "unexpected end of data":
                return begin + error.start
            begin += error.start
        else:
            begin += len(chunk)
    return None


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def pointer(text: str, at: int, size: int, is_cut: bool) -> list[str]:
    """Return two lines: a text, shortened to `WIDTH` columns, and carets below a place in it.

    The place begins at the character with index `at` and has `size` bytes; there is at least one
    caret. `is_cut`: whether the line has more characters before `text`. Return an empty list for a
    blank text.
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
    """Return how many bytes a character has in the file; an invalid byte has one."""
    return 1 if "\udc80" <= char <= "\udcff" else len(char.encode("utf-8", "surrogatepass"))


def _width(cell: str) -> int:
    """Return how many columns of a terminal an escaped character takes."""
    if cell.isascii():
        return len(cell)
    if unicodedata.category(cell) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1

"""What stands in a text that no format has: another file altogether, or a look-alike."""

import unicodedata
from types import MappingProxyType
from typing import Final

_UTF_16: Final = "the file is UTF-16: save it as UTF-8, without a byte order mark"
_PLAIN: Final = "save it as plain text"
_CPIO: Final = (
    "this is a cpio archive of another kind than aeon's: unpack it with cpio -i, and pack the files"
    " with cpio -o -H bin"
)
_BEGINNINGS: Final = MappingProxyType(
    {
        b"\xff\xfe": _UTF_16,
        b"\xfe\xff": _UTF_16,
        b"PK\x03\x04": f"this is a zip archive or an office document: take it apart, or {_PLAIN}",
        b"\xd0\xcf\x11\xe0": f"this is an old office document: {_PLAIN}",
        b"{\\rtf": f"this is rich text: {_PLAIN}",
        b"%PDF": "this is a PDF: take the file that it was made of",
        b"\x93NUMPY": "this is an array of NumPy's: exset.ExampleSet.from_arrays takes arrays",
        b"070701": _CPIO,
        b"070702": _CPIO,
        b"070707": _CPIO,
        b"\x71\xc7": _CPIO,
        b"\xc2\xaa\xc2\xaa": "this is a binary file that was saved as text: copy it anew, as it is",
        b"<": "this is HTML or XML, perhaps a page that a server sent instead of the file",
        b"version https://git-lfs": "this stands for a file that Git LFS keeps: git lfs pull",
    }
)
_CP1252: Final = b"\x82\x84\x85\x91\x92\x93\x94\x96\x97\xa0"
"""Bytes that are such characters in the code page of Windows, and alone are no UTF-8."""


def foreign(data: bytes) -> str | None:
    """What a file is by its first bytes that is no text of any format, and what may help."""
    for begin, advice in _BEGINNINGS.items():
        if data.startswith(begin):
            return advice
    if data[257:262] == b"ustar":
        return "this is a tar archive: tar -x unpacks it"
    zeros = [byte == 0 for byte in data[:8]]
    return _UTF_16 if zeros in ([False, True] * 4, [True, False] * 4) else None


def converted(data: bytes) -> str | None:
    """What may help with binary data all of whose line feeds follow a carriage return."""
    feeds = data.count(b"\n")
    if feeds < 2 or data.count(b"\r\n") < feeds:
        return None
    return "its line ends seem to have been converted, as of a text: copy it as a binary file"


def look_alike(found: bytes) -> str | None:
    """What to write instead of a character that a word processor puts for a plain one."""
    if found and found[0] in _CP1252:
        return "a character of Windows' own, such as a curved quotation mark: write a plain one"
    char = found.decode("utf-8", "ignore")[:1]
    if not char or char.isascii():
        return None
    if char == "\ufeff":
        return "save the file as UTF-8 without a byte order mark"
    name, kind = unicodedata.name(char, ""), unicodedata.category(char)
    plain = unicodedata.normalize("NFKC", char)
    if "QUOTATION MARK" in name:
        plain = "'" if "SINGLE" in name else '"'
    elif kind == "Pd" or name == "MINUS SIGN":
        plain = "-"
    elif kind == "Cf":
        plain = ""
    if not plain.isascii():
        return None
    shown = f"`{plain}`" if plain.strip() else "a plain blank" if plain else "nothing"
    return f"U+{ord(char):04X}, {name}, is what word processors put: write {shown}"

"""Recognise data of other formats, and characters that look like ASCII; say what to do."""

import unicodedata
from types import MappingProxyType
from typing import Final

_UTF_16: Final = "the file is UTF-16: save it as UTF-8, without a byte order mark"
_PLAIN: Final = "save it as plain text"
_CPIO: Final = (
    "this is a cpio archive of another type than aeon's: extract it with cpio -i, and write the"
    " files with cpio -o -H bin"
)
_BEGINNINGS: Final = MappingProxyType(
    {
        b"\xff\xfe": _UTF_16,
        b"\xfe\xff": _UTF_16,
        b"PK\x03\x04": f"this is a zip archive or an office document: extract it, or {_PLAIN}",
        b"\xd0\xcf\x11\xe0": f"this is an old office document: {_PLAIN}",
        b"{\\rtf": f"this is rich text: {_PLAIN}",
        b"%PDF": "this is a PDF: use the file that it was made from",
        b"\x93NUMPY": "this is a NumPy array: load it, and use exset.ExampleSet.from_arrays",
        b"070701": _CPIO,
        b"070702": _CPIO,
        b"070707": _CPIO,
        b"\x71\xc7": _CPIO,
        b"\xc2\xaa\xc2\xaa": "this is a binary file that was saved as text: copy the original",
        b"<": "this is HTML or XML, perhaps a web page that was downloaded instead of the file",
        b"version https://git-lfs": "this is a Git LFS pointer, not the file: run git lfs pull",
    }
)
_CP1252: Final = b"\x82\x84\x85\x91\x92\x93\x94\x96\x97\xa0"
"""Quotation marks, dashes and spaces in code page 1252 of Windows; alone, they are not UTF-8."""


def foreign(data: bytes) -> str | None:
    """Recognise a format that exset cannot read by a file's first bytes; return advice.

    Return None if the bytes are not of such a format.
    """
    for begin, advice in _BEGINNINGS.items():
        if data.startswith(begin):
            return advice
    if data[257:262] == b"ustar":
        return "this is a tar archive: read it as the format webdataset, or extract it"
    zeros = [byte == 0 for byte in data[:8]]
    return _UTF_16 if zeros in ([False, True] * 4, [True, False] * 4) else None


def converted(data: bytes) -> str | None:
    """Return advice if line ends were probably converted from LF to CRLF in binary data.

    This is so if every line feed follows a carriage return. Return None otherwise.
    """
    feeds = data.count(b"\n")
    if feeds < 2 or data.count(b"\r\n") < feeds:
        return None
    return "its line ends seem to have been converted as in a text file: copy it as a binary file"


def look_alike(found: bytes) -> str | None:
    """Return advice if the first character only looks like ASCII. Return None otherwise."""
    if found and found[0] in _CP1252:
        return "this is a Windows character, such as a curved quotation mark: write a plain one"
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
    other = f"write `{plain}`" if plain.strip() else "write a space" if plain else "remove it"
    return f"U+{ord(char):04X}, {name}, is a character of word processors: {other}"

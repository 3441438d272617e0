"""Strings as Lens text: what needs delimiters, and what no delimiters can say.

Lens, util.c: readBlock. Delimiters of all four kinds nest and must balance, a quotation mark closes
where the innermost open one is a quotation mark, a backslash protects the next character, and a
backslash at the end of a line the first one of the next line that has any.
"""

import re
from typing import Final

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.limits import DEFAULT

BARE: Final = re.compile(rb"[A-Za-z_][A-Za-z0-9_.+-]*")
"""Strings that need no delimiters. Cautious: Lens takes more for a word, and for no number."""
_WORD: Final = re.compile(rb"[^ \t\r\n\f\v{}()\[\]\"\0]+")
_GROUP: Final = re.compile(rb"(?![0-9]|-?\.?[0-9]|-;)" + _WORD.pattern)  # no number (isNumber)
_PLAIN: Final = re.compile(rb"[^\\{}()\[\]\"\r\n\0]*")
_MARK: Final = re.compile(rb"\\\n*|[{}()\[\]\"\r\0]|(?<=\n)#")
_OPENS: Final = {b"}": b"{", b")": b"(", b"]": b"["}


def is_bare(raw: bytes) -> bool:
    """Whether a string without faults is written without delimiters.

    One that ends in a backslash must be: it would protect the delimiter.
    """
    return BARE.fullmatch(raw) is not None or _ends_in_escape(raw)


def quoted(raw: bytes) -> bytes:
    """A string without faults, in braces unless it is a bare word."""
    return raw if is_bare(raw) else b"{%s}" % raw


def quoted_group(raw: bytes) -> bytes:
    """A string without faults as a group name: in quotation marks, unless it has some."""
    if is_bare(raw):
        return raw
    return b"{%s}" % raw if b'"' in raw else b'"%s"' % raw


def may_have_faults(raw: bytes) -> bool:
    """Whether a string has one of the bytes that a string with faults always has."""
    return _PLAIN.fullmatch(raw) is None


def _ends_in_escape(raw: bytes) -> bool:
    return (len(raw) - len(raw.rstrip(b"\\"))) % 2 == 1


def faults(raw: bytes, is_group: bool = False) -> list[tuple[int, str]]:
    """The bytes of a string that text cannot say: offsets, ascending, and why each is one."""
    if not may_have_faults(raw):
        return []
    found = [(i, "it begins with a line break") for i in range(_leading_breaks(raw))]
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
                found.append((at, f"its {mark.decode()} has no partner"))
        elif len(open_marks) == DEFAULT.max_depth - 1:
            found.append((at, "its delimiters are nested too deeply"))
        else:
            open_marks.append((at, mark))
    word = _GROUP if is_group else _WORD
    if protected == len(raw) and not word.fullmatch(raw):
        found.append((escape, "it ends in a backslash"))
    found += [(at, f"its {mark.decode()} has no partner") for at, mark in open_marks]
    return sorted(found)


def without_faults(raw: bytes, is_group: bool = False) -> bytes:
    """The string with a question mark in place of each byte that cannot be said."""
    patched = bytearray(raw)
    for at, _ in faults(raw, is_group):
        patched[at] = ord("?")
    return bytes(patched)


def _leading_breaks(raw: bytes) -> int:
    return len(raw) - len(raw.lstrip(b"\n"))


class Diction:
    """Makes strings sayable, or refuses: `lossy` patches the bytes that text cannot say.

    A path says which string it is, such as `examples[3].name`.
    """

    def __init__(self, lossy: bool, findings: Findings) -> None:
        self._lossy = lossy
        self._findings = findings

    def sayable(self, raw: bytes, path: str, is_group: bool = False) -> bytes:
        """The string, without faults. Raises FormatError unless lossy."""
        found = faults(raw, is_group)
        if not found:
            return raw
        at, why = found[0]
        if not self._lossy:
            raise refusal(
                path,
                f"text cannot say this string: {why} (byte {at})",
                "say --lossy, or lossy=True in Python, to write `?` instead; or write a binary"
                " file, which holds all but NUL",
            )
        count = f"{len(found)} bytes are" if len(found) > 1 else "a byte is"
        self.tell(path, f"{count} written as `?`: {why} (byte {at})")
        return without_faults(raw, is_group)

    def tell(self, path: str, message: str) -> None:
        """Add a finding: what is not written as it is."""
        place = Place(MODEL, field=path)
        self._findings.add(Finding("lens-text-loss", Severity.WARNING, message, place))


MODEL: Final = "example set"


def refusal(path: str, message: str, hint: str) -> FormatError:
    """The error for what text cannot say."""
    return FormatError(message, place=Place(MODEL, field=path), hint=hint, code="lens-text")

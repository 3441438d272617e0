"""Hints for syntax errors of a Lens text: what the writer of the file probably meant."""

import re
from functools import cache
from types import MappingProxyType
from typing import Final

from exset.parsers.engine.errors import Unexpected, shown
from exset.parsers.lens.tokens import GRAMMAR

_HINTS: Final = MappingProxyType(
    {
        b",": "write decimals with a point, such as 0.5, and separate numbers by spaces only",
        b"#": "a comment begins in the first column of its line",
        b"/": "a comment begins with `#`, in the first column of its line",
        b"%": "a comment begins with `#`, in the first column of its line; write 50% as 0.5",
        b"\x1a": "remove this byte: old DOS programs wrote it at the end of a file",
        b"+": "write numbers in lists without a plus sign",
        b"*": "in a sparse range, `*` must come first, and be the only unit",
    }
)
_LONG_WORDS: Final = MappingProxyType(
    {
        **dict.fromkeys((b"input", b"inputs"), "I:"),
        **dict.fromkeys((b"target", b"targets", b"output", b"outputs"), "T:"),
        **dict.fromkeys((b"names", b"example"), "name:"),
        **dict.fromkeys((b"frequency", b"weight"), "freq:"),
    }
)
"""Words for fields, without a colon in small letters, and what Lens calls these fields."""

_NAMING: Final = (b"name:", b"freq:", b"proc:")
_NEAR: Final = 4096
_VALUE_NEXT: Final = re.compile(rb"[A-Za-z]++:?+[ \t]*+[^ \t\r\n]")
_NUMBER_NEXT: Final = re.compile(rb"[A-Za-z]++[ \t]++[-+.\d]")

# The first lines of other formats. In none of them a Lens text can go on.
_BEGINNINGS: Final = (
    ("JSON", re.compile(rb"\s*+(?:\{|\[\s*+(?:[\[{\"]|[^\s,;:\]]++\s*+,))")),
    ("CSV", re.compile(rb"[^,;:\r\n]++(?:,[^,;:\r\n]*+)++(?:[\r\n]|\Z)")),
    ("YAML", re.compile(rb"(?:---|%YAML|[\w ]++:[^;\r\n]*+[\r\n]++[ \t]*+(?:- |\w[\w ]*+:))")),
)


def hint(found: Unexpected) -> str | None:
    """Return a hint for a word that the grammar rejects. Return None if there is no hint."""
    near = found.before[-_NEAR:]
    return (
        _other_format(found)
        or _hint_for_text(near, found)
        or _hint_for_word(found.word, found.expected)
    )


def _other_format(found: Unexpected) -> str | None:
    """Return a hint if the text begins as a file of another format does."""
    source = found.source
    lines = source.data[: found.offset].strip().count(b"\n")
    if source.start or lines > 1 or found.word in _keywords():
        return None
    if found.word.rstrip(b":").lower() in _LONG_WORDS and _VALUE_NEXT.match(found.after):
        return None  # `input: 1 0`
    text = source.data[:_NEAR].removeprefix(b"\xef\xbb\xbf")
    for name, begins in _BEGINNINGS:
        if begins.match(text):
            return (
                f"this looks like {name}, not like a Lens text, such as `I: 1 0 T: 1;`:"
                " exset.ExampleSet.from_arrays makes a set from arrays"
            )
    return None


@cache
def _keywords() -> frozenset[bytes]:
    literals = (literal for literal in GRAMMAR.lowered.literals if literal is not None)
    return frozenset(literal.encode() for literal in literals if literal.endswith(":"))


@cache
def _bare(field: str) -> re.Pattern[bytes]:
    """Return a pattern that matches the field `field` if its text has no delimiters."""
    return re.compile(rf"{field}[ \t\r\n\f\v]*+({GRAMMAR.pattern('BARE')})".encode())


def _hint_for_text(near: bytes, found: Unexpected) -> str | None:
    """Return a hint if a name or proc before the error probably ends at the wrong place.

    The hint is about the last such name or proc. near: the text before the error.
    """
    words = list(_bare("(?:name|proc):").finditer(near))
    if not words:
        return None
    last = words[-1]
    if b";" in last[1] or last[1].endswith(b":"):
        return f"put a space after the name: all of {shown(last[1])} is one word"
    if near[last.end() :].strip(b" \t"):
        return None
    if found.word + b":" in _keywords() and _NUMBER_NEXT.match(found.after):
        return None  # `name: cat I 1 0`: a colon is missing
    such = "proc: {set x 1}" if last[0].startswith(b"proc:") else "name: {big cat}"
    return f"put a text with spaces or brackets in braces or quotes, such as `{such}`"


def _hint_for_word(found: bytes, expected: frozenset[str]) -> str | None:
    """Return a hint for the word `found`, which is not one of the expected terminals."""
    if not found:
        return _hint_for_end(expected)
    if found[:1] in _HINTS:
        return _HINTS[found[:1]]
    if found in _NAMING and "SEMICOLON" in expected:
        return "put `;` before this field if an example begins here; else move it before the data"
    if found in _keywords() and "SEMICOLON" in expected:
        return "write such a field before the first example, or in an event list"
    if found + b":" in _keywords():
        return f"write a colon after it, without a space: `{found.decode()}:`"
    for keyword in _keywords():
        if keyword.lower() == found.lower() and found not in _keywords():
            return f"write capital and small letters exactly so: `{keyword.decode()}`"
    if (word := _LONG_WORDS.get(found.rstrip(b":").lower())) is not None:
        return f"Lens writes `{word}` for this"
    if {"RSQB", "STAR"} <= expected and found[:1].isalpha() and found not in _keywords():
        return "[ ] contains event numbers: write a group name in ( ) or { }"
    if re.fullmatch(rb"[dD][-+]?[0-9]++", found) and "VALUE" in expected:
        return "write an exponent with e, such as 1e-3"
    if found.startswith(b".") and "UNIT" in expected and "VALUE" not in expected:
        return "write unit numbers after `i:`, `t:` or `b:`, and values after `I:` or `T:`"
    if found.startswith(b"-") and not expected.isdisjoint(("VALUE", "REAL")):
        return "a dash means NaN only before a space, `;` or a closing bracket"
    if "VALUE" in expected and found[:1].isalpha():
        return "write an unknown value as `-`, and a group name in ( ) or { }"
    return None


def _hint_for_end(expected: frozenset[str]) -> str | None:
    """Return a hint for a text that ends too early."""
    if "SEMICOLON" in expected:
        return "every example ends with `;`"
    if "CHARACTERS" in expected:
        return "each opening bracket needs a closing bracket, even inside quotation marks"
    if "RPAR" in expected:
        return "write `)` after the group name and the first unit, such as `I: (hidden 2) 1 0`"
    if "RBRACE" in expected:
        return "write `}` after the group name and the value, such as `i: {hidden 0.5} 1 3`"
    return None

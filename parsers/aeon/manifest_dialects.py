"""The grammars of the three dialects, which dialect a text is in, and what may help."""

import re
from types import MappingProxyType
from typing import Final

from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.grammar import Grammar

TYPES: Final = tuple(kind.value for kind in ElementType)
"""The types as the header names them."""

_WORDS: Final = MappingProxyType(
    {
        **dict.fromkeys(("FIRST", "CELL", "COMMA_FIRST", "COMMA_CELL"), "a record"),
        "BREAK": "the end of the line",
        "TAB": "a tab",
    }
)
_STEPS: Final = ("header", "record")
(HEADER, RECORD) = range(2)

HEAD: Final = Grammar("manifest.lark", "head", _STEPS, _WORDS)
SEED: Final = Grammar("manifest.lark", "seed", _STEPS, _WORDS)
CSV: Final = Grammar("manifest.lark", "csv", _STEPS, _WORDS)
GRAMMARS: Final = MappingProxyType({Dialect.HEAD: HEAD, Dialect.SEED: SEED, Dialect.CSV: CSV})

BOM: Final = b"\xef\xbb\xbf"
_START: Final = re.compile(rb"(?:#[^\n]*+(?:\n|\Z)|\n)*+([^\n]*+)")


def guessed(data: bytes) -> Dialect:
    """The dialect that a text seems to be in, by its first line that says something."""
    found = _START.match(data)
    assert found
    line = found[1]
    if not line or line.removeprefix(BOM).startswith(b"@"):
        return Dialect.HEAD
    return Dialect.CSV if b"," in line and b"\t" not in line else Dialect.SEED


def header_without_at(data: bytes) -> bool:
    """Tell whether the first line of a text would be a header, were there a `@`."""
    found = _START.match(data)
    words = re.split(rb"[\t ,;]+", found[1].strip()) if found else []
    return bool(words) and {word.upper() for word in words} <= {name.encode() for name in TYPES}


def width_hint(line: bytes, dialect: Dialect) -> str:
    """What may help where a record has not as many fields as the others."""
    mark, name = (b",", "comma") if dialect is Dialect.CSV else (b"\t", "tab")
    if mark not in line and b" " in line.strip():
        return f"one {name} separates two fields: here are blanks, which belong to the field"
    if line.rstrip(b"\r").endswith(mark):
        return f"the {name} at its end begins one more field, which is empty: remove it"
    if mark * 2 in line:
        return f"one {name} separates two fields: between two of them is one more, which is empty"
    return f"one {name} separates two fields; nothing quotes one"


def hint(unexpected: Unexpected) -> str | None:
    """Return advice for a word that the grammar rejects."""
    expected = unexpected.expected
    rest = unexpected.after.partition(b"\n")[0]  # of the line
    if expected & set(TYPES) or "TAB" in expected:
        if b"\r" in rest:
            ends = "CR LF" if rest.find(b"\r") == len(rest) - 1 else "CR alone"
            return (
                f"the lines end in {ends}, and aeon takes the CR for a part of the type's name:"
                " save the manifest with Unix line ends, as dos2unix does"
            )
        if rest.lower().startswith(b"[tab]"):
            return "`[tab]` stands for one tab, as in aeon's user guide: write the tab itself"
        return f"the types are {', '.join(TYPES)}, exactly so, with one tab between two"
    if "AT" in expected:
        return (
            "aeon wants a header before the records, such as `@FILE`, a tab, `ASCII_INT`; older"
            " versions did not: --from-dialect seed, or csv, or dialect=... in Python"
        )
    return "a line that begins with `@` is a header: there can be one, before all records"

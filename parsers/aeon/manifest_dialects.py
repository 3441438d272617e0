"""The grammars of the three dialects of manifests; detect the dialect of a text; hints for
errors.
"""

import re
from types import MappingProxyType
from typing import Final

from exset.grammars.aeon.manifest_types import Dialect, ElementType
from exset.io.blocks import Blocks
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import Records

TYPES: Final = tuple(kind.value for kind in ElementType)
"""The names of types in a header."""

_WORDS: Final = MappingProxyType(
    {
        **dict.fromkeys(("FIRST", "CELL", "COMMA_FIRST", "COMMA_CELL"), "a record"),
        "BREAK": "the end of the line",
        "TAB": "a tab",
    }
)
_STEPS: Final = ("header", "record")
(HEADER, RECORD) = range(2)

_RECORDS: Final = Records((RECORD,), begin=b"\n", header=(HEADER,))

HEAD: Final = Grammar("manifest.lark", "head", _STEPS, _WORDS, _RECORDS)
SEED: Final = Grammar("manifest.lark", "seed", _STEPS, _WORDS, _RECORDS)
CSV: Final = Grammar("manifest.lark", "csv", _STEPS, _WORDS, _RECORDS)
GRAMMARS: Final = MappingProxyType({Dialect.HEAD: HEAD, Dialect.SEED: SEED, Dialect.CSV: CSV})

BOM: Final = b"\xef\xbb\xbf"
_START: Final = re.compile(rb"(?:#[^\n]*+(?:\n|\Z)|\n)*+([^\n]*+)")
_BEGIN: Final = 512  # bytes that show files of other formats


def guess_dialect(data: bytes) -> Dialect:
    """Detect the dialect of a text from the first line that is neither empty nor a comment."""
    found = _START.match(data)
    assert found
    line = found[1]
    if not line or line.removeprefix(BOM).startswith(b"@"):
        return Dialect.HEAD
    return Dialect.CSV if b"," in line and b"\t" not in line else Dialect.SEED


def beginning(blocks: Blocks) -> bytes:
    """Return the first bytes of a text, enough for `guess_dialect` to decide."""
    head = b""
    while True:
        # Of a pipe, wait for no more than is needed.
        least = len(head) + 1 if blocks.is_pipe else max(2 * len(head), _BEGIN)
        more = blocks.head(least + _BEGIN, least)
        is_whole, head = len(more) < least, more
        found = _START.match(head)
        assert found
        is_decided = found.end() < len(head) and bool(found[1])
        if is_whole or (is_decided and (len(head) >= _BEGIN or found[1].startswith(b"@"))):
            return head


def is_header_without_at(data: bytes) -> bool:
    """Return whether the first line of a text has only names of types, but no `@`."""
    found = _START.match(data)
    words = re.split(rb"[\t ,;]+", found[1].strip()) if found else []
    return bool(words) and {word.upper() for word in words} <= {name.encode() for name in TYPES}


def width_hint(line: bytes, dialect: Dialect) -> str:
    """Return a hint for the record in `line`, which has a wrong number of fields."""
    mark, name = (b",", "comma") if dialect is Dialect.CSV else (b"\t", "tab")
    if mark not in line and b" " in line.strip():
        return f"one {name} separates two fields; spaces belong to a field"
    if line.rstrip(b"\r").endswith(mark):
        return f"remove the {name} at the end: an empty field follows it"
    if mark * 2 in line:
        return f"one {name} separates two fields: two in a row have an empty field between them"
    return f"one {name} separates two fields; quotes have no meaning"


def hint(unexpected: Unexpected) -> str | None:
    """Return a hint for a word that the grammar rejects."""
    expected = unexpected.expected
    rest = unexpected.after.partition(b"\n")[0]  # the rest of the line
    if expected & set(TYPES) or "TAB" in expected:
        if b"\r" in rest:
            ends = "CR LF" if rest.find(b"\r") == len(rest) - 1 else "CR alone"
            return (
                f"the lines end with {ends}, and aeon reads the CR as part of the type's name: save"
                " the manifest with Unix line ends, as dos2unix does"
            )
        if rest.lower().startswith(b"[tab]"):
            return "write a tab, which aeon's user guide shows as `[tab]`"
        return f"the types are {', '.join(TYPES)}, in capitals, separated by one tab"
    if "AT" in expected:
        return (
            "aeon needs a header before the records, such as `@FILE`, a tab, `ASCII_INT`; for older"
            ' versions of aeon, use <--from-dialect seed or dialect="seed">, or csv'
        )
    return "a line that starts with `@` is a header: only one is allowed, before all records"

"""Parse JSON Lines, an object on each line, into tables; `jsonl_write` writes them.

The grammar decides what is JSON. Then the standard library reads the values of each line, as NeMo
and Lhotse do.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.text import has_surrogates, invalid_utf8, safe
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.findings import Rules
from exset.grammars.columns.tree import DEEPEST
from exset.grammars.tables import sidecar
from exset.grammars.tables.build import column_of
from exset.grammars.tables.cells import CELL, Room
from exset.grammars.tables.columns import TableColumn
from exset.grammars.tables.table import Table
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream
from exset.parsers.shared import json_tree
from exset.parsers.shared.tree_limits import too_deep
from exset.parsers.tables.jsonl_types import typed

_RULES: Final = Rules("exset.grammars.tables:jsonl.findings")

GRAMMAR: Final = Grammar(
    file="jsonl.lark",
    start="lines",
    steps=("lines",),
    words=MappingProxyType(
        {
            **json_tree.WORDS,
            "NAME": 'a name such as `"duration"`',
            "NOT_JSON": "a number",
            "BREAK": "the end of the line",
        }
    ),
)

_POINTER: Final = 8  # bytes of a cell while the columns are made

_KINDS: Final = MappingProxyType(
    {str: "a text", bool: "true or false", list: "a list", dict: "an object"}
)


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Table:
    """Return the table of JSON Lines: a column for each name, a row for each line with an object.

    A row has no value for a name that its object lacks, and for null. Integers become int64, or
    uint64 if one needs it, other numbers float64; lists and objects become lists and records. A
    sidecar that belongs to the file gives other types, and the metadata. Raises FormatError for a
    syntax error, for text that is not UTF-8, and for a name with values of different kinds;
    LimitError for nesting deeper than `max_depth`, and for columns that take much more memory
    than the file.
    """
    findings = Findings() if findings is None else findings
    rows = _Rows(source, *_lines(source, limits, findings, engine))
    values = rows.values(findings, limits)
    if (value := sidecar.value_of(source, findings)) is not None:
        try:
            return typed(values, len(rows), value)
        except ValueError as error:
            sidecar.report(source, error, findings)
    columns = {name: rows.column(name, given) for name, given in values.items()}
    return Table(columns, len(rows), {})


def _lines(
    source: Source, limits: Limits, findings: Findings, engine: Engine
) -> tuple[Longs, Longs]:
    """Return where each object begins and ends: int64 [rows].

    Raises FormatError for a syntax error.
    """
    [stream] = GRAMMAR.parse(source, engine, hint=_hint, tokens=len(source.data) // 4 + 16)
    if (at := invalid_utf8(source.view)) is not None:
        message, hint = "this is not UTF-8", "save the file as UTF-8"
        place = Place.in_text(source, Span(at, at + 1))
        raise FormatError(message, place=place, hint=hint, code="json-not-utf8")
    terminal = GRAMMAR.terminal
    kinds, starts, ends = stream.kinds, stream.starts, stream.ends
    depth = np.cumsum(
        np.isin(kinds, [terminal("LBRACE"), terminal("LSQB")]).astype(np.int64)
        - np.isin(kinds, [terminal("RBRACE"), terminal("RSQB")])
    )
    deep = np.flatnonzero(depth > min(limits.max_depth, DEEPEST))
    if deep.size:
        raise too_deep(source, _span(stream, int(deep[0])), limits)
    for token in np.flatnonzero(kinds == terminal("NOT_JSON")).tolist():
        span = _span(stream, token)
        word = source.data[span.start : span.end].decode()
        findings.add(_RULES.finding("jsonl-constant", Place.in_text(source, span), word=word))
    is_break = kinds == terminal("BREAK")
    first, last = ~is_break[1:] & is_break[:-1], ~is_break[:-1] & is_break[1:]
    return starts[1:][first], ends[:-1][last]


def _span(stream: ParseStream, token: int) -> Span:
    return Span(int(stream.starts[token]), int(stream.ends[token]))


@dataclass
class _Rows:
    """The objects in a text: where each of them begins and ends."""

    source: Source
    begins: Longs
    ends: Longs

    def __len__(self) -> int:
        return len(self.begins)

    def values(self, findings: Findings, limits: Limits) -> dict[str, list[Any]]:
        """Return for each name the values of all rows; None in a row whose object lacks the
        name.
        """
        rows = list(self._objects(findings))
        names = dict.fromkeys(name for row in rows for name in row)
        room = Room(self.source.name, len(self.source.content), limits)
        room.take(len(names), len(rows), _POINTER + CELL)
        return {name: [row.get(name) for row in rows] for name in names}

    def _objects(self, findings: Findings) -> Iterator[dict[str, Any]]:
        twice: list[str] = []

        def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            made = dict(pairs)
            if len(made) < len(pairs):
                names = [name for name, _ in pairs]
                twice.append(next(name for name in names if names.count(name) > 1))
            return made

        decode = json.JSONDecoder(object_pairs_hook=object_of).decode
        data = self.source.data
        for row, (begin, end) in enumerate(zip(self.begins, self.ends, strict=True)):
            text = data[begin:end].decode()
            try:
                made = decode(text)
            except ValueError:  # Python limits the digits of an integer
                message = "an integer has too many digits"
                raise self._error(self.place(row), message, "check the number") from None
            if "\\u" in text and has_surrogates(json.dumps(made, ensure_ascii=False)):
                hint = r"characters beyond \uffff are written as two escapes: \ud83d\ude00"
                message = "a lone surrogate is not a character"
                raise self._error(self.place(row), message, hint)
            yield made
            for name in twice:
                found = _RULES.finding("jsonl-duplicate", self.place(row), name=safe(repr(name)))
                findings.add(found)
            twice.clear()

    def place(self, row: int) -> Place:
        """Return the place of a row."""
        return Place.in_text(self.source, Span(int(self.begins[row]), int(self.ends[row])))

    def column(self, name: str, values: Sequence[Any]) -> TableColumn:
        """Return the values of a name as a column; None is a row without a value.

        Raises FormatError for values of different kinds.
        """
        first: str | None = None
        for row, value in enumerate(values):
            kind = first if value is None else _KINDS.get(type(value), "a number")
            if first is not None and kind != first:
                message = f"{safe(name)!r} is {kind} here, but {first} in earlier lines"
                raise self._error(self.place(row), message, "give all values of a name one type")
            first = kind
        try:
            return column_of(name, values)
        except (ValueError, RecursionError) as error:
            message = safe(str(error)) or f"{name}: it is nested too deeply"
            place = Place(self.source.name, field=name)
            raise self._error(place, message, "give all values of a name one type") from None

    def _error(self, place: Place, message: str, hint: str) -> FormatError:
        return FormatError(message, place=place, hint=hint, code="jsonl-value")


def _hint(unexpected: Unexpected) -> str | None:
    """Return a hint for a word that the grammar rejects."""
    word = unexpected.word
    before = unexpected.before.rstrip(b" \t\r")
    if word.startswith(b"'"):
        return "JSON strings are in double quotation marks only"
    if word in (b"}", b"]") and before.endswith(b","):
        return "remove the comma: JSON has none after the last member or value"
    if not before or before.endswith(b"\n"):
        return "each line is an object, in braces; blank lines are allowed, comments are not"
    if word == b"{" and before.endswith(b"}"):
        return "write each object on a line of its own"
    if not word or word.startswith(b"\n"):
        return "write each object on one line"
    return None

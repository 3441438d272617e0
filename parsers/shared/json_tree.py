"""Parse JSON bytes into a tree (`exset.grammars.columns.tree`).

`grammars/json.lark` defines the syntax. Values are as in nlohmann::json: the last value of a
repeated name counts, and an integer of more than 64 bits becomes a float.
"""

import json
import re
from types import MappingProxyType
from typing import Final

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source, Span
from exset.core.text import has_surrogates
from exset.grammars.columns.tree import DEEPEST, INT64, Member, Node
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.expectation import END
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream
from exset.parsers.shared.tree_limits import check_size, too_deep, too_long, too_many

WORDS: Final = MappingProxyType(
    {
        "STRING": "a string",
        "NUMBER": "a number",
        "TRUE": "`true`",
        "FALSE": "`false`",
        "NULL": "`null`",
    }
)
"""The names of the terminals of JSON in messages."""

GRAMMAR: Final = Grammar(
    file="json.lark",
    start="document",
    steps=("document",),
    words=MappingProxyType({"NAME": 'a name such as `"batch_size"`', **WORDS}),
)

_BOM: Final = b"\xef\xbb\xbf"
_LONGEST: Final = len(str(INT64.stop))
"""The most characters of an integer of 64 bits."""
_CONSTANTS: Final = MappingProxyType({"TRUE": True, "FALSE": False, "NULL": None})
_WORDS: Final = MappingProxyType(
    {
        b"True": "JSON writes it `true`",
        b"False": "JSON writes it `false`",
        b"None": "JSON writes it `null`",
        **dict.fromkeys((b"NaN", b"nan"), "JSON has no NaN: leave the member out"),
        **dict.fromkeys((b"Infinity", b"-Infinity", b"inf"), "JSON has no infinity"),
        b"'": "JSON strings are in double quotation marks only",
        b"(": "JSON lists are in square brackets only",
        b"/": "JSON has no comments",
        b"#": "JSON has no comments",
    }
)


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Node:
    """Return the value of a JSON text.

    `findings` collects repeated names and a byte order mark. `engine`: as in `Grammar.parse`.
    Raises FormatError for a syntax error, and LimitError for a text that exceeds `max_depth`,
    `max_nodes`, `max_name` or `max_text`.
    """
    findings = Findings() if findings is None else findings
    stream = tokens(source, limits, findings, engine)
    return _Builder(source, limits, findings).build(stream)


def tokens(source: Source, limits: Limits, findings: Findings, engine: Engine) -> ParseStream:
    """Return the tokens of a JSON text.

    Raises FormatError for a syntax error, and LimitError for a text that is too large.
    """
    check_size(source, limits, "JSON")
    begin = len(_BOM) if source.data.startswith(_BOM) else 0
    if begin:
        message = "there is a byte order mark before the text"
        hint = "many programs refuse it: save the file as UTF-8 without it"
        place = Place.in_text(source, Span(0, begin))
        findings.add(Finding("json-bom", Severity.WARNING, message, place, hint))
    room = len(source.data) // 4 + 16
    [stream] = GRAMMAR.parse(source, engine, hint=_hint, begin=begin, tokens=room)
    return stream


class _Builder:
    """Builds the tree from the tokens of a text that the grammar accepts."""

    def __init__(self, source: Source, limits: Limits, findings: Findings) -> None:
        self.source = source
        self.limits = limits
        self.findings = findings

    def build(self, stream: ParseStream) -> Node:
        """Return the root of the tree. Build the tree without recursion, so that deep nesting is
        possible.
        """
        terminals = GRAMMAR.terminals
        opened: list[tuple[int, list[Node] | dict[str, Member]]] = []
        names: list[tuple[str, Span]] = []
        if len(stream.kinds) > self.limits.max_nodes:
            self._check_count(stream)
        columns = (column.tolist() for column in (stream.kinds, stream.starts, stream.ends))
        for kind, start, end in zip(*columns, strict=True):
            terminal, span = terminals[kind], Span(start, end)
            if terminal in ("LBRACE", "LSQB"):
                if len(opened) >= min(self.limits.max_depth, DEEPEST):
                    raise too_deep(self.source, span, self.limits)
                opened.append((span.start, {} if terminal == "LBRACE" else []))
                continue
            if terminal == "NAME":
                names.append((self._string(span), span))
                continue
            if terminal in ("COMMA", "COLON"):
                continue
            if terminal in ("RBRACE", "RSQB"):
                first, inside = opened.pop()
                content = tuple(inside) if isinstance(inside, list) else inside
                value = Node(content, Span(first, span.end))
            elif terminal == "STRING":
                value = Node(self._string(span), span)
            elif terminal == "NUMBER":
                value = Node(self._number(span), span)
            else:
                value = Node(_CONSTANTS[terminal], span)
            if not opened:
                return value
            around = opened[-1][1]
            if isinstance(around, list):
                around.append(value)
            else:
                self._add(around, *names.pop(), value)
        raise AssertionError("the grammar accepts one value")

    def _add(self, members: dict[str, Member], name: str, span: Span, value: Node) -> None:
        if name in members:
            message = f"{name!r} is repeated: the last one counts"
            place, hint = Place.in_text(self.source, span), "remove one of the two"
            self.findings.add(Finding("json-duplicate", Severity.WARNING, message, place, hint))
        members[name] = Member(value, span)

    def _string(self, span: Span) -> str:
        if span.end - span.start - 2 > self.limits.max_name:
            raise too_long(self.source, span, self.limits, "bytes")
        raw = self.source.data[span.start : span.end]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            at = span.start + error.start
            message, hint = f"this is not UTF-8: {error.reason}", "save the file as UTF-8"
            wrong = Span(at, at + error.end - error.start)
            place = Place.in_text(self.source, wrong)
            raise FormatError(message, place=place, hint=hint, code="json-not-utf8") from None
        if "\\" not in text:
            return text[1:-1]
        unescaped: str = json.loads(text)
        if has_surrogates(unescaped):
            message = "a lone surrogate is not a character"
            hint = r"characters beyond \uffff are written as two escapes: \ud83d\ude00"
            raise FormatError(message, source=self.source, span=span, hint=hint)
        return unescaped

    def _number(self, span: Span) -> int | float:
        """Return the value of a number: an int for an integer of at most 64 bits, else a float."""
        raw = self.source.data[span.start : span.end]
        if len(raw) <= _LONGEST and raw.lstrip(b"-").isdigit() and (whole := int(raw)) in INT64:
            return whole
        value = float(raw)
        if value in (float("inf"), float("-inf")):
            hint = "check it"
            raise FormatError("this number is too large", source=self.source, span=span, hint=hint)
        return value

    def _check_count(self, stream: ParseStream) -> None:
        """Raise LimitError if there are too many values."""
        apart = [GRAMMAR.terminal(name) for name in ("COMMA", "COLON", "NAME", "RBRACE", "RSQB")]
        places = [at for at, kind in enumerate(stream.kinds.tolist()) if kind not in apart]
        if len(places) > self.limits.max_nodes:
            at = int(stream.starts[places[self.limits.max_nodes]])
            raise too_many(self.source, Span(at, at + 1), self.limits)


def _hint(unexpected: Unexpected) -> str | None:
    """Return a hint for a word that the grammar rejects."""
    word, expected = unexpected.word, unexpected.expected
    if word.startswith(b'"') and (advice := _string_hint(unexpected.after)):
        return advice
    if word in _WORDS:
        return _WORDS[word]
    before = unexpected.before.rstrip(b" \t\r\n")
    if not before and word:
        return "JSON begins with `{`, an object, or `[`, a list"
    if expected == {END}:
        return "a JSON file has one value: remove the text after it"
    if expected == {"COLON"}:
        return "write a colon between a name and its value"
    if word in (b"}", b"]") and before.endswith(b","):
        return "remove the comma: JSON has none after the last member or value"
    if "NAME" in expected and word[:1].isalpha():
        return "write names in double quotation marks"
    if "STRING" in expected and word[:1].isalpha():
        return "write strings in double quotation marks"
    if unexpected.before.endswith(b'"') and re.match(rb"\w", word):
        return r'the string ended before this: a `"` is missing, or one inside it lacks a backslash'
    if "COMMA" in expected and re.match(rb'["\w\[{]', word) and not before.endswith(b"0"):
        return "a comma is missing before this place"
    if ("NUMBER" in expected and word[:1] in (b"-", b"+", b".")) or before.endswith(b"0"):
        return "numbers are written as -1, 0.5, 1e3: no plus sign, digits before a point, no 0x1F"
    return None


def _string_hint(text: bytes) -> str | None:
    """Return a hint about the string at the start of `text`. Return None if the string is valid."""
    try:
        json.JSONDecoder().raw_decode(text.decode("latin-1"))
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated"):
            return "the string does not end"
        if error.msg.startswith("Invalid control"):
            return r"a string cannot contain a line break or tab: write \n or \t"
        return (
            r"write a backslash as \\, or use / in paths; after a single one, JSON allows only"
            r' " \ / b f n r t, or u and four hex digits'
        )
    return None

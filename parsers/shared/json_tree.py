"""JSON text: bytes to a tree of values with their spans (`exset.grammars.columns.json_values`).

The language is `grammars/json.lark`. What it does not say is as nlohmann::json has it: a name that
is given twice has the last value, a whole number of more than 64 bits becomes a real one.
"""

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from exset.core.errors import Finding, Findings, FormatError, LimitError, Place, Severity
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits, remedy
from exset.core.source import Source, Span
from exset.grammars.columns.json_values import DEEPEST, INT64, Member, Node
from exset.parsers.engine.errors import Unexpected
from exset.parsers.engine.expectation import END
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import ParseStream

GRAMMAR: Final = Grammar(
    file="json.lark",
    start="document",
    steps=("document",),
    words=MappingProxyType(
        {
            "NAME": 'a name such as `"batch_size"`',
            "STRING": "a string",
            "NUMBER": "a number",
            "TRUE": "`true`",
            "FALSE": "`false`",
            "NULL": "`null`",
        }
    ),
)

_BOM: Final = b"\xef\xbb\xbf"
_CONSTANTS: Final = MappingProxyType({"TRUE": True, "FALSE": False, "NULL": None})
_WORDS: Final = MappingProxyType(
    {
        b"True": "JSON writes it `true`",
        b"False": "JSON writes it `false`",
        b"None": "JSON writes it `null`",
        **dict.fromkeys((b"NaN", b"nan"), "JSON has no NaN: leave the member out"),
        **dict.fromkeys((b"Infinity", b"-Infinity", b"inf"), "JSON has no infinity"),
        b"'": "JSON has strings in double quotation marks alone",
        b"(": "JSON has lists in square brackets alone",
        b"/": "JSON has no comments",
        b"#": "JSON has no comments",
    }
)
_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPED: Final = MappingProxyType(
    {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
)
_STRING_START: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_PART: Final = 1 << 12
_DIGITS: Final = 18
"""Digits that 64 bits hold whatever they are."""


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Node:
    """The value that a JSON text holds.

    `findings` collects names that are given twice, and a byte order mark. `engine` as in
    `exset.parsers.lens.parse`. Raises FormatError, and LimitError for `max_depth`, `max_nodes`,
    `max_name` and `max_text`.
    """
    if len(source.data) > limits.max_text:
        what = f"there are more than {limits.max_text:,} bytes of JSON"
        raise LimitError(what, source=source, hint=remedy("max_text"))
    findings = Findings() if findings is None else findings
    begin = len(_BOM) if source.data.startswith(_BOM) else 0
    if begin:
        findings.add(
            Finding(
                "json-bom",
                Severity.WARNING,
                "there is a byte order mark before the text",
                Place.in_text(source, Span(0, begin)),
                "many programs refuse it: save the file as UTF-8 without it",
            )
        )
    tokens = len(source.data) // 4 + 16
    [stream] = GRAMMAR.parse(source, engine, hint=_hint, begin=begin, tokens=tokens)
    return _Builder(source, limits, findings).build(stream)


class _Builder:
    """Makes the tree of the tokens of a text that the grammar has accepted."""

    def __init__(self, source: Source, limits: Limits, findings: Findings) -> None:
        self.source = source
        self.limits = limits
        self.findings = findings

    def build(self, stream: ParseStream) -> Node:
        """The value; no depth of nesting costs any stack of Python's."""
        terminals = GRAMMAR.terminals
        opened: list[tuple[int, list[Node] | dict[str, Member]]] = []
        names: list[tuple[str, Span]] = []
        if len(stream.kinds) > self.limits.max_nodes:
            self._count(stream)
        for kind, start, end in _tokens(stream):
            terminal, span = terminals[kind], Span(start, end)
            if terminal in ("LBRACE", "LSQB"):
                if len(opened) >= min(self.limits.max_depth, DEEPEST):
                    raise self._limit(f"it nests deeper than {len(opened)}", span, "max_depth")
                opened.append((span.start, {} if terminal == "LBRACE" else []))
                continue
            if terminal == "NAME":
                names.append((self._string(span), span))
                continue
            if terminal in ("COMMA", "COLON"):
                continue
            if terminal in ("RBRACE", "RSQB"):
                first, parts = opened.pop()
                content = tuple(parts) if isinstance(parts, list) else parts
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
            self.findings.add(
                Finding(
                    "json-duplicate",
                    Severity.WARNING,
                    f"{name!r} is given twice: the last one counts",
                    Place.in_text(self.source, span),
                    "remove one of the two",
                )
            )
        members[name] = Member(value, span)

    def _string(self, span: Span) -> str:
        """The text of a string token."""
        if span.end - span.start - 2 > self.limits.max_name:
            what = f"a string of more than {self.limits.max_name:,} bytes"
            raise self._limit(what, span, "max_name")
        raw = self.source.data[span.start + 1 : span.end - 1]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            at = span.start + 1 + error.start
            raise FormatError(
                f"this is not UTF-8: {error.reason}",
                source=self.source,
                span=Span(at, at + error.end - error.start),
                hint="save the file as UTF-8",
            ) from None
        if "\\" not in text:
            return text
        text = _ESCAPE.sub(_unescaped, text)
        try:  # surrogates in pairs are one character; a lone one is none
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise FormatError(
                "a lone surrogate is no character",
                source=self.source,
                span=span,
                hint=r"characters beyond \uffff are written as two: \ud83d\ude00",
            ) from None

    def _number(self, span: Span) -> int | float:
        """The value of a number token: int if it is whole and has 64 bits at most."""
        raw = self.source.data[span.start : span.end]
        if raw.lstrip(b"-").isdigit():
            if len(raw) <= _DIGITS:
                return int(raw)
            if len(raw) <= len(str(INT64.stop)) and (whole := int(raw)) in INT64:
                return whole
        value = float(raw)
        if value in (float("inf"), float("-inf")):
            raise FormatError(
                "this number is too large", source=self.source, span=span, hint="check it"
            )
        return value

    def _count(self, stream: ParseStream) -> None:
        """Raise LimitError if there are too many values."""
        apart = [GRAMMAR.terminal(name) for name in ("COMMA", "COLON", "NAME", "RBRACE", "RSQB")]
        places = [at for at, kind in enumerate(stream.kinds.tolist()) if kind not in apart]
        if len(places) > self.limits.max_nodes:
            at = int(stream.starts[places[self.limits.max_nodes]])
            what = f"there are more than {self.limits.max_nodes:,} values"
            raise self._limit(what, Span(at, at + 1), "max_nodes")

    def _limit(self, what: str, span: Span, name: str) -> LimitError:
        return LimitError(what, source=self.source, span=span, hint=remedy(name))


def _tokens(stream: ParseStream) -> Iterator[tuple[int, int, int]]:
    """The kind, the start and the end of each token, a part of them at a time."""
    for low in range(0, len(stream.kinds), _PART):
        part = slice(low, low + _PART)
        kinds, starts, ends = stream.kinds[part], stream.starts[part], stream.ends[part]
        yield from zip(kinds.tolist(), starts.tolist(), ends.tolist(), strict=True)


def _unescaped(match: re.Match[str]) -> str:
    code, letter = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED[letter]


def _hint(unexpected: Unexpected) -> str | None:
    """What may help where the grammar rejects a word."""
    data, at = unexpected.source.data, unexpected.offset
    word, expected = unexpected.word, unexpected.expected
    if word.startswith(b'"'):
        start = _STRING_START.match(data, at)
        end = at if start is None else start.end()
        if end >= len(data):
            return "the string does not end"
        if data[end] == ord("\\"):
            return (
                r"a backslash is written \\, or in paths /; else it goes before one of"
                r' " \ / b f n r t, or u and four hex digits'
            )
        if data[end] < ord(" "):
            return r"no line break or tab can stand in a string: write \n or \t"
    if word in _WORDS:
        return _WORDS[word]
    if not data[:at].strip(b" \t\r\n\xef\xbb\xbf") and word:
        return "JSON begins with `{`, an object, or `[`, a list"
    if expected == {END}:
        return "a JSON file holds one value: remove what follows it"
    if expected == {"COLON"}:
        return "a colon stands between a name and its value"
    before = data[:at].rstrip(b" \t\r\n")[-1:]
    if word in (b"}", b"]") and before == b",":
        return "JSON has no comma after the last one"
    if "NAME" in expected and word[:1].isalpha():
        return "names stand in double quotation marks"
    if "STRING" in expected and word[:1].isalpha():
        return "strings stand in double quotation marks"
    if data[at - 1 : at] == b'"' and at and re.match(rb"\w", word):
        return r'a string ends before it: is its `"` missing, or one inside it not written \"?'
    if "COMMA" in expected and re.match(rb'["\w\[{]', word) and before != b"0":
        return "a comma is missing before it"
    if ("NUMBER" in expected and word[:1] in (b"-", b"+", b".")) or before == b"0":
        return "numbers are written as -1, 0.5, 1e3: no plus sign, digits before a point, no 0x1F"
    return None

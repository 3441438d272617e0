"""Parse YAML bytes into a tree whose scalars are strings (`exset.grammars.columns.tree`).

ruamel.yaml scans and parses. YAML's own types are not used: tags create no objects, and merge keys
merge nothing. Limits apply to the depth, to the number of nodes and to the lengths of texts. No
alias can contain itself.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from exset.core.errors import Finding, FormatError, LimitError
from exset.core.limits import Limits
from exset.core.lookalikes import foreign
from exset.core.source import Source, Span
from exset.grammars.columns.tree import DEEPEST, Member, Node, Style
from exset.parsers.shared.tree_limits import check_size, too_deep, too_long, too_many

_BOM = b"\xef\xbb\xbf"
_NAME = re.compile(rb"[\r\n](?=[\w\"'\x80-\xff])")
"""The line end before a name that begins in column 1."""


class BadKey(NamedTuple):
    """An invalid key of a mapping: a repeated name, or a key that is not a text.

    span: where the key is. name: the repeated name; None for a key that is not a text.
    """

    span: Span | None
    name: str | None


class Document(NamedTuple):
    """The first document of a file.

    root: the root of the tree; None if the document is empty. second: the place at which a second
    document begins. bad_key: the first invalid key; the tree does not have the member with this
    key.
    """

    root: Node | None
    second: Span | None
    bad_key: BadKey | None


def document(source: Source, limits: Limits) -> Document:
    """Read the first document. The node of an alias is the same object as the node of its anchor.

    Raises FormatError for text that is not YAML. Raises LimitError for text that exceeds
    `max_depth`, `max_nodes`, `max_name` or `max_text`.
    """
    check_size(source, limits, "YAML")
    text = Text(source)
    try:
        return _Composer(text, limits).document()
    except LimitError:
        raise
    except FormatError as error:
        for finding in _later_errors(source, error, limits):
            if not error.add(finding):
                break
        raise


def _later_errors(source: Source, error: FormatError, limits: Limits) -> Iterator[Finding]:
    """Yield the errors after `error`.

    After each error, continue at the next name in column 1. The text from this name on is read as a
    mapping, which may use an anchor that is defined earlier.
    """
    while error.place is not None and error.place.span is not None:
        found = _NAME.search(source.data, error.place.span.start - source.start)
        if found is None:
            return
        source = source.moved(source.start + found.end(), b"")
        try:
            _Composer(Text(source), limits, is_rest=True).document()
            return
        except LimitError:
            return
        except FormatError as later:
            error = later
            yield error.finding


@lru_cache
def _style(tag: str | None, quoted: bool = False) -> Style:
    return Style(tag, quoted)


class Text:
    """The characters of a source, with the offset in bytes of each character."""

    def __init__(self, source: Source) -> None:
        self.source = source
        bom = len(_BOM) if source.data.startswith(_BOM) else 0
        self.first = source.start + bom
        try:
            self.text = source.data[bom:].decode()
        except UnicodeDecodeError as error:
            at = self.first + error.start
            hint = foreign(source.data) or "YAML is read as UTF-8: convert the file"
            raise self.error("this byte is not UTF-8", Span(at, at + 1), hint) from None

    def span(self, start: int, end: int) -> Span:
        """Return the span of the characters `start` to `end` - 1, without the white space at its
        end.
        """
        end = max(start, len(self.text[start:end].rstrip()) + start)
        return Span(self._offset(start), self._offset(end))

    def bounds(self, start: int, end: int) -> tuple[int, int]:
        """Return the byte offsets at which the characters `start` to `end` - 1 begin and end."""
        return self._offset(start), self._offset(end)

    def error(self, message: str, span: Span | None, hint: str | None = None) -> FormatError:
        """Return an error whose place is a span of the text."""
        return FormatError(message, source=self.source, span=span, hint=hint, code="yaml")

    def _offset(self, index: int) -> int:
        if self.text.isascii():  # Python stores this: bytes would be searched each time
            return self.first + index
        before = bisect_right(self._wide, index - 1)
        return self.first + index + (self._extra[before - 1] if before else 0)

    @cached_property
    def _wide(self) -> "array[int]":
        return array("q", (at for at, char in enumerate(self.text) if char > "\x7f"))

    @cached_property
    def _extra(self) -> "array[int]":
        return array("q", accumulate(len(self.text[at].encode()) - 1 for at in self._wide))


@dataclass
class _Open:
    """A sequence or mapping that is being read.

    span: the span of its first character. bracket: the offset of the innermost flow bracket; None
    if there is none. items: the items of a sequence; for a mapping, each key followed by its value.
    """

    span: Span
    style: Style
    anchor: str | None
    is_mapping: bool
    bracket: int | None
    items: list[Node] = field(default_factory=list)


class _Composer:
    """Builds a tree from the events of a file."""

    def __init__(self, text: Text, limits: Limits, is_rest: bool = False) -> None:
        self._text = text
        self._is_rest = is_rest
        self._limits = limits
        self._nodes = 0
        self._anchors: dict[str, Node | None] = {}  # None while the node is being read
        self._open: list[_Open] = []
        self._root: Node | None = None
        self._bad_key: BadKey | None = None

    def document(self) -> Document:
        documents = 0
        for event in self._events():
            if isinstance(event, events.DocumentStartEvent):
                documents += 1
                if documents == 2:
                    start = event.start_mark.index
                    second = self._text.span(start, start + 3)
                    return Document(self._root, second, self._bad_key)
            elif isinstance(event, events.ScalarEvent):
                node = self._scalar(event)
                self._begin(node.span, event.anchor)
                self._add(node, event.anchor)
            elif isinstance(event, events.SequenceStartEvent | events.MappingStartEvent):
                self._push(event)
            elif isinstance(event, events.SequenceEndEvent | events.MappingEndEvent):
                done = self._open.pop()
                content = self._members(done.items) if done.is_mapping else tuple(done.items)
                self._add(Node(content, done.span, done.style), done.anchor)
            elif isinstance(event, events.AliasEvent):
                node = self._named(event)
                self._begin(node.span, None)
                self._add(node, None)
        return Document(self._root, None, self._bad_key)

    def _push(self, event: events.SequenceStartEvent | events.MappingStartEvent) -> None:
        start = event.start_mark.index
        span = self._text.span(start, start + 1)
        self._begin(span, event.anchor)
        is_flow = self._text.text[start : start + 1] in ("[", "{")
        bracket = start if is_flow else self._opener(None)
        is_mapping = isinstance(event, events.MappingStartEvent)
        self._open.append(_Open(span, _style(event.tag), event.anchor, is_mapping, bracket))
        if len(self._open) > min(self._limits.max_depth, DEEPEST):
            raise too_deep(self._text.source, span, self._limits)

    def _begin(self, span: Span | None, anchor: str | None) -> None:
        """Count a new node. Store the name of its anchor, if the node has one."""
        self._nodes += 1
        if self._nodes > self._limits.max_nodes:
            raise too_many(self._text.source, span, self._limits)
        if anchor is not None:
            if anchor in self._anchors:
                raise self._text.error(f"a second node has the anchor &{anchor}", span)
            self._anchors[anchor] = None

    def _add(self, node: Node, anchor: str | None) -> None:
        """Add a node to the sequence or mapping that is being read.

        anchor: the name by which aliases refer to the node; None if it has no such name.
        """
        if anchor is not None:
            self._anchors[anchor] = node
        if self._open:
            self._open[-1].items.append(node)
        else:
            self._root = node

    def _members(self, items: list[Node]) -> dict[str, Member]:
        members: dict[str, Member] = {}
        for key, value in zip(items[::2], items[1::2], strict=True):
            name = key.content if isinstance(key.content, str) else None
            if name is not None and name not in members:
                members[name] = Member(value, key.span, key.style)
            elif self._bad_key is None:
                self._bad_key = BadKey(key.span, name)
        return members

    def _events(self) -> Iterator[events.Event]:
        """Yield the parser events of the file; raise each error of the library as FormatError."""
        last, context = 0, None
        try:
            for event in YAML(typ="safe", pure=True).parse(self._text.text):
                last = event.end_mark.index
                yield event
        except FormatError:
            raise
        except ReaderError as error:
            at, message = error.position, "a character that YAML does not allow"
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = last if mark is None else mark.index
            context = None if error.context_mark is None else error.context_mark.index
            message = ", ".join(filter(None, (error.context, error.problem))) or "this is not YAML"
        except (YAMLError, ValueError, OverflowError, LookupError, TypeError, AttributeError):
            # Some errors, for example about a bad escape or directive, have no place.
            at, message = last, "this is not YAML, from here on"
        else:
            return
        advice = self._hint(at, message)
        if (opener := self._opener(context)) is not None:
            mark = self._text.text[opener]
            if not self._text.text[at:].strip():
                at, message = opener, f"`{mark}` is not closed: {message}"
            elif mark in "[{":
                line, column = self._text.source.position(self._text.span(opener, opener).start)
                advice = f"the `{mark}` at {line}:{column} is not closed before this place"
        raise self._text.error(message, self._text.span(at, at + 1), advice)

    def _opener(self, context: int | None) -> int | None:
        """Return the offset of the bracket or quotation mark that is open at an error.

        Return None if none is open. `context`: the offset of the construct that the library was
        reading.
        """
        if context is not None and self._text.text[context : context + 1] in tuple("[{\"'"):
            return context
        return self._open[-1].bracket if self._open else None

    def _hint(self, at: int, message: str) -> str | None:
        char = self._text.text[at : at + 1]
        if char == "\t":
            return "YAML is indented with spaces, not tabs"
        if "mapping values" in message:
            return (
                "check the indentation of this line and the one before, that a space follows each"
                " colon, and that a text with a colon is in quotation marks"
            )
        if "block end" in message:
            return "check the indentation of this line and the one before"
        if "escape" in message:
            return "write a backslash as two, or put the text in single quotation marks"
        if "cannot start any token" in message:
            return f"put a text that begins with {char} in quotation marks"
        return None

    def _scalar(self, event: events.ScalarEvent) -> Node:
        span = self._text.span(event.start_mark.index, event.end_mark.index)
        if len(event.value) > self._limits.max_name:
            raise too_long(self._text.source, span, self._limits, "characters")
        return Node(event.value, span, _style(event.tag, bool(event.style)))

    def _named(self, event: events.AliasEvent) -> Node:
        span = self._text.span(event.start_mark.index, event.end_mark.index)
        if event.anchor not in self._anchors:
            if self._is_rest:
                return Node("", span)
            raise self._text.error(f"no node has the anchor &{event.anchor}", span)
        if (node := self._anchors[event.anchor]) is None:
            raise self._text.error("this alias is inside the node that it names", span)
        return node

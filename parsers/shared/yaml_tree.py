"""YAML as a tree of texts with their places; what the texts mean is for the caller to say.

ruamel.yaml's scanner and parser do the work, and nothing of YAML's types: tags make no objects,
merge keys merge nothing. Nesting, nodes and lengths are bounded, and no alias can lead round.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Final, TypeAlias

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits, remedy
from exset.core.lookalikes import foreign
from exset.core.source import Source, Span

DEEPEST: Final = 200
"""What no limit goes beyond: the walks through a tree recurse."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text, its escapes and folds undone; `plain` if it stands without quotes."""

    text: str
    plain: bool
    span: Span
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    span: Span
    tag: str | None = None
    items: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mapping:
    """Pairs of key and value, in the order written; keys may come twice."""

    span: Span
    tag: str | None = None
    pairs: list[tuple[Item, Item]] = field(default_factory=list)


Item: TypeAlias = Scalar | Sequence | Mapping


@dataclass(frozen=True)
class Document:
    """The first document of a file: its root, None if it is empty, and where a second begins."""

    root: Item | None
    second: Span | None


def document(source: Source, limits: Limits) -> Document:
    """Read the first document; what an alias names is the same object again.

    Raises FormatError for what is no YAML, LimitError for more than `max_depth`, `max_nodes`,
    `max_name` or `max_text`.
    """
    if len(source.data) > limits.max_text:
        raise LimitError(
            f"more than {limits.max_text:,} bytes of YAML",
            source=source,
            hint=remedy("max_text"),
        )
    return _Composer(_Text(source), limits).document()


class _Text:
    """The characters of a source, and the bytes where they are."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.skipped = len(_BOM) if source.data.startswith(_BOM) else 0
        try:
            self.text = source.data[self.skipped :].decode()
        except UnicodeDecodeError as error:
            at = self.skipped + error.start
            hint = foreign(source.data) or "YAML is read as UTF-8: convert the file"
            raise self.error("this byte is not UTF-8", Span(at, at + 1), hint) from None

    def span(self, start: int, end: int) -> Span:
        """Return the bytes of some characters, without the blanks and line ends after them."""
        end = max(start, len(self.text[start:end].rstrip()) + start)
        return Span(self._offset(start), self._offset(end))

    def error(self, message: str, span: Span, hint: str | None = None) -> FormatError:
        return FormatError(message, source=self.source, span=span, hint=hint, code="yaml")

    def _offset(self, index: int) -> int:
        if self.source.data.isascii():
            return index
        before = bisect_right(self._wide, index - 1)
        return self.skipped + index + (self._extra[before - 1] if before else 0)

    @cached_property
    def _wide(self) -> array[int]:
        return array("q", (at for at, char in enumerate(self.text) if char > "\x7f"))

    @cached_property
    def _extra(self) -> array[int]:
        return array("q", accumulate(len(self.text[at].encode()) - 1 for at in self._wide))


class _Composer:
    """Puts a tree together from events."""

    def __init__(self, text: _Text, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._nodes = 0
        self._anchors: dict[str, Item] = {}
        self._open: list[Sequence | Mapping] = []
        self._flows: list[int | None] = []  # where the bracket is that each is in, if any
        self._keys: list[Item | None] = []  # of each open mapping, the key that waits for a value
        self._root: Item | None = None

    def document(self) -> Document:
        documents = 0
        for event in self._events():
            if isinstance(event, events.DocumentStartEvent):
                documents += 1
                if documents == 2:
                    start = event.start_mark.index
                    return Document(self._root, self._text.span(start, start + 3))
            elif isinstance(event, events.ScalarEvent):
                self._add(self._scalar(event), event.anchor)
            elif isinstance(event, events.SequenceStartEvent | events.MappingStartEvent):
                kind = Sequence if isinstance(event, events.SequenceStartEvent) else Mapping
                start = event.start_mark.index
                item = kind(self._text.span(start, start + 1), event.tag)
                self._add(item, event.anchor)
                self._open.append(item)
                self._keys.append(None)
                is_bracket = self._text.text[start : start + 1] in ("[", "{")
                self._flows.append(start if is_bracket else self._opener(None))
                self._check_depth(item)
            elif isinstance(event, events.SequenceEndEvent | events.MappingEndEvent):
                self._flows.pop()
                self._open.pop()
                self._keys.pop()
            elif isinstance(event, events.AliasEvent):
                self._add(self._named(event), None)
        return Document(self._root, None)

    def _events(self) -> Iterator[events.Event]:
        """Yield the events of the file; whatever the library raises becomes a FormatError."""
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
            message = ", ".join(filter(None, (error.context, error.problem))) or "this is no YAML"
        except (YAMLError, ValueError, OverflowError, LookupError, TypeError, AttributeError):
            # What it says of a bad escape or directive, for one, has no place of its own.
            at, message = last, "this is no YAML, from here on"
        else:
            return
        advice = self._hint(at, message)
        if (opener := self._opener(context)) is not None:
            mark = self._text.text[opener]
            if not self._text.text[at:].strip():
                at, message = opener, f"`{mark}` is not closed: {message}"
            elif mark in "[{":
                line, column = self._text.source.position(self._text.span(opener, opener).start)
                advice = f"the `{mark}` at {line}:{column} is not closed before it"
        raise self._text.error(message, self._text.span(at, at + 1), advice)

    def _opener(self, context: int | None) -> int | None:
        """Return the bracket or quotation mark that an error is inside of, if it is in any.

        context: where what the library was about begins.
        """
        if context is not None and self._text.text[context : context + 1] in tuple("[{\"'"):
            return context
        return self._flows[-1] if self._flows else None

    def _hint(self, at: int, message: str) -> str | None:
        char = self._text.text[at : at + 1]
        if char == "\t":
            return "YAML is indented with blanks, not tabs"
        if "mapping values" in message:
            return (
                "see how far this line and the one before are indented, whether a blank follows"
                " each colon, and that a text with a colon stands in quotation marks"
            )
        if "block end" in message:
            return "see how far this line and the one before are indented"
        if "escape" in message:
            return "a backslash is written as two, or the text stands in single quotation marks"
        if "cannot start any token" in message:
            return f"a text that begins with {char} stands in quotation marks"
        return None

    def _scalar(self, event: events.ScalarEvent) -> Scalar:
        span = self._text.span(event.start_mark.index, event.end_mark.index)
        if len(event.value) > self._limits.max_name:
            raise LimitError(
                f"a text of more than {self._limits.max_name:,} characters",
                source=self._text.source,
                span=span,
                hint=remedy("max_name"),
            )
        plain = event.style is None or event.style == ""
        return Scalar(event.value, plain, span, event.tag)

    def _named(self, event: events.AliasEvent) -> Item:
        span = self._text.span(event.start_mark.index, event.end_mark.index)
        item = self._anchors.get(event.anchor)
        if item is None:
            raise self._text.error(f"nothing is called &{event.anchor}", span)
        if any(item is each for each in self._open):
            raise self._text.error("this alias names what it is in", span)
        return item

    def _add(self, item: Item, anchor: str | None) -> None:
        self._nodes += 1
        if self._nodes > self._limits.max_nodes:
            raise too_many(self._text.source, item.span, self._limits)
        if anchor is not None:
            if anchor in self._anchors:
                raise self._text.error(f"a second thing is called &{anchor}", item.span)
            self._anchors[anchor] = item
        if not self._open:
            self._root = item
        elif isinstance(parent := self._open[-1], Sequence):
            parent.items.append(item)
        elif (key := self._keys[-1]) is None:
            self._keys[-1] = item
        else:
            parent.pairs.append((key, item))
            self._keys[-1] = None

    def _check_depth(self, item: Item) -> None:
        if len(self._open) > min(self._limits.max_depth, DEEPEST):
            raise too_deep(self._text.source, item.span, self._limits)


def too_deep(source: Source, span: Span, limits: Limits) -> LimitError:
    """The error of what is nested deeper than is allowed."""
    return LimitError(
        f"nested more than {min(limits.max_depth, DEEPEST)} deep",
        source=source,
        span=span,
        hint=remedy("max_depth"),
    )


def too_many(source: Source, span: Span, limits: Limits) -> LimitError:
    """The error of more nodes than are allowed, those that aliases repeat among them."""
    return LimitError(
        f"more than {limits.max_nodes:,} nodes, those that aliases repeat among them",
        source=source,
        span=span,
        hint=remedy("max_nodes"),
    )

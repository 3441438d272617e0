"""Make the error for a rejection: the expected terminals, the word that was found, and a hint."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from exset.core.errors import FormatError, Place
from exset.core.lookalikes import foreign, look_alike
from exset.core.source import Source, Span
from exset.core.text import safe
from exset.parsers.engine.expectation import CLOSERS
from exset.parsers.engine.stream import Rejection

_WORD: Final = re.compile(rb"[A-Za-z0-9_.+-]{1,256}:?|[^\x00-\x7f]{1,256}|.", re.DOTALL)
_SHOWN: Final = 24


@dataclass(frozen=True)
class Unexpected:
    """A word that the grammar rejects: the argument of functions that make a hint.

    source: the text. begin: the offset from which the text was parsed. offset: the offset of the
    word. word: the bytes of the word, empty at the end of the text. expected: the terminals that
    the grammar allows in place of the word.
    """

    source: Source
    begin: int
    offset: int
    word: bytes
    expected: frozenset[str]

    @property
    def before(self) -> bytes:
        """The parsed text before the word."""
        first = max(self.begin - self.source.start, 0)
        return self.source.data[first : self.offset - self.source.start]

    @property
    def after(self) -> bytes:
        """The text from the word on."""
        return self.source.data[self.offset - self.source.start :]


Hint = Callable[[Unexpected], str | None]
"""A function that returns advice for a word that the grammar rejects, or None."""


def syntax_error(
    source: Source,
    begin: int,
    rejection: Rejection,
    name: Callable[[str], str],
    hint: Hint,
    opener: Place | None = None,
) -> FormatError:
    """Return the error for a rejection.

    The error is at the rejected word. But if the text ends inside brackets or quotation marks, the
    error is at the innermost opening mark. name: a function that returns a terminal's name for
    messages. opener: the place of the opening mark, if this place is before the start of `source`.
    """
    match = _WORD.match(source.data, rejection.offset - source.start)
    found = match.group() if match else b""
    unexpected = Unexpected(source, begin, rejection.offset, found, rejection.expected)
    place = Place.in_text(source, Span(rejection.offset, rejection.offset + len(found)))
    words = {name(terminal) for terminal in rejection.expected}
    expected = _listed(sorted(words, key=lambda word: (word.startswith("`"), word)))
    message = f"expected {expected}, found {shown(found)}"
    other = None if source.start else foreign(source.data)
    advice = other or look_alike(found) or hint(unexpected)
    mark, at = rejection.opened[-1] if rejection.opened else ("", 0)
    if mark in CLOSERS:
        opened = opener or Place.in_text(source, Span(at, at + 1))
        if not found:
            place = opened
            message = f"`{mark}` is not closed: {message}"
        elif f"`{CLOSERS[mark]}`" in words and advice is None:
            advice = (
                f"the `{mark}` at {opened.line}:{opened.column} is not closed before this place"
            )
    return FormatError(message, place=place, hint=advice)


def shown(found: bytes) -> str:
    """Return a word of a file as it is quoted in a message."""
    if not found:
        return "the end of the file"
    if found == b"\n":
        return "the end of the line"
    text = safe(found[:_SHOWN].decode("utf-8", "surrogateescape"))
    return f"`{text}...`" if len(found) > _SHOWN else f"`{text}`"


def _listed(words: list[str]) -> str:
    if len(words) < 2:
        return "".join(words) or "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"

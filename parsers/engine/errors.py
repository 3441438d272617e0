"""A rejection as an error that a person can act on."""

import re
from collections.abc import Callable
from typing import Final

from exset.core.errors import FormatError, safe
from exset.core.lookalikes import foreign, look_alike
from exset.core.source import Source, Span
from exset.parsers.engine.expectation import CLOSERS
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.stream import Rejection

_WORD: Final = re.compile(rb"[A-Za-z0-9_.+-]{1,256}:?|[^\x00-\x7f]{1,256}|.", re.DOTALL)
_SHOWN: Final = 24


def syntax_error(
    grammar: Grammar,
    source: Source,
    rejection: Rejection,
    hint: Callable[[bytes, frozenset[str]], str | None],
) -> FormatError:
    """What was expected and what was found.

    `hint` gets the word found and the terminals expected. Where the text ends inside brackets or
    quotation marks, the place is that of the innermost, else it is that of the word.
    """
    match = _WORD.match(source.data, rejection.offset - source.start)
    found = match.group() if match else b""
    span = Span(rejection.offset, rejection.offset + len(found))
    words = {grammar.spoken(name) for name in rejection.expected}
    expected = _listed(sorted(words, key=lambda word: (word.startswith("`"), word)))
    message = f"expected {expected}, found {shown(found)}"
    other = None if source.start else foreign(source.data)
    advice = other or look_alike(found) or hint(found, rejection.expected)
    if rejection.opener is not None:
        at = rejection.opener - source.start
        mark = source.data[at : at + 1].decode("ascii")
        if not found:
            span = Span(rejection.opener, rejection.opener + 1)
            message = f"`{mark}` is not closed: {message}"
        elif f"`{CLOSERS[mark]}`" in words and advice is None:
            line, column = source.position(rejection.opener)
            advice = f"the `{mark}` at {line}:{column} is not closed before it"
    return FormatError(message, source=source, span=span, hint=advice)


def shown(found: bytes) -> str:
    """A word of a file as it stands in a message."""
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

"""One finding: what is wrong with a file, where, and how to fix it."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from exset.core.source import Source, Span
from exset.core.text import WIDTH, Advice, for_command_line, pointer, safe

_REACH = 4 * WIDTH
"""How many bytes of the line are kept before and after a span."""


class Severity(StrEnum):
    """The severity of a finding, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Place:
    """A place: a line and column of text, a byte and field of a binary file, or a whole input."""

    source: str
    span: Span | None = None
    line: int | None = None
    column: int | None = None
    text: str | None = None
    """The line, or the part of a long line around the span."""
    field: str | None = None
    text_column: int = 1
    """The column at which `text` begins."""
    name: str | None = None
    """The name of the unit that contains the field, such as an example."""

    @classmethod
    def in_text(cls, source: Source, span: Span) -> "Place":
        """Return the place of a span in a text. Raises ValueError if it begins outside the text."""
        line, column = source.position(span.start)
        text, first = source.around(span.start, _REACH)
        return cls(source.name, span, line, column, text, text_column=first)

    @classmethod
    def in_bytes(cls, source: Source, offset: int, field: str | None = None) -> "Place":
        """Return the place of a byte in a binary file; `field`: the path of the byte's field."""
        return cls(source.name, Span(offset, offset), field=field)

    def moved(self, start: int, path: str, first: int) -> "Place":
        """Convert a place in one chunk of an input to a place in the whole input.

        `start`: the byte offset of the chunk in the input. `path`: the name of an array, such as
        `examples`, of which the chunk has only some elements. `first`: the index that the chunk's
        first element has in the whole array.
        """
        span, field = self.span, self.field
        if span is not None:
            span = Span(span.start + start, span.end + start)
        if field is not None and (index := self.index(path)) is not None:
            begin = f"{path}["
            field = f"{begin}{index + first}{field[len(begin) + len(str(index)) :]}"
        return replace(self, span=span, field=field)

    def index(self, path: str) -> int | None:
        """Return the index that follows `path` in the field: 3 for `path[3].x`.

        Return None if the field does not begin with `path` and an index.
        """
        match = re.match(rf"{re.escape(path)}\[(\d+)\]", self.field or "")
        return None if match is None else int(match[1])

    def pointer(self) -> list[str]:
        """Return two lines for a terminal: the line of text, and carets below this place.

        Return an empty list for a place without text.
        """
        if self.text is None or self.column is None:
            return []
        size = 1 if self.span is None else self.span.end - self.span.start
        return pointer(self.text, self.column - self.text_column, size, self.text_column > 1)

    def to_dict(self) -> dict[str, str | int | None]:
        """Return the place as a dictionary for JSON, with escaped control characters.

        `start` and `end` are byte offsets from 0.
        """
        return {
            "source": safe(self.source),
            "start": None if self.span is None else self.span.start,
            "end": None if self.span is None else self.span.end,
            "line": self.line,
            "column": self.column,
            "field": None if self.field is None else safe(self.field),
            "name": None if self.name is None else safe(self.name),
        }

    def __str__(self) -> str:
        name = safe(self.source)
        if self.line is not None:
            return f"{name}:{self.line}" + ("" if self.column is None else f":{self.column}")
        at = "" if self.span is None else f" byte {self.span.start}"
        unit = f' "{safe(self.name)}"' if self.name else ""
        inside = "" if self.field is None else f" ({safe(self.field)})"
        return f"{name}:{at}{unit}{inside}" if at or inside else name


@dataclass(frozen=True)
class Finding:
    """One error, warning or note about a file: a stable code, a message, a place and a hint.

    A hint may contain an option and an argument, as `<--lossy or lossy=True>`: the command line
    shows the option, Python shows the argument.
    """

    code: str
    severity: Severity
    message: str
    place: Place | None = None
    hint: str | None = None

    def __post_init__(self) -> None:
        if self.hint is not None and not isinstance(self.hint, Advice):
            object.__setattr__(self, "hint", Advice.of(self.hint))

    def for_command_line(self) -> "Finding":
        """Return the finding with a hint that names command-line options, not Python arguments."""
        return self if self.hint is None else replace(self, hint=for_command_line(self.hint))

    def to_dict(self) -> dict[str, object]:
        """Return the finding as a dictionary for JSON; the keys are always the same.

        Control characters in the text are escaped.
        """
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": safe(self.message),
            "hint": None if self.hint is None else safe(self.hint),
            "place": None if self.place is None else self.place.to_dict(),
        }

    def __str__(self) -> str:
        where = "" if self.place is None else f"{self.place}: "
        lines = [f"{where}{safe(self.message)} [{self.code}]"]
        if self.place is not None:
            lines += self.place.pointer()
        if self.hint is not None:
            lines.append(f"  hint: {safe(self.hint)}")
        return "\n".join(lines)

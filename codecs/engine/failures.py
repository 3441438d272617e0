"""The errors of binary files: a closed set of reasons, the same for both drivers.

The offset of an error is the first byte of the primitive that failed. A test fails at the first
field in its condition. A count fails at its first field too, before its array is read: if it is
negative, or if that many of the smallest elements do not fit in the remaining bytes. The sizes of
blobs and of padding fail likewise. A constant count is not checked.
"""

from enum import StrEnum
from typing import Final, NoReturn

from exset.codecs.engine.fields import Fields
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.lookalikes import foreign
from exset.core.source import Source


class Reason(StrEnum):
    """Why a primitive cannot be read."""

    ENDS = "the data end inside {field}"
    CONSTANT = "{field} must be {value}"
    CHECK = "{field} is {value}, but must satisfy: {condition}"
    NEGATIVE = "{field} is {value}, a negative count"
    TOO_MANY = "{field} is {value}, more than the bytes left can hold"
    UNTERMINATED = "{field} is a string without its NUL"
    TOO_LONG = "{field} is a string of more than {value} bytes"


_TRUNCATIONS: Final = frozenset((Reason.ENDS, Reason.UNTERMINATED, Reason.TOO_MANY))
_TRUNCATED: Final = "the file is truncated, or damaged here or earlier"


class TruncatedError(FormatError):
    """The data end too early: more data may remove the error.

    needed: how many bytes there must be at least, as far as that is known.
    """

    needed = 0


def fail(
    reason: Reason,
    fields: Fields,
    source: Source,
    path: str,
    offset: int,
    needed: int = 0,
    **words: object,
) -> NoReturn:
    """Raise the error of a primitive at `offset`.

    fields: those that were read. needed: as for `TruncatedError`. words: what the message of the
    reason names.
    """
    message = reason.format(field=path.rpartition(".")[2] or "the layout", **words)
    place = fields.place_at(source, path, offset)
    if reason is Reason.TOO_LONG:
        raise LimitError(message, place=place, hint=limit_hint("max_name"))
    if reason not in _TRUNCATIONS:
        hint = None if source.start or offset else foreign(bytes(source.view[:512]))
        raise FormatError(message, place=place, hint=hint)
    error = TruncatedError(message, place=place, hint=_TRUNCATED)
    error.needed = needed
    raise error


def fail_in_string(
    fields: Fields, source: Source, limits: Limits, path: str, offset: int
) -> NoReturn:
    """Raise the error of a string at `offset`, which has no NUL within the limit."""
    most = limits.max_name
    if len(source.view) - offset > most:
        fail(Reason.TOO_LONG, fields, source, path, offset, value=most)
    fail(Reason.UNTERMINATED, fields, source, path, offset)

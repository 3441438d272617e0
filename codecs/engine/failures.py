"""The reasons for which a binary file is refused: a closed set, the same for every driver.

The error is at the first byte of the primitive that failed. A test fails at the first field that it
names. So does a count, before its array is begun: if it is negative, or if so many of the smallest
elements do not fit in the bytes from there on; and likewise the size of a blob, or of padding. A
count that is constant is not looked at.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from exset.codecs.engine.fields import indexed
from exset.codecs.engine.layout import Layout
from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import remedy
from exset.core.lookalikes import foreign
from exset.core.source import Source
from exset.grammars.columns.ragged import Longs


class Reason(StrEnum):
    """Why a primitive cannot be read."""

    ENDS = "the data end inside {field}"
    CONSTANT = "{field} must be {value}"
    CHECK = "{field} is {value}, but must satisfy: {condition}"
    NEGATIVE = "{field} is {value}, a negative count"
    TOO_MANY = "{field} is {value}, more than the bytes left can hold"
    UNENDED = "{field} is a string without its NUL"
    TOO_LONG = "{field} is a string of more than {value} bytes"


_CUTS: Final = frozenset((Reason.ENDS, Reason.UNENDED, Reason.TOO_MANY))
_CUT: Final = "the file is cut short, or damaged here or before"


class Cut(FormatError):
    """The data end too early: with more of them it may be none.

    needed: how many bytes there must be at least, as far as that is known.
    """

    needed = 0


def failure(
    reason: Reason,
    layout: Layout,
    source: Source,
    starts: Mapping[str, Longs],
    path: str,
    offset: int,
    needed: int = 0,
    **words: object,
) -> FormatError:
    """The error of a primitive: the offset of its first byte, its path with indices, a reason.

    starts: the offsets of the elements met so far, as in Fields. needed: as for `Cut`.
    """
    if reason is Reason.CONSTANT:
        words["value"] = _shown(words["value"])
    message = reason.format(field=path.rpartition(".")[2] or "the layout", **words)
    place = Place.in_bytes(source, offset, indexed(layout, starts, path, offset) or None)
    if reason is Reason.TOO_LONG:
        return LimitError(message, place=place, hint=remedy("max_name"))
    if reason not in _CUTS:
        other = None if source.start or offset else foreign(bytes(source.view[:512]))
        return FormatError(message, place=place, hint=other)
    cut = Cut(message, place=place, hint=_CUT)
    cut.needed = needed
    return cut


def _shown(value: object) -> str:
    """A constant, as hexadecimal digits if it is a large number."""
    return f"0x{value:08X}" if isinstance(value, int) and value > 0xFFFF else repr(value)

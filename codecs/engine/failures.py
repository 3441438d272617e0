"""The errors of binary files: a closed set of reasons, the same for both drivers.

The offset of an error is the first byte of the primitive that failed. A test fails at the first
field in its condition. A count fails at its first field too, before its array is read: if it is
negative, or if that many of the smallest elements do not fit in the remaining bytes. The sizes of
blobs and of padding fail likewise. A constant count is not checked.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NoReturn, cast

import numpy as np

from exset.codecs.engine.execution import Execution
from exset.codecs.engine.fields import indexed
from exset.codecs.engine.layout import Layout
from exset.codecs.engine.program import Origin
from exset.core.errors import FormatError, LimitError, Place
from exset.core.limits import Limits, limit_hint
from exset.core.lookalikes import foreign
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs


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
    """Make the error of a primitive at `offset`.

    starts: the offsets of the elements so far, as in Fields. needed: as for `TruncatedError`.
    words: what the message of the reason names.
    """
    if reason is Reason.CONSTANT:
        words["value"] = _format_constant(words["value"])
    message = reason.format(field=path.rpartition(".")[2] or "the layout", **words)
    place = Place.in_bytes(source, offset, indexed(layout, starts, path, offset) or None)
    if reason is Reason.TOO_LONG:
        return LimitError(message, place=place, hint=limit_hint("max_name"))
    if reason not in _TRUNCATIONS:
        hint = None if source.start or offset else foreign(bytes(source.view[:512]))
        return FormatError(message, place=place, hint=hint)
    error = TruncatedError(message, place=place, hint=_TRUNCATED)
    error.needed = needed
    return error


def _format_constant(value: object) -> str:
    """Write a constant, in hexadecimal if it is a large number."""
    return f"0x{value:08X}" if isinstance(value, int) and value > 0xFFFF else repr(value)


class Diagnosis:
    """Explains why the interpreter stopped, with the error that the reference driver would raise.

    starts: the offsets of the elements so far, as in Fields. offset: where it stopped.
    """

    def __init__(
        self,
        layout: Layout,
        source: Source,
        execution: Execution,
        limits: Limits,
        starts: Mapping[str, Longs],
        offset: int,
    ) -> None:
        """Take the state of the run."""
        self.layout = layout
        self.source = source
        self.execution = execution
        self.limits = limits
        self.starts = starts
        self.offset = offset
        self.left = len(execution.data) - offset

    def raise_for(self, at: int) -> NoReturn:
        """Raise the error of the instruction at an index."""
        origin = self.layout.program.origins[at]
        match origin.kind:
            case "test":
                self._fail_at_field(origin, Reason.CHECK, condition=origin.text)
            case "constant":
                if self.left < origin.size:
                    self._fail(Reason.ENDS, origin.path, self.offset)
                self._fail(Reason.CONSTANT, origin.path, self.offset, value=origin.value)
            case "string":
                if self.left > self.limits.max_name:
                    most = self.limits.max_name
                    self._fail(Reason.TOO_LONG, origin.path, self.offset, value=most)
                self._fail(Reason.UNTERMINATED, origin.path, self.offset)
            case "alignment":
                self._fail(Reason.ENDS, origin.path, self.offset)
            case "block":
                self._fail_in_block(origin.numbers)
            case _:
                self._fail_at_count(origin, at)

    def _fail_at_count(self, origin: Origin, at: int) -> NoReturn:
        """The count is wrong or, if it is constant, the data end."""
        if origin.field is None:
            size = origin.size if origin.is_array else self.left + 1
            self._fail(Reason.ENDS, origin.path, self.offset + self.left // size * size)
        count = self.execution.ints[self.layout.program.code[at][origin.operand]]
        needed = self.offset + int(count) * origin.size
        self._fail_at_field(origin, Reason.NEGATIVE if count < 0 else Reason.TOO_MANY, needed)

    def _fail_in_block(self, numbers: tuple[tuple[str, int], ...]) -> NoReturn:
        """The data end in one of the numbers of a block."""
        end = 0
        for path, size in numbers:
            begin, end = end, end + size
            if end > self.left:
                self._fail(Reason.ENDS, path, self.offset + begin)
        raise AssertionError("the block fits")

    def _fail_at_field(
        self, origin: Origin, reason: Reason, needed: int = 0, **words: object
    ) -> NoReturn:
        """Fail at the last value of the first field in a condition or a count."""
        field = cast(str, origin.field)
        stored, offset = self.layout.leaves[field].dtype, int(self.starts[field][-1])
        value = np.frombuffer(self.execution.data, stored, 1, offset)[0].item()
        value = int(value) if stored.kind == "b" else value
        self._fail(reason, field, offset, needed, value=value, **words)

    def _fail(
        self, reason: Reason, path: str, offset: int, needed: int = 0, **words: object
    ) -> NoReturn:
        raise failure(reason, self.layout, self.source, self.starts, path, offset, needed, **words)

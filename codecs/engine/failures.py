"""The errors of binary files: a fixed set of reasons, the same for both drivers.

The place of an error is as follows:

- A primitive that cannot be read: the first byte of the primitive.
- A test that fails: the first field of the test's condition.
- A wrong count: the first field of the count's expression. The count is checked before the array is
  read.

A count is wrong if it is negative, or if the remaining bytes are too few for this number of
elements of the smallest size. The sizes of blobs and of padding are checked in the same way. A
constant count is not checked.
"""

from enum import StrEnum
from typing import Final, NoReturn, cast

import numpy as np

from exset.codecs.engine.execution import Execution
from exset.codecs.engine.fields import Fields
from exset.codecs.engine.program import Origin
from exset.core.errors import FormatError, LimitError
from exset.core.limits import Limits, limit_hint
from exset.core.lookalikes import foreign
from exset.core.source import Source


class Reason(StrEnum):
    """Why a part of a file cannot be read; each reason is the template of a message."""

    ENDS = "the data end inside the field `{field}`"
    CONSTANT = "{field} must be {value}"
    CHECK = "{field} is {value}, but must {demand}"
    NEGATIVE = "{field} is {value}, but a count cannot be negative"
    TOO_MANY = "{field} is {value}, more than the remaining bytes can hold"
    UNTERMINATED = "the string {field} does not end with a NUL byte"
    TOO_LONG = "the string {field} is longer than {value} bytes"


_TRUNCATIONS: Final = frozenset((Reason.ENDS, Reason.UNTERMINATED, Reason.TOO_MANY))
_TRUNCATED: Final = "the file is truncated, or damaged here or earlier"


class TruncatedError(FormatError):
    """The data end too early. More data may make them valid.

    needed: the smallest number of bytes that the data must have, as far as the reader knows.
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
    """Raise the error for the part of a file that begins at `offset` and cannot be read.

    path: the path of the field. fields: the columns that were read before. needed: as in
    `TruncatedError`. reason: the template of the message. words: the values for this template.
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
    """Raise the error for a string without a NUL.

    The string is in the field `path`, and begins at `offset`. The error is a LimitError if the
    string is longer than `limits.max_name`.
    """
    most = limits.max_name
    if len(source.view) - offset > most:
        fail(Reason.TOO_LONG, fields, source, path, offset, value=most)
    fail(Reason.UNTERMINATED, fields, source, path, offset)


class Diagnosis:
    """Finds out why the interpreter stopped, and raises the same error as the reference driver.

    fields: the fields that were read; their `end` is the offset at which the interpreter stopped.
    """

    def __init__(
        self, fields: Fields, source: Source, limits: Limits, execution: Execution
    ) -> None:
        self.fields = fields
        self.source = source
        self.limits = limits
        self.execution = execution
        self.program = fields.layout.program
        self.offset = fields.end
        self.left = len(source.view) - fields.end

    def raise_for(self, at: int) -> NoReturn:
        """Raise the error for the instruction at which the interpreter stopped. at: its index."""
        origin, row = self.program.origins[at], self.program.code[at]
        match origin.kind:
            case "test":
                self._fail_at_field(origin, Reason.CHECK, demand=origin.text)
            case "constant":
                if self.left < origin.size:
                    self._fail(Reason.ENDS, origin.path)
                self._fail(Reason.CONSTANT, origin.path, value=origin.text)
            case "string":
                fail_in_string(self.fields, self.source, self.limits, origin.path, self.offset)
            case "alignment":
                self._fail(Reason.ENDS, origin.path)
            case "block":
                self._fail_in_block(row[1])
            case _:
                self._fail_at_count(origin, int(self.execution.ints[row[2]]))

    def _fail_at_count(self, origin: Origin, count: int) -> NoReturn:
        """Raise the error for a count that is negative or too large.

        If the count is a constant of the declaration, the error is that the data end too early.
        """
        if origin.field is None:
            complete = self.left // origin.size * origin.size if origin.kind == "rows" else 0
            self._fail(Reason.ENDS, origin.path, complete)
        needed = self.offset + count * origin.size
        self._fail_at_field(origin, Reason.NEGATIVE if count < 0 else Reason.TOO_MANY, needed)

    def _fail_in_block(self, stream: int) -> NoReturn:
        """Raise the error for the first number of a block that is not complete in the data.

        stream: the stream of the block's offsets.
        """
        for path, leaf in self.program.block(stream).items():
            if leaf.shift + leaf.dtype.itemsize > self.left:
                self._fail(Reason.ENDS, path, leaf.shift)
        raise AssertionError("the block fits")

    def _fail_at_field(
        self, origin: Origin, reason: Reason, needed: int = 0, **words: object
    ) -> NoReturn:
        """Raise an error for a condition that does not hold, or for an invalid count.

        The place of the error is the first field that the expression of the condition or count
        names. If the field occurs several times in the file, the place is where it was last read.
        `needed`: as for `fail`.
        """
        path = cast(str, origin.field)
        stored, offset = self.program.leaves[path].dtype, int(self.fields.starts[path][-1])
        value = np.frombuffer(self.source.view, stored, 1, offset)[0].item()
        value = int(value) if stored.kind == "b" else value
        fail(reason, self.fields, self.source, path, offset, needed, value=value, **words)

    def _fail(self, reason: Reason, path: str, shift: int = 0, **words: object) -> NoReturn:
        """Raise an error about the field `path`.

        The place of the error is `shift` bytes after the offset at which the interpreter stopped.
        """
        fail(reason, self.fields, self.source, path, self.offset + shift, 0, **words)

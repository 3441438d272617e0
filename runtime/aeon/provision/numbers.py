"""The etl types `label` and `blob`. A label is an integer; the bytes of a blob are copied.

Source: etl_label.hpp and etl_blob.hpp of aeon.
"""

import re
from collections.abc import Sequence
from typing import Final, cast

import numpy as np

from exset.core.errors import FormatError
from exset.core.text import counted
from exset.grammars.aeon.config.numbers import integer
from exset.grammars.aeon.config.settings import Settings
from exset.grammars.columns.arrays import Bytes, Flags, Ints, Longs, row_indices
from exset.runtime.aeon.provision.columns import ColumnEtl, rows_of, spans_of
from exset.runtime.aeon.provision.etl import Context, Slot
from exset.runtime.aeon.provision.record import Record
from exset.runtime.aeon.record_dataset import Column

_STOI: Final = re.compile(rb"[ \t\n\v\f\r]*([+-]?[0-9]+)")
_LONGEST: Final = 20
"""The most digits of a label; more than an integer of 32 bits needs, as zeros may come first."""
_FEW: Final = 12
"""The most bytes of a text that `_integers` reads."""
_LEAST, _MOST = -(2**31), 2**31 - 1
_WORD: Final = 4


def label_of(element: bytes, *, binary: bool) -> int:
    """Return the integer of a label. If `binary`, the label has four bytes; else it is text that is
    read as by C++'s `stoi`.

    Raises FormatError for other elements.
    """
    if binary:
        if len(element) != _WORD:
            has = counted(len(element), "byte")
            raise FormatError(f"the element has {has}, but a binary label needs four")
        return int.from_bytes(element, "little", signed=True)
    number = _STOI.match(element)
    if number is None:
        raise FormatError("the element does not begin with an integer")
    if len(number[1]) > _LONGEST or integer(int(number[1]), "int32") != int(number[1]):
        raise FormatError("the number does not fit in 32 bits")
    return int(number[1])


class Label(ColumnEtl):
    """The etl type `label`. exset converts the label's value to the output type; aeon copies its
    bits.

    The conversion to uint32_t keeps the bits: -1 becomes 4294967295, as in aeon.
    """

    def __init__(self, settings: Settings, number: int, context: Context) -> None:
        """Make the decoder for the etl object `etl[number]`, whose members are `settings`.

        Raises FormatError if aeon would copy more bytes than a label has.
        """
        super().__init__(settings, number, context)
        self._is_binary = bool(settings["binary"])
        if context.compat and settings["output_type"] == "double":
            message = f"etl[{number}]: aeon fills labels of the output type double from undefined"
            hint = "use int32_t, or do not set `compat`"
            raise FormatError(f"{message} memory", hint=hint, code="aeon-later")

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Write the number in the label `element` into the first slot.

        Raises FormatError if the label is not a number, or if the number is too large for the
        output.
        """
        number = label_of(element, binary=self._is_binary)
        if not self._store(np.array([number], np.int32), slots[0][None])[0]:
            raise FormatError(f"the number {number} does not fit in {slots[0].dtype}")

    def provide_many(self, column: Column, slots: Sequence[Slot]) -> Longs:
        """Write the numbers of many labels; return the indices of the labels that were not
        written.
        """
        [slot] = slots
        if self._is_binary and not isinstance(column, tuple):
            numbers, done = column.view(np.int32), np.ones(column.size, np.bool_)
        else:
            read = _words if self._is_binary else _integers
            numbers, done = read(*spans_of(column))
        done &= self._store(numbers, slot)
        return cast(Longs, np.flatnonzero(~done))

    def _store(self, numbers: Ints, slot: Slot) -> Flags:
        """Write numbers into an array [n, 1]. Return for each number whether it fits into the
        array's dtype.
        """
        fits = np.ones(numbers.size, np.bool_)
        size = slot.dtype.itemsize
        if self.context.compat or (size == _WORD and slot.dtype.kind in "iu"):
            low = numbers.astype("<i4", copy=False).view(np.uint8).reshape(-1, _WORD)[:, :size]
            rows_of(slot)[...] = low
        elif slot.dtype.kind == "f":
            slot[:, 0] = numbers
        else:
            bounds = np.iinfo(slot.dtype)
            fits = (numbers >= bounds.min) & (numbers <= bounds.max)
            slot[fits, 0] = numbers[fits]
        return fits


class Blob(ColumnEtl):
    """The etl type `blob`: copies the bytes of the element. In a longer slot, zeros follow."""

    def provide(self, element: bytes, record: Record, slots: Sequence[Slot]) -> None:
        """Copy the bytes of `element` into the first slot.

        Raises FormatError if the slot is too short for the bytes.
        """
        raw = rows_of(slots[0][None])[0]
        if len(element) > raw.size and not self.context.compat:
            has = counted(len(element), "byte")
            message = f"the element has {has}, but the output has room for {raw.size:,}"
            raise FormatError(message)
        size = min(len(element), raw.size)
        raw[:size] = np.frombuffer(element, np.uint8, size)

    def provide_many(self, column: Column, slots: Sequence[Slot]) -> Longs:
        """Copy the bytes of many elements; return the indices of the elements that were not
        copied.
        """
        raw = rows_of(slots[0])
        data, offsets = spans_of(column)
        lengths = np.diff(offsets)
        size = raw.shape[1]
        if lengths.size and (lengths == size).all():
            raw[...] = data[offsets[0] : offsets[-1]].reshape(-1, size)
            return cast(Longs, np.empty(0, np.int64))
        left = lengths == 0
        kept = np.minimum(lengths, size)
        if not self.context.compat:
            left |= lengths > size
            kept = np.where(left, 0, lengths)
        begins = size * np.arange(lengths.size)
        raw.reshape(-1)[row_indices(begins, kept)] = data[row_indices(offsets[:-1], kept)]
        return cast(Longs, np.flatnonzero(left))


def _words(data: Bytes, offsets: Longs) -> tuple[Ints, Flags]:
    """Return the 32-bit number in each element, and whether each element has exactly four bytes.

    data, offsets: the bytes of the elements.
    """
    done = np.diff(offsets) == _WORD
    numbers = np.zeros(done.size, np.int32)
    found = data[offsets[:-1][done][:, None] + np.arange(_WORD)]
    numbers[done] = found.view("<i4").reshape(-1)
    return numbers, done


def _integers(data: Bytes, offsets: Longs) -> tuple[Ints, Flags]:
    """Return the integer at the beginning of each text, and whether each text was read.

    data, offsets: the bytes of the texts. Texts with many digits, or with blanks before the number,
    are not read.
    """
    starts, lengths = offsets[:-1], np.diff(offsets)
    values = np.zeros(lengths.size, np.int64)
    digits = np.zeros(lengths.size, np.int64)
    is_negative = np.zeros(lengths.size, np.bool_)
    goes_on = lengths > 0
    for at in range(min(int(lengths.max(initial=0)), _FEW)):
        goes_on = goes_on & (lengths > at)
        byte = data.take(np.where(goes_on, starts + at, 0), mode="clip") if data.size else data
        digit = byte - np.uint8(ord("0"))
        is_digit = goes_on & (digit < 10)
        values = np.where(is_digit, 10 * values + digit, values)
        digits += is_digit
        if at == 0:
            is_negative = goes_on & (byte == ord("-"))
            goes_on = is_digit | is_negative | (goes_on & (byte == ord("+")))
        else:
            goes_on = is_digit
    values = np.where(is_negative, -values, values)
    done = (digits > 0) & ~(goes_on & (lengths > _FEW)) & (values >= _LEAST) & (values <= _MOST)
    return values.astype(np.int32), done

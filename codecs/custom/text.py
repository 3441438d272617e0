"""Convert the texts of a layout from any encoding that Python knows to UTF-8, and back."""

import codecs
from typing import NamedTuple

import numpy as np

from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.strings import Strings
from exset.grammars.tables.columns import Text, first_wrong_text

_NOT_ASCII = 0x80


class Encoding(NamedTuple):
    """How a field stores a text or bytes.

    name: the encoding of a text; "" for bytes. strip: the size of the groups in which zeros are
    removed from the end; 0 if none are removed.
    """

    name: str
    strip: int

    def decode(self, raw: Strings) -> "tuple[Strings, int | None]":
        """Decode a column of stored bytes to UTF-8. Return the texts, and the first row that
        failed.

        The latter is an index; it is None if all rows can be decoded.
        """
        if self.strip:
            raw = _stripped(raw, self.strip)
        if not self.name:
            return raw, None
        name = codecs.lookup(self.name).name
        if name == "ascii":
            wrong = np.flatnonzero(raw.data >= _NOT_ASCII)
            found = int(np.searchsorted(raw.offsets, wrong[0], "right")) - 1 if len(wrong) else None
        elif name == "utf-8":
            found = first_wrong_text(raw)
        else:
            return self._recoded(raw)
        return raw if found is not None else Text.unchecked(**vars(raw)), found

    def _recoded(self, raw: Strings) -> "tuple[Strings, int | None]":
        values: list[bytes | None] = []
        for row, value in enumerate(raw):
            try:
                values.append(None if value is None else value.decode(self.name).encode())
            except UnicodeError:
                return raw, row
        return Text.unchecked(**vars(Strings.of(values))), None

    def encode(self, values: Strings) -> Strings:
        """Return the bytes to store for each text of a column.

        Raises ValueError for a text that the encoding cannot represent.
        """
        if not self.name or codecs.lookup(self.name).name == "utf-8":
            return values
        return Strings.of(
            None if each is None else each.decode().encode(self.name)
            for each in Strings.__iter__(values)
        )


def _stripped(raw: Strings, unit: int) -> Strings:
    """Remove zeros from the end of each row, as Construct's NullStripped does.

    unit: the number of zeros that are removed together, such as 2 in UTF-16.
    """
    begins, ends = raw.offsets[:-1], raw.offsets[1:].copy()
    tails = (ends - begins) % unit
    for tail in range(1, unit):  # remove an incomplete unit of zeros first
        rows = np.flatnonzero(tails == tail)
        zero = np.ones(len(rows), np.bool_)
        for back in range(1, tail + 1):
            zero &= raw.data[ends[rows] - back] == 0
        ends[rows[zero]] -= tail
    stripped = np.concatenate([[0], np.flatnonzero(raw.data) + 1])
    last = stripped[np.searchsorted(stripped, ends, "right") - 1]  # after the last nonzero byte
    kept: Longs = np.maximum(last, begins)
    excess = (ends - kept) // unit * unit
    return Strings.from_spans(raw.data, begins, ends - excess, raw.present)

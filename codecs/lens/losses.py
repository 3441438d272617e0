"""What a Lens binary file cannot hold of an example set: refused, or written as Lens writes it."""

from collections.abc import Callable
from typing import Final

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.grammars.columns.arrays import Floats, Ints, Longs
from exset.grammars.columns.ragged import Strings

_MODEL: Final = "example set"
_INT_MAX: Final = 2**31 - 1


class Losses:
    """Watches what is written: with `lossy` a loss is a finding, otherwise a FormatError."""

    def __init__(self, lossy: bool, findings: Findings) -> None:
        """Begin to write."""
        self._lossy = lossy
        self._findings = findings

    def strings(self, strings: Strings, path: Callable[[int], str]) -> Strings:
        """The strings, each up to its first NUL; one that begins with it is none."""
        nul = np.flatnonzero(strings.data == 0)
        if nul.size == 0:
            return strings
        rows = np.searchsorted(strings.offsets, nul, "right") - 1
        rows, first = np.unique(rows, return_index=True)
        for row in rows.tolist():
            self._lose(path(row), "a NUL ends a string in a binary file", "is cut there")
        ends = strings.offsets[1:].copy()
        ends[rows] = nul[first]
        given = strings.given & ((ends > strings.offsets[:-1]) | (strings.lengths == 0))
        return Strings.from_spans(strings.data, strings.offsets[:-1], ends, given)

    def names(self, names: Strings) -> Strings:
        """The names of the examples; one that is empty is none."""
        for row in np.flatnonzero(names.given & (names.lengths == 0)).tolist():
            why = "a binary file has no empty names, only none"
            self._lose(f"examples[{row}].name", why, "becomes none")
        return self.strings(names, "examples[{}].name".format)

    def frequencies(self, frequency: Floats) -> Floats:
        """The frequencies of the examples; a negative one is written, but cannot be read."""
        for row in np.flatnonzero(frequency < 0).tolist():
            why = "the frequency is negative, which Lens refuses in a binary file"
            self._lose(f"examples[{row}].frequency", why, "is written nonetheless")
        return frequency

    def _lose(self, path: str, why: str, what: str) -> None:
        place = Place(_MODEL, field=path)
        if not self._lossy:
            hint = f"say --lossy, or lossy=True in Python: it {what} then"
            raise FormatError(why, place=place, hint=hint, code="lens-binary")
        message = f"{why}: it {what}"
        self._findings.add(Finding("lens-binary-loss", Severity.WARNING, message, place))


def ints(counts: Longs, what: str) -> Ints:
    """Counts as the file has them, in 32 bits. Raises FormatError."""
    if counts.max(initial=0) > _INT_MAX:
        message = f"a binary file holds at most {_INT_MAX} {what}"
        raise FormatError(message, place=Place.of(_MODEL), code="lens-binary")
    return counts.astype(np.int32)

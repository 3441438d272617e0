"""Report values that a Lens binary file cannot store: as errors, or as findings if `lossy`."""

from collections.abc import Callable
from typing import Final

import numpy as np

from exset.core.errors import Finding, Findings, FormatError, Place, Severity
from exset.grammars.columns.arrays import Floats, Ints, Longs
from exset.grammars.columns.ragged import Strings

_MODEL: Final = "example set"
_INT_MAX: Final = 2**31 - 1


class Losses:
    """Checks values before they are written to a file that cannot store all values.

    A value that it cannot store raises FormatError; with `lossy`, it gives a finding.
    """

    def __init__(self, lossy: bool, findings: Findings) -> None:
        self._lossy = lossy
        self._findings = findings

    def strings(self, strings: Strings, path: Callable[[int], str]) -> Strings:
        """Return the strings, each cut at its first NUL, because the file cannot store a NUL.

        A string that begins with a NUL becomes absent. path: a function that returns the field of a
        string from the index of the string.
        """
        nul = np.flatnonzero(strings.data == 0)
        if nul.size == 0:
            return strings
        rows = np.searchsorted(strings.offsets, nul, "right") - 1
        rows, first = np.unique(rows, return_index=True)
        for row in rows.tolist():
            self._report_loss(path(row), "a NUL ends a string in a binary file", "is cut there")
        ends = strings.offsets[1:].copy()
        ends[rows] = nul[first]
        present = strings.present & ((ends > strings.offsets[:-1]) | (strings.lengths == 0))
        return Strings.from_spans(strings.data, strings.offsets[:-1], ends, present)

    def names(self, names: Strings) -> Strings:
        """Return the names of the examples. An empty name is left out, which is a loss."""
        for row in np.flatnonzero(names.present & (names.lengths == 0)).tolist():
            why = "a binary file cannot store an empty name"
            self._report_loss(f"examples[{row}].name", why, "is left out")
        return self.strings(names, "examples[{}].name".format)

    def frequencies(self, frequency: Floats) -> Floats:
        """Report negative frequencies of examples, which Lens cannot read."""
        for row in np.flatnonzero(frequency < 0).tolist():
            why = "the frequency is negative, which Lens rejects in a binary file"
            self._report_loss(f"examples[{row}].frequency", why, "is written anyway")
        return frequency

    def _report_loss(self, path: str, why: str, effect: str) -> None:
        place = Place(_MODEL, field=path)
        if not self._lossy:
            hint = f"with <--lossy or lossy=True> it {effect}"
            raise FormatError(why, place=place, hint=hint, code="lens-binary")
        message = f"{why}: it {effect}"
        self._findings.add(Finding("lens-binary-loss", Severity.WARNING, message, place))


def ints(counts: Longs, what: str) -> Ints:
    """Convert counts to 32 bits, as in the file. Raises FormatError for a larger count.

    what: what is counted, for the message.
    """
    if counts.max(initial=0) > _INT_MAX:
        message = f"a binary file can store at most {_INT_MAX} {what}"
        raise FormatError(message, place=Place(_MODEL), code="lens-binary")
    return counts.astype(np.int32)

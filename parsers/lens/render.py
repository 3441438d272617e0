"""Lens example files as text: what `exset.parsers.lens.parse` reads back as the very same set.

Canonical layout: the set's fields that are not the defaults and `;`, then the examples, each in one
line or, if it has several events, about a line an event. An event's own fields come first, in one
event list for all events that have the same; the data follow as `write_plan` arranges
them, with an event list only where Lens would otherwise give them to another event.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from exset.core import kernels
from exset.core.errors import Findings
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.parsers.lens import write_rows
from exset.parsers.lens.write_checks import Planner, sayable
from exset.parsers.lens.write_fields import set_fields
from exset.parsers.lens.write_strings import Diction

MANY: Final = 20_000_000
"""From how many numbers on it pays to load the compiler and kernels, which takes half a second."""

MANY_WARM: Final = 2_000_000
"""The same where the compiler is loaded already."""

_EVENT: Final = 500  # an event takes the time of as many numbers


def render(
    examples: ExampleSet,
    *,
    compact: bool = False,
    unshare: bool = False,
    lossy: bool = False,
    findings: Findings | None = None,
) -> bytes:
    """The text of a set; read back it is the same set in normal form, bit for bit.

    `compact` leaves out the blanks and line breaks that it can, but for a line break after each
    example. Text cannot say every string (delimiters that do not balance, a line that begins with
    `#`, NUL ...), every list of units (a span that ends below its start), nor every list shared by
    inputs and targets of different events: that is a FormatError, its place the path of the field.
    `lossy` writes a question mark for each byte of a string that cannot be said, `unshare` writes
    twice the lists that cannot be shared; both leave findings. Units that cannot be said are always
    an error. Lens, example.c: writeExampleSet, without its faults.
    """
    heard = Findings() if findings is None else findings
    pieces = Pieces(heard, compact=compact, unshare=unshare, lossy=lossy)
    begin = pieces.begin(examples.header, len(examples))
    text = b"".join(chain((begin,), pieces.lines(examples)))
    return text + end if (end := pieces.end(len(text))) else text


class Pieces:
    """Renders a set part by part, as `render` does at once: its beginning, examples, its end."""

    is_counted = False

    def __init__(
        self,
        findings: Findings,
        *,
        compact: bool = False,
        unshare: bool = False,
        lossy: bool = False,
    ) -> None:
        """Take the options of `render`."""
        self._compact = compact
        self._unshare = unshare
        self._diction = Diction(lossy, findings)
        self._header = SetHeader()
        self._size = 0  # of all so far

    def begin(self, header: SetHeader, count: int) -> bytes:
        """What stands before the examples; how many there will be makes no difference."""
        self._header = header
        said = sayable(ExampleSet.none(header), self._diction).header
        return set_fields(said, self._compact)

    def units(self, examples: ExampleSet) -> bytes:
        """Some examples. Raises FormatError, and ValueError if they cannot have the header."""
        return b"".join(self.lines(examples))

    def lines(self, examples: ExampleSet) -> Iterator[bytes]:
        """The same in pieces."""
        examples = examples.under(self._header)
        bare = examples.with_columns(header=replace(self._header, proc=None))
        said = sayable(bare, self._diction)
        planner = Planner(said, self._unshare, self._diction)
        self._size += _size(said)
        least = MANY_WARM if "numba" in sys.modules else MANY
        if self._size >= least and kernels.available():
            from exset.parsers.lens import write_columns

            yield from write_columns.chunks(said, self._compact, planner)
        else:
            yield from write_rows.lines(said, self._compact, planner)

    def end(self, size: int) -> bytes:
        """What stands at the end: Lens takes a file of less than four bytes for empty."""
        return b"\n" * (4 - size)


def _size(examples: ExampleSet) -> int:
    """How many numbers there are to write, and as many more as take the time of the rest."""
    ranges = examples.ranges
    return ranges.values.values.size + ranges.units.values.size + _EVENT * examples.num_events

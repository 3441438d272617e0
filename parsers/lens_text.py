"""Lens example files as text: what `exset.parsers.lens` reads back as the very same set.

Canonical layout: the set's fields that are not the defaults and `;`, then the examples, each in one
line or, if it has several events, about a line an event. An event's own fields come first, in one
event list for all events that have the same; the data follow as `exset.parsers.lens_order` arranges
them, with an event list only where Lens would otherwise give them to another event.
"""

import sys
from collections.abc import Iterator
from typing import Final

from exset import kernels
from exset.errors import Findings
from exset.grammars.examples import ExampleSet
from exset.parsers import lens_rows
from exset.parsers.lens_fields import set_fields
from exset.parsers.lens_sayable import Planner, sayable
from exset.parsers.lens_strings import Diction

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
    diction = Diction(lossy, heard)
    text = b"".join(_pieces(sayable(examples, diction), compact, unshare, diction))
    return text.ljust(4, b"\n")  # Lens takes a file of less than four bytes for empty


def _pieces(
    examples: ExampleSet, compact: bool, unshare: bool, diction: Diction
) -> Iterator[bytes]:
    yield set_fields(examples.header, compact)
    planner = Planner(examples, unshare, diction)
    if kernels.worthwhile(
        _size(examples), loading=MANY, using=MANY_WARM, loaded="numba" in sys.modules
    ):
        from exset.parsers import lens_bulk

        yield from lens_bulk.chunks(examples, compact, planner)
    else:
        yield from lens_rows.lines(examples, compact, planner)


def _size(examples: ExampleSet) -> int:
    """How many numbers there are to write, and as many more as take the time of the rest."""
    ranges = examples.ranges
    return ranges.values.values.size + ranges.units.values.size + _EVENT * examples.num_events

"""Write Lens example files as text, which `exset.parsers.lens.parse` reads back as an equal set.

The canonical layout is the set's fields that differ from the defaults, `;`, then the examples. An
example is one line or, with several events, about one line for each event. The values that events
do not inherit come first, with one event list for all events that have the same values. Inputs and
targets follow in the order of `write_plan`; they have an event list only if Lens would otherwise
assign them to other events.
"""

import io
from typing import Final

from exset.core.errors import Findings
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.parsers.lens.write_checks import Losses, representable, representable_header
from exset.parsers.lens.write_columns import KERNELS, chunks
from exset.parsers.lens.write_fields import set_fields

_EVENT: Final = 500  # an event takes the time of this many numbers


def render(
    examples: ExampleSet,
    *,
    compact: bool = False,
    unshare: bool = False,
    lossy: bool = False,
    findings: Findings | None = None,
) -> bytes:
    """Return the text of a set, which reads back as the same set in normal form, bit for bit.

    `compact` leaves out spaces and line breaks, except a line break after each example. Text
    cannot represent some strings (with unbalanced delimiters, a line that begins with `#`, NUL
    ...), some lists of units (with a span that ends below its start), and some lists that inputs
    and targets of different events share. All of these raise FormatError with the path of the
    field. `lossy` writes a question mark for each byte that text cannot represent. `unshare`
    writes a list twice if text cannot share it. Both add findings. Source: Lens, example.c:
    writeExampleSet, without its bugs.
    """
    findings = Findings() if findings is None else findings
    pieces = Pieces(findings, compact=compact, unshare=unshare, lossy=lossy)
    text = io.BytesIO()
    text.write(pieces.begin(examples.header, len(examples)))
    pieces.write(examples, text)
    text.write(pieces.end(text.tell()))
    return text.getvalue()


class Pieces:
    """Writes a set in chunks, as `render` does with the same options: beginning, examples, end."""

    is_counted = False

    def __init__(
        self,
        findings: Findings,
        *,
        compact: bool = False,
        unshare: bool = False,
        lossy: bool = False,
    ) -> None:
        self._compact = compact
        self._losses = Losses(findings, lossy=lossy, unshare=unshare)
        self._header = SetHeader()
        self._size = 0  # of all examples so far

    def begin(self, header: SetHeader, count: int) -> bytes:
        """Return the text before the examples; `count`, the number of examples, has no effect."""
        self._header = header
        return set_fields(representable_header(header, self._losses), self._compact)

    def units(self, examples: ExampleSet) -> bytes:
        """Return the next examples as text.

        Raises FormatError for values that text cannot represent, and ValueError if the examples do
        not fit the header.
        """
        text = io.BytesIO()
        self.write(examples, text)
        return text.getvalue()

    def write(self, examples: ExampleSet, text: io.BytesIO) -> None:
        """Write the text of `units` to `text`."""
        examples = representable(examples.with_header(self._header), self._losses)
        self._size += _size(examples)
        compiled = KERNELS.use_compiled(self._size)
        for chunk in chunks(examples, self._compact, self._losses, compiled=compiled):
            text.write(chunk)

    def end(self, size: int) -> bytes:
        """Return the text after the examples.

        It is line breaks if Lens would otherwise read the file as empty, else nothing.
        """
        return b"\n" * (4 - size)


def _size(examples: ExampleSet) -> int:
    """Return about how large the text of a set will be, to decide whether to use compiled code.

    It is the count of the set's numbers, plus `_EVENT` for each event.
    """
    ranges = examples.ranges
    return ranges.values.values.size + ranges.units.values.size + _EVENT * examples.num_events

"""Lens example files, binary (.bex): bytes to `ExampleSet` and back.

The layout is that of the Lens manual, "Example Files", section "Binary Format", in its words and
its order; Lens 2.63 (example.c: readBinaryExampleSet, writeBinaryExampleFile) decides what it
means. Everything is big-endian; reals have four bytes whatever sizeof(real) says; a string is raw
bytes and a NUL. What is lost: an empty name, a NUL in a string, a negative frequency, each an error
unless `lossy` is given.
"""

from typing import Final

from construct import (
    Array,
    Check,
    Const,
    Construct,
    Flag,
    Float32b,
    IfThenElse,
    Int32sb,
    Int32ub,
    Pass,
    Rebuild,
    Struct,
    len_,
    this,
)

from exset.codecs.engine import Layout, NulString, read, write
from exset.codecs.lens_columns import columns_of
from exset.codecs.lens_doubts import report_groups
from exset.codecs.lens_losses import Losses
from exset.codecs.lens_meaning import REALS, examples_of
from exset.errors import Findings, FormatError
from exset.grammars.examples import ExampleSet
from exset.grammars.normal import normal_form
from exset.kernels import Engine
from exset.limits import DEFAULT, Limits
from exset.source import Source

Integer, Real, Boolean, String = Int32sb, Float32b, Flag, NulString()

# Lens reads a negative number of ranges, or of events in a list, as none.
EventList = Struct(
    "set_numEventsInList" / Rebuild(Integer, len_(this.event_num)),
    "event_num" / Array(this.set_numEventsInList * (this.set_numEventsInList > 0), Integer),
)  # a negative event_num ends a span


def _range(real: str) -> Construct:
    """A range of inputs or of targets: they differ in what their reals are called."""
    return Struct(
        "range_groupName" / String,
        "range_numUnits" / Integer,
        "range_sparseEncoding" / Boolean,
        "units"
        / IfThenElse(
            this.range_sparseEncoding,
            Struct(
                f"range_{real}" / Real,
                "unit_index" / Array(this._.range_numUnits, Integer),
            ),
            Struct(
                "range_firstUnit" / Integer,
                f"unit_{real}" / Array(this._.range_numUnits, Real),
            ),
        ),
    )


def _ranges(real: str) -> tuple[Construct, Construct]:
    return (
        "num_ranges" / Rebuild(Integer, len_(this.ranges)),
        "ranges" / Array(this.num_ranges * (this.num_ranges > 0), _range(real)),
    )


SpecialEvent = Struct(
    "event_num" / Integer,
    Check((this.event_num >= 0) & (this.event_num < this._.example_numEvents)),
    "event_proc" / String,
    *(f"event_{real}" / Real for real in REALS.values()),
)

InputSet = Struct(
    "events" / EventList,
    *_ranges("externalInput"),
    "shared_targets" / Boolean,
    "target_events" / IfThenElse(this.shared_targets, EventList, Pass),
)

TargetSet = Struct(
    "events" / EventList,
    *_ranges("target"),
)

Example = Struct(
    "example_name" / String,
    "example_proc" / String,
    "example_frequency" / Real,
    "example_numEvents" / Integer,
    Check(this.example_numEvents > 0),
    "example_number_of_special_events" / Rebuild(Integer, len_(this.special_events)),
    Check(this.example_number_of_special_events <= this.example_numEvents),
    "special_events" / Array(this.example_number_of_special_events, SpecialEvent),
    "example_numInputSets" / Rebuild(Integer, len_(this.inputs)),
    "inputs" / Array(this.example_numInputSets, InputSet),
    "example_numTargetSets" / Rebuild(Integer, len_(this.targets)),
    "targets" / Array(this.example_numTargetSets, TargetSet),
)

BinaryExampleFile = Struct(
    "magicExampleCookie" / Const(0xAAAAAAAA, Int32ub),
    "sizeof_real" / Integer,
    Check((this.sizeof_real == 4) | (this.sizeof_real == 8)),
    "set_proc" / String,
    *(f"set_{real}" / Real for real in REALS.values()),
    "num_examples" / Rebuild(Integer, len_(this.examples)),
    "examples" / Array(this.num_examples, Example),
)

LAYOUT: Final = Layout(BinaryExampleFile)

_SWAPPED: Final = (4).to_bytes(4, "little")


def decode(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> ExampleSet:
    """The examples of a binary file, in normal form.

    engine: the driver, see `exset.codecs.engine.read`. `findings` collects what Lens accepts but
    people are caught by. Raises FormatError where Lens refuses, hangs or leaves its memory, and
    LimitError.
    """
    try:
        fields = read(LAYOUT, source, limits=limits, engine=engine)
    except FormatError as error:
        raise _with_hint(error, source) from None
    heard = Findings() if findings is None else findings
    raw = examples_of(fields, source, limits, heard)
    del fields  # what it keeps is large, and the normal form takes memory of its own
    examples = normal_form(raw)
    report_groups(len(examples.groups), source, heard)
    return examples


def encode(
    examples: ExampleSet,
    *,
    lossy: bool = False,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> bytes:
    """The bytes that Lens would write for these examples.

    engine: as for `decode`. Raises FormatError for what they cannot hold and names the example;
    with `lossy` that is written as Lens writes it, and `findings` collects it: a string is cut at a
    NUL, an empty name is none, a negative frequency stays, though Lens does not load it.
    """
    losses = Losses(lossy, Findings() if findings is None else findings)
    return write(LAYOUT, columns_of(normal_form(examples), losses), engine=engine)


def _with_hint(error: FormatError, source: Source) -> FormatError:
    """The error, with advice if the file was written by a machine with the other byte order."""
    place = error.place
    if place is None or place.field != "sizeof_real" or source.data[4:8] != _SWAPPED:
        return error
    hint = "the file was written with the low byte first: every number must be turned round"
    return FormatError(error.message, place=place, hint=hint)

"""The layout of a Lens binary file, in the words and the order of the Lens manual.

The lowered program is cached, so only lowering and the reference driver import this module. It
imports nothing but Construct and the engine, because the cache knows no other dependencies.
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

from exset.codecs.engine.declaration import NulString, split_declaration

REALS: Final = (
    "maxTime",
    "minTime",
    "graceTime",
    "defaultInput",
    "activeInput",
    "defaultTarget",
    "activeTarget",
)

Integer, Real, Boolean, String = Int32sb, Float32b, Flag, NulString()

# Lens reads a negative number of ranges, or of events in a list, as 0.
EventList = Struct(
    "set_numEventsInList" / Rebuild(Integer, len_(this.event_num)),
    "event_num" / Array(this.set_numEventsInList * (this.set_numEventsInList > 0), Integer),
)  # a negative event_num ends a span


def _range(real: str) -> Construct:
    """A range of inputs or of targets; `real` is what the manual calls its values."""
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
    *(f"event_{real}" / Real for real in REALS),
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
    *(f"set_{real}" / Real for real in REALS),
    "num_examples" / Rebuild(Integer, len_(this.examples)),
    "examples" / Array(this.num_examples, Example),
)

Head, Tail, One = split_declaration(BinaryExampleFile)

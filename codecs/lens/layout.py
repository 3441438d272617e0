"""The layout of a Lens binary file, with the names and the order of the Lens manual.

The program made from it is cached. So this module is imported only to make the program, and by the
reference driver. It imports only Construct and the engine, because the cache does not notice
changes of other modules.
"""

from typing import Final

import construct as cs
from construct import len_, this

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

Integer, Real, Boolean, String = cs.Int32sb, cs.Float32b, cs.Flag, NulString()

# Lens reads a negative number of ranges, or of events in a list, as 0.
EventList = cs.Struct(
    "set_numEventsInList" / cs.Rebuild(Integer, len_(this.event_num)),
    "event_num" / cs.Array(this.set_numEventsInList * (this.set_numEventsInList > 0), Integer),
)  # a negative event_num ends a span


def _range(real: str) -> cs.Construct:
    """Return the layout of a range.

    real: the name of the range's values in the manual: `externalInput` or `target`.
    """
    return cs.Struct(
        "range_groupName" / String,
        "range_numUnits" / Integer,
        "range_sparseEncoding" / Boolean,
        "units"
        / cs.IfThenElse(
            this.range_sparseEncoding,
            cs.Struct(
                f"range_{real}" / Real,
                "unit_index" / cs.Array(this._.range_numUnits, Integer),
            ),
            cs.Struct(
                "range_firstUnit" / Integer,
                f"unit_{real}" / cs.Array(this._.range_numUnits, Real),
            ),
        ),
    )


def _ranges(real: str) -> tuple[cs.Construct, cs.Construct]:
    return (
        "num_ranges" / cs.Rebuild(Integer, len_(this.ranges)),
        "ranges" / cs.Array(this.num_ranges * (this.num_ranges > 0), _range(real)),
    )


SpecialEvent = cs.Struct(
    "event_num" / Integer,
    cs.Check((this.event_num >= 0) & (this.event_num < this._.example_numEvents)),
    "event_proc" / String,
    *(f"event_{real}" / Real for real in REALS),
)

InputSet = cs.Struct(
    "events" / EventList,
    *_ranges("externalInput"),
    "shared_targets" / Boolean,
    "target_events" / cs.IfThenElse(this.shared_targets, EventList, cs.Pass),
)

TargetSet = cs.Struct(
    "events" / EventList,
    *_ranges("target"),
)

Example = cs.Struct(
    "example_name" / String,
    "example_proc" / String,
    "example_frequency" / Real,
    "example_numEvents" / Integer,
    cs.Check(this.example_numEvents > 0),
    "example_number_of_special_events" / cs.Rebuild(Integer, len_(this.special_events)),
    cs.Check(this.example_number_of_special_events <= this.example_numEvents),
    "special_events" / cs.Array(this.example_number_of_special_events, SpecialEvent),
    "example_numInputSets" / cs.Rebuild(Integer, len_(this.inputs)),
    "inputs" / cs.Array(this.example_numInputSets, InputSet),
    "example_numTargetSets" / cs.Rebuild(Integer, len_(this.targets)),
    "targets" / cs.Array(this.example_numTargetSets, TargetSet),
)

BinaryExampleFile = cs.Struct(
    "magicExampleCookie" / cs.Const(0xAAAAAAAA, cs.Int32ub),
    "sizeof_real" / Integer,
    cs.Check((this.sizeof_real == 4) | (this.sizeof_real == 8)),
    "set_proc" / String,
    *(f"set_{real}" / Real for real in REALS),
    "num_examples" / cs.Rebuild(Integer, len_(this.examples)),
    "examples" / cs.Array(this.num_examples, Example),
)

Head, Tail, One = split_declaration(BinaryExampleFile)

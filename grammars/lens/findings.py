"""The findings of Lens text and binary files.

A code is stable: programs may select findings by it.
"""

from functools import partial
from types import MappingProxyType
from typing import Final

from exset.core.errors import Finding, Place, Severity
from exset.grammars.columns.findings import Rule, make_finding

_NOTE, _WARNING = Severity.NOTE, Severity.WARNING

RULES: Final = MappingProxyType(
    {
        "lens-refuses": Rule(_WARNING, "Lens 2.63 fails on this: {what}", "{hint}"),
        "lens-set-proc": Rule(
            _NOTE,
            "the set has a proc: Lens runs it as Tcl while it loads the file; exset never does",
            "what the code would change, or whether it fails, is not checked",
        ),
        # Header and examples
        "lens-eaten-count": Rule(
            _WARNING,
            "{raw} is read as the number of inputs of the oldest format and thrown away",
            "if it is the first example's number of events, put `;` before it",
        ),
        "lens-old-counts": Rule(
            _NOTE,
            "two numbers of the oldest format (inputs and outputs): they have no effect",
            "remove them, or put `;` before them if they were meant for the first example",
        ),
        "lens-missing-value": Rule(
            _WARNING, "nothing follows {raw}: it is read as NaN", "write `-` if NaN is meant"
        ),
        "lens-repeated-field": Rule(
            _WARNING, "{raw} is given again: the last one counts", "remove the others"
        ),
        "lens-empty-example": Rule(
            _NOTE,
            "an example without inputs and targets",
            "remove the `;` unless an empty example is meant",
        ),
        "lens-empty-name": Rule(
            _NOTE, "the name is empty, not absent", "a binary file cannot keep an empty name"
        ),
        "lens-negative-frequency": Rule(
            _WARNING,
            "the frequency is negative",
            "Lens does not load a binary file with such a frequency",
        ),
        # Strings
        "lens-bare-word": Rule(
            _WARNING,
            "the word {raw} takes in what follows it",
            "put a blank after the name, or the name in {{ }}",
        ),
        "lens-nul": Rule(
            _WARNING,
            "a NUL byte in a string",
            "neither a text nor a binary file can be written with it",
        ),
        "lens-group-number": Rule(
            _WARNING,
            "{raw} is the name of a group, not a number",
            "NaN is written `-`, infinity 1e999",
        ),
        # Event lists
        "lens-every-event": Rule(
            _NOTE, "`*` already means every event", "remove the other event numbers"
        ),
        "lens-late-active": Rule(
            _WARNING,
            "{raw} is set after the data it was to apply to: they keep their value",
            "put the event list before the data",
        ),
        "lens-shared-active": Rule(
            _WARNING,
            "events with different active values share this list: it takes the first event's",
            "write the value in {{ }} or give the events a list each",
        ),
        "lens-both-apart": Rule(
            _WARNING,
            "the inputs go to event {first} and the targets to event {second}",
            "put an event list before it",
        ),
        "lens-both-active": Rule(
            _WARNING,
            "the targets take the active input value, not the active target value",
            "write the value in {{ }}, or inputs and targets apart",
        ),
        # Ranges
        "lens-no-ranges": Rule(
            _NOTE,
            "no data follow: the event gets nothing",
            "write `{{-}}*` for data that are NaN",
        ),
        "lens-empty-range": Rule(
            _NOTE, "a range without values or units", "Lens 2.63 crashes when it saves it as text"
        ),
        "lens-group-twice": Rule(
            _WARNING, "the range names two groups: the last one counts", "quote a name with blanks"
        ),
        "lens-value-twice": Rule(
            _WARNING, "the range gives this number twice: the last one counts", "remove the other"
        ),
        "lens-negative-first": Rule(
            _WARNING, "the first unit is negative", "Lens fails when it presents the example"
        ),
        "lens-zero-span": Rule(
            _WARNING,
            "a span cannot end at unit 0: this is unit 0 itself",
            "write the smaller unit first",
        ),
        "lens-blank-span": Rule(
            _WARNING,
            "a negative unit ends a span even after a blank",
            "write the span in one word, such as 4-6",
        ),
        "lens-span-chain": Rule(
            _WARNING,
            "a span that begins where another ends",
            "Lens fails when it presents the example; write the spans apart",
        ),
        # Numbers
        "lens-glued-numbers": Rule(
            _WARNING, "two numbers without a blank between them", "put a blank between them"
        ),
        "lens-number-tail": Rule(
            _WARNING,
            "{raw} has an exponent without digits, which is ignored",
            "remove its letter",
        ),
        "lens-overflow": Rule(
            _WARNING,
            "{raw} is too large for a 32-bit real: it becomes infinity",
            "check the number",
        ),
        # Binary files
        "lens-event-span": Rule(
            _WARNING,
            "a span of events does not go up from the event before it",
            "write each event alone, or a span as its first and minus its last",
        ),
        "lens-unit-span": Rule(
            _WARNING,
            "a span of units does not go up from the unit before it",
            "Lens fails when it presents the example; write the units apart",
        ),
        "lens-replaced-list": Rule(
            _WARNING,
            "event {event} already has {role}: the later ones replace them",
            "remove one of the two sets",
        ),
        "lens-trailing-bytes": Rule(
            _WARNING, "{count} bytes after the last example are ignored", "remove them"
        ),
    }
)


LONG: Final = 4096
"""Bytes of a string beyond which Lens crashes when it saves the set as text."""
LONG_STRING: Final = MappingProxyType(
    {
        "what": f"a string of more than {LONG} bytes, on which it crashes when it saves it as text",
        "hint": "it is read and written here as it is",
    }
)
"""The words of `lens-refuses` for such a string."""

MAX_GROUPS: Final = 12
"""Group names that Lens can hold (registerGroupName)."""


def too_many_groups(count: int, place: Place) -> Finding | None:
    """The finding of a set with more group names than Lens can hold."""
    if count <= MAX_GROUPS:
        return None
    what = f"more than {MAX_GROUPS} group names, on which it crashes"
    hint = "builds of Lens with a fixed registerGroupName load it"
    return finding_at("lens-refuses", place, what=what, hint=hint)


finding_at: Final = partial(make_finding, RULES)
"""Make a finding by the rule of a code, at a place; words fill in its message."""

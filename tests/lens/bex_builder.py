"""Build Lens binary files by hand, in the words of the manual."""

import math
import struct

from exset.codecs.lens.bex import decode, encode
from exset.core.errors import Findings, FormatError
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet

NAN = math.nan


def ints(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}i", *numbers)


def reals(*numbers: float) -> bytes:
    return struct.pack(f">{len(numbers)}f", *numbers)


def listed(*items: int) -> bytes:
    return ints(len(items), *items)


def dense(*values: float, first: int = 0, group: bytes = b"") -> bytes:
    return group + b"\0" + ints(len(values)) + b"\0" + ints(first) + reals(*values)


def sparse(*units: int, value: float = 1, group: bytes = b"") -> bytes:
    return group + b"\0" + ints(len(units)) + b"\1" + reals(value) + ints(*units)


def ranges(*items: bytes) -> bytes:
    return ints(len(items)) + b"".join(items)


def inputs(events: bytes, *items: bytes, shared: bytes | None = None) -> bytes:
    return events + ranges(*items) + (b"\0" if shared is None else b"\1" + shared)


def targets(events: bytes, *items: bytes) -> bytes:
    return events + ranges(*items)


def special(event: int, *numbers: float, proc: bytes = b"") -> bytes:
    return ints(event) + proc + b"\0" + reals(*numbers)


def sets(*items: bytes) -> bytes:
    return ints(len(items)) + b"".join(items)


def example(
    *body: bytes, events: int = 1, name: bytes = b"", proc: bytes = b"", freq: float = 1
) -> bytes:
    """An example. body: its special events, input sets and target sets, by default none."""
    members = [*body, *[sets()] * (3 - len(body))]
    return name + b"\0" + proc + b"\0" + reals(freq) + ints(events) + b"".join(members)


def file(
    *examples: bytes, proc: bytes = b"", header: tuple[float, ...] = (1, 0, 0, 0, 1, 0, 1)
) -> bytes:
    start = b"\xaa\xaa\xaa\xaa" + ints(4) + proc + b"\0" + reals(*header)
    return start + sets(*examples)


def read(data: bytes, **limits: int) -> ExampleSet:
    return decode(Source("x.bex", data), limits=Limits(**limits))


def codes(data: bytes) -> list[str]:
    findings = Findings()
    decode(Source("x.bex", data), findings=findings)
    return [finding.code for finding in findings]


def attempt(data: bytes) -> ExampleSet | None:
    """Read the set, and check that it survives a round trip; return None for an error."""
    try:
        examples = read(data)
    except FormatError:
        return None
    assert read(encode(examples)) == examples
    return examples


# A file that uses all of the format.

RICH = file(
    example(
        sets(
            special(1, 5, NAN, NAN, 0, 1, NAN, 1, proc=b"puts x"),
            special(2, NAN, 2.5, 0.5, 0, 0.25, 0, 1),
        ),
        sets(
            inputs(listed(0, -2, 4), dense(0.5, -0.0, NAN, first=2, group=b"in"), sparse(3, -5, 7)),
            inputs(listed(3), sparse(-1, value=NAN), shared=listed(1, 3, -4)),
        ),
        sets(targets(listed(0), dense(math.inf, group=b"out"), sparse(value=0.75))),
        events=5,
        name=b"caf\xe9",
        proc=b"set a {",
        freq=2.5,
    ),
    example(freq=NAN),
    example(sets(), sets(inputs(listed(0), dense(1), shared=listed(0)))),
    proc=b"puts {hello}",
    header=(2, 0, 0.5, 0, 1, 0, 1),
)

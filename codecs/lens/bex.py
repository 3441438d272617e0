"""Lens example files, binary (.bex): bytes to `ExampleSet` and back.

The layout, in `lens_layout`, is that of the Lens manual, "Example Files", section "Binary Format";
Lens 2.63 (example.c: readBinaryExampleSet, writeBinaryExampleFile) decides what it means.
Everything is big-endian; reals have four bytes whatever sizeof(real) says; a string is raw bytes
and a NUL. What is lost: an empty name, a NUL in a string, a negative frequency, each an error
unless `lossy` is given.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from exset.codecs.engine import (
    Fields,
    Layout,
    Part,
    Parted,
    Parts,
    Shifted,
    read,
    write,
)
from exset.codecs.lens.from_examples import columns_of
from exset.codecs.lens.lint import report_groups, report_header, report_rest
from exset.codecs.lens.losses import Losses, ints
from exset.codecs.lens.to_examples import Before, Meaning, header_of
from exset.core.errors import Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.grammars.lens.findings import MAX_GROUPS
from exset.grammars.lens.normal_form import normal_form
from exset.io.files import Blocks

_DECLARED: Final = "exset.codecs.lens.layout"
LAYOUT: Final = Layout(f"{_DECLARED}:BinaryExampleFile")
PARTED: Final = Parted(*(Layout(f"{_DECLARED}:{part}") for part in ("Head", "Tail", "One")))

_BLOCK: Final = 1 << 18
_SWAPPED: Final = (4).to_bytes(4, "little")


def decode(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> ExampleSet:
    """The examples of a binary file, in normal form.

    engine: the driver, see `exset.codecs.engine.reader`. `findings` collects what Lens accepts but
    people are caught by. Raises FormatError where Lens refuses, hangs or leaves its memory, and
    LimitError.
    """
    findings = Findings() if findings is None else findings
    if (found := _read(source, limits, engine)) is None:
        # Of several errors the first counts, as it does where the file is read as it comes.
        data = source.data
        slices = (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
        blocks = Blocks(source.name, slices, len(data))
        sets = list(stream(blocks, limits=limits, findings=findings, engine=engine))
        return ExampleSet.joined(sets)
    fields, meaning = found
    report_header(fields, source, findings)
    meaning.report(findings)
    report_rest(source.name, fields.end, len(source.data) - fields.end, findings)
    raw = meaning.examples
    del fields, meaning, found  # what they keep is large, and the normal form takes memory too
    examples = normal_form(raw)
    report_groups(len(examples.groups), source.name, findings)
    return examples


def _read(source: Source, limits: Limits, engine: Engine) -> tuple[Fields, Meaning] | None:
    """The fields of a whole file and their meaning; None if there is an error in it."""
    try:
        fields = read(LAYOUT, source, limits=limits, engine=engine)
        return fields, Meaning(fields, source, header_of(fields), limits, Before())
    except FormatError:
        return None


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[ExampleSet]:
    """The examples of a binary file that is read as it comes: sets of them, one at least.

    The sets have one header; together they are what `decode` gives for the same bytes, with the
    same findings, and the same error after all that comes before it.
    """
    findings = Findings() if findings is None else findings
    parts = Parts(PARTED, blocks, limits, engine)
    try:
        fields, source = parts.head()
    except FormatError as error:
        raise _with_hint(error, parts.seen) from None
    reading = _Reading(parts, header_of(fields), limits, findings)
    report_header(fields, source, findings)
    for part in parts.records():
        yield from reading.examples(part)
    report_rest(blocks.name, *parts.rest(), findings)
    report_groups(len(reading.groups), blocks.name, findings)


class _Reading:
    """The examples of a file, part by part."""

    def __init__(self, parts: Parts, header: SetHeader, limits: Limits, findings: Findings) -> None:
        self.parts = parts
        self.header = header
        self.limits = limits
        self.findings = findings
        self.before = Before()
        self.groups: set[bytes | None] = set()

    def examples(self, part: Part) -> Iterator[ExampleSet]:
        """The examples of a part; before an error those that come before it."""
        before = replace(self.before, size=part.shift.start)
        try:
            meaning = Meaning(part.fields, part.source, self.header, self.limits, before)
        except FormatError as error:
            if part.count < 2:
                raise part.shift.moved(error) from None
            for half in self.parts.halves(part):
                yield from self.examples(half)
            return
        meaning.report(Shifted(part.shift, self.findings))
        examples = normal_form(meaning.examples)
        events = self.before.events + examples.num_events
        self.before = replace(before, events=events, named=meaning.named)
        if len(self.groups) <= MAX_GROUPS:
            self.groups.update(examples.groups)
        yield examples


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


class Pieces:
    """Encodes a set part by part, as `encode` does at once: its beginning, examples, its end."""

    is_counted = True

    def __init__(self, findings: Findings, *, lossy: bool = False) -> None:
        """Take the options of `encode`."""
        self._losses = Losses(lossy, findings)
        self._header = SetHeader()
        self._begun = b""
        self._size = 0  # so far

    def begin(self, header: SetHeader, count: int) -> bytes:
        """What stands before the examples, how many there will be among it."""
        if not self._begun:
            empty = ExampleSet.none(header)
            self._header, self._begun = header, PARTED.write_head(columns_of(empty, self._losses))
        [number] = ints(np.array([count]), "examples").tolist()
        return self._begun + PARTED.counted(number)

    def units(self, examples: ExampleSet) -> bytes:
        """Some examples. Raises FormatError, and ValueError if they cannot have the header."""
        examples = normal_form(examples.under(self._header))
        bare = examples.with_columns(header=replace(self._header, proc=None))
        data = PARTED.write_records(columns_of(bare, self._losses), self._size)
        self._size += len(data)
        return data

    def end(self, size: int) -> bytes:
        """What stands at the end: nothing."""
        return b""


def _with_hint(error: FormatError, begin: bytes) -> FormatError:
    """The error, with advice if the file was written by a machine with the other byte order."""
    place = error.place
    if place is None or place.field != "sizeof_real" or begin[4:8] != _SWAPPED:
        return error
    hint = "the file was written with the low byte first: every number must be turned round"
    return FormatError(error.message, place=place, hint=hint)

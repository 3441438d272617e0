"""Convert Lens example files, binary (.bex), to an `ExampleSet` and back.

`layout` has the layout of the Lens manual, "Example Files", section "Binary Format". exset follows
Lens 2.63 (example.c: readBinaryExampleSet, writeBinaryExampleFile). All numbers are big-endian.
Reals have four bytes, whatever sizeof_real says. A string is raw bytes and a NUL. A binary file
cannot store an empty name, a NUL in a string, or a negative frequency. Writing such a value is an
error unless `lossy`.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from exset.codecs.engine import Chunk, ChunkedLayout, ChunkReader, Fields, Layout, read, write
from exset.codecs.lens.from_examples import columns_of
from exset.codecs.lens.lint import report_groups, report_header, report_rest
from exset.codecs.lens.losses import Losses, ints
from exset.codecs.lens.to_examples import Decoder, Offsets, header_of
from exset.core.errors import ChangedFindings, Findings, FormatError
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.lens.examples import ExampleSet, SetHeader
from exset.grammars.lens.findings import MAX_GROUPS
from exset.grammars.lens.normal_form import normal_form
from exset.io.blocks import Blocks

_DECLARED: Final = "exset.codecs.lens.layout"
LAYOUT: Final = Layout(f"{_DECLARED}:BinaryExampleFile")
CHUNKED: Final = ChunkedLayout(*(Layout(f"{_DECLARED}:{name}") for name in ("Head", "Tail", "One")))

_BLOCK: Final = 1 << 18
_SWAPPED: Final = (4).to_bytes(4, "little")


def decode(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> ExampleSet:
    """Decode the examples of a binary file, in normal form.

    engine: the driver, see `exset.codecs.engine.reader`. `findings` collects likely mistakes that
    Lens accepts. Raises FormatError for a file that Lens rejects, or on which Lens hangs or
    accesses memory out of bounds. Raises LimitError for a file beyond the limits.
    """
    findings = Findings() if findings is None else findings
    if (whole := _read(source, limits, engine)) is None:
        # Raise the first of several errors in the file, as streaming does.
        data = source.data
        slices = (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
        blocks = Blocks(source.name, slices, len(data))
        sets = list(stream(blocks, limits=limits, findings=findings, engine=engine))
        return ExampleSet.joined(sets)
    fields, decoder = whole
    report_header(fields, source, findings)
    decoder.lint(findings)
    report_rest(source.name, fields.end, len(source.data) - fields.end, findings)
    raw = decoder.examples
    del fields, decoder, whole  # they are large, and the normal form takes memory, too
    examples = normal_form(raw)
    report_groups(len(examples.groups), source.name, findings)
    return examples


def _read(source: Source, limits: Limits, engine: Engine) -> tuple[Fields, Decoder] | None:
    """Read and decode a whole file. Return None if this raises an error."""
    try:
        fields = read(LAYOUT, source, limits=limits, engine=engine)
        return fields, Decoder(fields, source, header_of(fields), limits, Offsets())
    except FormatError:
        return None


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[ExampleSet]:
    """Decode a binary file in chunks: yield its examples in one or more sets.

    All sets have the same header. Joined, the sets equal the result of `decode` for the same bytes,
    with the same findings. An error is raised after all examples before the error.
    """
    findings = Findings() if findings is None else findings
    reader = ChunkReader(CHUNKED, blocks, limits, engine)
    try:
        fields, source = reader.head()
    except FormatError as error:
        raise _with_hint(error, reader.held) from None
    decoder = _ChunkDecoder(reader, header_of(fields), limits, findings)
    report_header(fields, source, findings)
    for chunk in reader.records():
        yield from decoder.examples(chunk)
    report_rest(blocks.name, *reader.rest(), findings)
    report_groups(len(decoder.groups), blocks.name, findings)


class _ChunkDecoder:
    """Decodes the chunks of a file, one after another.

    groups: the names of the groups in the chunks so far.
    """

    def __init__(
        self, reader: ChunkReader, header: SetHeader, limits: Limits, findings: Findings
    ) -> None:
        self.reader = reader
        self.header = header
        self.limits = limits
        self.findings = findings
        self.before = Offsets()
        self.groups: set[bytes | None] = set()

    def examples(self, chunk: Chunk) -> Iterator[ExampleSet]:
        """Yield the examples of a chunk in one or more sets.

        If an example is invalid, its error is raised after all examples before it.
        """
        before = replace(self.before, size=chunk.shift.start)
        try:
            decoder = Decoder(chunk.fields, chunk.source, self.header, self.limits, before)
        except FormatError as error:
            if chunk.count < 2:
                raise chunk.shift.error(error) from None
            for half in self.reader.halves(chunk):
                yield from self.examples(half)
            return
        decoder.lint(ChangedFindings(self.findings, chunk.shift.finding))
        examples = normal_form(decoder.examples)
        events = self.before.events + examples.num_events
        self.before = replace(before, events=events, listed=decoder.listed)
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
    """Encode examples to the bytes that Lens would write.

    engine: as for `decode`. If a binary file cannot store a value, raises FormatError, which names
    the example. With `lossy` the value is written as Lens writes it, and `findings` collects the
    loss: a string is cut at a NUL, an empty name becomes absent, a negative frequency stays (Lens
    rejects the file).
    """
    losses = Losses(lossy, Findings() if findings is None else findings)
    return write(LAYOUT, columns_of(normal_form(examples), losses), engine=engine)


class IncrementalEncoder:
    """Encodes a set in chunks, to the same bytes as `encode`: the header, then examples."""

    is_counted = True

    def __init__(self, findings: Findings, *, lossy: bool = False) -> None:
        self._losses = Losses(lossy, findings)
        self._header = SetHeader()
        self._head = b""
        self._size = 0  # of the examples so far

    def begin(self, header: SetHeader, count: int) -> bytes:
        """Return the bytes before the examples; `count`: how many examples will follow."""
        if not self._head:
            columns = columns_of(ExampleSet.empty(header), self._losses)
            self._header, self._head = header, CHUNKED.write_head(columns)
        [number] = ints(np.array([count]), "examples").tolist()
        return self._head + CHUNKED.write_count(number)

    def units(self, examples: ExampleSet) -> bytes:
        """Return the bytes of the next examples.

        Raises FormatError for values that a binary file cannot store, ValueError if headers do not
        fit.
        """
        examples = normal_form(examples.with_header(self._header))
        bare = examples.with_unchecked(header=replace(self._header, proc=None))
        data = CHUNKED.write_records(columns_of(bare, self._losses), self._size)
        self._size += len(data)
        return data

    def end(self, size: int) -> bytes:
        """Return the bytes at the end of the file: there are none."""
        return b""


def _with_hint(error: FormatError, begin: bytes) -> FormatError:
    """Add a hint to the error if the file seems to be little-endian.

    begin: the first bytes of the file.
    """
    place = error.place
    if place is None or place.field != "sizeof_real" or begin[4:8] != _SWAPPED:
        return error
    hint = "the file is little-endian: the bytes of every number must be swapped"
    return FormatError(error.message, place=place, hint=hint)

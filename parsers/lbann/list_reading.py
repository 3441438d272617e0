"""Read an LBANN sample list in chunks, from a whole text or from a text that arrives in blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs
from exset.grammars.lbann.list_files import HDF5_SUFFIXES, Totals
from exset.grammars.lbann.list_types import Kind, Reader
from exset.grammars.lbann.sample_list import MAX_SAMPLES, Counts, SampleList
from exset.parsers.engine.grammar import size_of
from exset.parsers.engine.recovery import with_later_errors
from exset.parsers.engine.stream import ParseStream
from exset.parsers.engine.window import Window
from exset.parsers.lbann.list_checks import check_counts, check_totals, hint
from exset.parsers.lbann.list_header import Header, header_of
from exset.parsers.lbann.list_records import Records, records_of
from exset.parsers.lbann.list_repeats import RepeatedFiles
from exset.parsers.lbann.list_tokens import GRAMMARS, KERNELS, RECORD, Words

_NUMBERS: Final = re.compile(rb"(?:\d++|\.\.\.)(?:\s++(?:\d++|\.\.\.))*+")
_HDF5: Final = (*(suffix.encode() for suffix in HDF5_SUFFIXES), b".hdf5_file", b".bundle")
# One pattern for each white space: a search that starts with a single byte is 5x faster.
_PADDED: Final = tuple(
    (blank, re.compile(blank + rb"[-+0]\d")) for blank in (b" ", b"\t", b"\r", b"\f", b"\v")
)
_COMPARED: Final = 1000
COMPARED_BYTES: Final = 1 << 16
"""The records that begin in these first bytes decide the type of ids; the first chunk has them."""


class _Chunk(NamedTuple):
    """The records of a chunk of a list, and what was found in the chunk.

    starts: for each record, where the name of its file begins in the text.
    """

    samples: SampleList
    starts: Longs
    findings: Findings


@dataclass
class Reading:
    """Reads a list in chunks of records.

    - window: gives the chunks of a text that is still being read. If it is None, `source` is the
      whole text.
    - ids: the type of the ids; None until it is known.
    - header_source: the text that contains the header.
    - files, included, excluded: the numbers of files and samples that have been read.
    - is_read: whether all records have been read.
    """

    source: Source
    reader: Reader | None
    ids: str | None
    limits: Limits
    engine: Engine
    window: Window | None = None
    header: Header | None = None
    header_source: Source | None = None
    kind: Kind = Kind.SINGLE_SAMPLE
    label_file: bytes | None = None
    repeated: RepeatedFiles = field(default_factory=RepeatedFiles)
    files: int = 0
    included: int = 0
    excluded: int = 0
    is_read: bool = False

    def __post_init__(self) -> None:
        self.grammar = GRAMMARS[self.reader]

    @property
    def text(self) -> Source | Window:
        """The text to parse: the window or, without one, the source."""
        return self.window or self.source

    def words(self, stream: ParseStream, findings: Findings) -> Words:
        """Return the words of a chunk."""
        compiled = KERNELS.use_compiled(size_of(self.text), self.engine)
        return Words(self.grammar, self.source, stream, compiled=compiled, findings=findings)

    def chunks(
        self, begin: int, findings: Findings, is_divided: bool = False
    ) -> Iterator[SampleList]:
        """Yield the records of the list in chunks, from the byte `begin` of the text on.

        Each chunk has the totals of the header. After the last chunk, this method checks what
        concerns all files. is_divided: whether several threads may read a large text. Raises
        FormatError for a list on which LBANN fails. For a whole text, this error also has the later
        errors.
        """
        chunks = self.grammar.results(
            self.text,
            self.engine,
            hint=hint,
            begin=begin,
            boundary=RECORD,
            check=self.check,
            work=self.ahead if is_divided else None,
        )
        for stream, ready in chunks:
            if self.window is not None:
                self.source = self.window.source
            try:
                if self.header is None:
                    self.begin(stream, findings)
                chunk = self.chunk(stream, findings) if ready is None else ready
            except FormatError as error:
                if self.window is not None:
                    raise
                rest = (later for later, _ in chunks)
                raise with_later_errors(error, stream, rest, RECORD, self.check) from None
            if ready is not None:
                findings.add_all(ready.findings)
            self.count(chunk)
            yield chunk.samples
            if self.window is not None and stream.ends.size:
                self.window.release(int(stream.ends[-1]))
        self.end(findings)

    def ahead(self, stream: ParseStream) -> _Chunk | None:
        """Return the records of a later chunk, for use in a thread.

        Return None if the type of the ids is not known yet.
        """
        return None if self.ids is None else replace(self).chunk(stream, Findings())

    def begin(self, stream: ParseStream, findings: Findings) -> None:
        """Read the header, which is in the first chunk."""
        words = self.words(stream, findings)
        self.header, self.header_source = header_of(words, stream), self.source
        self.kind, self.label_file = _as_read(self.header, self.reader, words)
        if self.ids == "integer" and self.kind.is_exclusion:
            raise words.error(
                0,
                "lbann-exclusion",
                "an exclusion list cannot have integer ids",
                "LBANN's readers of integer ids cannot exclude samples: use an inclusion list",
            )

    def chunk(self, stream: ParseStream, findings: Findings) -> _Chunk:
        """Return the records in `stream` as a list, with the place of each record's file name."""
        assert self.header is not None
        words = self.words(stream, findings)
        records = records_of(words, stream, self.kind)
        if self.ids is None:
            self.ids = self.guess(words, records)
        samples = SampleList.unchecked(
            kind=self.kind,
            directory=self.header.directory,
            label_file=self.label_file,
            totals=self.header.totals if self.kind is self.header.kind else None,
            **records.columns(self.ids or "text", self.limits),
        )
        return _Chunk(samples, words.starts[records.names], findings)

    def guess(self, words: Words, records: Records) -> str | None:
        """Return the probable type of the ids. Return None if no record so far has ids."""
        return _guess_ids(words, records) if self.reader is None else "text"

    def check(self, stream: ParseStream) -> None:
        """Check a chunk after an earlier error. Raise FormatError if this chunk has an error, too.

        Drop all other findings about the chunk.
        """
        if self.header is not None:
            self.chunk(stream, Findings())

    def count(self, chunk: _Chunk) -> None:
        """Add the files and samples of a chunk to the totals."""
        samples = chunk.samples
        self.files += len(samples.name)
        self.included += _sum(samples.included)
        self.excluded += _sum(samples.excluded)
        self.repeated.add(samples, chunk.starts, self.source)

    def end(self, findings: Findings) -> None:
        """Check the numbers in the header after all records, and find repeated files."""
        self.is_read = True
        assert self.header is not None  # as the grammar requires one
        assert self.header_source is not None
        check_counts(self.header, self.kind, self.files, self.header_source)
        findings.add_all(self.repeated.findings)
        if self.repeated.error is not None:
            raise self.repeated.error
        if self.included > MAX_SAMPLES:
            message = "the list has more samples than exset can count"
            raise LimitError(message, place=Place(self.source.name))
        found = Totals(self.included, self.excluded % 2**64)  # as LBANN computes it
        check_totals(self.header, self.kind, found, self.header_source, findings)


def _sum(counts: Counts) -> int:
    """Return the exact sum of the counts, which may be 2**64 or more."""
    high, low = (each.sum(dtype=np.uint64) for each in (counts >> 32, counts & 0xFFFFFFFF))
    return (int(high) << 32) + int(low)


def _as_read(header: Header, reader: Reader | None, words: Words) -> tuple[Kind, bytes | None]:
    """Return the type of list that the reader takes this list for, and the path of the label file.

    The path is None if a list of this type has no label file.
    """
    kind = header.kind if reader is None else reader.kind_of(header.kind)
    if kind is not header.kind:
        words.report("lbann-other-type", [1], reader=reader, kind=header.kind, other=kind)
    if not kind.has_label_file or header.label_file is not None:
        return kind, header.label_file
    words.report("lbann-no-label-file", [1])
    return kind, b""


def _guess_ids(words: Words, records: Records) -> str | None:
    """Return the probable type of the ids, "text" or "integer". Return None if there are no ids.

    The first records of the text decide. If they have no ids, the first record with ids decides.
    """
    if not records.ids.size or records.kind.is_exclusion:
        return None
    end = int(np.searchsorted(words.starts[records.names], COMPARED_BYTES))
    rows = slice(0, end)
    if not records.offsets[end]:
        row = int(np.argmax(records.offsets > 0)) - 1
        rows = slice(row, row + 1)
    first, last = records.offsets[[rows.start, rows.stop]].tolist()
    ids = records.ids[first:last][:_COMPARED]
    names = (words.raw(name) for name in records.names[rows][:_COMPARED].tolist())
    if any(name.lower().endswith(_HDF5) for name in names):
        return "text"
    seen = b" ".join(words.raw(word) for word in ids.tolist())
    first = int(words.starts[records.ids[0]])
    # Ids such as 007 are names: as integers they would match nothing in a file.
    data = words.source.data
    padded = any(blank in data and each.search(data, first - 1) for blank, each in _PADDED)
    if padded or not _NUMBERS.fullmatch(seen):
        return "text"
    words.report("lbann-ids-guessed", records.ids[:1])
    return "integer"

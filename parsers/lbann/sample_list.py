"""Parse LBANN sample lists, and write them as text that LBANN reads back as the same list.

`grammars/sample_list.lark` defines the syntax. exset reads the lists that LBANN reads (commit
04c297bd), with the same values. A list on which LBANN hangs, or uses uninitialised memory, is an
error. This module does not open the files of a list: `exset.runtime.lbann.list_files` checks them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from exset.core.errors import Findings, FormatError, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs
from exset.grammars.columns.ragged import Strings
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.list_files import HDF5_SUFFIXES
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.list_types import Kind, Reader
from exset.grammars.lbann.sample_list import MAX_SAMPLES, SampleList
from exset.parsers.engine.division import read_divided
from exset.parsers.engine.grammar import Grammar
from exset.parsers.engine.recovery import with_later_errors
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lbann.list_checks import check_files, check_totals, hint, with_file_count
from exset.parsers.lbann.list_header import Header, count_names, header_of
from exset.parsers.lbann.list_records import Records, records_of
from exset.parsers.lbann.list_tokens import GRAMMARS, KERNELS, RECORD, Words

_BOM: Final = b"\xef\xbb\xbf"
_NUMBERS: Final = re.compile(rb"(?:\d++|\.\.\.)(?:\s++(?:\d++|\.\.\.))*+")
_HDF5: Final = (*(suffix.encode() for suffix in HDF5_SUFFIXES), b".hdf5_file", b".bundle")
# One pattern for each white space: a search that starts with a single byte is 5x faster.
_PADDED: Final = tuple(
    (blank, re.compile(blank + rb"[-+0]\d")) for blank in (b" ", b"\t", b"\r", b"\f", b"\v")
)
_COMPARED: Final = 1000
_COMPARED_BYTES: Final = 1 << 16  # the first chunk has at least these


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    ids: str | None = None,
    reader: str | None = None,
) -> SampleList:
    """Return the list of a text.

    ids: "text"; or "integer", with ranges `first ... last`, as for LBANN's SMILES reader. By
    default ids are text if `reader` is given, else the type of ids is detected. reader: "hdf5" or
    "image", see `Reader`; by default the type of the list decides. findings: collects warnings.
    engine: as in `Grammar.parse`. Raises FormatError for a list on which LBANN fails, crashes or
    hangs, and LimitError for a list beyond the limits.
    """
    who = None if reader is None else Reader(reader)
    findings = Findings() if findings is None else findings
    begin = begin_of(source, findings)

    def read(findings: Findings, is_divided: bool) -> SampleList:
        made = _Reading(source, GRAMMARS[who], who, ids, limits, engine)
        try:
            chunks = list(made.chunks(begin, findings, is_divided))
        except LimitError:
            raise
        except FormatError as error:
            raise with_file_count(error, made.header, source) from None
        assert made.header is not None  # as the grammar requires one
        samples = chunks[0].concat(*chunks[1:]) if len(chunks) > 1 else chunks[0]
        check_files(made.header, samples, np.concatenate(made.starts), source, findings)
        if sum(samples.included.tolist()) > MAX_SAMPLES:
            message = "the list has more samples than exset can count"
            raise LimitError(message, place=Place(source.name))
        totals = check_totals(made.header, samples, source, findings)
        return samples.with_unchecked(totals=totals)

    return read_divided(source, findings, read)


class _Chunk(NamedTuple):
    """The records of a chunk, the offsets of their files' names, and the findings."""

    samples: SampleList
    starts: Longs
    findings: Findings


@dataclass
class _Reading:
    """A list that is read in chunks of records. starts: the offsets of the files' names."""

    source: Source
    grammar: Grammar
    reader: Reader | None
    ids: str | None
    limits: Limits
    engine: Engine
    header: Header | None = None
    kind: Kind = Kind.SINGLE_SAMPLE
    label_file: bytes | None = None
    starts: list[Longs] = field(default_factory=list)

    def words(self, stream: ParseStream, findings: Findings) -> Words:
        compiled = KERNELS.use_compiled(len(self.source.data), self.engine)
        return Words(self.grammar, self.source, stream, compiled=compiled, findings=findings)

    def chunks(self, begin: int, findings: Findings, is_divided: bool) -> Iterator[SampleList]:
        """Yield the records of each chunk of the text from the byte `begin` on.

        is_divided: whether several threads may read a large text.
        """
        chunks = self.grammar.results(
            self.source,
            self.engine,
            hint=hint,
            begin=begin,
            boundary=RECORD,
            check=self.check,
            work=self.ahead if is_divided else None,
        )
        for stream, ready in chunks:
            try:
                if self.header is None:
                    self.begin(stream, findings)
                if ready is not None:
                    findings.add_all(ready.findings)
                    self.starts.append(ready.starts)
                    yield ready.samples
                else:
                    yield self.samples(stream, findings)
            except FormatError as error:
                rest = (later for later, _ in chunks)
                raise with_later_errors(error, stream, rest, RECORD, self.check) from None

    def ahead(self, stream: ParseStream) -> _Chunk | None:
        """Return the records of a chunk, for use in a thread; the type of ids must be known."""
        if self.ids is None:
            return None
        reading, findings = replace(self, starts=[]), Findings()
        samples = reading.samples(stream, findings)
        return _Chunk(samples, reading.starts[0], findings)

    def begin(self, stream: ParseStream, findings: Findings) -> None:
        """Read the header in the first chunk."""
        words = self.words(stream, findings)
        self.header = header_of(words, stream)
        self.kind, self.label_file = _as_read(self.header, self.reader, words)
        if self.ids == "integer" and self.kind.is_exclusion:
            raise words.error(
                0,
                "lbann-exclusion",
                "an exclusion list cannot have integer ids",
                "LBANN's reader of integer ids cannot list the samples of a file: use an"
                " inclusion list",
            )

    def samples(self, stream: ParseStream, findings: Findings) -> SampleList:
        """Return the records of a chunk."""
        assert self.header is not None
        words = self.words(stream, findings)
        records = records_of(words, stream, self.kind)
        if self.ids is None:
            self.ids = _guess_ids(words, records) if self.reader is None else "text"
        self.starts.append(words.starts[records.names])
        return SampleList.unchecked(
            kind=self.kind,
            directory=self.header.directory,
            label_file=self.label_file,
            totals=None,
            **records.columns(self.ids or "text", self.limits),
        )

    def check(self, stream: ParseStream) -> None:
        """Check a chunk that follows an error: raise FormatError for a further error.

        Other findings are dropped.
        """
        if self.header is not None:
            self.samples(stream, Findings())


def begin_of(source: Source, findings: Findings) -> int:
    """Return the offset of the first byte to parse, after a byte order mark."""
    if not source.data.startswith(_BOM):
        return 0
    what, advice = "a byte order mark at the start", "save the file as UTF-8 without it"
    findings.add(finding_at("lbann-refuses", Place(source.name), what=what, hint=advice))
    return len(_BOM)


def _as_read(header: Header, reader: Reader | None, words: Words) -> tuple[Kind, bytes | None]:
    """Return the type that a reader assumes for the list, and the path of the label file."""
    kind = header.kind if reader is None else reader.kind_of(header.kind)
    if kind is not header.kind:
        words.report("lbann-other-type", [1], reader=reader, kind=header.kind, other=kind)
    if not kind.has_label_file or header.label_file is not None:
        return kind, header.label_file
    words.report("lbann-no-label-file", [1])
    return kind, b""


def _guess_ids(words: Words, records: Records) -> str | None:
    """Return the probable type of the ids, "text" or "integer", or None if there are no ids.

    The first records of the text decide; if they have no ids, the first record with ids decides.
    """
    if not records.ids.size or records.kind.is_exclusion:
        return None
    end = int(np.searchsorted(words.starts[records.names], _COMPARED_BYTES))
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


def render(samples: SampleList, *, findings: Findings | None = None, expand: bool = False) -> bytes:
    """Return the text of a list, with the correct totals.

    expand: write each number of a range, not `first ... last`.
    """
    kind = samples.kind
    totals = {**samples.computed._asdict(), "files": len(samples.name)}
    lines = [
        kind.value.encode("ascii"),
        " ".join(str(totals[name]) for name in count_names(kind)).encode("ascii"),
        samples.directory,
    ]
    if samples.label_file is not None:
        lines.append(samples.label_file or b" ")  # LBANN refuses an empty line
    lines += [name or b"" for name in samples.name] if kind.is_single else _records(samples, expand)
    return b"\n".join([*lines, b""])


def _records(samples: SampleList, expand: bool) -> Iterator[bytes]:
    counts = [samples.included.tolist()]
    if samples.kind.has_excluded:
        counts.append(samples.excluded.tolist())
    ids = samples.ids
    if isinstance(ids, Strings):
        texts = _texts(ids, samples.id_offsets)
    else:
        texts = _numbers(ids, samples.id_offsets, expand)
    for row, (name, text) in enumerate(zip(samples.name, texts, strict=True)):
        record = [name or b"", *(b"%d" % count[row] for count in counts)]
        if text:
            record.append(text)
        yield b" ".join(record)


def _texts(ids: Strings, id_offsets: Longs) -> Iterator[bytes]:
    """Yield the ids of each file as one text, separated by spaces."""
    words = np.insert(ids.data, ids.offsets[1:-1], 0x20).tobytes()
    begins = ids.offsets[id_offsets] + id_offsets
    for begin, end in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
        yield words[begin : max(end - 1, begin)]


def _numbers(ids: Spans, id_offsets: Longs, expand: bool) -> Iterator[bytes]:
    """Yield the ids of each file as one text: ranges or, with `expand`, every number."""
    ends = id_offsets.tolist()
    for begin, end in pairwise(ends):
        spans = ids.take(np.arange(begin, end))
        if expand:
            yield b" ".join(b"%d" % number for number in spans.numbers().tolist())
            continue
        pairs = zip(spans.first.tolist(), spans.last.tolist(), strict=True)
        yield b" ".join(
            b"%d" % first if first == last else b"%d ... %d" % (first, last)
            for first, last in pairs
        )

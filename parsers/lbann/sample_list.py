"""LBANN sample lists (.sample_list): bytes to `SampleList`; `sample_list_text` is the way back.

The language is `grammars/sample_list.lark`; LBANN's page "Sample Lists" describes it, and its
reader decides (commit 04c297bd). What LBANN reads is read, with the values that it gets; what it
hangs on, or takes from memory that was never set, is an error. The files that a list names are not
looked at: see `exset.runtime.lbann.list_files`.
"""

import re
from typing import Final

import numpy as np

from exset.core.errors import Findings, LimitError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.grammars.columns.arrays import Longs, compact, concat, concat_offsets
from exset.grammars.columns.ragged import Strings
from exset.grammars.lbann.list_files import HDF5_SUFFIXES
from exset.grammars.lbann.list_findings import finding_at
from exset.grammars.lbann.sample_list import MAX_SAMPLES, SampleList
from exset.parsers.engine.stream import ParseStream
from exset.parsers.lbann.list_checks import check_files, check_totals, hint
from exset.parsers.lbann.list_header import Header, header_of
from exset.parsers.lbann.list_records import Records, records_of
from exset.parsers.lbann.list_tokens import GRAMMAR, KERNELS, RECORD, Words

_BOM: Final = b"\xef\xbb\xbf"
_NUMBERS: Final = re.compile(rb"(?:\d++|\.\.\.)(?:\s++(?:\d++|\.\.\.))*+")
_HDF5: Final = (*(suffix.encode() for suffix in HDF5_SUFFIXES), b".hdf5_file", b".bundle")
# By the blank that they begin with: a search that begins with one byte is five times as fast.
_PADDED: Final = tuple(
    (blank, re.compile(blank + rb"[-+0]\d")) for blank in (b" ", b"\t", b"\r", b"\f", b"\v")
)
_LOOKED_AT: Final = 1000


def parse(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    ids: str | None = None,
) -> SampleList:
    """The list that a text is.

    ids: "text", or "integer" for whole numbers with `a ... b` for ranges, as the reader of SMILES
    takes them; by default it is guessed. `findings` collects what LBANN accepts but people are
    caught by. `engine`: "reference" has Lark itself run the grammar, "table" the tables that it is
    lowered to, compiled whatever the size; "auto" runs the tables, compiled if the text is long.
    Raises FormatError where LBANN refuses, crashes or hangs, LimitError, and ValueError for ids of
    neither sort.
    """
    if ids not in (None, "text", "integer"):
        raise ValueError(f'ids must be "text" or "integer", not {ids!r}')
    findings = Findings() if findings is None else findings
    return _Reading(source, limits, findings, engine, ids).whole()


class _Reading:
    """A text being read, part by part; each part but the last ends with a record."""

    def __init__(
        self, source: Source, limits: Limits, findings: Findings, engine: Engine, ids: str | None
    ) -> None:
        self.source = source
        self.limits = limits
        self.findings = findings
        self.engine = engine
        self.ids = ids
        self.begin = _begin(source, findings)
        self.compiled = KERNELS.should_compile(len(source.data), engine)
        self.header: Header | None = None

    def whole(self) -> SampleList:
        """The list."""
        streams = GRAMMAR.parse(
            self.source, self.engine, hint=hint, begin=self.begin, boundary=RECORD
        )
        parts = [self.part(stream) for stream in streams]
        header = self.header
        assert header is not None
        starts = np.concatenate([start for _, start in parts])
        lists = [part for part, _ in parts]
        samples = lists[0] if len(lists) == 1 else _joined(lists)
        check_files(header, samples, starts, self.source, self.findings)
        if sum(samples.included.tolist()) > MAX_SAMPLES:
            raise LimitError("more samples than can be counted", place=Place.of(self.source.name))
        return samples.with_columns(
            totals=check_totals(header, samples, self.source, self.findings)
        )

    def part(self, stream: ParseStream) -> tuple[SampleList, Longs]:
        """The files of a part, and where their names begin."""
        words = Words(GRAMMAR, self.source, stream, compiled=self.compiled)
        if self.header is None:
            self.header = header_of(words, stream, self.findings)
        records = records_of(words, stream, self.header.kind, self.findings)
        if self.ids is None:
            self.ids = self.guessed(words, records)
        columns = records.columns(self.ids or "text", self.limits, self.findings)
        part = SampleList.unchecked(
            kind=self.header.kind,
            directory=self.header.directory,
            label_file=self.header.label_file,
            totals=None,
            **columns,
        )
        return part, words.starts[records.names]

    def guessed(self, words: Words, records: Records) -> str | None:
        """What the ids look like; None if there are none to look at."""
        if not records.ids.size or records.kind.is_exclusion:
            return None
        names = (words.raw(name) for name in records.names[:_LOOKED_AT].tolist())
        if any(name.lower().endswith(_HDF5) for name in names):
            return "text"
        seen = b" ".join(words.raw(word) for word in records.ids[:_LOOKED_AT].tolist())
        first = int(words.starts[records.ids[0]])
        # As numbers, ids such as 007 would lose what they are found by: not one may come.
        data = self.source.data
        padded = any(blank in data and each.search(data, first - 1) for blank, each in _PADDED)
        if padded or not _NUMBERS.fullmatch(seen):
            return "text"
        self.findings.add(finding_at("lbann-ids-guessed", words.place(int(records.ids[0]))))
        return "integer"


def _begin(source: Source, findings: Findings) -> int:
    """The first byte to parse."""
    if source.data.startswith(_BOM):
        what, advice = "a byte order mark before the type", "save the file as UTF-8 without it"
        findings.add(finding_at("lbann-refuses", Place.of(source.name), what=what, hint=advice))
        return len(_BOM)
    return 0


def _joined(parts: list[SampleList]) -> SampleList:
    """One list of its parts."""
    columns = [part.ids for part in parts if len(part.ids)] or [parts[0].ids]
    ids = type(columns[0]).concat(columns)  # type: ignore[arg-type]
    return parts[0].with_columns(
        name=Strings.concat([part.name for part in parts]),
        others=compact(concat([part.others for part in parts])),
        id_offsets=concat_offsets([part.id_offsets for part in parts]),
        ids=ids,
    )

"""Read WebDataset: consecutive members of a tar archive with the same key are a sample.

A member `KEY.EXTENSION` is a value of the column that its extension names. Source: webdataset,
`tariterators.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from exset.codecs.tables.spans import gathered
from exset.codecs.tables.tar_read import Members, read_members
from exset.codecs.tables.tar_walk import whole_samples
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.arrays import Longs, groups_of
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import sidecar
from exset.grammars.tables.cells import CELL, Room
from exset.grammars.tables.columns import TableColumn, text_or_bytes
from exset.grammars.tables.shard_findings import finding_at
from exset.grammars.tables.table import Table
from exset.io.blocks import Blocks
from exset.runtime.tables.sample_chunks import Watch, sources
from exset.runtime.tables.shard_stream import Part, streamed_file
from exset.runtime.tables.webdataset_columns import PICKLES, decoded, names_of

KEY: Final = "__key__"
"""The column of the keys, named as in webdataset; left out if the keys are only numbers."""
NOTHING: Final = "null"
"""The extension of an empty member, which represents a sample without other members."""

NAME: Final = re.compile(rb"((?:.*/|)[^.]+)[.]([^/]*)", re.DOTALL)
_END: Final = bytes(1024)  # the end of an archive
META: Final = re.compile(rb"__[^/]*__(?:$|/)")


def read(
    source: Source,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
    first: int = 0,
) -> Table:
    """Return the table of an archive: a row for each sample, a column for each extension.

    Members that webdataset skips are skipped, with a finding. Raises FormatError for an archive
    that ends within the data of a member, and for two members with the same name in a sample.
    first: the number of the first sample, if the archive is a shard.
    """
    found = Findings() if findings is None else findings
    members = read_members(source, limits=limits, findings=found, engine=engine)
    samples, notes = _Samples.of(source, members), _Notes()
    notes.add(samples)
    notes.report(source.name, found)
    return sidecar.restored(samples.table(first, limits).table, source, found)


def stream(
    blocks: Blocks,
    *,
    limits: Limits = DEFAULT,
    findings: Findings | None = None,
    engine: Engine = "auto",
) -> Iterator[Table]:
    """Yield the table of an archive in chunks; arguments and errors are as for `read`.

    An archive is read whole if the types of its columns differ between chunks.
    """
    found = Findings() if findings is None else findings

    def parts(findings: Findings, watch: Watch | None) -> Iterator[Part]:
        notes, first = _Notes(), 0
        for source, before, is_last in sources(blocks, limits, whole_samples, watch):
            if not is_last:
                source = replace(source, content=source.data + _END)
            members = read_members(
                source, limits=limits, findings=findings, engine=engine, before=before
            )
            samples = _Samples.of(source, members)
            notes.add(samples)
            yield samples.table(first, limits)
            first += len(samples.keys)
        notes.report(blocks.name, findings)

    def whole() -> Table:
        source = blocks.whole_again(limits)
        return read(source, limits=limits, findings=found, engine=engine)

    yield from streamed_file(blocks, parts, whole, names_of, found)


@dataclass
class _Notes:
    """Collects what is reported about the members of an archive, which may come in chunks."""

    skipped: int = 0
    extensions: dict[str, None] = field(default_factory=dict)
    _keys: list[Longs] = field(default_factory=list)

    def add(self, samples: "_Samples") -> None:
        """Add samples."""
        self.skipped += samples.skipped
        self.extensions |= dict.fromkeys(samples.extensions)
        self._keys.append(np.array([*map(hash, samples.keys)], np.int64))

    def report(self, name: str, findings: Findings) -> None:
        """Add the findings. name: the name of the archive."""
        keys = np.concatenate(self._keys)
        if self.skipped:
            findings.add(finding_at("webdataset-skipped", Place(name), count=self.skipped))
        if again := keys.size - np.unique(keys).size:
            findings.add(finding_at("webdataset-key-again", Place(name), count=again))
        for extension in self.extensions:
            if extension.rpartition(".")[2] in PICKLES:
                place = Place(name)
                findings.add(finding_at("webdataset-pickle", place, extension=safe(extension)))


@dataclass(frozen=True)
class _Samples:
    """The samples of an archive: the key of each, and the sample and extension of each member.

    extensions: {extension: its number}. starts, lengths: where the contents of each member are in
    the source. rows, codes: for each member, its sample and the number of its extension. skipped:
    the number of members that are in no sample.
    """

    source: Source
    keys: list[bytes]
    extensions: dict[str, int]
    starts: Longs
    lengths: Longs
    rows: Longs
    codes: Longs
    skipped: int

    @classmethod
    def of(cls, source: Source, members: Members) -> "_Samples":
        """Return the samples of members.

        Raises FormatError for two members with the same name in a sample.
        """
        keys: list[bytes] = []
        extensions: dict[str, int] = {}
        kept: list[int] = []
        rows: list[int] = []
        codes: list[int] = []
        has: set[int] = set()
        last: bytes | None = None
        for number, name in enumerate(members.names):
            match = NAME.fullmatch(name)
            if match is None or META.match(name):
                continue
            key, extension = match[1], match[2].decode("utf-8", "surrogateescape").lower()
            if key != last:
                keys.append(key)
                last, has = key, set()
            code = extensions.setdefault(extension, len(extensions))
            if code in has:
                raise _duplicate(source, members, number)
            has.add(code)
            kept.append(number)
            rows.append(len(keys) - 1)
            codes.append(code)
        which = np.array(kept, np.int64)
        return cls(
            source,
            keys,
            extensions,
            starts=members.starts[which],
            lengths=members.lengths[which],
            rows=np.array(rows, np.int64),
            codes=np.array(codes, np.int64),
            skipped=len(members.names) - which.size,
        )

    def contents(self, members: Longs) -> Strings:
        """Return for each sample the contents of its member among `members`.

        A sample without such a member has no value.
        """
        rows = self.rows[members]
        starts, lengths = np.zeros((2, len(self.keys)), np.int64)
        starts[rows], lengths[rows] = self.starts[members], self.lengths[members]
        present = np.zeros(len(self.keys), np.bool_)
        present[rows] = True
        data = np.frombuffer(self.source.view, np.uint8)
        return gathered(data, starts, lengths, present)

    def table(self, first: int, limits: Limits) -> Part:
        """Return the samples as a table. first: the number of the first sample.

        Raises LimitError for columns that take much more memory than the file.
        """
        columns: dict[str, TableColumn] = {}
        room = Room(self.source.name, len(self.source.content), limits)
        room.take(len(self.extensions), len(self.keys), 2 * CELL)
        members = groups_of(self.codes, len(self.extensions))
        contents = {
            name: self.contents(which) for name, which in zip(self.extensions, members, strict=True)
        }
        marks = {"keys": self.keys != numbered_keys(first, len(self.keys))}
        if NOTHING in contents:
            marks[NOTHING] = bool(contents[NOTHING].data.size)
            if not marks[NOTHING]:
                del contents[NOTHING]
        if marks["keys"]:
            columns[KEY] = text_or_bytes(Strings.of(self.keys))
        names = dict(zip(contents, names_of([*contents]), strict=True))
        for extension, column in contents.items():
            name = names[extension]
            columns[name if name != KEY else extension] = decoded(extension, column, room)
        return Part(Table(columns, len(self.keys), {}), names, marks)


def numbered_keys(first: int, count: int) -> list[bytes]:
    """Return keys for samples that have none: their numbers, in eight digits or more.

    first: the number of the first sample. count: how many samples there are.
    """
    return [b"%08d" % number for number in range(first, first + count)]


def _duplicate(source: Source, members: Members, number: int) -> FormatError:
    place = Place.in_bytes(source, source.start + int(members.headers[number]))
    name = safe(members.names[number].decode("utf-8", "surrogateescape"))
    message = f"a second member of the sample is called {name!r}"
    hint = "extensions are compared in lower case: rename one of them"
    return FormatError(message, place=place, hint=hint, code="webdataset-duplicate")

"""Read WebDataset: consecutive members of a tar archive with the same key are a sample.

A member `KEY.EXTENSION` is a value of the column that its extension names. Source: webdataset,
`tariterators.py`.
"""

import re
from typing import Final

import numpy as np

from exset.codecs.tables.spans import gathered
from exset.codecs.tables.tar_read import Members, read_members
from exset.core.errors import Findings, FormatError, Place
from exset.core.kernels import Engine
from exset.core.limits import DEFAULT, Limits
from exset.core.source import Source
from exset.core.text import safe
from exset.grammars.columns.strings import Strings
from exset.grammars.tables import sidecar
from exset.grammars.tables.columns import TableColumn, text_or_bytes
from exset.grammars.tables.shard_findings import finding_at
from exset.grammars.tables.table import Table
from exset.runtime.tables.webdataset_columns import PICKLES, decoded, names_of

KEY: Final = "__key__"
"""The column of the keys, named as in webdataset; left out if the keys are only numbers."""
NOTHING: Final = "null"
"""The extension of an empty member, which represents a sample without other members."""

NAME: Final = re.compile(rb"((?:.*/|)[^.]+)[.]([^/]*)", re.DOTALL)
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
    samples = _Samples(source, members, found)
    return sidecar.restored(samples.table(found, first), source, found)


class _Samples:
    """The samples of an archive: the key of each, and the sample and extension of each member."""

    def __init__(self, source: Source, members: Members, findings: Findings) -> None:
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
        self.source, self.keys, self.extensions = source, keys, extensions
        which = np.array(kept, np.int64)
        self.starts, self.lengths = members.starts[which], members.lengths[which]
        self.rows, self.codes = np.array(rows, np.int64), np.array(codes, np.int64)
        if skipped := len(members.names) - which.size:
            findings.add(finding_at("webdataset-skipped", Place(source.name), count=skipped))
        if again := len(keys) - len(set(keys)):
            findings.add(finding_at("webdataset-key-again", Place(source.name), count=again))

    def contents(self, code: int) -> Strings:
        """Return the contents of the members of one extension; a sample without one is absent."""
        members = np.flatnonzero(self.codes == code)
        rows = self.rows[members]
        starts, lengths = np.zeros((2, len(self.keys)), np.int64)
        starts[rows], lengths[rows] = self.starts[members], self.lengths[members]
        present = np.zeros(len(self.keys), np.bool_)
        present[rows] = True
        data = np.frombuffer(self.source.view, np.uint8)
        return gathered(data, starts, lengths, present)

    def table(self, findings: Findings, first: int) -> Table:
        """Return the samples as a table."""
        columns: dict[str, TableColumn] = {}
        contents = {name: self.contents(code) for name, code in self.extensions.items()}
        if NOTHING in contents and not contents[NOTHING].data.size:
            del contents[NOTHING]
        for name in contents:
            if name.rpartition(".")[2] in PICKLES:
                place = Place(self.source.name)
                findings.add(finding_at("webdataset-pickle", place, extension=safe(name)))
        if self.keys != numbered_keys(first, len(self.keys)):
            columns[KEY] = text_or_bytes(Strings.of(self.keys))
        names = names_of([*contents])
        for name, (extension, column) in zip(names, contents.items(), strict=True):
            columns[name if name != KEY else extension] = decoded(extension, column)
        return Table(columns, len(self.keys), {})


def numbered_keys(first: int, count: int) -> list[bytes]:
    """Return the keys for samples without keys: their numbers, in eight digits or more."""
    return [b"%08d" % number for number in range(first, first + count)]


def _duplicate(source: Source, members: Members, number: int) -> FormatError:
    place = Place.in_bytes(source, int(members.headers[number]))
    name = safe(members.names[number].decode("utf-8", "surrogateescape"))
    message = f"a second member of the sample is called {name!r}"
    hint = "extensions are compared in lower case: rename one of them"
    return FormatError(message, place=place, hint=hint, code="webdataset-duplicate")

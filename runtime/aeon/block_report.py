"""Report the contents of blocks, for `exset info` and `exset stats`."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.block import Block, element_names
from exset.grammars.columns.blobs import Blobs
from exset.io.content_types import suffix_of
from exset.runtime.reports.report import Extremes, Report, most_frequent, some
from exset.runtime.reports.statistics import RunningSpread

SAMPLED = 1000
"""The most elements of a block that `exset info` examines."""
COLUMNS = 100
"""The most columns of a block that `exset stats` examines."""
SHOWN = 8
"""The most kinds of content that are shown to people."""


@dataclass
class BlockTally:
    """Counts the contents of a block, of an archive, or of the blocks of a cache, which are added
    one by one.

    detailed: also count the elements of each column by size and by kind.
    """

    detailed: bool
    chunks: int = 0
    records: int = 0
    elements: int = 0
    is_archive: bool = False
    versions: tuple[int, int] | None = None
    data_type: bytes | None = None
    width: int | None = None
    nbytes: int = 0
    sizes: Extremes = field(default_factory=Extremes)
    times: Extremes = field(default_factory=Extremes)
    same_names: int = 0
    sampled: list[str] = field(default_factory=list)
    """The kinds of the first elements."""
    columns: "list[ColumnTally]" = field(default_factory=list)

    def add(self, model: Block) -> None:
        """Count the contents of a block or an archive."""
        elements, header = model.elements, model.header
        count = len(elements)
        added = BlockTally(self.detailed, 1, len(model), count, header is None, width=model.width)
        if header is not None:
            added.versions = header.format_version, header.writer_version
            added.data_type = header.data_type
        added.nbytes = elements.data.nbytes
        added.sizes.add(elements.data.lengths)
        added.times.add(elements.time[:count])
        added.same_names = count - len(set(elements.name))
        added.sampled = [*map(suffix_of, elements.data.take(np.arange(min(SAMPLED, count))))]
        width = (model.width if header is not None else 1) or 0
        for column in range(min(width, COLUMNS) if self.detailed else 0):
            data = elements.data.take(np.arange(column, count, width))
            added.columns.append(ColumnTally.of(data))
        self.merge(added)

    def merge(self, other: "BlockTally") -> None:
        """Add the counts of `other`, which has counted the next blocks of the same cache."""
        if not self.chunks:
            vars(self).update(vars(other))
            return
        self.chunks += other.chunks
        self.records += other.records
        self.elements += other.elements
        self.nbytes += other.nbytes
        self.sizes.merge(other.sizes)
        self.times.merge(other.times)
        self.sampled = (self.sampled + other.sampled)[:SAMPLED]
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.merge(theirs)

    def report(self) -> Report:
        """Return a report of the counts. Call neither `add` nor `merge` afterwards."""
        if self.chunks > 1:  # the elements of a cache get new names
            names = set(element_names(self.records, self.width or 0))
            self.same_names = self.elements - len(names)
        low, high = self.sizes.bounds()
        contents = dict(Counter(self.sampled).most_common())
        count, is_archive = self.elements, self.is_archive
        times = self.times.bounds() if count else None
        text = None if self.data_type is None else self.data_type.decode("latin-1")
        made = Report()
        made.add(kind="archive" if is_archive else "aeon", records=self.records, elements=count)
        made.add(width=self.width, data_type=text, versions=self.versions)
        made.add(bytes=self.nbytes, bytes_each=(low, high))
        made.add(contents=contents, times=times, same_names=self.same_names)
        each = f"{size(low)} to {size(high)} each" if count else ""
        if is_archive:
            made.row("files", f"{count:,}", each)
        else:
            made.row("records", f"{self.records:,}")
            made.row("elements", f"{count:,}", f"{self.width} a record" if self.width else "", each)
        made.row("bytes", size(self.nbytes))
        if contents:
            sampled = f"of the first {SAMPLED:,}: " if count > SAMPLED else ""
            made.row("contents", sampled + most_frequent(contents, SHOWN))
        if times is not None:
            first, last = (datetime.fromtimestamp(time, UTC) for time in times)
            until = f" to {last:%Y-%m-%d %H:%M:%S}" if last != first else ""
            made.row("written", f"{first:%Y-%m-%d %H:%M:%S}{until} UTC")
        if self.versions is not None:
            made.row("header", f"format {self.versions[0]}", f"writer {self.versions[1]}")
        made.row("names", some(self.same_names, "are equal to an earlier one"))
        if self.detailed:
            made.add(columns=[*self._columns(made)])
        return made

    def _columns(self, made: Report) -> Iterator[dict[str, object]]:
        """Add a row for each column to the report `made`; yield the numbers in each row.

        An archive has one column.
        """
        for column, tally in enumerate(self.columns):
            spread, _ = tally.spread.result()
            if not spread.count:
                continue
            contents = dict(Counter(tally.contents).most_common())
            low, high, mean = (size(int(x)) for x in (spread.low, spread.high, spread.mean))
            kinds = most_frequent(contents, SHOWN // 2)
            made.row(f"column {column}", f"{low} to {high}", f"mean {mean}; {kinds}")
            yield {"bytes": spread.to_dict(), "contents": contents}


@dataclass
class ColumnTally:
    """The sizes of a column's elements, and how many elements of each kind it has."""

    spread: RunningSpread = field(default_factory=RunningSpread)
    contents: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Blobs) -> "ColumnTally":
        """Count the elements of a column."""
        made = cls(contents=dict(Counter(map(suffix_of, data))))
        made.spread.add(data.lengths)
        return made

    def merge(self, other: "ColumnTally") -> None:
        """Add the counts of `other`, which has counted the same column in the next blocks."""
        self.spread.merge(other.spread)
        for kind, count in other.contents.items():
            self.contents[kind] = self.contents.get(kind, 0) + count

"""What a block or an archive holds, in numbers: the answer of `exset info`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.block import Block
from exset.io.content_types import suffix_of

_LOOKED_AT = 1000
_SHOWN = 8


@dataclass(frozen=True)
class Summary:
    """The numbers of one block."""

    kind: str
    """`aeon` or `archive`."""
    records: int
    elements: int
    width: int | None
    """Elements of a record; None if there is no telling."""
    data_type: str | None
    versions: tuple[int, int] | None
    """Of the format and of what wrote it."""
    bytes: int
    """Of all elements."""
    bytes_each: tuple[int, int]
    """Of the smallest and of the largest element."""
    contents: dict[str, int]
    """How many of the first thousand elements begin as files of a suffix do."""
    times: tuple[int, int] | None
    """The first and the last, in seconds since 1970."""
    same_names: int
    """Elements with a name that an earlier one has."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        low, high = self.bytes_each
        each = f", {size(low)} to {size(high)} each" if self.elements else ""
        rows = [("records", f"{self.records:,}"), ("elements", f"{self.elements:,}{each}")]
        if self.kind == "archive":
            rows = [("files", f"{self.elements:,}{each}")]
        elif self.width:
            rows[1] = ("elements", f"{self.elements:,}, {self.width} a record{each}")
        rows.append(("bytes", size(self.bytes)))
        kinds = [f"{count:,} {suffix}" for suffix, count in self.contents.items()]
        if kinds:
            most = f"of the first {_LOOKED_AT:,}: " if self.elements > _LOOKED_AT else ""
            rows.append(("contents", most + ", ".join(kinds[:_SHOWN])))
        if self.times is not None:
            first, last = (datetime.fromtimestamp(each, UTC) for each in self.times)
            until = f" to {last:%Y-%m-%d %H:%M:%S}" if last != first else ""
            rows.append(("written", f"{first:%Y-%m-%d %H:%M:%S}{until} UTC"))
        if self.versions is not None:
            rows.append(("header", f"format {self.versions[0]}, writer {self.versions[1]}"))
        if self.same_names:
            rows.append(("names", f"{self.same_names:,} are the same as an earlier one"))
        return rows


def summarise(model: Block) -> Summary:
    """Return the numbers of a block or an archive."""
    elements, header = model.elements, model.header
    lengths, times = elements.data.lengths, elements.time
    looked_at = elements.data.take(np.arange(min(_LOOKED_AT, len(elements))))
    kinds = Counter(suffix_of(data) for data in looked_at)
    return Summary(
        kind="archive" if header is None else "aeon",
        records=len(model),
        elements=len(elements),
        width=model.width,
        data_type=None if header is None else header.data_type.decode("latin-1"),
        versions=None if header is None else (header.format_version, header.writer_version),
        bytes=elements.data.nbytes,
        bytes_each=(int(lengths.min()), int(lengths.max())) if len(elements) else (0, 0),
        contents=dict(kinds.most_common()),
        times=(int(times.min()), int(times.max())) if len(elements) else None,
        same_names=len(elements) - len(set(elements.name)),
    )

"""What a manifest holds, in numbers: the answer of `exset info`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from exset.core.text import size
from exset.grammars.aeon.manifest import Manifest
from exset.runtime.reports.memory import memory_of


@dataclass(frozen=True)
class Summary:
    """The numbers of one manifest; no file is looked at."""

    dialect: str
    records: int
    types: list[str]
    fields: int
    """Of each record; where there are more than types, aeon drops the others."""
    distinct: list[int]
    """Different fields in each column."""
    empty: int
    """Fields without a byte."""
    bytes: int
    """Of all fields."""
    uid: str
    """What aeon knows the manifest by, if all of its records are used in their order."""
    memory: int
    """Bytes of the columns."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        from exset.runtime.aeon.selection import cache_name

        rows = [("dialect", self.dialect), ("records", f"{self.records:,}")]
        for column, count in enumerate(self.distinct):
            kind = self.types[column] if column < len(self.types) else "dropped"
            rows.append((f"column {column}", f"{kind}, {count:,} different"))
        rows.append(("fields", f"{size(self.bytes)}, {self.empty:,} of them empty"))
        rows.append(("cache", cache_name(self.uid)))
        rows.append(("memory", size(self.memory)))
        return rows


def summarise(model: Manifest) -> Summary:
    """Return the numbers of a manifest."""
    from exset.runtime.aeon.selection import uid

    return Summary(
        dialect=model.dialect.value,
        records=len(model),
        types=[kind.value for kind in model.types],
        fields=model.width,
        distinct=[len(set(model.column(i))) for i in range(model.width)],
        empty=int(np.count_nonzero(model.fields.lengths == 0)),
        bytes=int(model.fields.data.size),
        uid=uid(model),
        memory=memory_of(model),
    )

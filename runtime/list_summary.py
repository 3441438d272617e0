"""What a sample list holds, in numbers: the answer of `exset info`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from exset.grammars.samples import SampleList, duplicate_files
from exset.runtime.summary import memory_of, size


@dataclass(frozen=True)
class Summary:
    """The numbers of one list; counts are of what the list says, no file is looked at."""

    list_type: str
    directory: str
    label_file: str | None
    ids: str
    """`text` or `integer`."""
    samples: int
    excluded: int
    files: int
    samples_each: tuple[int, int]
    """The fewest and the most samples of a file."""
    repeated_files: int
    """Files that were named before."""
    spans: int | None
    """Runs of whole numbers; None where ids are text."""
    memory: int
    """Bytes of the columns."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        low, high = self.samples_each
        each = f", {low:,} to {high:,} samples each" if low != high else f", {high:,} samples each"
        rows = [
            ("type", self.list_type),
            ("directory", self.directory),
            ("samples", f"{self.samples:,}, {self.excluded:,} excluded"),
            ("files", f"{self.files:,}{each if self.files else ''}"),
        ]
        if self.repeated_files:
            rows.append(("", f"{self.repeated_files:,} named again"))
        if self.label_file is not None:
            rows.append(("label file", self.label_file or "none"))
        spans = "" if self.spans is None else f" in {self.spans:,} ranges"
        rows.append(("ids", f"{'text' if self.spans is None else 'whole numbers'}{spans}"))
        rows.append(("memory", size(self.memory)))
        return rows


def summarise(model: SampleList) -> Summary:
    """Return the numbers of a list."""
    each = model.included
    count = len(model.name)
    repeated = int((duplicate_files(model) != np.arange(count)).sum()) if count else 0
    label_file = model.label_file
    return Summary(
        list_type=model.kind.value,
        directory=model.directory.decode("utf-8", "surrogateescape"),
        label_file=None if label_file is None else label_file.decode("utf-8", "surrogateescape"),
        ids="integer" if model.has_integer_ids else "text",
        samples=len(model),
        excluded=model.computed.excluded,
        files=count,
        samples_each=(int(each.min()), int(each.max())) if count else (0, 0),
        repeated_files=repeated,
        spans=len(model.ids) if model.has_integer_ids else None,
        memory=memory_of(model),
    )

"""What a sample list holds, in numbers: the answer of `exset info`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from exset.core.text import size
from exset.grammars.columns.spans import Spans
from exset.grammars.lbann.sample_list import SampleList, duplicate_files, overlaps
from exset.runtime.reports.memory import memory_of


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


@dataclass(frozen=True)
class Statistics:
    """A summary, and what takes longer to find out."""

    summary: Summary
    median: float
    """The median of the samples of a file."""
    folders: int
    """Folders below the base directory that files are in."""
    repeating: int
    """Files of which an id is given twice."""
    ids: tuple[int, int]
    """The shortest and the longest id, in bytes; of whole numbers the least and the greatest."""

    def to_dict(self) -> dict[str, object]:
        """Return the numbers for JSON."""
        found = {"median": self.median, "folders": self.folders, "repeating": self.repeating}
        return {**self.summary.to_dict(), **found, "id_bounds": list(self.ids)}

    def rows(self) -> list[tuple[str, str]]:
        """Return the numbers as (label, text), for people."""
        whole = self.summary.samples + self.summary.excluded
        low, high = self.ids
        said = f"{low:,} to {high:,}" + (" bytes" if self.summary.spans is None else "")
        return [
            *self.summary.rows(),
            ("excluded", f"{self.summary.excluded / max(whole, 1):.1%} of the samples"),
            ("a file", f"{self.median:g} samples in the median"),
            ("folders", f"{self.folders:,}"),
            ("ids", said),
            ("repeating", f"{self.repeating:,} files"),
        ]


def describe(model: SampleList) -> Statistics:
    """Return all numbers of a list."""
    each = model.included
    folders = {(name or b"").rpartition(b"/")[0] for name in model.name}
    bounds = (0, 0)
    if isinstance(model.ids, Spans):
        repeating = overlaps(model.ids, model.id_offsets).size
        if len(model.ids):
            bounds = int(model.ids.first.min()), int(model.ids.last.max())
    else:
        lengths = model.ids.lengths
        repeating = sum(
            len(set(ids)) < len(ids) for ids in map(model.ids_of, range(len(model.name)))
        )
        if lengths.size:
            bounds = int(lengths.min()), int(lengths.max())
    return Statistics(
        summary=summarise(model),
        median=float(np.median(each)) if each.size else 0.0,
        folders=len(folders),
        repeating=repeating,
        ids=bounds,
    )
